"""Meshes of bent and stretched grids with their patterns, written as OBJ files for tests."""

from pathlib import Path

import numpy as np


def write_grid(path: Path, u: np.ndarray, shape, *, closed: bool = False) -> Path:
    """An OBJ file with the pattern u (rows, columns, 2) [m] in the world shape `shape(u)` (rows, columns, 3) [m].

    `closed`: the last column of nodes is the first, a seam.
    """
    rows, columns = u.shape[:2]
    x = shape(u)[:, : columns - 1] if closed else shape(u)
    width = x.shape[1]
    lines = [f"v {a!r} {b!r} {c!r}" for a, b, c in x.reshape(-1, 3).tolist()]
    lines += [f"vt {a!r} {b!r}" for a, b in u.reshape(-1, 2).tolist()]

    def corner(i: int, j: int) -> str:
        return f"{i * width + j % width + 1}/{i * columns + j + 1}"

    for i in range(rows - 1):
        for j in range(columns - 1):
            a, b, c, d = corner(i, j), corner(i, j + 1), corner(i + 1, j + 1), corner(i + 1, j)
            pairs = ((a, b, c), (a, c, d)) if (i + j) % 2 else ((a, b, d), (b, c, d))
            lines += [f"f {' '.join(face)}" for face in pairs]
    path.write_text("\n".join(lines) + "\n")
    return path


def square(count: int, side: float) -> np.ndarray:
    """The pattern of a square with its middle at the origin, (count + 1, count + 1, 2)."""
    line = np.linspace(-0.5 * side, 0.5 * side, count + 1)
    return np.stack(np.meshgrid(line, line), axis=2)


def sphere_cap(u: np.ndarray, radius: float = 1.0) -> np.ndarray:
    """Points straight above the pattern on a sphere: bent, and stretched towards the rim."""
    return np.concatenate([u, np.sqrt(radius**2 - (u**2).sum(axis=2, keepdims=True))], axis=2)


def folded(u: np.ndarray) -> np.ndarray:
    """A right angle about the line u₀ = 0, without stretch."""
    return np.stack([np.minimum(u[..., 0], 0.0), u[..., 1], np.maximum(u[..., 0], 0.0)], axis=2)


def tube(u: np.ndarray, radius: float) -> np.ndarray:
    """The pattern rolled up about the z axis, however wide it is."""
    angle = 2.0 * np.pi * (u[..., 0] - u[0, 0, 0]) / np.ptp(u[..., 0])
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), u[..., 1]], axis=2)
