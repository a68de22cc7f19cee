"""The statistics as files: one CSV per statistic, the main numbers as JSON and text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crumple.analysis.analyze import Analysis
from crumple.analysis.columns import QUANTITIES, TABLES, describe_column
from crumple.analysis.fits import Fit, PowerLaw
from crumple.analysis.foil_ball import compare_ball
from crumple.analysis.statistics import thickness_fraction
from crumple.recording.files import write_output
from crumple.recording.log import strict_json
from crumple.runtime.errors import InputError
from crumple.state.ledger import COLUMNS

Rows = Iterable[Sequence[Any]]

UNITS = {name: column.unit for name, column in QUANTITIES.items()}


def write_tables(analysis: Analysis, folder: Path) -> list[Path]:
    """Write the CSV files, summary.json and summary.txt into `folder`; gives their paths."""
    make_folder(folder)
    written = [write_csv(folder / f"{name}.csv", head, rows) for name, (head, rows) in tables(analysis).items()]
    summary = folder / "summary.json"
    write_output(summary, (strict_json(summary_record(analysis), indent=1) + "\n").encode())
    text = folder / "summary.txt"
    lines = [f"{name}: {value}" for name, value in describe(analysis)]
    write_output(text, ("\n".join(lines) + "\n").encode())
    return [*written, summary, text]


def tables(analysis: Analysis) -> dict[str, tuple[Sequence[str], Rows]]:
    """Header and rows of each CSV file, by name."""
    density, radii, ridges = analysis.density, analysis.radii, analysis.ridges
    shell = density.histogram
    cosine = analysis.orientation.histogram
    kinds = ["between facets"] * len(ridges.length) + ["open"] * len(ridges.open_length)
    fits = [("ridge length [m]", *_fit_row(fit)) for fit in analysis.ridge_fits]
    fits += [("facet area [m²]", *_fit_row(fit)) for fit in analysis.facet_fits]
    found: dict[str, tuple[Sequence[str], Rows]] = {
        "density": (
            ("r_over_R", "density_over_mean", "volume_fraction", "mass_share"),
            zip(shell.middle, shell.density, thickness_fraction(density, analysis.shape), density.mass, strict=True),
        ),
        "orientation": (("cosine", "density"), zip(cosine.middle, cosine.density, strict=True)),
        "curvature_radii": (
            ("R_over_t", "density_R1", "density_R2"),
            zip(radii.first.middle, radii.first.density, radii.second.density, strict=True),
        ),
        "cross_section": (("x0_m", "y0_m", "x1_m", "y1_m"), analysis.section.segments.reshape(-1, 4)),
        "ridges": (("length_m", "kind"), zip(ridges.all_lengths, kinds, strict=True)),
        "facets": (("area_m2",), ridges.facet_area.reshape(-1, 1)),
        "creases": (("quantity", "value"), _crease_rows(analysis)),
        "crease_lines": (tuple(TABLES["crease_lines"]), [tuple(vars(line).values()) for line in analysis.crease_lines]),
        "energies": (("energy", "joule"), list(analysis.energies.items())),
        "ledger": (("column", "joule", "meaning"), [(name, j, COLUMNS[name]) for name, j in analysis.ledger.items()]),
        "fits": (("sample", "law", "parameters", "log_likelihood", "ks_distance", "count"), fits),
    }
    found |= _tear_tables(analysis)
    return found | {"columns": (tuple(TABLES["columns"]), _column_rows(analysis, found))}


def _column_rows(analysis: Analysis, found: Mapping[str, tuple[Sequence[str], Rows]]) -> Rows:
    """Unit and meaning of all that is written."""
    numbers = [name for name in analysis.summary() if name != "energies"]
    rows = [("summary", name, *(describe_column(name) or ("", ""))) for name in numbers]
    return rows + [(table, name, *TABLES[table][name]) for table, (head, _) in found.items() for name in head]


def _tear_tables(analysis: Analysis) -> dict[str, tuple[Sequence[str], Rows]]:
    """The paths of cracks on the pattern, and what the handles did; nothing where sheets cannot tear."""
    if analysis.tears is None:
        return {}
    tears = analysis.tears
    points = [(crack.number, crack.sheet, *point) for crack in tears.cracks for point in crack.path.tolist()]
    pulls = []
    for curve in tears.curves:
        columns = (curve.time, curve.way, curve.pull, *curve.displacement.T, *curve.force.T, curve.work)
        pulls += [(curve.name, *row) for row in zip(*columns, strict=True)]
    head = ("handle", "time_s", "displacement_m", "force_N", "dx_m", "dy_m", "dz_m", "Fx_N", "Fy_N", "Fz_N", "work_J")
    return {"cracks": (("crack", "sheet", "u_m", "v_m"), points), "forces": (head, pulls)}


def summary_record(analysis: Analysis) -> dict[str, Any]:
    """What summary.json holds: the main numbers, the fits, and the comparison with the reference ball."""
    return analysis.summary() | {
        "ridge_fits": [_fit_record(fit) for fit in analysis.ridge_fits],
        "facet_fits": [_fit_record(fit) for fit in analysis.facet_fits],
        "foil_ball": [
            {"quantity": b.quantity, "low": b.low, "high": b.high, "measured": b.measured, "passed": b.passed}
            for b in compare_ball(analysis)
        ],
    }


def describe(analysis: Analysis) -> list[tuple[str, str]]:
    """The main numbers as text with units; what is not there is called none."""
    pairs = []
    for name, value in analysis.summary().items():
        if isinstance(value, dict):
            pairs += [(f"{key} energy", f"{joule:.4g} J") for key, joule in value.items()]
        else:
            pairs.append((name.replace("_", " "), format_value(value, UNITS.get(name, ""))))
    return pairs


def write_mass_size(analyses: Sequence[Analysis], names: Sequence[str], law: PowerLaw | None, folder: Path) -> Path:
    """Mass and size of several balls, and in the last row the law through them."""
    make_folder(folder)
    rows: list[Sequence[Any]] = [
        (name, float(a.shape.mass.sum()), a.shape.ball.radius) for name, a in zip(names, analyses, strict=True)
    ]
    rows.append(("exponent", *(("none", "none") if law is None else (law.exponent, f"R² {law.r_squared:.4f}"))))
    return write_csv(folder / "mass_size.csv", ("recording", "mass_kg", "radius_m"), rows)


def make_folder(folder: Path) -> None:
    """Make `folder` if it is not there; `InputError` when that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(str(folder), f"cannot be created ({error.strerror})") from None


def _crease_rows(analysis: Analysis) -> Rows:
    creases = analysis.creases
    if creases.is_empty:
        return [("creases", "none")]
    return [
        ("mileage_m", creases.mileage),
        ("turn_m_rad", creases.turn),
        ("worked_turn_m_rad", creases.worked),
        ("hinge_length_m", creases.hinge_length),
        ("mean_angle_rad", creases.mean_angle),
        ("area_share", creases.area_share),
    ]


def _fit_row(fit: Fit) -> tuple[Any, ...]:
    parameters = " ".join(f"{name}={value:.6g}" for name, value in fit.parameters.items())
    return fit.law, parameters, fit.log_likelihood, fit.distance, fit.samples


def _fit_record(fit: Fit) -> dict[str, Any]:
    return {
        "law": fit.law,
        **fit.parameters,
        "log_likelihood": fit.log_likelihood,
        "ks_distance": fit.distance,
        "count": fit.samples,
    }


def format_value(value: Any, unit: str = "") -> str:
    """A number with four digits and its unit; "none" where there is none."""
    if value is None:
        return "none"
    number = f"{value:.4g}" if isinstance(value, float) else str(value)
    return f"{number} {unit}".strip()


def write_csv(path: Path, head: Sequence[str], rows: Rows) -> Path:
    """A CSV file with numbers to 9 digits."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_cell(value) for value in row] for row in rows)
    write_output(path, text.getvalue().encode())
    return path


def _cell(value: Any) -> Any:
    return f"{value:.9g}" if isinstance(value, float | np.floating) else value
