"""Strains of faces against their pattern."""

from __future__ import annotations

import numpy as np

from crumple.mesh import SheetMesh
from crumple.runtime.typing import Floats


def largest_strains(mesh: SheetMesh, x: Floats, plastic_strain: Floats) -> Floats:
    """Largest |λ − 1| over the principal stretches λ of each face from its lengths at rest to `x`, (face_count,).

    At rest it is as in its pattern but for the `plastic_strain` (face_count, 3).
    """
    p, q = mesh.u[mesh.faces], x[mesh.face_nodes]
    flat = np.stack([p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]], axis=2)
    bent = np.stack([q[:, 1] - q[:, 0], q[:, 2] - q[:, 0]], axis=2)
    gradient = bent @ np.linalg.inv(flat)
    metric = np.swapaxes(gradient, 1, 2) @ gradient
    xx, yy, xy = 2.0 * plastic_strain.T
    metric = metric - np.stack([np.stack([xx, xy], axis=1), np.stack([xy, yy], axis=1)], axis=1)
    middle = 0.5 * (metric[:, 0, 0] + metric[:, 1, 1])
    half = np.hypot(0.5 * (metric[:, 0, 0] - metric[:, 1, 1]), metric[:, 0, 1])
    longest, shortest = np.sqrt(middle + half), np.sqrt(np.maximum(middle - half, 0.0))
    return np.asarray(np.maximum(np.abs(longest - 1.0), np.abs(shortest - 1.0)))
