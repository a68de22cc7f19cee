"""tear-grain: a slit sheet whose grain lies askew is pulled apart at two points; the grain turns the crack aside.

The points A and B drive the crack along û_A + û_B, at the angle θ_T (see `two_point`): a crack that runs by da at the
angle θ frees F |û_A + û_B| cos(θ − θ_T) da. It takes R(θ) da with R = t (G_∥ cos²(θ − α) + G_⊥ sin²(θ − α)), α the
angle of the grain. The ratio of the two is largest where

    tan(θ − θ_T) = −R′(θ)/R(θ).
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from crumple.materials.material import Material
from crumple.runtime.typing import Floats
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, range_check
from crumple.studies.validation.torn_sheet import TEAR, THICKNESS, YOUNG, Pulled
from crumple.studies.validation.two_point import SIDE, SLIT, bisector, tear_between

POINTS = (0.015, 0.045)
"""Where on the lower border it is pulled, left and right [m]."""
GRAINS: tuple[tuple[float, float], ...] = ((45.0, 2.0), (120.0, 2.0), (45.0, 1.0))
"""Angles of the grain [°], and G_⊥/G_∥; the last has none, and shows what the grain does."""
LENGTH, KINK = 12e-3, 3e-3
"""How far the crack runs, and the way at its start over which it turns and is not measured [m]."""
FLAT = 0.5 * (TEAR / THICKNESS)
"""G_∥ [J/m²]."""


def validate_tear_grain(grains: tuple[tuple[float, float], ...] = GRAINS, length: float = LENGTH) -> CaseResult:
    """The mean heading within 5° of the one that sets free most for what it takes."""
    checks: list[Check] = []
    curves = []
    for angle, ratio in grains:
        rows = tear_between(*POINTS, length, grained(angle, ratio))
        label = f"grain at {angle:g}°, G⊥/G∥ = {ratio:g}"
        found, wanted, driven = headings(rows, angle, ratio)
        checks += [
            Check(f"{label}: heading [°], the load alone would drive it at {driven:.1f}°", wanted, found, 5.0),
            range_check(f"{label}: work of fracture over ∫ R da", (0.98, 1.02), _charged(rows, angle, ratio)),
            Check(f"{label}: crossings of the sheet with itself", 0.0, float(sum(row.crossings for row in rows)), 0.0),
        ]
        curves.append(curve(label, [(1e3 * row.tip[0], 1e3 * row.tip[1]) for row in rows]))
        end = expected_path(angle, ratio, length)
        curves.append(curve(f"{label}, theory", [(1e3 * u, 1e3 * v) for u, v in end]))
    return CaseResult("tear-grain", tuple(checks), figure=Figure("u [mm]", "v [mm]", tuple(curves)))


def grained(angle: float, ratio: float) -> Material:
    """An elastic sheet whose cracks take `ratio` times as much across the grain, which lies at `angle` [°]."""
    return Material.isotropic(
        "sheet",
        young=YOUNG,
        poisson=0.0,
        thickness=THICKNESS,
        density=0.08,
        grain_angle=float(np.radians(angle)),
        tear_energy=(FLAT, ratio * FLAT),
    )


def best_heading(load: float, angle: float, ratio: float) -> float:
    """θ with tan(θ − θ_T) = −R′/R [°] for a `load` at θ_T and a grain at `angle` [°], G_⊥/G_∥ = `ratio`."""

    def excess(heading: float) -> float:
        off, grain = np.radians(heading - load), np.radians(heading - angle)
        held = 1.0 + (ratio - 1.0) * np.sin(grain) ** 2
        return float(np.sin(off) * held + np.cos(off) * (ratio - 1.0) * np.sin(2.0 * grain))

    return float(brentq(excess, load - 60.0, load + 60.0))


def headings(rows: list[Pulled], angle: float, ratio: float) -> tuple[float, float, float]:
    """Mean headings [°] after the kink: of the crack, of theory where the crack was, and of the load alone."""
    tips = _settled(rows)
    step = np.diff(tips, axis=0)
    length = np.linalg.norm(step, axis=1)
    load = np.array([_load(tip) for tip in 0.5 * (tips[1:] + tips[:-1])])
    wanted = np.array([best_heading(one, angle, ratio) for one in load])
    whole = tips[-1] - tips[0]
    found = float(np.degrees(np.arctan2(whole[1], whole[0])))
    return found, float(np.average(wanted, weights=length)), float(np.average(load, weights=length))


def expected_path(angle: float, ratio: float, length: float, count: int = 60) -> Floats:
    """Points (count + 1, 2) [m] of the crack of theory, from the end of the slit on."""
    points = [np.array([0.5 * SIDE, SLIT])]
    for _ in range(count):
        heading = np.radians(best_heading(_load(points[-1]), angle, ratio))
        points.append(points[-1] + length / count * np.array([np.cos(heading), np.sin(heading)]))
    return np.array(points)


def _settled(rows: list[Pulled]) -> Floats:
    """The tips (n, 2) [m] of the steps in which the crack was longer than the kink, or all when there are too few."""
    tips = np.array([row.tip for row in rows])
    ran = np.linalg.norm(tips - [0.5 * SIDE, SLIT], axis=1)
    settled = tips[ran >= KINK]
    return settled if len(settled) > 1 else tips


def _load(tip: Floats) -> float:
    """θ_T [°]: the direction in which the two points drive a crack at `tip` (2,) [m]."""
    along = bisector(np.array([[POINTS[0], 0.0], [POINTS[1], 0.0]]), tip)
    return float(np.degrees(np.arctan2(along[1], along[0])))


def _charged(rows: list[Pulled], angle: float, ratio: float) -> float:
    """The work of fracture over what the path takes by R, from the first step to the last."""
    tips = np.array([row.tip for row in rows])
    step = np.diff(tips, axis=0)
    grain = np.arctan2(step[:, 1], step[:, 0]) - np.radians(angle)
    held = THICKNESS * FLAT * (1.0 + (ratio - 1.0) * np.sin(grain) ** 2)
    return (rows[-1].work - rows[0].work) / float(np.sum(held * np.linalg.norm(step, axis=1)))
