"""Make the pictures of the gallery, and the page that shows each with the commands that made it.

    python docs/gallery.py                    # all: runs every scene below in its quick variant, then renders
    python docs/gallery.py moebius flag       # some
    python docs/gallery.py --runs out/quick   # recordings that are there already are used, others are made there

Writes docs/images/gallery-*.jpg, docs/images/ball.gif and docs/gallery.md.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

DOCS = Path(__file__).parent
SIZE = "880x660"

# Scene, options of `crumple run`, then pictures: name, options of `crumple render`, what it shows.
GALLERY: list[tuple[str, str, list[tuple[str, str, str]]]] = [
    ("ball", "", [
        ("ball.gif", "--size 400x300 --fps 25 --zoom 1.15",
         "Note paper crumpled in a shrinking sphere: the film of `make demo`."),
        ("gallery-ruled.jpg", "--frame 30 --texture ruled --back ruled --obstacles hidden", "The same on ruled paper."),
    ]),
    ("crumple", "--quick", [
        ("gallery-crumple.jpg", "--frame 90", "A letter sheet in a shrinking sphere (Narain 2013, figure 1)."),
        ("gallery-strain.jpg", "--frame 90 --color-by plastic_curvature --obstacles hidden --background light",
         "Where it has yielded."),
    ]),
    ("cylinder", "--quick", [
        ("gallery-cylinder.jpg", "--frame 45 --camera low", "A tube of paper pressed together (figure 3)."),
    ]),
    ("fold", "--quick", [
        ("gallery-fold.jpg", "--frame 200 --texture squared --back squared", "Two folds under rollers (figure 5)."),
    ]),
    ("airplane", "--quick", [
        ("gallery-airplane.jpg", "--frame 5 --camera high", "A dart that meets a wall (figure 6)."),
    ]),
    ("tshirt", "--quick", [
        ("gallery-tshirt.jpg", "--camera front", "A shirt that was stuffed into a box (figure 7); the mesh is coarse."),
    ]),
    ("foil-ball", "--quick", [
        ("gallery-foil.jpg", "--frame 64", "A disk of aluminium foil (figure 8), on a coarse mesh."),
    ]),
    ("drape", "--quick", [("gallery-drape.jpg", "", "Tissue on a ball (figure 2).")]),
    ("letter", "--quick", [("gallery-letter.jpg", "--frame 35 --texture ruled", "A letter pushed together.")]),
    ("moebius", "--quick", [("gallery-moebius.jpg", "", "A strip of polyester film, joined with half a turn.")]),
    ("flag", "--quick", [("gallery-flag.jpg", "", "A cotton flag in the wind.")]),
    ("recrumple", "--quick", [("gallery-recrumple.jpg", "--frame 30", "A square crumpled and pulled open again.")]),
    ("sizes", "--quick", [("gallery-sizes.jpg", "--frame 20", "Four sheets in shrinking spheres.")]),
    ("squeeze", "--quick", [("gallery-squeeze.jpg", "--frame 40", "A tube of paper pressed flat between two plates.")]),
    ("student-crush", "", [
        ("gallery-crush.jpg", "--frame 30 --obstacles hidden",
         "A sheet folded before, between two planes, by a student's simulator."),
    ]),
    ("miura", "", [("gallery-miura.jpg", "--camera high", "A Miura-ori, folded by its zigzags alone.")]),
    ("box", "", [("gallery-box.jpg", "", "A folding box of card; its creases were driven one group after the other.")]),
    ("skirt", "", [("gallery-skirt.jpg", "--frame 42", "A skirt with pressed pleats, turning.")]),
    ("trousers", "", [("gallery-trousers.jpg", "--frame 45 --camera low", "Pressed trousers, walking (Choi 2004).")]),
    ("stuff", "--quick", [("gallery-stuff.jpg", "--frame 40", "An elastic sheet stuffed into a sphere.")]),
    ("twist", "--quick", [("gallery-twist.jpg", "--frame 50", "Cotton twisted, the benchmark of the field.")]),
    ("demo", "--quick", [("gallery-demo.jpg", "--frame 5", "A square of paper bends over a ball and slides off.")]),
    ("drape-fixed", "--quick", [("gallery-drape-fixed.jpg", "", "Tissue on a ball, on a fixed mesh, which locks.")]),
    ("tear-letter", "", [
        ("gallery-tear-letter.jpg", "--frame 13 --texture ruled", "A letter is torn in two by hand."),
    ]),
    ("tear-tool", "", [
        ("gallery-tear-tool.jpg", "--frame 26 --look paper --camera high",
         "A blunt tool is driven through a film: the crack swings."),
    ]),
    ("drop", "--quick", [("gallery-card.jpg", "--look card --frame 6", "A falling sheet, drawn as card.")]),
]  # fmt: skip


# Several frames side by side: scene, options of `crumple run`, name, frames, options of `crumple render`, text.
STRIPS = [
    (
        "crumple",
        "",
        "scene-crumple.jpg",
        (24, 45, 76, 124),
        "--size 440x440",
        "A letter sheet (figure 1), full.",
    ),
    (
        "airplane",
        "--quick",
        "scene-airplane.jpg",
        (2, 7, 12),
        "--size 440x330 --camera high",
        "The dart before, at and after the wall.",
    ),
    (
        "cylinder",
        "--quick",
        "scene-cylinder.jpg",
        (10, 30, 45),
        "--size 440x440 --camera low",
        "A tube of paper gives way.",
    ),
    (
        "fold",
        "--quick",
        "scene-fold.jpg",
        (60, 120, 200),
        "--size 440x330",
        "Under the first roller, under the second, and let go.",
    ),
    (
        "tear-letter",
        "",
        "scene-tear-letter.jpg",
        (5, 12, 20, 29),
        "--size 440x440 --texture ruled",
        "A letter is torn in two.",
    ),
]


def crumple(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "crumple.cli", *arguments], check=True)


def make_pictures(scene: str, options: str, pictures: list[tuple[str, str, str]], runs: Path) -> None:
    """Run a scene unless it has been run, and render its pictures."""
    folder = runs / scene
    if not (folder / "frames").is_dir():
        crumple("run", scene, *options.split(), "--out", str(folder))
    for name, wishes, _ in pictures:
        size = [] if "--size" in wishes else ["--size", SIZE]
        crumple("render", str(folder), "-o", str(DOCS / "images" / name), *wishes.split(), *size)


def make_strip(scene: str, options: str, name: str, frames: tuple[int, ...], wishes: str, runs: Path) -> None:
    """Run a scene unless it has been run, and put pictures of some frames side by side."""
    from PIL import Image

    folder = runs / (scene if options else f"{scene}-full")
    if not (folder / "frames").is_dir():
        crumple("run", scene, *options.split(), "--out", str(folder))
    with tempfile.TemporaryDirectory() as scratch:
        paths = [Path(scratch) / f"{frame}.png" for frame in frames]
        for frame, path in zip(frames, paths, strict=True):
            crumple("render", str(folder), "-o", str(path), "--frame", str(frame), *wishes.split())
        images = [Image.open(path) for path in paths]
        strip = Image.new("RGB", (sum(image.width for image in images), images[0].height))
        for k, image in enumerate(images):
            strip.paste(image, (k * image.width, 0))
        strip.save(DOCS / "images" / name, quality=92)


def page() -> str:
    """The gallery as Markdown."""
    lines = [
        "# Gallery",
        "",
        "Made by [`docs/gallery.py`](gallery.py) from runs of the built-in scenes, most in their quick variant,",
        "which is coarser than the full one. What the options do is in [rendering](rendering.md).",
    ]
    for scene, options, pictures in GALLERY:
        lines += ["", f"## {scene}"]
        run = f"crumple run {scene} {options}".strip()
        for name, wishes, text in pictures:
            size = "" if "--size" in wishes else f"--size {SIZE}"
            render = " ".join(f"crumple render out/{scene} -o {name} {wishes} {size}".split())
            lines += ["", text, "", f"![{text}](images/{name})", "", "```", run, render, "```"]
    lines += ["", "## Several frames"]
    for scene, options, name, frames, wishes, text in STRIPS:
        run = f"crumple run {scene} {options}".strip()
        renders = [f"crumple render out/{scene} -o {frame}.png --frame {frame} {wishes}" for frame in frames]
        lines += ["", text, "", f"![{text}](images/{name})", "", "```", run, *renders, "```"]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenes", nargs="*", help="scenes to make (default: all)")
    parser.add_argument("--runs", type=Path, default=Path("out/gallery"), help="folder of the recordings")
    arguments = parser.parse_args()
    known = [scene for scene, _, _ in GALLERY] + [f"{strip[0]}-strip" for strip in STRIPS]
    if unknown := set(arguments.scenes) - set(known):
        parser.error(f"no such scene in the gallery: {', '.join(sorted(unknown))} (known: {', '.join(known)})")
    for scene, options, pictures in GALLERY:
        if not arguments.scenes or scene in arguments.scenes:
            make_pictures(scene, options, pictures, arguments.runs)
    for scene, options, name, frames, wishes, _ in STRIPS:
        if not arguments.scenes or f"{scene}-strip" in arguments.scenes:
            make_strip(scene, options, name, frames, wishes, arguments.runs)
    (DOCS / "gallery.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
