"""Plastic state across remeshing: with the embedding a crease stays sharp, by averaging alone it does not."""

import numpy as np
import pytest
from plastic_shapes import HEIGHT, MIDDLE, WIDTH, fold
from scipy.interpolate import LinearNDInterpolator

from crumple.geometry.curvature import curvature_stencil, rest_angle
from crumple.geometry.overlap import overlap_area, overlap_average
from crumple.mesh import rectangle
from crumple.plasticity import (
    crease_from_edges,
    insert_polyline,
    plastic_residual,
    restore_damage,
    restore_plastic,
    total_curvature,
)

ANGLE = 1.4


def meshes():
    """Two meshes of one sheet that have nothing in common but the line that both have edges on."""
    for seed, size in ((1, 0.006), (2, 0.005)):
        mesh, x = rectangle(WIDTH, HEIGHT, size, kind="delaunay", seed=seed)
        yield insert_polyline(mesh, x, MIDDLE)


def mean_angle(line, plastic):
    """Rest angle along the crease."""
    length = line.mesh.corner_length[line.mesh.hinges.corners[line.hinges, 0]]
    return np.average(rest_angle(curvature_stencil(line.mesh), plastic)[line.hinges], weights=length)


def overlap(new, old):
    return overlap_area(old.mesh.u, old.mesh.faces, new.mesh.u, new.mesh.faces)


def test_embedding_keeps_a_crease_that_averaging_smears():
    """Ten times to and fro: fold angle within 2 % with the embedding, less than half left without."""
    pair = list(meshes())
    to = [overlap(pair[1], pair[0]), overlap(pair[0], pair[1])]
    shapes = [
        fold(line.mesh.u, ANGLE) for line in pair
    ]  # what remeshing the embedding gives: same shape, new nodes
    plastic = naive = crease_from_edges(pair[0].mesh, pair[0].hinges, ANGLE)
    damage = np.abs(plastic[:, 0]) / 20.0
    total = np.sum(damage * pair[0].mesh.face_area)
    for step in range(10):
        old, new = step % 2, 1 - step % 2
        residual = plastic_residual(pair[old].mesh, shapes[old], plastic)
        plastic = restore_plastic(pair[new].mesh, shapes[new], residual, to[old])
        naive = overlap_average(to[old], naive)
        damage = restore_damage(damage, to[old])
    assert mean_angle(pair[0], plastic) == pytest.approx(ANGLE, rel=0.02)
    assert mean_angle(pair[0], naive) < 0.5 * ANGLE
    assert np.sum(damage * pair[0].mesh.face_area) == pytest.approx(total)
    assert damage.min() >= 0.0


def test_residual_is_resampled_with_its_integral():
    """Strain that the embedding does not show at all is averaged: its integral stays."""
    old, new = meshes()
    rng = np.random.default_rng(0)
    plastic = rng.normal(size=(old.mesh.face_count, 3)) * 30.0
    residual = plastic_residual(old.mesh, old.x, plastic)
    np.testing.assert_array_equal(residual, plastic)
    after = restore_plastic(new.mesh, new.x, residual, overlap(new, old))
    np.testing.assert_allclose(new.mesh.face_area @ after, old.mesh.face_area @ plastic, atol=1e-9)


def test_same_mesh_changes_nothing():
    """S_p comes back to rounding when the mesh did not change, whatever y is."""
    line = next(meshes())
    rng = np.random.default_rng(5)
    y = line.x + 1e-3 * rng.normal(size=line.x.shape)
    plastic = rng.normal(size=(line.mesh.face_count, 3)) * 50.0
    again = restore_plastic(line.mesh, y, plastic_residual(line.mesh, y, plastic), overlap(line, line))
    np.testing.assert_allclose(again, plastic, rtol=1e-9, atol=1e-7)


def test_refined_embedding_has_its_strain_where_the_crease_is():
    """A shape interpolated to new nodes keeps its crease line when that line has edges."""
    old, new = meshes()
    shape = LinearNDInterpolator(old.mesh.u, fold(old.mesh.u, ANGLE))(new.mesh.u)
    assert np.isfinite(shape).all()
    on_line = np.unique(new.mesh.hinges.nodes[new.hinges, :2])
    np.testing.assert_allclose(shape[on_line], fold(new.mesh.u, ANGLE)[on_line], atol=2e-5)
    strain = total_curvature(new.mesh, curvature_stencil(new.mesh), np.ascontiguousarray(shape))
    assert mean_angle(new, strain) == pytest.approx(ANGLE, rel=0.02)
