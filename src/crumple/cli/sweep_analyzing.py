"""`crumple analyze SWEEP`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from crumple.analysis.tables import format_value, make_folder
from crumple.cli.consoles import make_console
from crumple.cli.reporting import show_table
from crumple.recording.files import write_output
from crumple.recording.log import strict_json
from crumple.runtime.errors import InputError
from crumple.studies.sweeping import SweepFolder
from crumple.studies.sweeping.figures import save_curves, save_law, save_pictures
from crumple.studies.sweeping.metrics import metric_unit
from crumple.studies.sweeping.plan import short_keys, show_value
from crumple.studies.sweeping.statistics import mass_size_law, metric_names, over_seeds
from crumple.studies.sweeping.table import DONE, make_table

MOST_COLUMNS = 6
"""Points that are shown on the terminal."""
ROUNDING = 1e-9
"""Share of a mean below which an error is one of the arithmetic."""


def analyze_sweep(path: Path, out: Path | None, as_json: bool, kind: str = "png") -> None:
    """Tables, curves and pictures of a sweep into files, and the means over seeds on the terminal."""
    folder = SweepFolder(path)
    place = path.absolute()
    target = out if out is not None else place.with_name(place.name + "-analysis")
    table = make_table(folder)
    if not (table["outcome"] == DONE).any():
        raise InputError(str(path), "has no finished run yet")
    means, law = over_seeds(table, folder.plan), mass_size_law(folder)
    make_folder(target)
    write_output(target / "table.csv", table.to_csv().encode())
    write_output(target / "means.csv", means.to_csv(index=False).encode())
    write_output(target / "means.md", _markdown(folder, table, means).encode())
    written = [target / name for name in ("table.csv", "means.csv", "means.md")]
    drawn = [
        save_curves(table, means, folder.plan, target / f"curves.{kind}"),
        save_pictures(folder, target / "pictures.png"),
        None if law is None else save_law(law, target / f"mass_size.{kind}"),
    ]
    written += [found for found in drawn if found is not None]
    if as_json:
        record: dict[str, Any] = {"means": means.to_dict("records")}
        if law is not None:
            names = ("exponent", "error", "by_group", "is_of_sizes")
            others = [{"from": low, "to": high, "exponent": value} for (low, high), value in law.others.items()]
            record["mass_size"] = {name: getattr(law, name) for name in names} | {"others": others}
        typer.echo(strict_json(record))
        return
    console = make_console()
    _show(console, folder, table, means)
    if law is not None:
        console.print(law.describe(), highlight=False, markup=False)
    console.print(f"{len(written)} files in {target}", highlight=False, markup=False, soft_wrap=True)


def _show(console: Console, folder: SweepFolder, table: Any, means: Any) -> None:
    """A row per metric, a column per point: mean ± standard error."""
    keys = [axis.key for axis in folder.plan.axes]
    short, columns, cells = short_keys(keys), dict[tuple[str, ...], int](), dict[tuple[str, tuple[str, ...]], str]()
    for row in means.to_dict("records"):
        point = tuple(f"{short[key]} {show_value(row[key])}" for key in keys)
        columns[point] = max(columns.get(point, 0), int(row["count"]))
        cells[row["metric"], point] = _shown(row)
    points = list(columns)[:MOST_COLUMNS]
    head = ["", *("\n".join([*point, f"{columns[point]} runs"]) for point in points)]
    rows = []
    for name in metric_names(table, folder.plan):
        unit = metric_unit(name)
        rows.append((f"{name} [{unit}]" if unit else name, *(cells.get((name, point), "") for point in points)))
    show_table(console, "", [cell for cell in head], [tuple(row) for row in rows])
    if len(columns) > len(points):
        console.print(f"and {len(columns) - len(points)} more points in means.csv", highlight=False)


def _markdown(folder: SweepFolder, table: Any, means: Any) -> str:
    """The means ± standard errors as a table for a page: a row per point, a column per metric."""
    keys, names = [axis.key for axis in folder.plan.axes], metric_names(table, folder.plan)
    short = short_keys(keys)
    units = [f"{name} [{metric_unit(name)}]" if metric_unit(name) else name for name in names]
    points: dict[tuple[str, ...], dict[str, str]] = {}
    for row in means.to_dict("records"):
        points.setdefault(tuple(show_value(row[key]) for key in keys), {})[row["metric"]] = _shown(row)
    rows = [[*(short[key] for key in keys), *units], ["---"] * (len(keys) + len(names))]
    rows += [[*point, *(cells.get(name, "") for name in names)] for point, cells in points.items()]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _shown(row: dict[str, Any]) -> str:
    """Mean ± standard error; errors that are rounding are left out."""
    if not row["count"]:
        return format_value(None)
    mean, error = float(row["mean"]), row["error"]
    is_known = error is not None and error > ROUNDING * abs(mean)
    return format_value(mean) + (f" ± {error:.2g}" if is_known else "")
