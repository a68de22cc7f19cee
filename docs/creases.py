"""Makes images/creases.jpg: `python docs/creases.py FOLDER` runs and renders the scenes there, unless they were."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from PIL import Image

PICTURES = {
    "miura": ("--frame", "-1", "--camera", "high"),
    "box": ("--frame", "-1", "--camera", "high"),
    "skirt": ("--frame", "-1"),
    "trousers": ("--frame", "24", "--camera", "side"),
}
"""Scenes, and how they are shown."""
SIZE = (480, 360)


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    whole = Image.new("RGB", (2 * SIZE[0], 2 * SIZE[1]))
    for number, (name, options) in enumerate(PICTURES.items()):
        run, picture = folder / name, folder / f"{name}.png"
        if not run.is_dir():
            quick = ["--quick"] if name == "skirt" else []
            subprocess.run(["crumple", "run", name, "--out", str(run), *quick], check=True)
        size = f"{2 * SIZE[0]}x{2 * SIZE[1]}"
        subprocess.run(["crumple", "render", str(run), "-o", str(picture), "--size", size, *options], check=True)
        with Image.open(picture) as image:
            small = image.convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
        whole.paste(small, (SIZE[0] * (number % 2), SIZE[1] * (number // 2)))
    whole.save(Path(__file__).parent / "images" / "creases.jpg", quality=88)


if __name__ == "__main__":
    main()
