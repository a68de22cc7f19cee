"""The number of faces is foreseen, and bounded whatever the field asks for."""

from __future__ import annotations

import numpy as np
import pytest
from remeshing_samples import ODD, random_sizing

import crumple.mesh as cm
import crumple.shapes as cs
from crumple.geometry.metric import tensor_from_eigen
from crumple.options.remeshing import RemeshOptions
from crumple.options.sizing import SizingOptions
from crumple.remeshing import estimate_face_range, estimate_faces, isotropic_sizing, remesh, sizing_from_function
from crumple.runtime.errors import InputError

FACTOR = 2.5


def ratio(mesh: cm.SheetMesh, sizing: np.ndarray, options: RemeshOptions | None = None) -> float:
    """Faces of a remeshed sheet over those estimated."""
    return remesh(mesh, sizing, options=options).mesh.face_count / estimate_faces(mesh, sizing)


@pytest.mark.parametrize("size", [0.3, 0.1, 0.04, 0.02])
@pytest.mark.parametrize("start", [0.5, 0.03])
def test_uniform_fields_are_foreseen(size: float, start: float) -> None:
    mesh, _ = cs.rectangle(1.0, 0.7, start)
    of_runs = RemeshOptions(split_limit=1.1, collapse_limit=1.0)
    for options in (None, of_runs):
        assert 1 / FACTOR < ratio(mesh, isotropic_sizing(mesh, size), options) < FACTOR


def test_strips_narrower_than_an_edge_are_foreseen() -> None:
    mesh, _ = cs.rectangle(1.0, 0.01, 0.01)
    assert 1 / FACTOR < ratio(mesh, isotropic_sizing(mesh, 0.05)) < FACTOR


def test_graded_and_anisotropic_fields_are_foreseen() -> None:
    mesh, _ = cs.rectangle(1.0, 1.0, 0.02)
    graded = sizing_from_function(mesh, lambda u: 0.02 + 0.2 * u[:, 0])
    assert 1 / FACTOR < ratio(mesh, graded) < FACTOR
    eigen = np.tile([1 / 0.02**2, 1 / 0.1**2], (mesh.vertex_count, 1))
    narrow = tensor_from_eigen(eigen, np.tile([0.6, 0.8], (mesh.vertex_count, 1)))
    assert 1 / FACTOR < ratio(mesh, narrow) < FACTOR


@pytest.mark.parametrize("name", ["sphere"])
def test_surfaces_in_space_are_foreseen(name: str) -> None:
    mesh = ODD[name]
    for size in (0.1, 0.3):
        assert 1 / FACTOR < ratio(mesh, isotropic_sizing(mesh, size)) < FACTOR


def test_a_field_on_faces_counts_like_one_on_vertices() -> None:
    mesh, _ = cs.rectangle(1.0, 1.0, 0.2)
    on_faces = np.tile([100.0, 100.0, 0.0], (mesh.face_count, 1))
    assert estimate_faces(mesh, on_faces) == pytest.approx(estimate_faces(mesh, isotropic_sizing(mesh, 0.1)))
    with pytest.raises(InputError, match="shape of sizing"):
        estimate_faces(mesh, on_faces[1:])


def test_the_range_is_that_of_the_sizes_and_never_overflows() -> None:
    mesh, _ = cs.rectangle(100.0, 100.0, 10.0)
    fewest, most = estimate_face_range(mesh, SizingOptions(size_min=1e-6, size_max=0.1))
    assert fewest == pytest.approx(4e6)
    assert most == pytest.approx(4e16)
    assert estimate_face_range(mesh, SizingOptions(size_min=1e-300, size_max=1e4))[0] == 1.0
    assert estimate_face_range(mesh, SizingOptions(size_min=1e-300, size_max=1.0))[1] > 1e300


@pytest.mark.parametrize("limit", [1, 50, 333, 1000])
def test_splits_end_at_the_limit(limit: int) -> None:
    mesh, _ = cs.rectangle(1.0, 1.0, 0.25)
    result = remesh(mesh, isotropic_sizing(mesh, 1e-6), options=RemeshOptions(max_faces=limit))
    assert cm.validate_mesh(result.mesh) == []
    assert result.statistics.limited
    assert result.mesh.face_count <= max(limit, mesh.face_count)
    if limit > mesh.face_count:  # used, not only respected, and spread evenly: the longest edges come first
        assert result.mesh.face_count > 0.7 * limit
        assert result.mesh.face_area.max() < 8.0 * result.mesh.face_area.mean()


def test_a_mesh_above_the_limit_may_be_coarsened() -> None:
    mesh, _ = cs.rectangle(1.0, 1.0, 0.05)
    result = remesh(mesh, isotropic_sizing(mesh, 0.5), options=RemeshOptions(max_faces=100))
    assert not result.statistics.limited
    assert result.mesh.face_count < 100 < mesh.face_count


def test_a_limit_that_is_not_met_changes_nothing() -> None:
    for mesh in ODD.values():
        sizing = random_sizing(mesh.vertex_count, np.random.default_rng(5), 0.1, 1.5)
        free = remesh(mesh, sizing)
        held = remesh(mesh, sizing, options=RemeshOptions(max_faces=100_000))
        assert not free.statistics.limited
        assert not held.statistics.limited
        np.testing.assert_array_equal(free.mesh.faces, held.mesh.faces)
        np.testing.assert_array_equal(free.x, held.x)


@pytest.mark.parametrize("bad", [0, -5, 1.5, 10**9, float("nan")])
def test_a_bad_limit_is_named(bad: float) -> None:
    with pytest.raises(InputError, match="max_faces"):
        RemeshOptions(max_faces=bad)  # type: ignore[arg-type]
