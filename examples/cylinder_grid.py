"""Nine tubes pressed together, as in figure 3 of Narain 2013: three stiffnesses, elastic, plastic, plastic + weakening.

    python examples/cylinder_grid.py                      # a sketch of half a minute: coarse, pressed by 3 cm
    python examples/cylinder_grid.py --fine               # as fine as the built-in scene, pressed by 5 cm: minutes
    python examples/cylinder_grid.py --fine -o tubes.png  # one picture of all nine; needs the extra "render"

Prints how far the creases of each tube have come: the mean plastic curvature, 0 for an elastic tube. The less a sheet
resists being stretched, at the same bending stiffness, the larger and rounder its buckles are.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import crumple
from crumple.scenes import dump_scene

STRETCH = {"paper": 1.0, "metal": 0.03, "plastic": 0.001}
"""Columns: membrane stiffness over that of office paper, with the same bending stiffness."""
CREASING = {
    "elastic": ["plasticity.rule=none"],
    "plastic": ["sheets[0].material.weakening=0"],
    "weakening": [],
}
"""Rows."""
FINE = ["run.duration=1.24"]
SKETCH = ["sheets[0].shape.size=0.035", "remeshing.size_min=0.03", "run.duration=0.76"]


def run_tube(folder: Path, column: str, row: str, fine: bool) -> float:
    """Simulate one tube into `folder`; its mean plastic curvature at the end [1/m]."""
    overrides = [f"sheets[0].material.stretch_factor={STRETCH[column]}", *CREASING[row], *(FINE if fine else SKETCH)]
    scene = crumple.load_scene("cylinder", overrides, quick=not fine)
    model, state, _ = crumple.build(scene)
    with crumple.create_recording(folder, dump_scene(scene)) as recorder:
        final = crumple.run(model, state, [recorder])
    xx, yy, xy = final.plastic_curvature.T
    return float(np.average(np.sqrt(xx**2 + yy**2 + 2 * xy**2), weights=final.mesh.face_area))


def assemble(folders: list[Path], path: Path) -> None:
    """One picture of the last frames, in rows of three."""
    import imageio.v3 as imageio

    from crumple.rendering import render_frame

    pictures = []
    for folder in folders:
        render_frame(crumple.Recording(folder), -1, folder / "last.png", size=(400, 360), camera="low")
        pictures.append(imageio.imread(folder / "last.png")[..., :3])
    rows = [np.concatenate(pictures[k : k + 3], axis=1) for k in range(0, len(pictures), 3)]
    imageio.imwrite(path, np.concatenate(rows))


def main(output: Path | None = None, fine: bool = False) -> dict[tuple[str, str], float]:
    """The mean plastic curvatures of all tubes [1/m] by row and column."""
    found: dict[tuple[str, str], float] = {}
    with TemporaryDirectory() as place:
        folders = []
        for row in CREASING:
            for column in STRETCH:
                folders.append(Path(place, f"{row}-{column}"))
                found[row, column] = run_tube(folders[-1], column, row, fine)
                print(f"{row:10} {column:8} mean plastic curvature {found[row, column]:5.1f} 1/m", flush=True)
        if output is not None:
            assemble(folders, output)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="picture of all nine")
    parser.add_argument("--fine", action="store_true", help="the mesh of the built-in scene instead of a sketch")
    options = parser.parse_args()
    curvature = main(options.output, fine=options.fine)
    assert all((value > 0) == (row != "elastic") for (row, _), value in curvature.items()), curvature
