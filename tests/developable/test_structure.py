"""Structures and the one way to edit them: drafts that are valid or refused."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.developable.enrich import CREASE, RULING, edge_labels, enrich
from crumple.developable.outline import Outline
from crumple.developable.planar import crosses, trace_cells
from crumple.developable.singular import insert_vertex
from crumple.developable.structure import SINGULAR, Draft, Refused, Structure, flat_structure
from crumple.developable.triangulate import triangulate_cells
from crumple.mesh.validate import validate_mesh
from crumple.runtime.errors import InputError

SQUARE = Outline(np.array([[0.0, 0.0], [0.1, 0.0], [0.1, 0.1], [0.0, 0.1]]))
SPACING = 0.01


def bent(count: int = 5) -> Structure:
    """The square with rulings across it."""
    draft = Draft(flat_structure(SQUARE, SPACING))
    places = np.linspace(0.03, 0.07, count)
    draft.curve([(draft.border(x), draft.border(0.3 - x)) for x in places])
    return draft.build()


def loop_area(loop: np.ndarray) -> float:
    """The area of a polygon (n, 2), positive when it is counter-clockwise."""
    p, q = loop, np.roll(loop, -1, axis=0)
    return float(0.5 * np.sum(p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]))


def triangulate(loop: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """The triangles of one polygon with points inside."""
    points = np.concatenate([loop, inside])
    corners, within = np.arange(len(loop), dtype=np.int32), np.arange(len(loop), len(points), dtype=np.int32)
    ends = [np.array([0, len(names)], np.int32) for names in (corners, within)]
    faces, cell, is_whole = triangulate_cells(points, corners, ends[0], within, ends[1])
    assert is_whole
    assert not cell.any()
    return faces


def test_places_of_an_outline_go_there_and_back() -> None:
    for place in np.random.default_rng(0).uniform(0.0, SQUARE.length, 20):
        found, far = SQUARE.place(SQUARE.point(place))
        assert abs(found - place) < 1e-12
        assert far < 1e-12
    assert SQUARE.way(0.39, 0.01) == pytest.approx(0.02)
    assert SQUARE.on_one_side(0.0, 0.1)
    assert SQUARE.on_one_side(0.35, 0.0)
    assert not SQUARE.on_one_side(0.05, 0.15)
    with pytest.raises(InputError, match="counter-clockwise"):
        Outline(SQUARE.corners[::-1])


def test_cells_cover_a_drawing() -> None:
    positions = {0: (0.0, 0.0), 1: (1.0, 0.0), 2: (1.0, 1.0), 3: (0.0, 1.0), 4: (0.4, 0.5)}
    cells, total = trace_cells(positions, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (4, 2), (4, 1)])
    areas = [loop_area(np.array([positions[key] for key in cell])) for cell in cells]
    assert len(cells) == 3
    assert sum(areas) == pytest.approx(total) == pytest.approx(1.0)
    assert min(areas) > 0.0


def test_crossings_are_found() -> None:
    points = np.array([[[0.0, 0.0], [1.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])
    assert crosses(np.array([[0, 1], [2, 3]]), points, 2)
    assert crosses(np.array([[0, 1], [2, 3]]), points, 1)
    assert not crosses(np.array([[0, 1], [2, 3]]), points, 0)
    assert not crosses(np.array([[0, 1], [0, 3]]), points, 2)
    on = np.array([[[0.0, 0.0], [1.0, 1.0]], [[0.0, 0.0], [0.4, 0.4]]])
    assert crosses(np.array([[0, 1], [0, 3]]), on, 2)
    assert crosses(np.array([[1, 0], [3, 0]]), on[:, ::-1].copy(), 2)
    assert not crosses(np.array([[0, 1], [2, 3]]), points + np.array([[[0.0, 0.0]], [[2.0, 0.0]]]), 2)


@pytest.mark.parametrize("seed", range(4))
def test_triangles_fill_polygons_and_are_delaunay_inside(seed: int) -> None:
    generator = np.random.default_rng(seed)
    angle = np.sort(generator.uniform(0.0, 2.0 * np.pi, 12))
    loop = generator.uniform(0.6, 1.4, 12)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    inside = generator.uniform(-0.3, 0.3, (6, 2))
    faces = triangulate(loop, inside)
    points = np.concatenate([loop, inside])
    areas = [loop_area(points[face]) for face in faces]
    assert min(areas) > 0.0
    assert sum(areas) == pytest.approx(loop_area(loop))
    assert len(np.unique(faces)) == 18


def test_a_point_on_an_edge_is_inserted() -> None:
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    faces = triangulate(square, np.array([[0.5, 0.5]]))
    assert len(faces) == 4


def test_polygons_are_triangulated_together_as_alone() -> None:
    generator = np.random.default_rng(5)
    square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    inside = generator.uniform(0.1, 0.9, (5, 2))
    points = np.concatenate([square, square + 2.0, inside])
    corners, within = np.arange(8, dtype=np.int32), np.arange(8, 13, dtype=np.int32)
    faces, cell, is_whole = triangulate_cells(
        points, corners, np.array([0, 4, 8], np.int32), within, np.array([0, 5, 5], np.int32)
    )
    assert is_whole
    names = np.array([0, 1, 2, 3, 8, 9, 10, 11, 12])
    np.testing.assert_array_equal(faces[cell == 0], names[triangulate(square, inside)])
    assert len(faces[cell == 1]) == 2
    turned = triangulate_cells(points, corners[3::-1].copy(), np.array([0, 4], np.int32), within[:0], corners[:2] * 0)
    assert not turned[2]  # clockwise: there are none


def test_edges_get_the_labels_of_lines() -> None:
    faces = np.array([[0, 1, 2], [2, 1, 3]], np.int32)
    lines, marks = np.array([[1, 2], [3, 2], [2, 1]], np.int32), np.array([RULING, RULING, CREASE], np.int32)
    np.testing.assert_array_equal(edge_labels(faces, lines, marks), [[0, CREASE, 0], [CREASE, 0, RULING]])
    assert not edge_labels(faces, lines[:0], marks[:0]).any()


def test_a_flat_sheet_is_one_cell() -> None:
    structure = flat_structure(SQUARE, SPACING)
    assert len(structure.cells) == 1
    assert structure.flats == (0,)
    assert max(np.diff([structure.vertices[key].place for key in structure.border])) <= 1.3 * SPACING + 1e-12


def test_rulings_make_strips_and_straight_edges() -> None:
    structure = bent(5)
    assert len(structure.strips) == 4
    assert len(structure.flats) == 2
    layout = enrich(structure, 0.016)
    assert validate_mesh(layout.mesh) == []
    assert np.count_nonzero(layout.mesh.edge_label == RULING) == 2 * 5
    assert all(layout.hinge_of(ruling) is not None for ruling in structure.chords)


def test_crossing_rulings_are_refused() -> None:
    draft = Draft(flat_structure(SQUARE, SPACING))
    draft.curve([(draft.border(0.03), draft.border(0.23)), (draft.border(0.07), draft.border(0.27))])
    with pytest.raises(Refused, match="cross"):
        draft.build()
    along = Draft(flat_structure(SQUARE, SPACING))
    along.curve([(along.border(0.03), along.border(0.07))])
    with pytest.raises(Refused, match="border"):
        along.build()


def test_a_ruling_without_its_strip_is_refused() -> None:
    draft = Draft(bent(5))
    (key,) = draft.curves
    rulings = draft.curves[key].rulings
    draft.curves[key] = draft.curves[key]._replace(rulings=(rulings[0], rulings[2], rulings[1]))
    with pytest.raises(Refused, match="strip"):
        draft.build()


def test_a_singular_point_gets_fans_on_both_sides() -> None:
    structure = bent(7)
    draft = Draft(structure)
    (key,) = draft.curves
    vertex = insert_vertex(draft, key, 2, 4, np.array([0.05, 0.045]))
    edited = draft.build()
    assert edited.singular == (vertex,)
    assert edited.vertices[vertex].kind == SINGULAR
    assert sum(vertex in edge for edge in edited.chords) == 6
    assert sorted(len(curve.rulings) for curve in edited.curves.values()) == [3, 3, 3, 3]
    assert edited.differs(structure)
    assert not edited.differs(Draft(edited).build())
    assert validate_mesh(enrich(edited, 0.016).mesh) == []


def test_a_sliver_is_refused() -> None:
    draft = Draft(bent(7))
    (key,) = draft.curves
    insert_vertex(draft, key, 2, 4, np.array([0.04335, 0.05]))
    with pytest.raises(Refused, match="sliver"):
        enrich(draft.build(), 0.016)


def test_vertices_slide_along_the_border_but_not_corners_or_held_ones() -> None:
    draft = Draft(bent(3))
    (key,) = draft.curves
    vertex = draft.curves[key].rulings[1][0]
    draft.slide({vertex: 0.053})
    assert draft.build().vertices[vertex].place == pytest.approx(0.053)
    draft.vertices[vertex] = draft.vertices[vertex]._replace(is_held=True)
    draft.slide({vertex: 0.05})
    assert draft.vertices[vertex].place == pytest.approx(0.053)
