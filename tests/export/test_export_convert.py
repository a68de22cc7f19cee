"""Frames as objects of trimesh, meshio and PyVista."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from export_samples import corner_rows

from crumple.export import to_meshio, to_pyvista, to_trimesh
from crumple.mesh.texture import texture_coordinates
from crumple.runtime.errors import InputError


@pytest.fixture(params=["trimesh", "meshio", "pyvista"])
def converted(request, changing):
    """The state, and from the object: positions, faces, texture coordinates, damage."""
    pytest.importorskip(request.param)
    state = changing.load(2)
    if request.param == "trimesh":
        mesh = to_trimesh(state)
        return state, mesh.vertices, mesh.faces, mesh.visual.uv, mesh.face_attributes["damage"]
    if request.param == "meshio":
        mesh = to_meshio(state)
        return state, mesh.points, mesh.cells_dict["triangle"], mesh.point_data["texture"], mesh.cell_data["damage"][0]
    data = to_pyvista(state)
    return state, data.points, data.regular_faces, data.active_texture_coordinates, data.cell_data["damage"]


def test_nothing_is_lost(converted):
    state, x, faces, texture, damage = converted
    x, faces, texture = (np.asarray(values) for values in (x, faces, texture))
    expected = corner_rows(state.x[state.mesh.face_nodes], texture_coordinates(state.mesh)[state.mesh.faces])
    np.testing.assert_array_equal(corner_rows(x[faces], texture[faces]), expected)
    np.testing.assert_array_equal(np.asarray(damage), state.damage)


def test_missing_packages_say_what_to_install(changing, monkeypatch):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(InputError, match=r"pip install 'crumple\[notebook\]'"):
        to_trimesh(changing.load(0))
