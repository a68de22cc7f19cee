"""Boxes of handles end on edges of the mesh."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.mesh.io.obj import write_obj
from crumple.mesh.validate import validate_mesh
from crumple.scenes import build, scene_from_tables
from crumple.shapes import rectangle

SIDE, SIZE = 0.2, 0.01


def held(shape=None, low=(-1.0, -1.0, -1.0), high=(1.0, 1.0, 1.0), **sheet):
    shape = shape or {"kind": "rectangle", "width": SIDE, "height": SIDE, "size": SIZE}
    tables = {
        "run": {"duration": 0.1},
        "sheets": [{"shape": shape, "material": {"preset": "paper80"}, **sheet}],
        "handles": [{"select": {"kind": "box", "low": list(low), "high": list(high)}}],
    }
    return build(scene_from_tables(tables)).state


def border_of(state):
    """Nodes that are held on edges between a face that is held and one that is not."""
    is_held = np.zeros(state.mesh.node_count, bool)
    is_held[state.pins.node] = True
    inside = is_held[state.mesh.face_nodes].all(axis=1)
    sides = inside[state.mesh.hinges.faces]
    return np.unique(state.mesh.hinges.nodes[sides[:, 0] != sides[:, 1], :2])


@pytest.mark.parametrize("style", ["equilateral", "delaunay", "right"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("border", [-0.08, -0.0533, 0.0041])
def test_a_clamp_ends_straight_where_its_box_does(style, axis, border):
    high = [1.0, 1.0, 1.0]
    high[axis] = border
    shape = {"kind": "rectangle", "width": SIDE, "height": SIDE, "size": SIZE, "style": style}
    state = held(shape, high=high)
    assert not validate_mesh(state.mesh, state.x)
    line = state.x[border_of(state)]
    assert np.abs(line[:, axis] - border).max() < 1e-9
    across = np.sort(line[:, 1 - axis])
    assert across[[0, -1]] == pytest.approx([-0.5 * SIDE, 0.5 * SIDE])
    assert state.mesh.face_area.sum() == pytest.approx(SIDE**2, rel=1e-12)
    assert state.x[state.pins.node, axis].max() == pytest.approx(border, abs=1e-9)


def test_faces_at_a_clamp_are_no_slivers():
    state = held(high=(-0.0995 + 0.5 * SIZE, 1.0, 1.0))  # a twentieth of an edge beside nodes of the outline
    longest = np.sqrt((np.diff(state.mesh.u[np.c_[state.mesh.faces, state.mesh.faces[:, 0]]], axis=1) ** 2).sum(axis=2))
    assert (2.0 * state.mesh.face_area / longest.max(axis=1) ** 2).min() > 0.15


def test_a_corner_and_a_turned_sheet_are_clamped_along_the_box():
    turned = {"transform": {"rotate": {"axis": [0, 0, 1], "angle": 30.0}}}
    state = held(low=(-1.0, -1.0, -1.0), high=(0.0137, 0.0213, 1.0), **turned)
    line = state.x[border_of(state)]
    assert np.minimum(np.abs(line[:, 0] - 0.0137), np.abs(line[:, 1] - 0.0213)).max() < 1e-9


def test_thin_boxes_hold_rows_and_files_stay_as_they_are(tmp_path):
    plain, _ = rectangle(SIDE, SIDE, SIZE)
    assert held(high=(-0.0999 + 0.3 * SIZE, 1.0, 1.0)).mesh.node_count == plain.node_count
    mesh, x = rectangle(SIDE, SIDE, SIZE)
    write_obj(tmp_path / "sheet.obj", mesh, x)
    state = held({"kind": "file", "mesh": str(tmp_path / "sheet.obj")}, high=(0.0041, 1.0, 1.0))
    assert state.mesh.node_count == mesh.node_count


def test_a_bent_sheet_is_held_by_its_nodes():
    tube = {"kind": "cylinder", "circumference": 0.2, "height": 0.1, "size": SIZE}
    state = held(tube, high=(1.0, 1.0, 0.0333))
    assert state.x[state.pins.node, 2].max() == pytest.approx(0.03)
