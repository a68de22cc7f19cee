"""Makes images/tear-paths.png and images/tear-frames.jpg: four sheets torn by both criteria, side by side.

    python docs/tearing.py FOLDER [SCENE...]

Runs the scenes that are not in the folder yet: `FOLDER/tear-flat` by Griffith's criterion, `FOLDER/tear-flat-strength`
by the separation strength of Jiang 2016, and so on. The strength is the one that belongs to the tear energy of the
paper on edges of 6 mm, see `STRENGTH` below, so that both criteria take about the same energy.
"""

from __future__ import annotations

import subprocess
import sys
from math import sqrt
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from PIL import Image

from crumple.analysis.analyze import recording_model
from crumple.analysis.fields import bent_angle
from crumple.analysis.tears import Tears, measure_tears
from crumple.recording import Recording

SCENES = ("tear-flat", "tear-folded", "tear-light", "tear-heavy")
YOUNG, TEAR_ENERGY, EDGE = 3.54e9, 6e3, 6e-3
"""Of office paper [Pa], [J/m²], and the edges at the tips [m]."""
STRENGTH = sqrt(2.3 * YOUNG * TEAR_ENERGY / EDGE)
"""τ [Pa] of the same tear energy: the separation strength at a tip is s² ℓ = 2.3 E G."""
CRITERIA = {
    "griffith": ("Griffith", "#c0392b", []),
    "strength": ("strength", "#1f5fa8", [
        "--set", "tearing.criterion=strength", "--set", f"sheets[0].material.tensile_strength={STRENGTH:.3g}",
    ]),
}  # fmt: skip
"""By name: what it is called in the picture, its colour, and the options of `crumple run`."""
SIZE = (440, 440)
FRAME = 13
"""That is shown: about half of the way."""
IMAGES = Path(__file__).parent / "images"


def crumple(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "crumple.cli", *arguments], check=True)


def recorded(folder: Path, scene: str, criterion: str) -> Path:
    """The recording of a scene by a criterion, which is made where it is missing."""
    run = folder / (scene if criterion == "griffith" else f"{scene}-{criterion}")
    if not (run / "frames").is_dir():
        crumple("run", scene, "--out", str(run), *CRITERIA[criterion][2])
    return run


def tears_of(run: Path) -> Tears:
    """What has torn in the last frame."""
    recording = Recording(run)
    found = measure_tears(recording_model(recording), recording.load(-1))
    assert found is not None
    return found


def draw_pattern(axes: Axes, scene: str, runs: dict[str, Path]) -> None:
    """The creases that the sheet began with, and the path of the crack by each criterion."""
    recording = Recording(next(iter(runs.values())))
    start = recording.load(recording.frames[0])
    u = 1e3 * start.mesh.u
    bent = bent_angle(recording_model(recording), start)
    axes.tripcolor(u[:, 0], u[:, 1], start.mesh.faces, bent, cmap="Greys", vmin=0.0, vmax=8.0)
    axes.plot([0, 200, 200, 0, 0], [0, 0, 200, 200, 0], color="#222222", linewidth=0.8)
    axes.plot([100, 100], [0, 30], color="#222222", linewidth=0.8)
    for criterion, run in runs.items():
        name, color, _ = CRITERIA[criterion]
        tears = tears_of(run)
        turn = "" if tears.roughness is None else f", turns {np.degrees(tears.roughness):.0f}°"
        for number, crack in enumerate(tears.cracks):
            label = f"{name}: {1e3 * tears.length:.0f} mm{turn}" if number == 0 else None
            axes.plot(*(1e3 * crack.path).T, color=color, linewidth=1.4, label=label)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(scene, fontsize=10)
    axes.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, 0.0), frameon=False)


def main() -> None:
    folder, scenes = Path(sys.argv[1]), sys.argv[2:] or SCENES
    folder.mkdir(parents=True, exist_ok=True)
    runs = {scene: {name: recorded(folder, scene, name) for name in CRITERIA} for scene in scenes}
    figure, axes = plt.subplots(1, len(scenes), figsize=(3.25 * len(scenes), 3.9), layout="constrained", squeeze=False)
    for one, (scene, both) in zip(axes[0], runs.items(), strict=True):
        draw_pattern(one, scene, both)
    figure.savefig(IMAGES / "tear-paths.png", dpi=90)
    whole = Image.new("RGB", (len(scenes) * SIZE[0], len(CRITERIA) * SIZE[1]))
    for column, both in enumerate(runs.values()):
        for row, run in enumerate(both.values()):
            picture = run.with_suffix(".png")
            crumple("render", str(run), "-o", str(picture), "--frame", str(FRAME), "--size", f"{SIZE[0]}x{SIZE[1]}")
            with Image.open(picture) as image:
                whole.paste(image.convert("RGB"), (column * SIZE[0], row * SIZE[1]))
    whole.save(IMAGES / "tear-frames.jpg", quality=88)


if __name__ == "__main__":
    main()
