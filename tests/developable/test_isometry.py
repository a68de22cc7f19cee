"""Lengths: the projection meets them, keeps what is held, and does not pass through what is in its way."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.contact import find_candidates, has_intersections, make_surface
from crumple.developable.guards import find_guards, project_guarded
from crumple.developable.isometry import make_isometry
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Floats
from crumple.shapes.sheets import rectangle


def bowed(height: float) -> tuple[SheetMesh, Floats, Floats]:
    """A sheet of 10 cm that is pushed up without getting longer anywhere, its rest lengths, and its positions."""
    mesh, x = rectangle(0.1, 0.1, 0.02, kind="delaunay")
    length = np.linalg.norm(x[mesh.edges[:, 1]] - x[mesh.edges[:, 0]], axis=1)
    x = x.copy()
    x[:, 2] = height * np.sin(np.pi * x[:, 0] / 0.1)
    return mesh, length, x


def test_all_edges_get_their_lengths() -> None:
    mesh, length, x = bowed(0.01)
    isometry = make_isometry(mesh.edges, length)
    assert np.abs(isometry.strain(x)).max() > 0.02
    y = isometry.project(x, np.ones(len(x)))
    assert np.abs(isometry.strain(y)).max() <= 1e-5
    assert np.linalg.norm(y - x, axis=1).max() < 0.01


def test_held_nodes_move_little() -> None:
    mesh, length, x = bowed(0.01)
    isometry = make_isometry(mesh.edges, length)
    weight = np.ones(len(x))
    held = np.flatnonzero(x[:, 0] < 1e-9)
    weight[held] = 0.01
    y = isometry.project(x, weight)
    free = np.linalg.norm(isometry.project(x, np.ones(len(x))) - x, axis=1)
    assert np.abs(isometry.strain(y)).max() <= 1e-5
    assert np.linalg.norm(y - x, axis=1)[held].max() < 0.5 * free[held].max()


def test_angles_around_an_inner_node_sum_up_to_a_full_turn() -> None:
    mesh, length, x = bowed(0.01)
    y = make_isometry(mesh.edges, length).project(x, np.ones(len(x)))
    inner = int(np.flatnonzero(~mesh.boundary_nodes)[0])
    total = 0.0
    for face in mesh.face_nodes[np.any(mesh.face_nodes == inner, axis=1)]:
        a, b = (y[node] - y[inner] for node in face if node != inner)
        total += float(np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b)))
    assert total == pytest.approx(2.0 * np.pi, abs=1e-4)


def test_what_cannot_be_projected_stays() -> None:
    edges = np.array([[0, 1], [1, 2], [0, 2]], np.int32)
    isometry = make_isometry(edges, np.array([1.0, 1.0, 3.0]))  # no triangle
    x = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.1, 0.0]])
    y = isometry.project(x, np.ones(3))
    assert np.abs(isometry.strain(y)).max() <= np.abs(isometry.strain(x)).max()


def test_guards_keep_two_sheets_apart() -> None:
    """A triangle that would grow through another one is pushed aside instead, with its right lengths."""
    faces = np.array([[0, 1, 2], [3, 4, 5]], np.int32)
    lower = np.array([[-0.05, -0.05, 0.0], [0.05, -0.05, 0.0], [0.0, 0.06, 0.0]])
    upper = np.array([[0.0, 0.0, 2e-4], [0.01, 0.0, 0.03], [-0.01, 0.0, 0.03]])
    x = np.concatenate([lower, upper])
    surface = make_surface(faces, x, dhat=1e-3)
    edges = np.array([[3, 4], [4, 5], [3, 5]], np.int32)
    length = 1.2 * np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)
    isometry = make_isometry(edges, length)
    weight = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    y = isometry.project(x, weight)
    assert has_intersections(surface, y)
    candidates = find_candidates(surface, x, y, surface.reach)
    guards = find_guards(surface, candidates, x, y)
    z = project_guarded(isometry, x, weight, guards)
    assert not has_intersections(surface, z)
    assert np.abs(isometry.strain(z)).max() <= 1e-5
    assert z[3, 2] >= 1e-4 - 1e-9
    assert np.array_equal(z[:3], x[:3])
