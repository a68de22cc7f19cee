"""Directors: the split of hinge angles on odd meshes, the way they are carried along, the curvature they make."""

from __future__ import annotations

import numpy as np
import pytest
from odd_meshes import ODD

from crumple.energies.examples import random_rotation
from crumple.geometry.curvature import bending_strain, curvature_stencil
from crumple.geometry.directors import (
    curvature_angles,
    curvature_shapes,
    edge_directors,
    edge_links,
    half_turns,
    held_faces,
    split_angles,
)
from crumple.geometry.hinge import dihedral_angles

NAMES = sorted(set(ODD) - {"pillow"})  # whose hinges are all at 180°


def posed(name):
    """An odd mesh in a random shape with random half turns."""
    rng = np.random.default_rng(5)
    mesh = ODD[name]
    x = mesh.node_rest + 0.05 * rng.standard_normal((mesh.node_count, 3))
    links = edge_links(mesh)
    return mesh, links, x, rng.uniform(-0.4, 0.4, links.edge_count)


@pytest.mark.parametrize("name", NAMES)
def test_angles_split_the_hinge(name):
    mesh, links, x, half_turn = posed(name)
    assert links.edge_count == len(mesh.edges)
    angle = split_angles(links, x, half_turn)
    a, b = mesh.hinges.corners.T
    flat, side = angle.ravel(), links.side.ravel()
    np.testing.assert_allclose(flat[a] - side[b] * flat[b], dihedral_angles(x, mesh.hinges.nodes), atol=1e-12)
    np.testing.assert_allclose(half_turns(links, angle), half_turn, atol=1e-12)
    assert (side[b] == 1.0).sum() == {"moebius": 3, "two sheets": 2}.get(name, 0), "the edges of one-sided seams"


@pytest.mark.parametrize("name", NAMES)
def test_directors_lie_at_the_angles_of_both_faces(name):
    mesh, links, x, half_turn = posed(name)
    director = edge_directors(mesh, links, x, half_turn)[links.face_edge]
    corner = x[mesh.face_nodes]
    along = np.roll(corner, -1, axis=1) - corner
    along /= np.linalg.norm(along, axis=2, keepdims=True)
    normal = np.cross(along[:, 0], along[:, 1])
    normal = (normal / np.linalg.norm(normal, axis=1, keepdims=True))[:, None]
    second = np.zeros(3 * mesh.face_count, bool)
    second[mesh.hinges.corners[:, 1]] = True
    director[second.reshape(-1, 3) & (links.side > 0.0)] *= -1.0  # one-sided seams
    angle = np.arctan2(np.sum(np.cross(normal, director) * along, axis=2), np.sum(normal * director, axis=2))
    off = angle - split_angles(links, x, half_turn)
    np.testing.assert_allclose(np.sin(0.5 * off), 0.0, atol=1e-9)
    np.testing.assert_allclose(np.sum(director * along, axis=2), 0.0, atol=1e-12)


def test_half_turns_do_not_know_rigid_motion():
    mesh, links, x, half_turn = posed("moebius")
    turn = random_rotation(np.random.default_rng(2))
    there = np.ascontiguousarray(x @ turn.T + 0.3)
    before, after = (edge_directors(mesh, links, y, half_turn) for y in (x, there))
    np.testing.assert_allclose(after, before @ turn.T, atol=1e-9)
    np.testing.assert_allclose(split_angles(links, there, half_turn), split_angles(links, x, half_turn), atol=1e-9)


def test_curvature_of_halves_is_that_of_the_hinges():
    """φ½ = 0 gives eq. 1 of Narain 2013 on faces with three hinges; angles and curvature are one-to-one on all."""
    mesh, links, x, half_turn = posed("annulus")
    shape = curvature_shapes(mesh)
    middle = np.einsum("fk,fkq->fq", split_angles(links, x, 0.0 * half_turn), shape)
    inner = (links.beyond >= 0).all(axis=1)
    expected = bending_strain(curvature_stencil(mesh), dihedral_angles(x, mesh.hinges.nodes))
    np.testing.assert_allclose(middle[inner], expected[inner], atol=1e-10)
    angle = split_angles(links, x, half_turn)
    np.testing.assert_allclose(curvature_angles(mesh, np.einsum("fk,fkq->fq", angle, shape)), angle, atol=1e-12)


def test_what_handles_hold():
    mesh = ODD["annulus"]
    handle = np.full(mesh.node_count, -1, np.int32)
    handle[mesh.face_nodes[0]] = 2
    assert held_faces(mesh.face_nodes, handle)[0]
    assert held_faces(mesh.face_nodes, handle).sum() == 1
    handle[mesh.face_nodes[0, 0]] = 1
    assert not held_faces(mesh.face_nodes, handle).any()
