"""Pictures of a sweep: a curve per metric with error bars over seeds, small multiples, size over mass."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import Any

import numpy as np

from crumple.analysis.comparison import PALETTE
from crumple.analysis.figures import BLUE, RED, finish_axes, new_canvas, save_canvas
from crumple.analysis.reference import MASS_SIZE
from crumple.recording.recording import Recording
from crumple.rendering import render_frame
from crumple.runtime.typing import Floats
from crumple.scenes.key_units import key_unit
from crumple.studies.sweeping.folder import SweepFolder
from crumple.studies.sweeping.metrics import metric_unit
from crumple.studies.sweeping.plan import Plan, PlannedRun, short_keys, show_value
from crumple.studies.sweeping.statistics import PRESSURE, MassSize, metric_names
from crumple.studies.sweeping.table import DONE

MOST_PANELS, MOST_LINES = 24, len(PALETTE)
MOST_SIDE = 6
"""Pictures along a side of the small multiples."""
PICTURE = (320, 240)
WIDE_RANGE = 20.0
"""Ratio of the largest value to the least from which an axis is logarithmic."""


def save_curves(table: Any, means: Any, plan: Plan, path: Path) -> Path | None:
    """One panel per metric: means over the first varied number, a line for each value of the rest, with standard errors
    over seeds; points instead of lines for a sample. None without matplotlib, or when nothing can be drawn."""
    numeric = [axis.key for axis in plan.axes if _is_number(table[axis.key])]
    names = [name for name in metric_names(table, plan) if table[name].notna().any()][:MOST_PANELS]
    if not numeric or not names:
        return None
    columns = min(4, len(names))
    unit = key_unit(numeric[0])
    label = short_keys([axis.key for axis in plan.axes])[numeric[0]] + (f" [{unit}]" if unit else "")
    rows = -(-len(names) // columns)
    canvas = new_canvas((4.4 * columns, 4.0 * rows))
    if canvas is None:
        return None
    canvas.subplots_adjust(hspace=0.45)
    for k, name in enumerate(names):
        axes = canvas.add_subplot(rows, columns, k + 1)
        if plan.sample is None:
            _draw_lines(axes, means[means["metric"] == name], numeric[0], [a.key for a in plan.axes])
        else:
            done = table[table["outcome"] == DONE]
            axes.plot(done[numeric[0]], done[name], "o", color=BLUE, markersize=3.5)
        if _is_wide(table[numeric[0]]):
            axes.set_xscale("log")
        axes.ticklabel_format(axis="y", style="sci", scilimits=(-2, 4))
        unit = metric_unit(name)
        finish_axes(axes, label, "", f"{name} [{unit}]" if unit else name, legend=k == 0)
    return save_canvas(canvas, path)


def save_pictures(folder: SweepFolder, path: Path) -> Path | None:
    """The last frames of the runs side by side: the first key from left to right, the second downwards; of a sample the
    first runs. None without matplotlib, or when no run is done."""
    done = {name for name, line in folder.outcomes().items() if line.get("outcome") == DONE}
    grid = picture_grid(folder.plan)
    if not any(run is not None and run.name in done for row in grid for run in row):
        return None
    columns, rows = max(map(len, grid)), len(grid)
    head = 22 * (1 + max(_title(run).count("\n") for row in grid for run in row if run is not None))
    height = rows * (PICTURE[1] + head + 4)
    canvas = new_canvas((columns * PICTURE[0] / 110, height / 110))
    if canvas is None:
        return None
    from matplotlib.image import imread

    canvas.subplots_adjust(
        left=0.0, right=1.0, bottom=0.0, top=1.0 - head / height, wspace=0.02, hspace=(head + 4) / PICTURE[1]
    )
    with TemporaryDirectory() as place:
        for k, run in enumerate(run for row in grid for run in row):
            axes = canvas.add_subplot(rows, columns, k + 1)
            axes.set_axis_off()
            if run is None:
                continue
            axes.set_title(_title(run), fontsize=8, pad=3)
            if run.name not in done:
                axes.text(0.5, 0.5, "not done", ha="center", transform=axes.transAxes)
                continue
            recording = Recording(folder.recording_path(run))
            picture = render_frame(recording, -1, Path(place) / f"{k}.png", size=PICTURE, quality="normal")
            axes.imshow(imread(picture), aspect="auto")
    return save_canvas(canvas, path)


def _title(run: PlannedRun) -> str:
    """The values of a run, in lines that fit above its picture."""
    return fill(run.describe().replace(" = ", "\u00a0=\u00a0"), 44)


def save_law(law: MassSize, path: Path) -> Path | None:
    """Radius over mass of all runs with the law through each group, and the known one. None without matplotlib."""
    canvas = new_canvas((6.4, 5.2))
    if canvas is None:
        return None
    from matplotlib.ticker import LogLocator

    axes = canvas.add_subplot()
    axes.set_xscale("log")
    axes.set_yscale("log")
    fitted = f"M^{law.exponent:.2f}" + ("" if np.isnan(law.error) else f" ± {law.error:.2f}")
    group = np.array(law.group)
    for k, name in enumerate(dict.fromkeys(law.group)):
        one, color = group == name, PALETTE[k % len(PALETTE)]
        axes.plot(1e3 * law.mass[one], 1e3 * law.radius[one], "o", color=color, markersize=4, label=name or "runs")
        axes.plot(*_power(law.mass[one], law.radius[one], law.exponent), color=color, label=None if k else fitted)
    known = f"M^{MASS_SIZE}, sheets of one thickness"
    axes.plot(*_power(law.mass, law.radius, MASS_SIZE), "--", color=RED, label=known)
    for axis in (axes.xaxis, axes.yaxis):  # spans are too short for powers of ten
        axis.set_major_formatter("{x:.3g}")
        axis.set_minor_locator(LogLocator(subs=(2.0, 3.0, 5.0)))
        axis.set_minor_formatter("{x:.2g}")
    finish_axes(axes, "mass [g]", f"radius at {PRESSURE:g} Pa [mm]", "size of balls")
    return save_canvas(canvas, path)


def _power(mass: Floats, radius: Floats, exponent: float) -> tuple[Floats, Floats]:
    """Mass [g] and radius [mm] on the power law of an `exponent` through the middle of points [kg], [m]."""
    span = np.geomspace(mass.min(), mass.max(), 20)
    middle, size = np.exp(np.log(mass).mean()), np.exp(np.log(radius).mean())
    return 1e3 * span, 1e3 * size * (span / middle) ** exponent


def picture_grid(plan: Plan) -> list[list[PlannedRun | None]]:
    """Rows of runs for small multiples: of a grid the two first keys, of the rest the first values; the first seed."""
    runs = [run for run in plan.runs if not run.seed]
    if plan.sample is not None or not plan.axes:
        flat: list[PlannedRun | None] = list(runs[: MOST_SIDE * MOST_SIDE])
        columns = max(1, min(MOST_SIDE, int(np.ceil(np.sqrt(len(flat))))))
        flat += [None] * (-len(flat) % columns)
        return [flat[k : k + columns] for k in range(0, len(flat), columns)]
    others = {axis.key: axis.values[0] for axis in plan.axes[2:]}
    chosen = [run for run in runs if all(f"{key}={text}" in run.overrides for key, text in others.items())]
    across = [f"{plan.axes[0].key}={text}" for text in plan.axes[0].values[:MOST_SIDE]]
    down = [f"{plan.axes[1].key}={text}" for text in plan.axes[1].values[:MOST_SIDE]] if len(plan.axes) > 1 else [""]
    return [
        [next((r for r in chosen if a in r.overrides and (not d or d in r.overrides)), None) for a in across]
        for d in down
    ]


def _draw_lines(axes: Any, means: Any, x: str, keys: list[str]) -> None:
    """A line with error bars for each combination of the other keys."""
    others, short = [key for key in keys if key != x], short_keys(keys)
    groups = list(means.groupby(others, sort=False)) if others else [((), means)]
    for k, (values, group) in enumerate(groups[:MOST_LINES]):
        label = ", ".join(f"{short[key]} {show_value(value)}" for key, value in zip(others, values, strict=True))
        ordered = group.sort_values(x)
        style = {"color": PALETTE[k], "label": label or None, "linewidth": 1.3, "markersize": 4, "capsize": 2.5}
        axes.errorbar(ordered[x], ordered["mean"], yerr=ordered["error"].fillna(0.0).astype(float), fmt="o-", **style)


def _is_number(column: Any) -> bool:
    return bool(column.dtype.kind in "if")


def _is_wide(column: Any) -> bool:
    values = column.to_numpy(float)
    return bool(values.min() > 0.0 and values.max() > WIDE_RANGE * values.min())
