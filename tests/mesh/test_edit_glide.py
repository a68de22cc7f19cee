"""Vertices glide through the pattern."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.mesh import Refusal, SheetMesh, validate_mesh
from crumple.mesh.edit_glide import Glide, apply_glide, glide_room, plan_glide, ring_faces
from crumple.shapes import rectangle


@pytest.fixture
def mesh() -> SheetMesh:
    return rectangle(0.1, 0.08, 0.01, kind="delaunay", seed=4)[0]


def test_random_glides_keep_a_valid_mesh_its_area_and_its_place(mesh: SheetMesh) -> None:
    rng = np.random.default_rng(0)
    area = mesh.face_area.sum()
    done = 0
    for _ in range(200):
        vertex = int(rng.choice(np.flatnonzero(~mesh.boundary_nodes)))
        glide = plan_glide(mesh, vertex, mesh.u[vertex] + 0.004 * rng.standard_normal(2))
        if isinstance(glide, Refusal):
            continue
        assert glide.weights @ mesh.u[glide.corners] == pytest.approx(glide.target, abs=1e-15)
        mesh, done = apply_glide(mesh, glide), done + 1
        assert mesh.face_area.min() > 0.0
    assert done > 50
    assert mesh.face_area.sum() == pytest.approx(area, rel=1e-12)
    np.testing.assert_allclose(mesh.node_rest[:, :2], mesh.u, atol=1e-12)
    assert not validate_mesh(mesh, mesh.node_rest)


def test_a_vertex_stays_inside_its_ring(mesh: SheetMesh) -> None:
    vertex = int(np.flatnonzero(~mesh.boundary_nodes)[5])
    assert plan_glide(mesh, vertex, mesh.u[vertex] + [0.03, 0.0]) is Refusal.INVERTED


def test_room_ends_where_a_face_becomes_thin(mesh: SheetMesh) -> None:
    vertex = int(np.flatnonzero(~mesh.boundary_nodes)[7])
    for angle in np.linspace(0.0, 6.0, 13):
        way = np.array([np.cos(angle), np.sin(angle)])
        room = glide_room(mesh, vertex, way)
        assert room > 0.0
        glide = plan_glide(mesh, vertex, mesh.u[vertex] + room * way)
        assert isinstance(glide, Glide)
        moved = apply_glide(mesh, glide)
        faces = ring_faces(moved, vertex)
        longest = moved.corner_length.reshape(-1, 3)[faces].max(axis=1)
        assert (2.0 * moved.face_area[faces] / longest**2).min() > 0.05
