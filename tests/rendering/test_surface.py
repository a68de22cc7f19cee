"""The drawn surface: smooth where the sheet bends, sharp where it is creased, without gaps."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.rendering.surface import find_creases, make_patches, make_rim, refine, refine_values
from crumple.shapes import rectangle


def bent(radius: float, size: float = 0.01):
    """A rectangle rolled to a part of a cylinder about y with its axis at height `radius`."""
    mesh, x = rectangle(0.1, 0.1, size)
    angle = (x[:, 0] - 0.05) / radius
    return mesh, np.stack([radius * np.sin(angle), x[:, 1], radius * (1.0 - np.cos(angle))], axis=1)


def folded(angle: float):
    """A rectangle with a sharp fold by `angle` along x = 0."""
    mesh, x = rectangle(0.08, 0.04, kind="right", divisions=(8, 4))
    x = x - np.array([0.04, 0.0, 0.0])
    far = np.maximum(x[:, 0], 0.0)
    return mesh, np.stack([np.minimum(x[:, 0], 0.0) + far * np.cos(angle), x[:, 1], far * np.sin(angle)], axis=1)


def test_gentle_bends_share_normals_and_folds_do_not():
    mesh, x = bent(0.05)
    smooth = make_patches(mesh.face_nodes, mesh.twin, x, find_creases(mesh, x, None))
    assert len(np.unique(smooth.shared)) == mesh.node_count
    mesh, x = folded(np.radians(70.0))
    sharp = make_patches(mesh.face_nodes, mesh.twin, x, find_creases(mesh, x, None))
    crease = np.abs(x[:, 0]) + np.abs(x[:, 2]) < 1e-9
    assert len(np.unique(sharp.shared)) == mesh.node_count + np.count_nonzero(crease)
    flat = sharp.normal[np.all(sharp.point[..., 0] <= 1e-9, axis=1)]
    np.testing.assert_allclose(flat, np.broadcast_to([0.0, 0.0, 1.0], flat.shape), atol=1e-9)


def test_a_plastic_crease_is_sharp_even_when_it_is_almost_open():
    mesh, x = folded(np.radians(25.0))
    _, y = folded(np.radians(50.0))
    assert not find_creases(mesh, x, None)[mesh.twin >= 0].any()
    creased = find_creases(mesh, x, y) & (mesh.twin >= 0)
    assert np.count_nonzero(creased) == 2 * 4  # both sides of the four edges on the fold
    assert not find_creases(mesh, x, mesh.node_rest)[mesh.twin >= 0].any()


def test_refined_points_come_near_the_cylinder():
    errors = []
    for size in (0.02, 0.01):
        mesh, x = bent(0.05, size)
        patches = make_patches(mesh.face_nodes, mesh.twin, x, find_creases(mesh, x, None))
        inner = ~(mesh.boundary_nodes[mesh.face_nodes].any(axis=1))  # normals at the boundary are one-sided
        for _ in range(2):
            patches, inner = refine(patches), np.tile(inner, 4)
        radius = np.hypot(patches.point[inner][..., 0], patches.point[inner][..., 2] - 0.05)
        errors.append(np.abs(radius - 0.05).max())
        flat = 0.05 * (1 - np.cos(size / 0.05 / 2))  # how far chords of this length are off
        assert errors[-1] < 0.35 * flat
    assert errors[1] < 0.4 * errors[0]


@pytest.mark.parametrize("angle", [20.0, 70.0, 180.0])
def test_there_are_no_gaps(angle):
    """Every inner edge of the refined surface has the same two ends in both of its triangles."""
    mesh, x = folded(np.radians(angle))
    x = x + 1e-3 * np.random.default_rng(0).normal(size=x.shape)
    patches = make_patches(mesh.face_nodes, mesh.twin, x, find_creases(mesh, x, None))
    for _ in range(2):
        patches = refine(patches)
    a, b = patches.point, np.roll(patches.point, -1, axis=1)
    ends = np.concatenate([a, b], axis=2).reshape(-1, 6)
    back = np.concatenate([b, a], axis=2).reshape(-1, 6)
    there = {tuple(edge) for edge in np.round(ends, 12)}
    met = np.array([tuple(edge) in there for edge in np.round(back, 12)])
    assert met[~patches.border.ravel()].all()
    assert not met[patches.border.ravel()].any()


def test_values_and_numbers_follow_the_refinement():
    mesh, x = folded(np.radians(70.0))
    patches = make_patches(mesh.face_nodes, mesh.twin, x, find_creases(mesh, x, None))
    fine = refine(patches, curved=0.0)
    np.testing.assert_allclose(refine_values(patches.point), fine.point)
    np.testing.assert_allclose(fine.place.sum(axis=2), 1.0)
    _, first = np.unique(fine.shared, return_index=True)
    alike = fine.point.reshape(-1, 3)[first][np.unique(fine.shared, return_inverse=True)[1].ravel()]
    np.testing.assert_allclose(alike.reshape(fine.point.shape), fine.point, atol=1e-12)
    assert np.linalg.norm(fine.normal, axis=2) == pytest.approx(1.0)


def test_the_rim_is_as_wide_as_the_sheet_is_thick():
    mesh, x = bent(0.05)
    patches = make_patches(mesh.face_nodes, mesh.twin, x, find_creases(mesh, x, None))
    corners, normal, patch = make_rim(patches, np.full(len(patches), 2e-4))
    assert len(corners) == 2 * np.count_nonzero(patches.border)
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    length = 2 * 0.1 + 2 * 0.1
    assert area.sum() == pytest.approx(2e-4 * length, rel=0.02)
    middle = corners.mean(axis=1) - patches.point[patch].mean(axis=1)
    assert (np.einsum("ij,ij->i", middle, normal[:, 0]) > 0).all()
