"""Figures of the cases; without matplotlib there are none."""

from __future__ import annotations

from pathlib import Path

from crumple.studies.validation.result import Drawing

WIDTH, HEIGHT = 6.4, 4.4
"""Of a single drawing [inch]; several are somewhat narrower."""
NARROW = 0.75
ACROSS = 4
"""Most drawings in a row."""


def save_figure(figure: Drawing | tuple[Drawing, ...], title: str, path: Path) -> Path | None:
    """Draw `figure` into the PNG file `path` and return it; None when matplotlib is not installed."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        return None
    drawings = figure if isinstance(figure, tuple) else (figure,)
    columns = min(len(drawings), ACROSS)
    rows = -(-len(drawings) // columns)
    width = WIDTH if columns == 1 else NARROW * WIDTH * columns
    canvas = Canvas(figsize=(width, HEIGHT * rows), layout="constrained")
    FigureCanvasAgg(canvas)
    for place, drawing in enumerate(drawings, 1):
        drawing(canvas.add_subplot(rows, columns, place))
    canvas.suptitle(title)
    path.parent.mkdir(parents=True, exist_ok=True)
    canvas.savefig(path, dpi=120)
    return path
