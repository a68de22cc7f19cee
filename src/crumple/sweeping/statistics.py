"""What a sweep says: means over seeds with their errors, and how the size of balls grows with mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crumple.analysis import PressureCurve, equal_pressure, fit_power, pressure_curves
from crumple.analysis.analyze import recording_model, state_shape
from crumple.recording.recording import Recording
from crumple.sweeping.folder import SweepFolder
from crumple.sweeping.metrics import metric_unit
from crumple.sweeping.packages import need
from crumple.sweeping.plan import Plan
from crumple.sweeping.table import DONE, OUTCOME
from crumple.typing import Floats

RESAMPLES = 2000
"""Of the runs, for an error bar."""
WINDOWS = (0.4, 0.5, 0.6)
"""Radius of the container over √area of the sheet below which a sheet counts as crumpled; the middle one is used, the
others tell what the choice matters."""
SHRUNK = 0.9
"""A container that ends smaller than this share of its first radius confines a sheet."""
PRESSURE = 300.0
"""At which sizes are given [Pa]; their exponent does not depend on it."""


@dataclass(frozen=True)
class MassSize:
    """R = c M^`exponent` at the same pressure, with the standard `error` from the scatter of the runs, the `interval`
    that holds 95 % of resampled exponents, and the exponents by windows that are narrower and wider (`others`). `mass`
    [kg], `radius` [m] at PRESSURE and `names` of the runs, and the `steepness` α of P ∝ R^−α."""

    exponent: float
    error: float
    interval: tuple[float, float]
    others: dict[float, float]
    mass: Floats
    radius: Floats
    steepness: float
    names: tuple[str, ...]

    def describe(self) -> str:
        """One line."""
        low, high = self.interval
        others = ", ".join(f"{value:.3f} below {window:g} √area" for window, value in self.others.items())
        return (
            f"size ∝ mass^{self.exponent:.3f} ± {self.error:.3f} at the same pressure ({len(self.mass)} runs; 95 %: "
            f"{low:.3f} to {high:.3f}; {others or 'other windows cannot be fitted'})"
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
    """The law through all runs that press one shrinking container; None when there is none, or all masses are equal.

    As in `crumple validate crumpling-laws`, P = a_k R^−α is fitted to all frames in which the container is narrower
    than the sheet. The error comes from runs drawn again, with replacement, among those of the same mass; what all runs
    have in common, such as the mesh, is not in it.
    """
    done = [name for name, line in folder.outcomes().items() if line.get("outcome") == DONE]
    found = [(name, *sample) for name in sorted(done) if (sample := _sample(folder, name)) is not None]
    if len({round(float(np.log(mass)), 6) for _, mass, _, _ in found}) < 2:
        return None
    names = tuple(name for name, *_ in found)
    mass = np.array([sample[1] for sample in found])
    curves = {w: [sample[3].below(w * sample[2]) for sample in found] for w in WINDOWS}
    fits = {w: _exponent(curves[w], mass) for w in WINDOWS}
    middle = WINDOWS[1]
    exponent, sizes = fits[middle], equal_pressure(curves[middle], PRESSURE)
    if exponent is None or sizes is None:
        return None
    drawn = _resampled(curves[middle], mass)
    low, high = np.quantile(drawn, [0.025, 0.975]) if len(drawn) else (np.nan, np.nan)
    error = float(np.std(drawn, ddof=1)) if len(drawn) > 1 else float("nan")
    others = {w: value for w, value in fits.items() if w != middle and value is not None}
    return MassSize(exponent, error, (float(low), float(high)), others, mass, sizes.radius, sizes.steepness, names)


def _sample(folder: SweepFolder, name: str) -> tuple[float, float, PressureCurve] | None:
    """Mass [kg], √area [m] and pressure curve of a run that is done, None unless one container shrinks around it."""
    recording = Recording(folder.recording_path(name))
    model = recording_model(recording)
    if len(model.obstacles) != 1 or len(recording.frames) < 3:
        return None
    widths = [np.ptp(model.obstacle_positions(time), axis=0).mean() for time in recording.times().values()]
    if not min(widths) < SHRUNK * widths[0]:
        return None
    shape = state_shape(model, recording.load(recording.frames[0]))
    return float(shape.mass.sum()), float(np.sqrt(shape.area.sum())), pressure_curves(recording)[0]


def _exponent(curves: Sequence[PressureCurve], mass: Floats) -> float | None:
    """The exponent of R(M) at equal pressure, None when the curves do not give one."""
    sizes = equal_pressure(curves, PRESSURE)
    law = None if sizes is None else fit_power(mass, sizes.radius)
    return None if law is None else law.exponent


def _resampled(curves: Sequence[PressureCurve], mass: Floats) -> Floats:
    """Exponents of runs drawn again, with replacement among those of the same mass, (up to RESAMPLES,)."""
    rng = np.random.default_rng(0)
    groups = [np.flatnonzero(np.isclose(np.log(mass), value, atol=1e-6)) for value in np.unique(np.log(mass).round(6))]
    found = []
    for _ in range(RESAMPLES):
        chosen = np.concatenate([rng.choice(group, len(group)) for group in groups])
        exponent = _exponent([curves[k] for k in chosen], mass[chosen])
        if exponent is not None:
            found.append(exponent)
    return np.array(found)
