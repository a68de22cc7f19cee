"""The crumpled foil ball against the measured one: [Narain2013] §5.1, figure 8, and [Cambou2011]."""

from __future__ import annotations

import numpy as np

from crumple.analysis.analyze import Analysis, analyze_recording
from crumple.analysis.reference import (
    AREA_RATIO,
    EDGE_WIDTH,
    EVEN,
    FIRST_RADIUS,
    FOIL_FRACTION,
    INNER,
    ORIENTATION,
    OUTER,
    Band,
)
from crumple.analysis.statistics import DensityProfile
from crumple.recording.recording import Recording
from crumple.recording.verify import verify_frame


def check_foil_ball(
    recording: Recording, frame: int | None = None, *, fraction: tuple[float, float] = FOIL_FRACTION
) -> list[Band]:
    """What the ball of a recording must show, with verdicts; `fraction`: range of the volume fraction φ."""
    analysis = analyze_recording(recording, frame)
    check = verify_frame(recording, analysis.frame)
    # an unreadable or broken frame cannot be told free of intersections
    count = float(check.intersections) if check.passed or check.intersections else None
    return [*compare_ball(analysis, fraction), Band("intersections", 0.0, 0.0, count)]


def compare_ball(analysis: Analysis, fraction: tuple[float, float] = FOIL_FRACTION) -> list[Band]:
    """The statistics of a ball beside their reference bands."""
    return [
        Band("volume fraction", *fraction, analysis.shape.volume_fraction),
        Band("area in the world over that of the material", *AREA_RATIO, analysis.shape.area_ratio),
        Band(f"density within {OUTER} R, largest deviation", 0.0, EVEN, unevenness(analysis.density)),
        Band("density, width of the fall at the edge [R]", 0.0, EDGE_WIDTH, edge_width(analysis.density)),
        Band("|n·r|, mean", *ORIENTATION, analysis.orientation.mean),
        Band("R1, peak [t]", *FIRST_RADIUS, analysis.radii.first_peak),
    ]


def plateau(profile: DensityProfile) -> float:
    """Mean density between INNER and OUTER, as a fraction of that of a ball filled evenly."""
    edges, mass = profile.histogram.edges, profile.mass
    inside = _between(profile, INNER, OUTER)
    return float(mass[inside].sum() / np.diff(edges**3)[inside].sum())


def unevenness(profile: DensityProfile) -> float | None:
    """Largest deviation of the density from its mean between INNER and OUTER in shells of 0.1 R, as a fraction."""
    edges, mean = profile.histogram.edges, plateau(profile)
    if mean <= 0.0:
        return None
    wide = np.arange(INNER, OUTER + 0.05, 0.1)
    mass = np.interp(wide, edges, np.concatenate([[0.0], np.cumsum(profile.mass)]))
    density = np.diff(mass) / np.diff(wide**3)
    return float(np.max(np.abs(density / mean - 1.0)))


def edge_width(profile: DensityProfile) -> float | None:
    """Distance between the radii from which on the density is below 80 % and 20 % of the plateau [outer radius]."""
    mean = plateau(profile)
    if mean <= 0.0:
        return None
    histogram = profile.histogram
    ends = []
    for share in (0.8, 0.2):
        last = int(np.flatnonzero(histogram.density >= share * mean)[-1])
        if last + 1 == len(histogram.density):
            return None
        here, there = histogram.density[last], histogram.density[last + 1]
        along = (here - share * mean) / (here - there)
        ends.append(histogram.middle[last] + along * (histogram.middle[last + 1] - histogram.middle[last]))
    return float(ends[1] - ends[0])


def _between(profile: DensityProfile, low: float, high: float) -> np.ndarray:
    edges = profile.histogram.edges
    return (edges[:-1] > low - 1e-9) & (edges[1:] < high + 1e-9)
