"""Directors: the split of hinge angles on odd meshes, the way they are carried along, the curvature they make."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from crumple.energies.examples import random_rotation
from crumple.geometry.curvature import bending_strain, curvature_stencil
from crumple.geometry.directors import (
    Directors,
    carry_angles,
    curvature_angles,
    curvature_shapes,
    edge_links,
    half_turns,
    held_edges,
    held_faces,
    split_angles,
    start_directors,
)
from crumple.geometry.hinge import dihedral_angles

sys.path.append(str(Path(__file__).parents[1] / "mesh"))
from odd_meshes import ODD

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
    angle = split_angles(mesh, links, x, half_turn)
    a, b = mesh.hinges.corners.T
    flat, sign = angle.ravel(), links.sign.ravel()
    np.testing.assert_allclose(flat[a] + sign[b] * flat[b], dihedral_angles(x, mesh.hinges.nodes), atol=1e-12)
    np.testing.assert_allclose(half_turns(links, angle), half_turn, atol=1e-12)
    if name == "moebius":
        assert (sign[b] == -1.0).sum() == 3, "the three edges of the seam"
    elif name in ("tube", "cone", "annulus"):
        assert (sign == 1.0).all()


@pytest.mark.parametrize("name", NAMES)
def test_faces_agree_on_the_director_of_an_edge(name):
    mesh, links, x, half_turn = posed(name)
    start = start_directors(mesh, links, x, half_turn)
    directors = links.sign[..., None] * start.director
    mean = np.zeros((links.edge_count, 3))
    mean[links.face_edge.ravel()] = directors.reshape(-1, 3)
    np.testing.assert_allclose(mean[links.face_edge], directors, atol=1e-9)
    np.testing.assert_allclose(np.einsum("fki,fki->fk", start.director, start.tangent), 0.0, atol=1e-12)
    np.testing.assert_allclose(carry_angles(x, mesh.face_nodes, start), start.angle, atol=1e-9)


def test_half_turns_do_not_know_rigid_motion():
    mesh, links, x, half_turn = posed("moebius")
    turn = random_rotation(np.random.default_rng(2))
    start = start_directors(mesh, links, x, half_turn)
    moved = start_directors(mesh, links, x @ turn.T + 0.3, half_turn)
    np.testing.assert_allclose(moved.director, start.director @ turn.T, atol=1e-9)
    np.testing.assert_allclose(moved.angle, start.angle, atol=1e-9)


def test_carried_directors_turn_together():
    """Seen from the two faces of an edge that moves far, the director stays one vector: ψ_A + ψ_B is the angle."""
    mesh, links, x, half_turn = posed("annulus")
    start = start_directors(mesh, links, x, half_turn)
    swung = np.ascontiguousarray((x @ random_rotation(np.random.default_rng(4)).T) * [1.0, 1.2, 0.9])
    angle = carry_angles(swung, mesh.face_nodes, start).ravel()
    a, b = mesh.hinges.corners.T
    off = angle[a] + angle[b] - dihedral_angles(swung, mesh.hinges.nodes)
    np.testing.assert_allclose(np.sin(0.5 * off), 0.0, atol=1e-12)


def test_angle_is_continued_beyond_half_a_turn():
    """A face that takes the whole of a sharp fold and more: its angle goes on where atan2 jumps."""
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    nodes = np.array([[0, 1, 2]], np.int32)
    tangent = np.array([[[1.0, 0, 0], [-1, 1, 0], [0, -1, 0]]])
    tangent /= np.linalg.norm(tangent, axis=2)[..., None]
    for angle in (3.0, 3.3, 4.0, -3.5):
        director = np.cos(angle) * np.array([0, 0, 1.0]) + np.sin(angle) * np.cross(tangent, [0, 0, 1.0])
        start = Directors(tangent, director, np.full((1, 3), angle))
        np.testing.assert_allclose(carry_angles(x, nodes, start), angle, atol=1e-12)
        up = x.copy()
        up[2, 2] = 0.2
        np.testing.assert_allclose(carry_angles(up, nodes, start)[0, 0], angle - np.arctan(0.2), atol=1e-12)


def test_curvature_of_halves_is_that_of_the_hinges():
    """φ½ = 0 gives eq. 1 of Narain 2013 on faces with three hinges; angles and curvature are one-to-one on all."""
    mesh, links, x, half_turn = posed("annulus")
    shape = curvature_shapes(mesh)
    middle = np.einsum("fk,fkq->fq", split_angles(mesh, links, x, 0.0 * half_turn), shape)
    inner = np.isin(links.face_edge, links.hinge_edge).all(axis=1)
    expected = bending_strain(curvature_stencil(mesh), dihedral_angles(x, mesh.hinges.nodes))
    np.testing.assert_allclose(middle[inner], expected[inner], atol=1e-10)
    angle = split_angles(mesh, links, x, half_turn)
    np.testing.assert_allclose(curvature_angles(mesh, np.einsum("fk,fkq->fq", angle, shape)), angle, atol=1e-12)


def test_what_handles_hold():
    mesh = ODD["annulus"]
    handle = np.full(mesh.node_count, -1, np.int32)
    handle[mesh.face_nodes[0]] = 2
    assert held_faces(mesh.face_nodes, handle)[0]
    assert held_faces(mesh.face_nodes, handle).sum() == 1
    assert held_edges(mesh.edges, handle).sum() == 3
    handle[mesh.face_nodes[0, 0]] = 1
    assert not held_faces(mesh.face_nodes, handle).any()
    assert held_edges(mesh.edges, handle).sum() == 1
