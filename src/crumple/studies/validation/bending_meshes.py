"""Square plates on meshes of all kinds, and how far a plate deflects. Units are 1: side, bending stiffness B."""

from __future__ import annotations

import numpy as np
from scipy.spatial import Delaunay

from crumple.mesh import SheetMesh, make_sheet_mesh
from crumple.runtime.typing import Floats
from crumple.shapes import rectangle


def navier_deflection(width: float, height: float) -> float:
    """Deflection in the middle of a simply supported plate under unit load, B = 1."""
    m = np.arange(1, 80, 2)
    sign = np.where(m % 4 == 1, 1.0, -1.0)
    terms = np.outer(sign / m, sign / m) / np.add.outer((m / width) ** 2, (m / height) ** 2) ** 2
    return float(16.0 / np.pi**6 * terms.sum())


def plate_meshes(faces: int = 3000, seed: int = 0) -> dict[str, SheetMesh]:
    """The unit square in about so many faces, by kind."""
    n = round(np.sqrt(0.5 * faces))
    made = {kind: rectangle(1.0, 1.0, divisions=(n, n), kind=kind)[0] for kind in ("right", "alternating")}
    rows = round(n / np.sqrt(np.sqrt(0.75)))
    for kind in ("equilateral", "delaunay"):
        made[kind] = rectangle(1.0, 1.0, divisions=(round(0.5 * faces / rows), rows), kind=kind)[0]  # type: ignore[arg-type]
    made["jittered"] = _jittered(n, 0.3, np.random.default_rng(seed))
    made["aspect 3"] = _stretched(n, 3.0, np.radians(20.0), np.random.default_rng(seed))
    return made


def _jittered(n: int, share: float, rng: np.random.Generator) -> SheetMesh:
    """A square grid whose inner points are displaced by up to `share` of the edge, triangulated."""
    points = np.stack(np.meshgrid(np.linspace(0, 1, n + 1), np.linspace(0, 1, n + 1)), axis=-1).reshape(-1, 2)
    inner = ((points > 1e-9) & (points < 1.0 - 1e-9)).all(axis=1)
    points[inner] += rng.uniform(-share, share, (np.count_nonzero(inner), 2)) / n
    return _triangulated(points, points)


def _stretched(n: int, aspect: float, angle: float, rng: np.random.Generator) -> SheetMesh:
    """Jittered triangles of the given aspect, their long sides at `angle` [rad] from u."""
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    size = np.array([np.sqrt(aspect), 1.0 / np.sqrt(aspect)]) / n
    grid = np.stack(np.meshgrid(np.arange(-1.5, 1.5, size[0]), np.arange(-1.5, 1.5, size[1])), axis=-1)
    grid[1::2, :, 0] += 0.5 * size[0]
    inner = (grid.reshape(-1, 2) + rng.uniform(-0.2, 0.2, (grid.size // 2, 2)) * size) @ turn.T + 0.5
    inner = inner[((inner > 0.4 / n) & (inner < 1.0 - 0.4 / n)).all(axis=1)]
    t = np.linspace(0.0, 1.0, n + 1)
    sides = [np.stack([t, 0 * t], 1), np.stack([t, 0 * t + 1], 1), np.stack([0 * t, t], 1)[1:-1],
             np.stack([0 * t + 1, t], 1)[1:-1]]  # fmt: skip
    points = np.concatenate([*sides, inner])
    return _triangulated(points, (points - 0.5) @ turn / size)


def _triangulated(points: Floats, plane: Floats) -> SheetMesh:
    """The Delaunay triangulation of `plane` (n, 2) with the pattern `points` (n, 2)."""
    faces = Delaunay(plane).simplices
    e, f = points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]]
    area = e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0]
    faces = np.where((area > 0.0)[:, None], faces, faces[:, ::-1])[np.abs(area) > 1e-9]
    return make_sheet_mesh(points, faces.astype(np.int32))
