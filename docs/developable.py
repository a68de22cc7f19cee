"""Makes the pictures of developable.md: images/developable.jpg, sheets after three figures of [Schreck2015] above their
rulings, and a film after each figure, images/developable-NAME.webp.

python docs/developable.py [NAME]...
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from PIL import Image

from crumple.developable.paper import Paper
from crumple.developable.sessions import script
from crumple.recording import Recording
from crumple.rendering import render_film, render_frame
from crumple.session.session import Session

IMAGES = Path(__file__).parent / "images"
SHOWN = {"figure 17": 2, "figure 1": 0, "figure 22": 3}
"""Scripts and seeds of the picture."""
FILMS: dict[str, list[tuple[str, int, dict[str, float]]]] = {
    "1": [("figure 1", 0, {})],
    "17": [("figure 17", 2, {})],
    "18-top": [("figure 18 top", 0, {})],
    "18-bottom": [("figure 18 bottom", 1, {})],
    "21": [("figure 21", 1, {"compression": limit}) for limit in (1e-2, 5e-3, 2e-3)],
    "22": [("figure 22", 3, {})],
    "newspaper": [("newspaper", 0, {})],
}
"""Of each film, the sheets side by side: script, seed, changes of options."""
PICTURE, FILM = (640, 520), (440, 340)
EVERY, SECONDS, LAST = 4, 1 / 15, 1.2
"""Frames of the session per frame of a film, how long one is seen, and the last [s]."""


def record(name: str, seed: int, changes: dict[str, float], folder: Path) -> tuple[Recording, Paper]:
    """The recording of a script as it is shown, and the sheet at its end."""
    engine = script(name).engine(seed=seed, **changes)
    with Session(engine) as session:
        recording = session.record(folder, shown=True)
        session.run(script(name).frames)
    return recording, engine.paper


def film(name: str) -> None:
    """Write a film; its sheets are side by side."""
    columns = []
    for seeded in FILMS[name]:
        with tempfile.TemporaryDirectory() as folder:
            recording, _ = record(*seeded, Path(folder) / "run")
            frames = [*recording.frames[:-1:EVERY], recording.frames[-1]]
            size = FILM if len(FILMS[name]) == 1 else (FILM[0] * 3 // 4, FILM[1] * 3 // 4)
            render_film(recording, Path(folder) / "film.%04d.png", size=size, frames=frames)
            columns.append([np.asarray(Image.open(path).convert("RGB")) for path in sorted(Path(folder).glob("*.png"))])
    pictures = [Image.fromarray(np.concatenate(row, axis=1)) for row in zip(*columns, strict=True)]
    lasts = [round(1000 * SECONDS)] * (len(pictures) - 1) + [round(1000 * LAST)]
    pictures[0].save(
        IMAGES / f"developable-{name}.webp", save_all=True, append_images=pictures[1:], duration=lasts, loop=0,
        quality=80, method=6,
    )  # fmt: skip


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


def picture() -> None:
    """Write the picture."""
    figure, rows = plt.subplots(3, len(SHOWN), figsize=(11, 10.2))
    for column, (name, seed) in enumerate(SHOWN.items()):
        with tempfile.TemporaryDirectory() as folder:
            recording, paper = record(name, seed, {}, Path(folder) / "run")
            for row, structure in enumerate((False, True)):
                path = render_frame(recording, -1, Path(folder) / "view.png", size=PICTURE, structure=structure)
                rows[row, column].imshow(np.asarray(Image.open(path).convert("RGB")))
                rows[row, column].set_axis_off()
        rows[0, column].set_title(f"after {name}: {script(name).about}", fontsize=7)
        draw_rulings(rows[2, column], paper)
    figure.tight_layout()
    figure.savefig(IMAGES / "developable.jpg", dpi=110, pil_kwargs={"quality": 88})


def main() -> None:
    """Make what is named, or everything."""
    for name in sys.argv[1:] or ["picture", *FILMS]:
        picture() if name == "picture" else film(name)


if __name__ == "__main__":
    main()
