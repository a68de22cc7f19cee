"""What a validation case gives: checks of measured against expected numbers, and curves for a figure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from crumple.analysis.reference import Band
from crumple.runtime.typing import Floats


@dataclass(frozen=True)
class Check:
    """One number: passed when |measured − expected| ≤ tolerance, all in the unit that `quantity` names."""

    quantity: str
    expected: float
    measured: float
    tolerance: float

    @property
    def passed(self) -> bool:
        return bool(abs(self.measured - self.expected) <= self.tolerance)


Drawing = Callable[[Any], None]
"""Draws into the matplotlib axes that it is given."""


@dataclass(frozen=True)
class Curve:
    """A line or, with `points`, markers in the figure of a case: `x`, `y` (n,)."""

    label: str
    x: Floats
    y: Floats
    points: bool = False


@dataclass(frozen=True)
class Figure:
    """A drawing of measured points on reference curves."""

    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    logarithmic: bool = False

    def __call__(self, axes: Any) -> None:
        for curve in self.curves:
            axes.plot(curve.x, curve.y, "o" if curve.points else "-", markersize=5, label=curve.label)
        if self.logarithmic:
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.tick_params(which="minor", labelsize="x-small")  # within a decade there are many
        axes.set_xlabel(self.x_label)
        axes.set_ylabel(self.y_label)
        axes.grid(True, linewidth=0.3)
        axes.legend()


@dataclass(frozen=True)
class CaseResult:
    """The outcome of one case; `seconds` it took, the drawings `figure` shows side by side (a single one need not be in
    a tuple), `picture` where it was saved (None: not)."""

    case: str
    checks: tuple[Check, ...]
    seconds: float = 0.0
    figure: Drawing | tuple[Drawing, ...] | None = None
    picture: Path | None = None

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)


def relative_check(quantity: str, expected: float, measured: float, share: float) -> Check:
    """A check whose tolerance is a `share` of the expected value."""
    return Check(quantity, float(expected), float(measured), share * abs(float(expected)))


def table_check(printed: dict[str, float], computed: dict[str, float], digits: float) -> Check:
    """A check that a printed table agrees with the equation solved here, to `digits` of each value or of one."""
    differences = [abs(computed[key] - value) / max(abs(value), 1.0) for key, value in printed.items()]
    return Check("table against equation, largest difference", 0.0, max(differences), digits)


def range_check(quantity: str, between: tuple[float, float], measured: float) -> Check:
    """A check that a value lies in a range, written as its middle ± half its width."""
    low, high = between
    return Check(quantity, 0.5 * (low + high), float(measured), 0.5 * (high - low))


def band_check(quantity: str, band: Band) -> Check:
    """A check that a statistic is in its reference band (one from 0 is written as 0 ± its end); fails when there was
    nothing to measure."""
    measured = nan if band.measured is None else band.measured
    low = -band.high if band.low == 0.0 else band.low
    return range_check(quantity, (low, band.high), measured)


def curve(label: str, points: list[tuple[float, float]], *, markers: bool = False) -> Curve:
    """A curve from (x, y) pairs."""
    x, y = np.array(points, np.float64).reshape(-1, 2).T
    return Curve(label, x, y, markers)
