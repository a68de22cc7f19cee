"""Makes images/developable.jpg: developable paper after three figures of [Schreck2015], above its rulings.

python docs/developable.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from PIL import Image

from crumple.developable import DevelopableEngine
from crumple.developable.paper import Paper
from crumple.developable.sessions import script
from crumple.developable.view import smooth_view
from crumple.recording import create_recording
from crumple.rendering import render_frame

SHOWN = {"figure 17": 2, "figure 1": 0, "figure 22": 3}
"""Scripts and seeds."""
SIZE = (640, 520)
IMAGE = Path(__file__).parent / "images/developable.jpg"


def render(engine: DevelopableEngine, path: Path) -> Image.Image:
    """A picture of the smooth view."""
    state = smooth_view(engine.paper).state(engine.state).replaced(time=0.0, frame=0)
    recorder = create_recording(path, None, force=True)
    recorder.on_start(engine.model, state)
    recorder.close()
    return Image.open(render_frame(recorder.recording, -1, path / "view.png", size=SIZE)).convert("RGB")


def draw_rulings(axes: Axes, paper: Paper) -> None:
    """Rulings, one colour per curved region, singular points and held vertices in the pattern."""
    structure = paper.structure
    for number, curve in enumerate(structure.curves.values()):
        for a, b in curve.rulings:
            axes.plot(*np.stack([structure.u(a), structure.u(b)], axis=1), color=f"C{number % 10}", linewidth=0.9)
    corners = np.concatenate([structure.outline.corners, structure.outline.corners[:1]])
    axes.plot(*corners.T, color="0.3", linewidth=1.2)
    for key in structure.singular:
        axes.plot(*structure.u(key), "ko", markersize=5)
    held = np.array([vertex.u for vertex in structure.vertices.values() if vertex.is_held])
    axes.plot(*held.T, "^", color="#c0392b", markersize=4)
    axes.set_aspect("equal")
    axes.set_axis_off()


def main() -> None:
    """Run the scripts and write the picture."""
    figure, rows = plt.subplots(2, len(SHOWN), figsize=(11, 7.2))
    for column, (name, seed) in enumerate(SHOWN.items()):
        engine = script(name).run(seed=seed)
        with tempfile.TemporaryDirectory() as folder:
            rows[0, column].imshow(np.asarray(render(engine, Path(folder))))
        rows[0, column].set_axis_off()
        rows[0, column].set_title(f"after {name}: {script(name).about}", fontsize=7)
        draw_rulings(rows[1, column], engine.paper)
    figure.tight_layout()
    figure.savefig(IMAGE, dpi=110, pil_kwargs={"quality": 88})


if __name__ == "__main__":
    main()
