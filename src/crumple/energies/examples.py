"""A small odd patch of cloth and the poses in which every registered energy is tested."""

from __future__ import annotations

import numpy as np

from crumple.mesh.sheet_mesh import SheetMesh, make_sheet_mesh
from crumple.runtime.typing import Floats


def _patch() -> SheetMesh:
    """Five nodes around an inner one, irregular, with one obtuse ear: 6 faces, 6 hinges, about 0.1 m wide."""
    u = np.array([[0.05, 0.04], [0.0, 0.0], [0.09, -0.01], [0.11, 0.06], [0.04, 0.1], [-0.02, 0.06], [0.2, 0.01]])
    faces = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5], [0, 5, 1], [2, 6, 3]])
    return make_sheet_mesh(u, faces)


PATCH = _patch()


def patch_poses(rng: np.random.Generator) -> dict[str, Floats]:
    """World positions of `PATCH` by name: flat (undeformed), stretched, random, folded, nearly degenerate."""
    flat = PATCH.node_rest.copy()
    turn = random_rotation(rng)
    poses = {
        "flat": flat,
        "stretched": (1.1 * flat) @ turn.T,
        "random": flat + 0.02 * rng.standard_normal(flat.shape),
        "compressed": 0.8 * flat @ turn.T + 0.002 * rng.standard_normal(flat.shape),
    }
    for degrees in (-170.0, 60.0, 170.0):
        poses[f"folded {degrees:+.0f}°"] = fold(flat, np.radians(degrees)) @ turn.T
    poses["nearly degenerate"] = flat.copy()
    poses["nearly degenerate"][6] = 0.5 * (flat[2] + flat[3]) + [2e-4, 0.0, 1e-4]
    return poses


def fold(x: Floats, angle: float) -> Floats:
    """`x` with the part beyond the line through nodes 2 and 3 of the patch turned about it by `angle` [rad]."""
    a, b = x[2], x[3]
    axis = (b - a) / np.linalg.norm(b - a)
    folded = x.copy()
    folded[6] = a + rotation(axis, angle) @ (x[6] - a)
    return folded


def rotation(axis: Floats, angle: float) -> Floats:
    """Rotation matrix about a unit `axis` by `angle` [rad]."""
    x, y, z = axis
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def random_rotation(rng: np.random.Generator) -> Floats:
    """A rotation matrix about a random axis by a random angle."""
    axis = rng.standard_normal(3)
    return rotation(axis / np.linalg.norm(axis), rng.uniform(-np.pi, np.pi))
