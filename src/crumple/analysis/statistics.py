"""Where the sheet is inside its ball, how it lies there and how sharply it is bent (VALIDATION figure 8 a–c)."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np

from crumple.analysis.shape import SMALLEST_LENGTH, SheetShape, principal_curvatures
from crumple.runtime.typing import Floats

SAMPLES = 4
"""Each face is sampled at the centres of the SAMPLES² equal triangles that it is cut into."""
DENSITY_BINS, FARTHEST = 24, 1.2
"""Shells of the density profile, and where the last ends [outer radius]."""
ORIENTATION_BINS = 20
RADIUS_BINS, LARGEST_RADIUS = 60, 60.0
"""Of the histogram of radii of curvature, and where it ends [thickness]."""
FLATTEST = 1e6
"""Radii beyond this are those of rounding [thickness]."""
FINE_BINS = 4
"""The peak of a histogram is sought in so many bins to one of the histogram, smoothed over PEAK_WIDTH."""
PEAK_WIDTH = 2.0
"""Standard deviation of the smoothing [thickness]."""


@dataclass(frozen=True)
class Histogram:
    """`edges` (n + 1,) of the bins and the probability density `density` (n,) in them, per unit of the edges."""

    edges: Floats
    density: Floats

    @property
    def middle(self) -> Floats:
        """Middle of each bin, (n,)."""
        return 0.5 * (self.edges[1:] + self.edges[:-1])


@dataclass(frozen=True)
class DensityProfile:
    """Mass per volume in shells around the centre of mass.

    `histogram.edges` in units of the outer `radius` [m]; `histogram.density` as a fraction of the mean density of the
    ball (so that a ball filled evenly has 1); `mass` (n,) share of the mass in each shell.
    """

    histogram: Histogram
    mass: Floats
    radius: float


@dataclass(frozen=True)
class Orientation:
    """|n · r̂| over the area of the sheet: its `histogram` on [0, 1] and its `mean` (0.5 when isotropic)."""

    histogram: Histogram
    mean: float


@dataclass(frozen=True)
class CurvatureRadii:
    """Radii of principal curvature in units of the thickness, over the area of the sheet.

    `first` of R1 (the sharper one), `second` of R2;  `first_peak`, `second_peak` where the smoothed densities per unit
    of R/t are largest, `first_median`, all [t]; None when no face is bent within LARGEST_RADIUS, the median also when
    it exceeds FLATTEST;  `first_share`, `second_share` of the area whose radius the histogram shows.
    """

    first: Histogram
    second: Histogram
    first_peak: float | None
    second_peak: float | None
    first_median: float | None
    first_share: float
    second_share: float


def density_profile(shape: SheetShape) -> DensityProfile:
    """Mass density over the distance from the centre of mass, in shells of equal thickness."""
    radius = max(shape.ball.radius, SMALLEST_LENGTH)
    points, _ = _sample(shape)
    distance = np.linalg.norm(points - shape.center, axis=2) / radius
    weight = np.broadcast_to((shape.mass / (shape.mass.sum() * distance.shape[1]))[:, None], distance.shape)
    edges = np.linspace(0.0, FARTHEST, DENSITY_BINS + 1)
    mass = np.histogram(distance, edges, weights=weight)[0]
    return DensityProfile(Histogram(edges, mass / np.diff(edges**3)), mass, radius)


def orientation(shape: SheetShape) -> Orientation:
    """|n · r̂| with r̂ the direction from the centre of mass."""
    points, weight = _sample(shape)
    outward = points - shape.center
    outward /= np.maximum(np.linalg.norm(outward, axis=2, keepdims=True), SMALLEST_LENGTH)
    cosine = np.minimum(np.abs(np.einsum("fsk,fk->fs", outward, shape.normal)), 1.0)
    edges = np.linspace(0.0, 1.0, ORIENTATION_BINS + 1)
    density = np.histogram(cosine, edges, weights=weight)[0] * ORIENTATION_BINS
    return Orientation(Histogram(edges, density), float((cosine * weight).sum()))


def curvature_radii(shape: SheetShape) -> CurvatureRadii:
    """Histogram of 1/κ of the principal curvatures of S (eq. 1), weighted by area."""
    share = shape.area / shape.area.sum()
    edges = np.linspace(0.0, LARGEST_RADIUS, RADIUS_BINS + 1)
    made = []
    for curvature in principal_curvatures(shape.curvature):
        radius = 1.0 / np.maximum(curvature * shape.thickness, SMALLEST_LENGTH)
        shown = float(share[radius <= LARGEST_RADIUS].sum())
        density = np.histogram(radius, edges, weights=share)[0] / (np.diff(edges) * (shown or 1.0))
        made.append((Histogram(edges, density), _peak(radius, share), _median(radius, share), shown))
    (first, first_peak, median, first_share), (second, second_peak, _, second_share) = made
    middle = median if first_share and median < FLATTEST else None
    return CurvatureRadii(first, second, first_peak, second_peak, middle, first_share, second_share)


def thickness_fraction(profile: DensityProfile, shape: SheetShape) -> Floats:
    """Local volume fraction in each shell, (n,)."""
    return profile.histogram.density * shape.volume / (4.0 / 3.0 * pi * profile.radius**3)


def _sample(shape: SheetShape) -> tuple[Floats, Floats]:
    """Points (face_count, SAMPLES², 3) [m] spread evenly over each face and their share of the area, same shape."""
    points = np.einsum("sk,fkd->fsd", _BARYCENTRIC, shape.corners)
    share = shape.area / (shape.area.sum() * len(_BARYCENTRIC))
    return points, np.broadcast_to(share[:, None], points.shape[:2])


def _barycentric(count: int) -> Floats:
    """Centres of the count² equal triangles that a triangle is cut into, (count², 3)."""
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(count), np.arange(count), indexing="ij"))
    upright = i + j < count
    turned = i + j < count - 1
    a = np.concatenate([i[upright] + 1.0 / 3.0, i[turned] + 2.0 / 3.0]) / count
    b = np.concatenate([j[upright] + 1.0 / 3.0, j[turned] + 2.0 / 3.0]) / count
    return np.stack([a, b, 1.0 - a - b], axis=1)


_BARYCENTRIC = _barycentric(SAMPLES)


def _peak(radius: Floats, share: Floats) -> float | None:
    """Where the density of `radius` [t] is largest after smoothing; None when nothing is in range."""
    width = LARGEST_RADIUS / (RADIUS_BINS * FINE_BINS)
    edges = np.arange(0.0, 1.5 * LARGEST_RADIUS, width)
    density = np.histogram(radius, edges, weights=share)[0]
    if not density[: RADIUS_BINS * FINE_BINS].any():
        return None
    middle = 0.5 * (edges[1:] + edges[:-1])
    kernel = np.exp(-0.5 * ((middle[:, None] - middle[None, :]) / PEAK_WIDTH) ** 2)
    smooth = kernel @ density / kernel.sum(axis=1)
    return float(middle[int(np.argmax(smooth))])


def _median(radius: Floats, share: Floats) -> float:
    order = np.argsort(radius)
    return float(radius[order[np.searchsorted(np.cumsum(share[order]), 0.5)]])
