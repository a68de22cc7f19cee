"""The mileage of a sheet that is crumpled again and again: a table, and a figure with the law of [Gottesman2018]."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crumple.analysis.analyze import recording_model
from crumple.analysis.figures import BLUE, RED, finish_axes, new_canvas, save_canvas
from crumple.analysis.repeated import MileageCurve, find_crumples, mileage_curve
from crumple.analysis.tables import write_csv
from crumple.recording.recording import Recording

HEAD = ("crumple", "closed_frame", "opened_frame", "mileage", "hinge_length", "worked_mileage", "compaction")


def repeated_curve(recording: Recording) -> MileageCurve | None:
    """How the creases of a recording grow with its crumples; None when it has fewer than two."""
    if not recording_model(recording).obstacles:
        return None
    crumples = find_crumples(recording)
    return mileage_curve(recording, crumples) if len(crumples) > 1 else None


def describe_mileage(curve: MileageCurve) -> list[tuple[str, str]]:
    """Rows for the terminal."""
    rows = [("crumples", str(len(curve.crumples)))]
    rows += [("mileage / √area after the first, the last", f"{curve.mileage[0]:.3g}, {curve.mileage[-1]:.3g}")]
    if curve.law is not None:
        rows.append(("law c₁(1−Δ) ln(1 + c₂ n/Δ)", f"c₁ {curve.law.c1:.3g}, c₂ {curve.law.c2:.3g}"))
    return rows


def save_mileage(curve: MileageCurve, folder: Path, kind: str = "png") -> list[Path]:
    """mileage.csv, and a figure of the `kind` where matplotlib is installed."""
    frames = [(float(crumple.closed), float(crumple.opened)) for crumple in curve.crumples]
    rows = np.column_stack([curve.count, frames, curve.mileage, curve.length, curve.worked, curve.delta]).tolist()
    written = [write_csv(folder / "mileage.csv", HEAD, rows)]
    canvas = new_canvas((5.6, 4.6))
    if canvas is None:
        return written
    axes = canvas.add_subplot()
    axes.plot(curve.count, curve.mileage, "o", color=BLUE, label="measured")
    if curve.law is not None:
        n = np.linspace(1.0, float(curve.count[-1]), 100)
        law = curve.law(n, np.interp(n, curve.count, curve.delta))
        axes.plot(n, law, color=RED, label="c₁(1−Δ) ln(1 + c₂ n/Δ)")
    finish_axes(axes, "crumples n", "mileage / √area", "creases of repeated crumpling")
    return [*written, save_canvas(canvas, folder / f"mileage.{kind}")]
