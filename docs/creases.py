"""Makes the pictures and films of creases.md: `python docs/creases.py FOLDER [SCENE]...` runs the scenes there, unless
they were, and renders images/creases-SCENE.webp of each, and images/creases.jpg of all four."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

IMAGES = Path(__file__).parent / "images"
SCENES = {
    "miura": (-1, "--camera high"),
    "box": (-1, ""),
    "skirt": (42, "--look plain --texture {tartan} --back {tartan}"),
    "trousers": (45, "--camera low --look plain --texture {flannel} --back {flannel}"),
}
"""Of each scene the frame of its picture, and how it is shown."""
SIZE = (520, 390)
"""Of pictures and films, in pixels."""
PAUSE = 1200
"""How long a film shows its last frame [ms]."""


def main() -> None:
    folder, chosen = Path(sys.argv[1]), sys.argv[2:] or list(SCENES)
    folder.mkdir(parents=True, exist_ok=True)
    cloths = {name: str(folder / f"{name}.png") for name in ("tartan", "flannel")}
    Image.fromarray(tartan()).save(cloths["tartan"])
    Image.fromarray(flannel()).save(cloths["flannel"])
    for name in chosen:
        if not (folder / name / "frames").is_dir():
            crumple("run", name, "--out", str(folder / name))
        frame, options = SCENES[name]
        make_film(folder / name, IMAGES / f"creases-{name}.webp", options.format(**cloths))
        size = f"{2 * SIZE[0]}x{2 * SIZE[1]}"
        shown = ["--frame", str(frame), "--size", size, *options.format(**cloths).split()]
        crumple("render", str(folder / name), "-o", str(folder / f"{name}.png"), *shown)
    if all((folder / f"{name}.png").exists() for name in SCENES):
        whole = Image.new("RGB", (2 * SIZE[0], 2 * SIZE[1]))
        for number, name in enumerate(SCENES):
            with Image.open(folder / f"{name}.png") as image:
                small = image.convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
            whole.paste(small, (SIZE[0] * (number % 2), SIZE[1] * (number // 2)))
        whole.save(IMAGES / "creases.jpg", quality=88)


def crumple(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "crumple.cli", *arguments], check=True)


def make_film(run: Path, path: Path, options: str) -> None:
    """An animated picture of a recording in real time, over and over again."""
    with tempfile.TemporaryDirectory() as scratch:
        size = f"{SIZE[0]}x{SIZE[1]}"
        crumple("render", str(run), "-o", f"{scratch}/%04d.png", "--size", size, *options.split())
        frames = [Image.open(file).convert("RGB") for file in sorted(Path(scratch).glob("*.png"))]
    durations = [40] * (len(frames) - 1) + [PAUSE]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=durations, loop=0, quality=84, method=6)


def tartan(repeats: int = 10) -> np.ndarray:
    """A tartan for a tube of 0.96 × 0.36 m, (height, width, 3): bands of colours in warp and weft, woven as twill."""
    colours = {"g": (70, 132, 104), "n": (78, 96, 158), "r": (206, 72, 70), "y": (240, 214, 130), "k": (66, 72, 88)}
    sett = "n" * 14 + "k" * 4 + "g" * 14 + "y" * 2 + "g" * 14 + "k" * 4 + "n" * 14 + "r" * 3 + "n" * 3 + "r" * 3
    thread = np.array([colours[letter] for letter in sett * repeats], np.float64)
    height = len(thread) * 3 // 8  # as high as the tube, over its circumference
    i, j = np.indices((height, len(thread)))
    weft = ((i + j) % 4 < 2)[..., None]
    woven = np.where(weft, thread[:height, None], thread[None, :])
    return np.repeat(np.repeat(woven, 2, axis=0), 2, axis=1).astype(np.uint8)


def flannel(side: int = 512) -> np.ndarray:
    """Blue cloth, a little mottled, (side, side, 3)."""
    noise = np.random.default_rng(1).normal(0.0, 5.0, (side, side, 1))
    return np.clip(np.array([84, 104, 150]) + noise, 0, 255).astype(np.uint8)


if __name__ == "__main__":
    main()
