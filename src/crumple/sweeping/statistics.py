"""What a sweep says: means over seeds with their errors, and how the size of balls grows with mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crumple.analysis import EqualPressure, PressureCurve, equal_pressure, fit_power, pressure_curves
from crumple.analysis.analyze import recording_model, state_shape
from crumple.recording.recording import Recording
from crumple.sweeping.folder import SweepFolder
from crumple.sweeping.metrics import metric_unit
from crumple.sweeping.packages import need
from crumple.sweeping.plan import Plan
from crumple.sweeping.table import DONE, OUTCOME
from crumple.typing import Floats

RESAMPLES = 500
"""Of the runs, for an error bar."""
WINDOWS = (0.4, 0.5, 0.6)
"""Radius of the container over √area of the sheet below which a sheet counts as crumpled; the middle one is used, the
others tell what the choice matters."""
SHRUNK = 0.9
"""A container that ends smaller than this share of its first radius confines a sheet."""
PRESSURE = 300.0
"""At which sizes are given [Pa]; their exponent does not depend on it."""


@dataclass(frozen=True)
class Sample:
    """A run for the law of size and mass: its `name`, `mass` [kg], `width` √area of the sheet [m], and pressure over
    radius of its container."""

    name: str
    mass: float
    width: float
    curve: PressureCurve


@dataclass(frozen=True)
class MassSize:
    """R = c M^`exponent` at the same pressure, with the standard `error` from the scatter of runs of the same mass (nan
    when no mass was run twice), and the exponents by windows that are narrower and wider (`others`). `mass` [kg],
    `radius` [m] at PRESSURE and `names` of the runs, and the `steepness` α of P ∝ R^−α."""

    exponent: float
    error: float
    others: dict[float, float]
    mass: Floats
    radius: Floats
    steepness: float
    names: tuple[str, ...]

    def describe(self) -> str:
        """One line."""
        error = "" if np.isnan(self.error) else f" ± {self.error:.3f}"
        others = "; ".join(f"{value:.3f} below {window:g}" for window, value in self.others.items())
        return (
            f"size ∝ mass^{self.exponent:.3f}{error} at the same pressure, {len(self.mass)} runs while the container's "
            f"radius is below {WINDOWS[1]:g} √area" + (f" ({others})" if others else "")
        )


def metric_names(table: Any, plan: Plan) -> list[str]:
    """The columns of a sweep's table that hold metrics."""
    parameters = {axis.key for axis in plan.axes}
    return [name for name in table.columns if name not in {*OUTCOME, *parameters, "seed", "recording"}]


def over_seeds(table: Any, plan: Plan) -> Any:
    """Mean, standard deviation and standard error of every metric over the seeds of each point, a row for each
    (`pandas.DataFrame`): the varied keys, `metric`, `unit`, `count`, `mean`, `deviation`, `error`.

    Deviation and error need two runs at least; they are empty elsewhere.
    """
    pandas = need("pandas")
    keys = [axis.key for axis in plan.axes]
    done = table[table["outcome"] == DONE]
    rows = []
    for point, group in done.groupby(keys, sort=False) if keys else [((), done)]:
        for name in metric_names(table, plan):
            values = group[name].dropna().to_numpy(float)
            several = len(values) > 1
            deviation = float(values.std(ddof=1)) if several else None
            rows.append(
                dict(zip(keys, point, strict=True))
                | {"metric": name, "unit": metric_unit(name), "count": len(values)}
                | {"mean": float(values.mean()) if len(values) else None, "deviation": deviation}
                | {"error": None if deviation is None else deviation / np.sqrt(len(values))}
            )
    return pandas.DataFrame(rows)


def mass_size_law(folder: SweepFolder) -> MassSize | None:
    """The law through all runs that press one shrinking container; None when there is none, or all masses are equal."""
    done = [name for name, line in folder.outcomes().items() if line.get("outcome") == DONE]
    return fit_mass_size([sample for name in sorted(done) if (sample := _sample(folder, name)) is not None])


def fit_mass_size(samples: Sequence[Sample]) -> MassSize | None:
    """The law through `samples`, None when their masses are equal or their pressures do not rise.

    As in `crumple validate crumpling-laws`, P = a_k R^−α is fitted to all frames in which the container is narrower
    than the sheet. The error comes from runs drawn again, with replacement, among those of the same mass; what all runs
    have in common, such as the mesh, is not in it.
    """
    fits = {window: _fit(_within(samples, window)) for window in WINDOWS}
    middle = fits[WINDOWS[1]]
    if middle is None:
        return None
    exponent, sizes, used = middle
    others = {window: found[0] for window, found in fits.items() if window != WINDOWS[1] and found is not None}
    mass, names = np.array([sample.mass for sample in used]), tuple(sample.name for sample in used)
    return MassSize(exponent, _error(used), others, mass, sizes.radius, sizes.steepness, names)


def _sample(folder: SweepFolder, name: str) -> Sample | None:
    """A run that is done, None unless one container shrinks around it."""
    recording = Recording(folder.recording_path(name))
    model = recording_model(recording)
    if len(model.obstacles) != 1 or len(recording.frames) < 3:
        return None
    widths = [np.ptp(model.obstacle_positions(time), axis=0).mean() for time in recording.times().values()]
    if not min(widths) < SHRUNK * widths[0]:
        return None
    shape = state_shape(model, recording.load(recording.frames[0]))
    return Sample(name, float(shape.mass.sum()), float(np.sqrt(shape.area.sum())), pressure_curves(recording)[0])


def _within(samples: Sequence[Sample], window: float) -> list[Sample]:
    """The samples with the part of their curves below `window` times the width, if it has two frames at least."""
    cut = [replace(sample, curve=sample.curve.below(window * sample.width)) for sample in samples]
    return [sample for sample in cut if len(sample.curve.radius) >= 2]


def _fit(samples: Sequence[Sample]) -> tuple[float, EqualPressure, Sequence[Sample]] | None:
    """The exponent of R(M) at equal pressure, the radii, and the samples; None when they do not give one."""
    sizes = equal_pressure([sample.curve for sample in samples], PRESSURE)
    law = None if sizes is None else fit_power(np.array([sample.mass for sample in samples]), sizes.radius)
    return None if sizes is None or law is None else (law.exponent, sizes, samples)


def _error(samples: Sequence[Sample]) -> float:
    """The standard error of the exponent from samples drawn again; nan when no mass is there twice.

    Drawing n values again makes their mean scatter by √((n − 1)/n) too little, which is corrected with the smallest n.
    """
    masses = np.log([sample.mass for sample in samples]).round(6)
    groups = [np.flatnonzero(masses == value) for value in np.unique(masses)]
    least = min(len(group) for group in groups)
    if least < 2:
        return float("nan")
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(RESAMPLES):
        chosen = np.concatenate([rng.choice(group, len(group)) for group in groups])
        found = _fit([samples[k] for k in chosen])
        if found is not None:
            drawn.append(found[0])
    return float(np.std(drawn, ddof=1) * np.sqrt(least / (least - 1.0))) if len(drawn) > 1 else float("nan")
