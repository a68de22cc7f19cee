"""Grids of triangles that are fine where a sheet bends sharply."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from crumple.runtime.typing import Floats, Ints

STEEPEST = 50.0
"""Of a grading: the last step is then e^50 times the first."""


def graded_line(length: float, first: float, count: int) -> Floats:
    """`count` + 1 positions from 0 to `length` [m] whose steps grow smoothly from `first` [m]: sinh(a k)/sinh(a n)."""
    if first * count >= length:
        return np.linspace(0.0, length, count + 1)

    def excess(a: float) -> float:
        return float(length * np.sinh(a / count) / np.sinh(a) - first)

    a = brentq(excess, 1e-6, STEEPEST)
    return length * np.sinh(a * np.arange(count + 1) / count) / np.sinh(a)


def mirrored(line: Floats) -> Floats:
    """Positions from −l to l from those from 0 to l."""
    return np.concatenate([-line[:0:-1], line])


def grid_faces(columns: int, rows: int) -> Ints:
    """Faces of a grid of (columns + 1) × (rows + 1) points, row by row; cells are cut by diagonals in turn."""
    index = np.arange((columns + 1) * (rows + 1)).reshape(rows + 1, columns + 1)
    a, b = index[:-1, :-1].ravel(), index[:-1, 1:].ravel()
    c, d = index[1:, 1:].ravel(), index[1:, :-1].ravel()
    odd = (np.add.outer(np.arange(rows), np.arange(columns)) % 2 == 1).ravel()
    faces = np.stack([a, b, c, a, c, d], axis=1)
    faces[odd] = np.stack([a, b, d, b, c, d], axis=1)[odd]
    return faces.reshape(-1, 3).astype(np.int32)
