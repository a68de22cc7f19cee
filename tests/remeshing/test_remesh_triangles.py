"""Arrays in, arrays out, and a message for every kind of arrays that are no triangles."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.remeshing import mesh_from_arrays, remesh_triangles
from crumple.runtime.errors import InputError

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
FACES = np.array([[0, 1, 2], [0, 2, 3]])
ROOF = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 1], [0, 1, 1]])


@pytest.mark.parametrize("vertices", [SQUARE, ROOF])
def test_edges_are_as_long_as_asked_for_and_the_area_stays(vertices):
    for size in (0.3, np.full(4, 0.3)):
        found = remesh_triangles(vertices, FACES, size=size)
        assert found.vertices.shape[1] == vertices.shape[1]
        assert found.faces.shape[1] == 3
        corners = np.pad(found.vertices, ((0, 0), (0, 3 - vertices.shape[1])))[found.faces]
        length = np.linalg.norm(np.roll(corners, 1, axis=1) - corners, axis=2)
        assert length.max() <= 0.3 * 1.01
        assert len(found.faces) > 20
        area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        assert area.sum() == pytest.approx(1.0 if vertices is SQUARE else np.sqrt(2.0))


@pytest.mark.parametrize(
    ("vertices", "faces", "size", "says"),
    [
        (SQUARE[:, :1], FACES, 0.3, r"vertices = 'shape \(4, 1\)'"),
        (SQUARE * np.nan, FACES, 0.3, "finite numbers, in m"),
        ("abc", FACES, 0.3, "array of numbers"),
        (SQUARE, FACES[:, :2], 0.3, r"must be \(m, 3\) whole numbers"),
        (SQUARE, FACES + 0.5, 0.3, r"must be \(m, 3\) whole numbers"),
        (SQUARE, FACES + 9, 0.3, "vertex numbers 0 to 3"),
        (SQUARE, np.array([[0, 1, 1]]), 0.3, "remesh: "),
        (SQUARE, FACES, -1.0, r"size = -1.0 \(must be a number > 0"),
        (SQUARE, FACES, np.ones(3), "one for each of the 4 vertices"),
    ],
)
def test_what_is_no_mesh_is_told_in_words(vertices, faces, size, says):
    with pytest.raises(InputError, match=says):
        remesh_triangles(vertices, faces, size=size)


def test_a_mesh_from_arrays_is_flat_or_a_surface():
    assert mesh_from_arrays(SQUARE, FACES).vertex_count == 4
    surface = mesh_from_arrays(ROOF, FACES)
    assert surface.node_count == 4
    assert surface.vertex_count == 6
