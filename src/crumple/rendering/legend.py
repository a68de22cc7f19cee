"""The legend of a coloured picture."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crumple.analysis.fields import SheetField
from crumple.runtime.packages import load_package

DOTS = 100
"""Pixels per inch of pictures at which the letters have their natural size."""
INK = "#20262c"


class Legend:
    """A colour bar on the right of pictures of `size` (width, height) pixels, drawn once."""

    def __init__(self, field: SheetField, limits: tuple[float, float], size: tuple[int, int]) -> None:
        load_package("matplotlib", "render --color-by")
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import LogNorm, Normalize
        from matplotlib.figure import Figure

        figure = Figure(figsize=(size[0] / DOTS, size[1] / DOTS), dpi=DOTS, facecolor=(0, 0, 0, 0))
        canvas = FigureCanvasAgg(figure)
        axes = figure.add_axes((0.88, 0.28, 0.025, 0.44))
        norm = (LogNorm if field.log else Normalize)(*limits)
        bar = figure.colorbar(ScalarMappable(norm, field.colormap), cax=axes)
        letters = 13.0 * min(1.0, size[0] / 1000) * 72 / DOTS
        bar.ax.tick_params(labelsize=letters, colors=INK)
        bar.ax.set_title(field.title, fontsize=letters, color=INK, pad=1.2 * letters)
        canvas.draw()
        self._image = np.asarray(canvas.buffer_rgba()).astype(np.float32)

    def put_on(self, picture: NDArray[np.uint8]) -> None:
        """Draw the legend over `picture`."""
        alpha = self._image[..., 3:] / 255.0
        picture[...] = np.round((1.0 - alpha) * picture + alpha * self._image[..., :3]).astype(np.uint8)
