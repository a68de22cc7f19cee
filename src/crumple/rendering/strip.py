"""Frames of a recording side by side in one picture, for notebooks."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from crumple.recording.files import write_output
from crumple.recording.recording import Recording
from crumple.rendering.film import render_frame
from crumple.runtime.errors import InputError
from crumple.runtime.packages import load_package

PIXELS_PER_INCH = 100


@dataclass(frozen=True)
class Strip:
    """A picture that notebooks show by themselves; `png` is the content of a PNG file."""

    png: bytes

    def _repr_png_(self) -> bytes:
        return self.png

    def save(self, path: str | Path) -> Path:
        """Write the PNG file."""
        write_output(Path(path), self.png)
        return Path(path)


def render_strip(
    recording: Recording,
    count: int = 6,
    *,
    frames: list[int] | None = None,
    columns: int = 3,
    size: tuple[int, int] = (400, 300),
    camera: str = "auto",
    color_by: str | None = None,
) -> Strip:
    """`count` frames spread evenly over the recording, or those in `frames`, each with its own view that fits it.

    `columns` pictures of `size` pixels in a row; `camera` and `color_by` as for `render_frame`.
    """
    load_package("matplotlib", "show")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.image import imread

    times = recording.times()
    chosen = _spread(list(times), count) if frames is None else frames
    columns = max(1, min(columns, len(chosen)))
    rows = -(-len(chosen) // columns)
    figure = Figure(figsize=(columns * size[0] / PIXELS_PER_INCH, rows * size[1] / PIXELS_PER_INCH))
    canvas = FigureCanvasAgg(figure)
    with TemporaryDirectory() as folder:
        for k, frame in enumerate(chosen):
            path = render_frame(
                recording, frame, Path(folder) / f"{k}.png", size=size, camera=camera, color_by=color_by
            )
            place = (k % columns / columns, 1.0 - (k // columns + 1) / rows, 1.0 / columns, 1.0 / rows)
            axes = figure.add_axes(place)
            axes.imshow(imread(path), aspect="auto")
            axes.set_axis_off()
            number = frame if frame >= 0 else list(times)[frame]
            axes.text(0.03, 0.95, f"frame {number}, {times[number]:.3g} s", transform=axes.transAxes, va="top")
    image = io.BytesIO()
    canvas.print_figure(image, dpi=PIXELS_PER_INCH)
    return Strip(image.getvalue())


def _spread(frames: list[int], count: int) -> list[int]:
    """At most `count` of the frames, the first and the last among them."""
    if not frames:
        raise InputError("show", "the recording has no finished frame")
    return [frames[k] for k in np.unique(np.linspace(0, len(frames) - 1, max(1, count)).round().astype(int))]
