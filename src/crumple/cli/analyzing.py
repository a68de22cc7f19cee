"""`crumple analyze`."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path

import typer
from rich.console import Console

from crumple.analysis.analyze import Analysis, analyze_recording
from crumple.analysis.comparison import describe_comparison, save_comparison, write_comparison
from crumple.analysis.confinement import confinements, describe_confinement, save_confinement
from crumple.analysis.figures import save_figures, save_mass_size
from crumple.analysis.foil_ball import compare_ball
from crumple.analysis.mileage import describe_mileage, repeated_curve, save_mileage
from crumple.analysis.repeated import mass_size
from crumple.analysis.tables import describe, summary_record, write_mass_size, write_tables
from crumple.cli.consoles import make_console
from crumple.cli.reporting import show_table
from crumple.recording.log import strict_json
from crumple.recording.recording import Recording
from crumple.runtime.errors import InputError
from crumple.studies.sweeping import is_sweep

FIGURES = ("png", "pdf", "svg")
BALL_FRACTION = 0.01
"""Volume fraction from which on a sheet is shown beside the foil ball: it is crumpled, not merely bent or torn."""


def analyze_folders(
    folders: Sequence[Path],
    out: Path | None,
    *,
    frame: int | None,
    plane: str,
    ridge_curvature: float | None,
    as_json: bool,
    kind: str = "png",
) -> None:
    """Statistics of a frame of each recording into files, and the main numbers on the terminal; those of several
    recordings also side by side, in one table and one figure."""
    normal = parse_plane(plane)
    if kind not in FIGURES:
        raise InputError("analyze --figures", f"must be one of {', '.join(FIGURES)}", kind)
    if any(is_sweep(folder) for folder in folders):
        return _analyze_sweep(folders, out, frame, ridge_curvature, as_json, kind)
    recordings = [Recording(folder) for folder in folders]
    for recording in recordings if frame is not None else ():
        recording.frame_number(frame or 0, "analyze --frame")
    if ridge_curvature is not None and not (isfinite(ridge_curvature) and ridge_curvature > 0.0):
        raise InputError("analyze --ridge-curvature", "must be > 0 and finite, in 1/m", ridge_curvature)
    names = _names(folders)
    target = out if out is not None else default_folder(folders)
    console, written = make_console(), 0
    analyses = [  # all of them before the first file of an earlier analysis is replaced
        analyze_recording(recording, frame, plane=normal, ridge_curvature=ridge_curvature) for recording in recordings
    ]
    for name, analysis in zip(names, analyses, strict=True):
        place = target if len(folders) == 1 else target / name
        written += len(write_tables(analysis, place)) + len(save_figures(analysis, place, kind))
        if not as_json and len(folders) == 1:
            _show(console, name, analysis)
    for name, recording in zip(names, recordings, strict=True):
        place = target if len(folders) == 1 else target / name
        if closing := confinements(recording):
            written += len(save_confinement(closing, place, kind))
        for one in closing if not as_json else ():
            show_table(console, "", (f"{name}: force of {one.name}", "value"), describe_confinement(one))
        curve = repeated_curve(recording)
        if curve is None:
            continue
        written += len(save_mileage(curve, place, kind))
        if not as_json:
            show_table(console, "", (f"{name}: repeated crumpling", "value"), describe_mileage(curve))
    law = mass_size(analyses) if len(analyses) > 1 else None
    if len(analyses) > 1:
        write_mass_size(analyses, names, law, target)
        save_mass_size(analyses, law, target / f"mass_size.{kind}")
        write_comparison(analyses, names, target)
        save_comparison(analyses, names, [recording.steps() for recording in recordings], target / f"comparison.{kind}")
    if as_json:
        records = {name: summary_record(analysis) for name, analysis in zip(names, analyses, strict=True)}
        exponent = {} if len(analyses) == 1 else {"mass_size_exponent": None if law is None else law.exponent}
        typer.echo(strict_json(next(iter(records.values())) if len(records) == 1 else records | exponent))
        return
    if len(analyses) > 1:
        rows = [tuple(row) for row in describe_comparison(analyses)]
        show_table(console, "", ("", *names), rows)
        console.print(f"size ∝ mass^{law.exponent:.3f} (R² {law.r_squared:.3f})" if law else "size and mass: no law")
        written += len(list(target.glob("comparison.*"))) + len(list(target.glob("mass_size.*")))
    console.print(f"{written} files in {target}", highlight=False, markup=False, soft_wrap=True)


def _analyze_sweep(
    folders: Sequence[Path],
    out: Path | None,
    frame: int | None,
    ridge_curvature: float | None,
    as_json: bool,
    kind: str,
) -> None:
    if len(folders) > 1:
        raise InputError("crumple analyze", "one sweep at a time, or recordings", ", ".join(map(str, folders)))
    if frame is not None or ridge_curvature is not None:
        raise InputError(
            "crumple analyze", "--frame and --ridge-curvature are for recordings; a sweep has its --metric"
        )
    from crumple.cli.sweep_analyzing import analyze_sweep

    analyze_sweep(folders[0], out, as_json, kind)


def default_folder(folders: Sequence[Path]) -> Path:
    """Beside a recording, not in it: a recording folder holds nothing else."""
    first = folders[0].absolute()
    return first.with_name(first.name + "-analysis") if len(folders) == 1 else first.with_name("analysis")


def parse_plane(text: str) -> tuple[float, float, float]:
    """The normal of the cross-section: x, y, z, or three numbers with commas."""
    axes = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
    if text in axes:
        return axes[text]
    try:
        x, y, z = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError("analyze --plane", "must be x, y, z or a normal such as 1,0,1", text) from None
    return x, y, z


def _names(folders: Sequence[Path]) -> list[str]:
    """A name for each recording: that of its folder, numbered where two are alike."""
    names = [folder.absolute().name for folder in folders]
    return [name if names.count(name) == 1 else f"{k}-{name}" for k, name in enumerate(names)]


def _show(console: Console, name: str, analysis: Analysis) -> None:
    show_table(console, "", (name, "value"), describe(analysis))
    if analysis.shape.volume_fraction < BALL_FRACTION or not analysis.is_foil:
        return
    rows = [
        (
            band.quantity,
            f"{band.low:g} to {band.high:g}",
            "none" if band.measured is None else f"{band.measured:.4g}",
            "in" if band.passed else "out",
        )
        for band in compare_ball(analysis)
    ]
    show_table(console, "", ("beside the foil ball of Narain 2013", "reference", "measured", "band"), rows)
