"""What a sweep says: means over seeds with their errors, and how the size of balls grows with mass."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crumple.analysis.analyze import recording_model, state_shape
from crumple.analysis.pressure import EqualPressure, PressureCurve, equal_pressure, pressure_curves
from crumple.recording.recording import Recording
from crumple.runtime.packages import load_package
from crumple.runtime.typing import Floats, Ints
from crumple.studies.sweeping.folder import SweepFolder
from crumple.studies.sweeping.metrics import metric_unit
from crumple.studies.sweeping.plan import Plan, PlannedRun, short_keys, show_value
from crumple.studies.sweeping.table import DONE, OUTCOME

RESAMPLES = 500
"""Of the runs, for an error bar."""
WINDOW = (0.0, 0.5)
"""Radius of the container over √area of the sheet, from and to: where a sheet counts as crumpled."""
OTHER_WINDOWS = ((0.0, 0.4), (0.0, 0.6), (0.38, 0.5))
"""These tell what the choice matters; the last is before a coarse mesh jams."""
SHAPE = re.compile(r"sheets\[\d+\]\.shape\b")
"""Begins keys that change the size of a sheet."""
SAME_MASS = 1e-6
"""Relative difference of masses below which they are equal."""
SHRUNK = 0.9
"""A container that ends smaller than this fraction of its first radius confines a sheet."""
PRESSURE = 300.0
"""At which sizes are given [Pa]; their exponent does not depend on it."""


@dataclass(frozen=True)
class Sample:
    """A run for the law of size and mass: its `name`, `mass` [kg], `width` √area of the sheet [m], pressure over radius
    of its container, and its `group`: runs of one group differ in the shape of the sheet and the seed only."""

    name: str
    mass: float
    width: float
    curve: PressureCurve
    group: str = ""


@dataclass(frozen=True)
class MassSize:
    """R = c M^`exponent` at the same pressure, with a c for each group, and the standard `error` from the scatter of
    runs of the same mass and group (nan when one of them was run once only), and the exponents by other windows
    (`others`, by their limits) and by group (`by_group`). `mass` [kg], `radius` [m] at PRESSURE, `group` and `names`
    of the runs, and the `steepness` α of P ∝ R^−α.

    `is_of_sizes`: the mass was changed by the shape of the sheet, as in the known law. Otherwise by something else,
    such as its thickness, all runs are one group, and there is no such law.
    """

    exponent: float
    error: float
    others: dict[tuple[float, float], float]
    by_group: dict[str, float]
    mass: Floats
    radius: Floats
    group: tuple[str, ...]
    steepness: float
    names: tuple[str, ...]
    is_of_sizes: bool

    def describe(self) -> str:
        """One line."""
        error = "" if np.isnan(self.error) else f" ± {self.error:.3f}"
        others = "; ".join(f"{value:.3f} from {low:g} to {high:g}" for (low, high), value in self.others.items())
        how = "by the shape of the sheet" if self.is_of_sizes else "not by the shape of the sheet, as in the known law"
        return (
            f"size ∝ mass^{self.exponent:.3f}{error} at the same pressure, {len(self.mass)} runs while the container's "
            f"radius is below {WINDOW[1]:g} √area" + (f" ({others})" if others else "") + f"; mass varied {how}"
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
    pandas = load_package("pandas", "crumple sweep", "sweep")
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
    done = {name for name, line in folder.outcomes().items() if line.get("outcome") == DONE}
    runs = [run for run in folder.plan.runs if run.name in done]
    return fit_mass_size([sample for run in runs if (sample := _sample(folder, run)) is not None])


def fit_mass_size(samples: Sequence[Sample]) -> MassSize | None:
    """The law through `samples`, None when their masses are equal or their pressures do not rise.

    As in `crumple validate crumpling-laws`, P = a_k R^−α is fitted to all frames in which the container is narrower
    than the sheet. The error comes from runs drawn again, with replacement, among those of the same mass and group;
    what all runs have in common, such as the mesh, is not in it.
    """
    is_of_sizes = _slope(samples, np.ones(len(samples))) is not None
    if not is_of_sizes:
        samples = [replace(sample, group="") for sample in samples]
    fitted = _fit(_within(samples, WINDOW))
    if fitted is None:
        return None
    exponent, sizes, used = fitted
    fits = {window: _fit(_within(samples, window)) for window in OTHER_WINDOWS}
    others = {window: found[0] for window, found in fits.items() if found is not None}
    mass, group = np.array([sample.mass for sample in used]), tuple(sample.group for sample in used)
    names = tuple(sample.name for sample in used)
    single = _by_group(used, sizes.radius)
    return MassSize(
        exponent, _error(used), others, single, mass, sizes.radius, group, sizes.steepness, names, is_of_sizes
    )


def _sample(folder: SweepFolder, run: PlannedRun) -> Sample | None:
    """A run that is done, None unless one container shrinks around it."""
    recording = Recording(folder.recording_path(run))
    model = recording_model(recording)
    if len(model.obstacles) != 1 or len(recording.frames) < 3:
        return None
    widths = [np.ptp(model.obstacle_positions(time), axis=0).mean() for time in recording.times().values()]
    if not min(widths) < SHRUNK * widths[0]:
        return None
    shape = state_shape(model, recording.load(recording.frames[0]))
    short = short_keys(list(run.values))
    group = ", ".join(f"{short[key]} {show_value(value)}" for key, value in run.values.items() if not SHAPE.match(key))
    mass, width = float(shape.mass.sum()), float(np.sqrt(shape.area.sum()))
    return Sample(run.name, mass, width, pressure_curves(recording)[0], group)


def _within(samples: Sequence[Sample], window: tuple[float, float]) -> list[Sample]:
    """The samples with the part of their curves in the `window` times the width, if it has two frames at least."""
    cut = []
    for sample in samples:
        below = sample.curve.below(window[1] * sample.width)
        inside = below.radius > window[0] * sample.width
        cut.append(replace(sample, curve=PressureCurve(below.radius[inside], below.pressure[inside])))
    return [sample for sample in cut if len(sample.curve.radius) >= 2]


def _fit(samples: Sequence[Sample]) -> tuple[float, EqualPressure, Sequence[Sample]] | None:
    """The exponent of R(M) at equal pressure, the radii, and the samples; None when they do not give one."""
    sizes = equal_pressure([sample.curve for sample in samples], PRESSURE)
    slope = None if sizes is None else _slope(samples, sizes.radius)
    return None if sizes is None or slope is None else (slope, sizes, samples)


def _slope(samples: Sequence[Sample], radius: Floats) -> float | None:
    """The exponent a of R = c_g M^a by least squares, with a c for each group; None when no group has two masses."""
    x, y = np.log([sample.mass for sample in samples]), np.log(radius)
    product = square = 0.0
    for one in _members(samples):
        x_off, y_off = x[one] - x[one].mean(), y[one] - y[one].mean()
        if np.ptp(x[one]) > SAME_MASS:
            product, square = product + float(x_off @ y_off), square + float(x_off @ x_off)
    return product / square if square else None


def _by_group(samples: Sequence[Sample], radius: Floats) -> dict[str, float]:
    """The exponent of each group that has several masses."""
    found = {samples[one[0]].group: _slope([samples[k] for k in one], radius[one]) for one in _members(samples)}
    return {name: slope for name, slope in found.items() if slope is not None}


def _members(samples: Sequence[Sample]) -> list[Ints]:
    """The numbers of the samples of each group."""
    names = [sample.group for sample in samples]
    return [np.array([k for k, name in enumerate(names) if name == one]) for one in dict.fromkeys(names)]


def _error(samples: Sequence[Sample]) -> float:
    """The standard error of the exponent from samples drawn again among those of one mass and group; nan when some are
    alone.

    Drawing n values again makes their mean scatter by √((n − 1)/n) too little, which is corrected with the smallest n.
    """
    cells: dict[tuple[str, float], list[int]] = {}
    for k, sample in enumerate(samples):
        cells.setdefault((sample.group, round(float(np.log(sample.mass)), 6)), []).append(k)
    groups = list(cells.values())
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
