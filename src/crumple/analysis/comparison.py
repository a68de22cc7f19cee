"""Several recordings beside each other: one table, one figure."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crumple.analysis.analyze import Analysis
from crumple.analysis.figures import finish_axes, new_canvas, save_canvas
from crumple.analysis.tables import UNITS, format_value, make_folder, write_csv
from crumple.recording.log import Line

PALETTE = ("#1f5fa8", "#c0392b", "#2e7d32", "#8e44ad", "#d68910", "#117a8b", "#7f8c8d", "#ad1457", "#5d4037", "#9e9d24")
ELASTIC = ("membrane", "bending", "crease")
"""Energies that are summed over time; what a recording lacks counts as 0."""


def compare(analyses: Sequence[Analysis]) -> dict[str, list[Any]]:
    """The main numbers of all analyses by name, SI units, one value for each; None where one has none.

    Energies are named `energy_…`.
    """
    flat = []
    for analysis in analyses:
        summary = analysis.summary()
        energies = summary.pop("energies")
        flat.append(summary | {f"energy_{name}": value for name, value in energies.items()})
    names = dict.fromkeys(name for summary in flat for name in summary)
    return {name: [summary.get(name) for summary in flat] for name in names}


def describe_comparison(analyses: Sequence[Analysis]) -> list[tuple[str, ...]]:
    """The rows of the table as text: the name with its unit, then the value of each recording."""
    rows = []
    for name, values in compare(analyses).items():
        unit = "J" if name.startswith("energy_") else UNITS.get(name, "")
        label = name.replace("_", " ") + (f" [{unit}]" if unit else "")
        rows.append((label, *(format_value(value) for value in values)))
    return rows


def write_comparison(analyses: Sequence[Analysis], names: Sequence[str], folder: Path) -> Path:
    """Write comparison.csv: a row per recording, a column per quantity, in SI units."""
    make_folder(folder)
    columns = compare(analyses)
    rows = [(name, *(values[k] for values in columns.values())) for k, name in enumerate(names)]
    return write_csv(folder / "comparison.csv", ("recording", *columns), rows)


def save_comparison(
    analyses: Sequence[Analysis], names: Sequence[str], logs: Sequence[list[Line]], path: Path
) -> Path | None:
    """Write one figure with a curve per recording, and its elastic energy over time from the step log.

    None when matplotlib is not installed.
    """
    canvas = new_canvas((13.0, 8.6))
    if canvas is None:
        return None
    grid = canvas.subplots(2, 3).ravel()
    for axes, draw in zip(grid, (_draw_density, _draw_orientation, _draw_radii, _draw_ridges), strict=False):
        for k, (analysis, name) in enumerate(zip(analyses, names, strict=True)):
            draw(axes, analysis, {"color": PALETTE[k % len(PALETTE)], "label": name, "linewidth": 1.5})
    finish_axes(grid[0], "r / R", "density / mean of the ball", "mass density")
    finish_axes(grid[1], "|n·r|", "probability density", "orientation", legend=False)
    finish_axes(grid[2], "sharper radius of curvature / thickness", "probability density", "curvature", legend=False)
    finish_axes(grid[3], "ridge length [mm]", "share of longer ridges", "ridges", legend=False)
    _draw_energies(grid[4], analyses)
    _draw_history(grid[5], logs)
    return save_canvas(canvas, path)


def _draw_density(axes: Any, analysis: Analysis, style: dict[str, Any]) -> None:
    axes.stairs(analysis.density.histogram.density, analysis.density.histogram.edges, **style)


def _draw_orientation(axes: Any, analysis: Analysis, style: dict[str, Any]) -> None:
    axes.stairs(analysis.orientation.histogram.density, analysis.orientation.histogram.edges, **style)


def _draw_radii(axes: Any, analysis: Analysis, style: dict[str, Any]) -> None:
    axes.stairs(analysis.radii.first.density, analysis.radii.first.edges, **style)


def _draw_ridges(axes: Any, analysis: Analysis, style: dict[str, Any]) -> None:
    """How many ridges are longer: needs no bins, so few ridges can be compared with many."""
    length = np.sort(analysis.ridges.all_lengths)
    if len(length):
        axes.step(1e3 * length, 1.0 - np.arange(len(length)) / len(length), where="post", **style)


def _draw_energies(axes: Any, analyses: Sequence[Analysis]) -> None:
    """Energies by kind, a bar for each recording."""
    kinds = list(dict.fromkeys(name for analysis in analyses for name in analysis.energies))
    width = 0.8 / len(analyses)
    for k, analysis in enumerate(analyses):
        place = np.arange(len(kinds)) + (k - 0.5 * (len(analyses) - 1)) * width
        values = [1e3 * analysis.energies.get(kind, 0.0) for kind in kinds]
        axes.bar(place, values, width, color=PALETTE[k % len(PALETTE)])
    axes.set_xticks(np.arange(len(kinds)), kinds, fontsize=8)
    finish_axes(axes, "", "energy [mJ]", "energy split", legend=False)


def _draw_history(axes: Any, logs: Sequence[list[Line]]) -> None:
    """Elastic energy over time."""
    for k, lines in enumerate(logs):
        known = [(line["time"], line["energies"]) for line in lines if "time" in line and line.get("energies")]
        joules = [sum(energies.get(kind, 0.0) for kind in ELASTIC) for _, energies in known]
        axes.plot([time for time, _ in known], 1e3 * np.array(joules), color=PALETTE[k % len(PALETTE)])
    finish_axes(axes, "time [s]", "elastic energy [mJ]", "elastic energy over time", legend=False)
