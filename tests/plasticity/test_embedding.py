"""The plastic embedding: it takes the shape of given creases, follows them step by step, and never gets worse."""

import numpy as np
import pytest
from plastic_shapes import HEIGHT, MIDDLE, creased, fold, inner_faces, insert, roll, sheet

from crumple.geometry.curvature import curvature_stencil, shape_curvature
from crumple.geometry.hinge import dihedral_angles
from crumple.geometry.metric import tensor_norm
from crumple.mesh import concatenate
from crumple.plasticity import crease_from_edges, crease_from_shape, total_strain, uniform_yield_law, yield_curvature
from crumple.plasticity.embedding import SMALL, Embedding
from crumple.shapes import cylinder
from crumple.state.embedded import plastic_residual


def relative_residual(mesh, y, plastic):
    """Share of the plastic curvature that y does not show, in the mean square over the area."""
    area = mesh.face_area
    left = np.sum(area * tensor_norm(plastic_residual(mesh, y, plastic)) ** 2)
    return np.sqrt(left / np.sum(area * tensor_norm(plastic) ** 2))


@pytest.mark.parametrize("kind", ["equilateral", "delaunay"])
@pytest.mark.parametrize("angle", [0.0, 0.7])
def test_cylinder_is_embedded(kind, angle):
    """From flat to a roll of 3.2 rad, within 1 %, without stretch."""
    mesh, x = sheet(kind, 0.005)
    plastic = crease_from_shape(mesh, roll(mesh.u, 40.0, angle))
    embedding = Embedding(mesh)
    y = embedding.settle(x, plastic)
    assert embedding.is_settled(y, plastic)
    assert relative_residual(mesh, y, plastic) < 0.01
    assert tensor_norm(total_strain(mesh, y)).max() < 0.02


@pytest.mark.parametrize("kind", ["equilateral", "right", "delaunay"])
@pytest.mark.parametrize("angle", [1.0, -2.9])
def test_single_fold_is_embedded(kind, angle):
    """Mountain and sharp valley: angles within 1 %, flat beside the fold."""
    line = creased(kind, 0.006)
    embedding = Embedding(line.mesh)
    y = embedding.settle(line.x, crease_from_edges(line.mesh, line.hinges, angle))
    angles = dihedral_angles(y, line.mesh.hinges.nodes)
    np.testing.assert_allclose(angles[line.hinges], angle, rtol=0.01)
    np.testing.assert_allclose(angles[~line.hinges], 0.0, atol=0.01)


def test_crossing_folds_that_cannot_all_be_had_leave_a_residual():
    """Four mountain folds that meet have no flat faces: a part stays in the residual, and S(y) + S_r = S_p."""
    line = creased("delaunay", 0.008)
    across = insert(line.mesh, line.x, [[-1.0, 0.5 * HEIGHT], [1.0, 0.5 * HEIGHT]], label=2)
    mesh = across.mesh
    hinges = across.hinges | insert(mesh, across.x, MIDDLE).hinges
    plastic = crease_from_edges(mesh, hinges, 0.8)
    embedding = Embedding(mesh)
    y = embedding.settle(across.x, plastic)
    share = relative_residual(mesh, y, plastic)
    assert 0.01 < share < 0.2
    recovered = shape_curvature(mesh, y, curvature_stencil(mesh)) + plastic_residual(mesh, y, plastic)
    np.testing.assert_allclose(recovered, plastic, atol=1e-9)


def test_one_step_per_change_follows_a_slowly_forming_bend():
    """Yield in ten increments, one Newton step each: the embedding lags by a few percent only."""
    mesh, y = sheet("equilateral", 0.006)
    law, stencil, embedding = (
        uniform_yield_law(np.full(mesh.face_count, 5.0)),
        curvature_stencil(mesh),
        Embedding(mesh),
    )
    plastic, damage = np.zeros((mesh.face_count, 3)), np.zeros(mesh.face_count)
    for curvature in np.linspace(3.0, 30.0, 10):
        done = yield_curvature(law, shape_curvature(mesh, roll(mesh.u, curvature), stencil), plastic, damage)
        plastic, damage = done.plastic_curvature, done.damage
        y = embedding.advance(y, plastic)
    assert relative_residual(mesh, y, plastic) < 0.1
    inner = inner_faces(mesh, 0.012)
    shown = shape_curvature(mesh, embedding.settle(y, plastic), stencil)[inner]
    np.testing.assert_allclose(shown[:, 0], 25.0, rtol=0.02)


def test_energy_never_rises_however_wild_the_plastic_strain():
    """Random strains that no surface has, rest angles beyond π: every step descends or stays; numbers stay finite."""
    mesh, y = sheet("delaunay", 0.01)
    plastic = np.random.default_rng(1).normal(size=(mesh.face_count, 3)) * 300.0
    embedding = Embedding(mesh)
    energies = [sum(embedding.energy(y, plastic))]
    for _ in range(15):
        y = embedding.advance(y, plastic)
        energies.append(sum(embedding.energy(y, plastic)))
    assert np.all(np.diff(energies) <= 0.0)
    assert energies[-1] < 0.9 * energies[0]
    assert np.isfinite(y).all()


def test_settled_embedding_is_returned_as_it_is():
    """Flat and unyielded: the very same array, so that elastic runs are not touched."""
    mesh, x = sheet("right", 0.01)
    embedding = Embedding(mesh)
    plastic = np.zeros((mesh.face_count, 3))
    assert not embedding.is_settled(x, plastic)
    assert embedding.advance(x, plastic) is x
    assert embedding.is_settled(x, plastic)
    assert not embedding.is_settled(x, plastic.copy())


def test_several_sheets_and_seams():
    """A creased sheet beside an elastic tube with a seam: only the creased one moves."""
    line = creased("right", 0.01)
    tube, points = cylinder(0.05, 0.03, 0.008)
    both, start = concatenate([line.mesh, tube])
    y = np.concatenate([line.x, points])
    plastic = np.concatenate([crease_from_edges(line.mesh, line.hinges, 1.0), crease_from_shape(tube, points)])
    moved = Embedding(both).settle(y, plastic)
    np.testing.assert_allclose(moved[start[1] :], points, atol=1e-6)
    angles = dihedral_angles(np.ascontiguousarray(moved[: start[1]]), line.mesh.hinges.nodes)
    np.testing.assert_allclose(angles[line.hinges], 1.0, rtol=0.01)


def test_yielded_fold_springs_back_to_its_embedding():
    """Fold to 2 rad, yield, embed: the rest shape is the fold less κ_y h."""
    line = creased("equilateral", 0.005)
    mesh, limit = line.mesh, 100.0
    stencil = curvature_stencil(mesh)
    law = uniform_yield_law(np.full(mesh.face_count, limit))
    total = shape_curvature(mesh, fold(mesh.u, 2.0), stencil)
    done = yield_curvature(law, total, np.zeros((mesh.face_count, 3)), np.zeros(mesh.face_count))
    y = Embedding(mesh).settle(line.x, done.plastic_curvature)
    height = (
        mesh.face_area[mesh.hinges.faces[line.hinges]].mean(axis=1)
        * 2
        / mesh.corner_length[mesh.hinges.corners[line.hinges, 0]]
    )
    angles = dihedral_angles(y, mesh.hinges.nodes)[line.hinges]
    expected = np.average(2.0 - limit * height)
    assert np.mean(angles) == pytest.approx(expected, rel=0.05)


def test_a_calm_embedding_moves_only_where_it_has_to():
    """A dent of one face among creases that are settled: what is far from it stays, and it is embedded all the same."""
    mesh, x = sheet("delaunay", 0.002)
    assert mesh.node_count > SMALL
    plastic = crease_from_shape(mesh, roll(mesh.u, 20.0, 0.0))
    y = Embedding(mesh).settle(x, plastic)
    dent = plastic.copy()
    dent[mesh.face_count // 2] += (8.0, -5.0, 3.0)
    embedding = Embedding(mesh)
    local = embedding.advance(y, dent, before=plastic)
    moved = np.any(local != y, axis=1)
    assert 5 < np.count_nonzero(moved) < 0.1 * mesh.node_count
    assert sum(embedding.energy(local, dent)) < 0.9 * sum(embedding.energy(y, dent))
    everywhere = embedding.advance(y, dent)
    assert np.all(np.any(everywhere != y, axis=1))
    assert sum(embedding.energy(local, dent)) < 1.1 * sum(embedding.energy(everywhere, dent))


def test_a_crease_that_bends_on_moves_everything():
    mesh, x = sheet("delaunay", 0.002)
    before = np.zeros((mesh.face_count, 3))
    after = crease_from_shape(mesh, roll(mesh.u, 20.0, 0.0))
    moved = Embedding(mesh).advance(x, after, before=before)
    assert np.all(np.any(moved != x, axis=1))
