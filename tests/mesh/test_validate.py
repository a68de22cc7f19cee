"""Every kind of defect is found, and only those."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from odd_meshes import ODD

import crumple.mesh as cm
from crumple.mesh import SheetMesh, make_sheet_mesh, validate_mesh
from crumple.runtime.errors import InputError

SQUARE = np.array([[0, 0], [1, 0], [1, 1], [0, 1.0]])
PAIR = np.array([[0, 1, 2], [0, 2, 3]])


def square(**changes: np.ndarray) -> SheetMesh:
    return replace(make_sheet_mesh(SQUARE, PAIR), **changes)


def bow_tie() -> SheetMesh:
    u = np.array([[0, 0], [1, 0], [1, 1], [-1, 0], [-1, -1.0]])
    return make_sheet_mesh(u, np.array([[0, 1, 2], [0, 3, 4]]))


def book() -> SheetMesh:
    """Three faces on one edge."""
    u = np.array([[0, 0], [1, 0], [0, 1], [0.2, 1], [0.5, -1.0]])
    return make_sheet_mesh(u, np.array([[0, 1, 2], [0, 1, 3], [1, 0, 4]]))


def two_sheets_on_a_node() -> SheetMesh:
    return square(face_sheet=np.array([0, 1], np.int32))


def turned_surface() -> SheetMesh:
    """A square of two triangles with a vertex per corner, one of them upside down."""
    u = np.array([[0, 0], [1, 0], [1, 1], [0, 0], [0, 1], [-1, 1.0]])
    node = np.array([0, 1, 2, 0, 2, 3])
    u[3:] = [[0, 0], [1, 0], [1, 1]]
    faces, node = np.array([[0, 1, 2], [3, 4, 5]]), np.array([0, 1, 2, 0, 3, 2])
    return make_sheet_mesh(u, faces, vertex_node=node, node_rest=np.random.default_rng(0).random((4, 3)))


DEFECTS = {
    "outside": square(faces=np.array([[0, 1, 2], [0, 2, 4]], np.int32)),
    "names a vertex": square(faces=np.array([[0, 1, 2], [0, 2, -1]], np.int32)),
    "names a node": square(vertex_node=np.array([0, 1, 2, 9], np.int32)),
    "pattern position is not finite": square(u=np.where(SQUARE > 0.5, np.nan, SQUARE)),
    "reference position is not finite": square(node_rest=np.full((4, 3), np.inf)),
    "uses a vertex twice": square(faces=np.array([[0, 1, 2], [0, 0, 3]], np.int32)),
    "two vertices on one node": square(vertex_node=np.array([0, 1, 2, 2], np.int32)),
    "inverted": square(faces=np.array([[0, 2, 1], [0, 2, 3]], np.int32)),
    "no area": square(u=np.array([[0, 0], [1, 0], [2, 0], [0, 1.0]])),
    "more than two faces": book(),
    "bow tie": bow_tie(),
    "isolated": make_sheet_mesh(np.concatenate([SQUARE, [[5, 5]]]), PAIR),
    "edge label": square(edge_label=np.array([[0, 0, 1], [0, 0, 0]], np.int32)),
    "another sheet": two_sheets_on_a_node(),
    "negative material": square(face_material=np.array([0, -1], np.int32)),
    "must be (2, 3)": square(edge_label=np.zeros((3, 3), np.int32)),
    "of kind i": square(faces=PAIR.astype(float)),
    "no faces": make_sheet_mesh(np.zeros((0, 2)), np.zeros((0, 3), int)),
}


@pytest.mark.parametrize("message", DEFECTS)
def test_defect_is_named(message: str) -> None:
    problems = validate_mesh(DEFECTS[message])
    assert any(message in p for p in problems), problems
    with pytest.raises(InputError, match=r"^here: "):
        cm.check_mesh(DEFECTS[message], "here")


def test_face_glued_against_its_neighbour_is_named() -> None:
    u = np.array([[0, 0], [1, 0], [0, 1], [0.5, 2.0]])
    mesh = make_sheet_mesh(u, np.array([[0, 1, 2], [0, 1, 3]]))  # overlap: both left of 0→1
    assert "oriented against" in validate_mesh(mesh)[0]


def test_orientation_may_turn_across_a_seam_only_where_it_must() -> None:
    assert validate_mesh(ODD["moebius"], oriented=True) == []
    turned = turned_surface()
    assert validate_mesh(turned) == []
    assert "oriented against" in validate_mesh(turned, oriented=True)[0]


@pytest.mark.parametrize("name", ODD)
def test_odd_meshes_are_valid(name: str) -> None:
    mesh = ODD[name]
    assert validate_mesh(mesh, mesh.node_rest.copy()) == []


def test_positions_are_checked() -> None:
    x = np.zeros((4, 3))
    x[3, 1] = np.nan
    assert validate_mesh(square(), x) == ["node 3: position is not finite"]
    assert "x: has shape" in validate_mesh(square(), x[:3])[0]
