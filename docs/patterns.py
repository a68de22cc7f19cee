"""Makes images/patterns.png: `python docs/patterns.py FOLDER` runs and renders each pattern there, unless it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from crumple.patterns import CreasePattern, box, kresling, miura, pleats, waterbomb, write_fold

PATTERNS = {
    "miura": miura(6, 6, 0.02, 0.02, np.radians(60), np.radians(100)),
    "waterbomb": waterbomb(4, 5, 0.04),
    "kresling": kresling(6, 0.03, 0.045, np.radians(45), 3),
    "pleats": pleats(0.2, 0.1, 9, np.radians(110), share=0.35),
    "box": box(0.1, 0.06, 0.12),
}
OPTIONS = {"waterbomb": ("sheets[0].shape.fold=0.5",)}
"""What is not as by default."""
COLOURS = {"B": "black", "M": "red", "V": "blue"}


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    figure, axes = plt.subplots(2, len(PATTERNS), figsize=(15, 5.4), height_ratios=(1, 1.15))
    for (name, pattern), (above, below) in zip(PATTERNS.items(), axes.T, strict=True):
        draw(above, pattern)
        above.set_title(name)
        below.imshow(plt.imread(picture(folder, name, pattern)))
        below.axis("off")
    figure.tight_layout(pad=0.4)
    figure.savefig(Path(__file__).parent / "images" / "patterns.png", dpi=80)


def draw(axes: plt.Axes, pattern: CreasePattern) -> None:
    """The lines of a pattern, fainter where they fold less."""
    for (a, b), letter, angle in zip(pattern.edges, pattern.assignment, pattern.angle, strict=True):
        strength = 1.0 if letter == "B" else 0.25 + 0.75 * abs(angle) / np.pi
        axes.plot(*pattern.vertices[[a, b]].T, color=COLOURS[letter], alpha=strength, linewidth=1.3)
    axes.set_aspect("equal")
    axes.axis("off")


def picture(folder: Path, name: str, pattern: CreasePattern) -> Path:
    """The picture of a pattern after it has folded."""
    made = folder / f"{name}.png"
    if not made.exists():
        write_fold(folder / f"{name}.fold", pattern)
        run = [sys.executable, "-m", "crumple.cli"]
        out = str(folder / "runs" / name)
        own = [word for text in OPTIONS.get(name, ()) for word in ("--set", text)]
        subprocess.run([*run, "run", str(folder / f"{name}.fold"), "--out", out, "--force", *own], check=True)
        subprocess.run([*run, "render", out, "-o", str(made), "--size", "480x400"], check=True)
    return made


if __name__ == "__main__":
    main()
