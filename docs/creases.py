"""Makes the pictures and films of creases.md: `python docs/creases.py FOLDER [SCENE]...` runs the scenes there, unless
they were, and renders images/creases-SCENE.webp of each, and images/creases.jpg of all four."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

IMAGES = Path(__file__).parent / "images"
SCENES = {
    "miura": (-1, "--camera high"),
    "box": (-1, "--camera high"),
    "skirt": (-1, "--camera low"),
    "trousers": (45, "--camera low"),
}
"""Of each scene the frame of its picture, and how it is shown."""
PICTURE, FILM = (480, 360), (480, 360)
"""Sizes in pixels."""
FINER = 2
"""Pixels of a rendering over those of a picture or film, along each side."""
PAUSE = 1200
"""How long a film shows its last frame [ms]."""


def main() -> None:
    folder, chosen = Path(sys.argv[1]), sys.argv[2:] or list(SCENES)
    folder.mkdir(parents=True, exist_ok=True)
    for name in chosen:
        if not (folder / name / "frames").is_dir():
            crumple("run", name, "--out", str(folder / name))
        make_film(folder / name, IMAGES / f"creases-{name}.webp", SCENES[name][1])
    make_picture(folder)


def crumple(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "crumple.cli", *arguments], check=True)


def make_film(run: Path, path: Path, options: str) -> None:
    """An animated picture of a recording in real time, over and over again."""
    size = f"{FINER * FILM[0]}x{FINER * FILM[1]}"
    with tempfile.TemporaryDirectory() as scratch:
        crumple("render", str(run), "-o", f"{scratch}/%04d.png", "--size", size, *options.split())
        frames = [shrunk(file, FILM) for file in sorted(Path(scratch).glob("*.png"))]
    durations = [40] * (len(frames) - 1) + [PAUSE]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=durations, loop=0, quality=70, method=6)


def make_picture(folder: Path) -> None:
    """The four scenes side by side."""
    whole = Image.new("RGB", (2 * PICTURE[0], 2 * PICTURE[1]))
    for number, (name, (frame, options)) in enumerate(SCENES.items()):
        picture, size = folder / f"{name}.png", f"{FINER * PICTURE[0]}x{FINER * PICTURE[1]}"
        shown = ["--frame", str(frame), "--size", size, *options.split()]
        crumple("render", str(folder / name), "-o", str(picture), *shown)
        whole.paste(shrunk(picture, PICTURE), (PICTURE[0] * (number % 2), PICTURE[1] * (number // 2)))
    whole.save(IMAGES / "creases.jpg", quality=88)


def shrunk(file: Path, size: tuple[int, int]) -> Image.Image:
    with Image.open(file) as image:
        return image.convert("RGB").resize(size, Image.Resampling.LANCZOS)


if __name__ == "__main__":
    main()
