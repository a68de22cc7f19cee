"""Nine tubes pressed together, as in figure 3 of Narain 2013: three stiffnesses, elastic, plastic, plastic + weakening.

    python examples/cylinder_grid.py                # a sketch of a minute or two: coarse, pressed half as far
    python examples/cylinder_grid.py --quick        # the quick variant of the built-in scene, about ten minutes
    python examples/cylinder_grid.py -o tubes.png   # and one picture of all nine, if the extra "render" is installed

Prints how high each tube stands after it has been let go. In the sketch, with faces of 3 cm, that is mostly chance; the
creases of the quick variant can be told apart.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import crumple
from crumple.scenes import dump_scene

STRETCH = {"paper": 1.0, "metal": 0.1, "plastic": 0.01}
"""Columns: membrane stiffness over that of office paper, with the same bending stiffness."""
CREASING = {
    "elastic": ["plasticity.rule=none"],
    "plastic": ["sheets[0].material.weakening=0"],
    "weakening": [],
}
"""Rows."""
SKETCH = [
    "sheets[0].shape.size=0.035",
    "remeshing.size_min=0.03",
    "motions.press.keys[1].time=0.6",
    "motions.press.keys[1].translate=[0, 0, -0.06]",
    "motions.press.keys[2].time=0.8",
    "motions.press.keys[2].translate=[0, 0, -0.04]",
    "handles[1].end=0.8",
    "obstacles[1].end=0.8",
    "run.duration=1.1",
]


def run_tube(folder: Path, column: str, row: str, sketch: bool) -> float:
    """Simulate one tube into `folder`; its height at the end [m]."""
    overrides = [f"sheets[0].material.stretch_factor={STRETCH[column]}", *CREASING[row], *(SKETCH if sketch else [])]
    scene = crumple.load_scene("cylinder", overrides, quick=True)
    model, state = crumple.build(scene)
    with crumple.create_recording(folder, dump_scene(scene)) as recorder:
        final = crumple.run(model, state, [recorder])
    return float(final.x[:, 2].max())


def assemble(folders: list[Path], path: Path) -> None:
    """One picture of the last frames, in rows of three."""
    import imageio.v3 as imageio

    from crumple.rendering import render_frame

    pictures = []
    for folder in folders:
        render_frame(crumple.Recording(folder), -1, folder / "last.png", size=(480, 400), camera="low")
        pictures.append(imageio.imread(folder / "last.png")[..., :3])
    rows = [np.concatenate(pictures[k : k + 3], axis=1) for k in range(0, len(pictures), 3)]
    imageio.imwrite(path, np.concatenate(rows))


def main(output: Path | None = None, sketch: bool = True) -> dict[tuple[str, str], float]:
    """The heights of all tubes [m] by row and column."""
    heights: dict[tuple[str, str], float] = {}
    with TemporaryDirectory() as place:
        folders = []
        for row in CREASING:
            for column in STRETCH:
                folders.append(Path(place, f"{row}-{column}"))
                heights[row, column] = run_tube(folders[-1], column, row, sketch)
                print(f"{row:10} {column:8} {100 * heights[row, column]:5.1f} cm high")
        if output is not None:
            assemble(folders, output)
    return heights


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="picture of all nine")
    parser.add_argument("--quick", action="store_true", help="the quick variant of the scene instead of a sketch")
    options = parser.parse_args()
    found = main(options.output, sketch=not options.quick)
    assert all(0.05 < height < 0.217 for height in found.values()), found
