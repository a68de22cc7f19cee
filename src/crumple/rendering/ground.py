"""A soft shadow on the ground: the sheet seen from above, blurred."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter

from crumple.typing import Floats, Ints

PIXELS = 384
DARKNESS = 0.5
"""Opacity of the shadow below something that lies on the ground."""

LARGEST_SAMPLES = 2_000_000
"""Points on the surface that are worth looking at."""

FADE, BLUR = 0.12, 0.012
"""Height over which the shadow fades, and its softness, in widths of the square."""


def shadow_image(points: Floats, triangles: Ints, ground: float, centre: Floats, width: float) -> Floats:
    """Opacity (PIXELS, PIXELS) of the shadow that a surface throws straight down on height `ground` [m].

    Rows run along +y, columns along +x over a square of `width` [m] around `centre` (2,). What is close to the
    ground darkens it most.
    """
    pixel = width / PIXELS
    covered = np.zeros(PIXELS * PIXELS)
    for weights in _barycentric(_samples_per_edge(points, triangles, pixel)):
        spot = np.tensordot(weights, points[triangles], axes=(0, 1))
        column, row = np.floor((spot[:, :2] - centre) / pixel + PIXELS / 2).astype(int).T
        inside = (column >= 0) & (column < PIXELS) & (row >= 0) & (row < PIXELS)
        shade = np.exp((ground - spot[inside, 2]) / (FADE * width))
        np.maximum.at(covered, row[inside] * PIXELS + column[inside], shade)
    return DARKNESS * gaussian_filter(covered.reshape(PIXELS, PIXELS), BLUR * PIXELS)


def _samples_per_edge(points: Floats, triangles: Ints, pixel: float) -> int:
    """So many samples along an edge that a typical triangle leaves no holes."""
    corners = points[triangles, :2]
    length = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
    affordable = np.sqrt(2 * LARGEST_SAMPLES / len(triangles))
    return int(np.clip(np.quantile(length, 0.9) / pixel, 1, affordable)) + 1


def _barycentric(n: int) -> Floats:
    """Barycentric weights of a regular pattern in a triangle, ((n + 1)(n + 2)/2, 3)."""
    i, j = np.meshgrid(np.arange(n + 1), np.arange(n + 1))
    keep = i + j <= n
    i, j = i[keep], j[keep]
    return np.stack([i, j, n - i - j], axis=1) / n
