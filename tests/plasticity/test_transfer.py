"""Plastic state across remeshing: with the embedding a crease stays sharp, by averaging alone it does not."""

import numpy as np
import pytest
from plastic_shapes import HEIGHT, MIDDLE, WIDTH, fold, insert, roll

from crumple.geometry.curvature import curvature_stencil, rest_angle, shape_curvature
from crumple.geometry.overlap import overlap_area, overlap_average
from crumple.plasticity import crease_from_edges, uniform_yield_law, yield_curvature
from crumple.plasticity.embedding import Embedding
from crumple.shapes import rectangle
from crumple.state.embedded import handing_operator, plastic_residual, shown_plastic

ANGLE = 1.4


def meshes():
    """Two meshes of one sheet that have nothing in common but the line that both have edges on."""
    for seed, size in ((1, 0.006), (2, 0.005)):
        mesh, x = rectangle(WIDTH, HEIGHT, size, kind="delaunay", seed=seed)
        yield insert(mesh, x, MIDDLE)


def mean_angle(line, plastic):
    """Rest angle along the crease."""
    length = line.mesh.corner_length[line.mesh.hinges.corners[line.hinges, 0]]
    return np.average(rest_angle(curvature_stencil(line.mesh), plastic)[line.hinges], weights=length)


def overlap(new, old):
    return overlap_area(old.mesh.u, old.mesh.faces, new.mesh.u, new.mesh.faces)


def handed(new, new_y, old, old_y, plastic, areas):
    """The operator that takes what has yielded on the mesh `old` with the embedding `old_y` to the mesh `new`."""
    shown = shown_plastic(new, new_y, plastic_residual(old, old_y, plastic), areas)
    return handing_operator(areas, np.abs(new.face_area), np.abs(old.face_area), plastic, shown)


def test_embedding_keeps_a_crease_that_averaging_smears():
    """Ten times to and fro: fold angle within 2 % with the embedding, less than half left without."""
    pair = list(meshes())
    to = [overlap(pair[1], pair[0]), overlap(pair[0], pair[1])]
    shapes = [fold(line.mesh.u, ANGLE) for line in pair]  # what remeshing the embedding gives: same shape, new nodes
    plastic = naive = crease_from_edges(pair[0].mesh, pair[0].hinges, ANGLE)
    damage = np.abs(plastic[:, 0]) / 20.0
    total = np.sum(damage * pair[0].mesh.face_area)
    for step in range(10):
        old, new = step % 2, 1 - step % 2
        hand = handed(pair[new].mesh, shapes[new], pair[old].mesh, shapes[old], plastic, to[old])
        plastic, damage = hand @ plastic, hand @ damage
        naive = overlap_average(to[old], naive)
    assert mean_angle(pair[0], plastic) == pytest.approx(ANGLE, rel=0.02)
    assert mean_angle(pair[0], naive) < 0.5 * ANGLE
    assert np.sum(damage * pair[0].mesh.face_area) == pytest.approx(total)
    assert damage.min() >= 0.0


def test_residual_is_resampled_with_its_integral():
    """Strain that the embedding does not show at all is averaged: its integral stays."""
    old, new = meshes()
    rng = np.random.default_rng(0)
    plastic = rng.normal(size=(old.mesh.face_count, 3)) * 30.0
    after = handed(new.mesh, new.x, old.mesh, old.x, plastic, overlap(new, old)) @ plastic
    np.testing.assert_allclose(new.mesh.face_area @ after, old.mesh.face_area @ plastic, atol=1e-9)


def test_same_mesh_changes_nothing():
    """S_p comes back to rounding when the mesh did not change, whatever y is."""
    line = next(meshes())
    rng = np.random.default_rng(5)
    y = line.x + 1e-3 * rng.normal(size=line.x.shape)
    plastic = rng.normal(size=(line.mesh.face_count, 3)) * 50.0
    again = handed(line.mesh, y, line.mesh, y, plastic, overlap(line, line)) @ plastic
    np.testing.assert_allclose(again, plastic, rtol=1e-9, atol=1e-7)


def test_forced_remesh_keeps_the_residual_curvature():
    """VALIDATION 5: bent, yielded, embedded; half of the faces cut up, the embedding carried along: within 2 %."""
    mesh, x = rectangle(WIDTH, HEIGHT, 0.005)
    stencil = curvature_stencil(mesh)
    law = uniform_yield_law(np.full(mesh.face_count, 20.0))
    total = shape_curvature(mesh, roll(mesh.u, 60.0), stencil)
    done = yield_curvature(law, total, np.zeros((mesh.face_count, 3)), np.zeros(mesh.face_count))
    y = Embedding(mesh).settle(x, done.plastic_curvature)
    fine, fine_y = mesh, y
    for height in (0.011, 0.019, 0.027, 0.036):
        line = insert(fine, fine_y, [[-1.0, height], [0.3 * WIDTH, height], [0.5 * WIDTH, height + 0.004]])
        fine, fine_y = line.mesh, line.x
    assert fine.face_count > 1.15 * mesh.face_count
    areas = overlap_area(mesh.u, mesh.faces, fine.u, fine.faces)
    hand = handed(fine, fine_y, mesh, y, done.plastic_curvature, areas)
    after, damage = hand @ done.plastic_curvature, hand @ done.damage
    middle = fine.u[fine.faces].mean(axis=1)
    inner = np.all((middle > 0.01) & (middle < np.array([WIDTH, HEIGHT]) - 0.01), axis=1)
    mean = np.average(after[inner], axis=0, weights=fine.face_area[inner])
    np.testing.assert_allclose(mean, [40.0, 0.0, 0.0], atol=0.8)
    assert np.average(damage[inner], weights=fine.face_area[inner]) == pytest.approx(2.0, rel=0.02)
