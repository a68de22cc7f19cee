"""Figures of the cases; without matplotlib there are none."""

from __future__ import annotations

from pathlib import Path

from crumple.validation.result import Figure


def save_figure(figure: Figure, title: str, path: Path) -> Path | None:
    """Draw `figure` into the PNG file `path` and return it; None when matplotlib is not installed."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        return None
    canvas = Canvas(figsize=(6.4, 4.4), layout="constrained")
    FigureCanvasAgg(canvas)
    axes = canvas.add_subplot()
    for curve in figure.curves:
        axes.plot(curve.x, curve.y, "o" if curve.points else "-", markersize=5, label=curve.label)
    if figure.logarithmic:
        axes.set_xscale("log")
        axes.set_yscale("log")
    axes.set_xlabel(figure.x_label)
    axes.set_ylabel(figure.y_label)
    axes.set_title(title)
    axes.grid(True, linewidth=0.3)
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    canvas.savefig(path, dpi=120)
    return path
