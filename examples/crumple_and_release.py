"""Paper crumpled in a shrinking sphere that opens again: creases keep it crumpled, an elastic sheet springs back.

    python examples/crumple_and_release.py [picture.png]

Runs the same scene twice, as it is and with the rule "none", under which nothing yields, and compares how large the
sheets are when the sphere is tightest and after it has opened. With a path it also draws both afterwards.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import crumple
from crumple.energies.inertia import node_masses
from crumple.model.model import Model
from crumple.scenes import dump_scene, scene_from_tables

TIGHT, OPEN, END = 1.2, 1.6, 2.0
"""When the sphere is smallest, when it has opened, and the end [s]."""


def tables(rule: str) -> dict[str, Any]:
    """Half a letter sheet in a sphere whose radius goes from 10 cm to 3.6 cm and back."""
    keys = [{"time": 0.0, "scale": 1.0}, {"time": TIGHT, "scale": 0.36}, {"time": OPEN, "scale": 1.0}]
    return {
        "name": "crumple-and-release",
        "run": {"duration": END},
        "plasticity": {"rule": rule},
        "contact": {"friction": 0.3, "activation": 0.5e-3},
        "remeshing": {"refine_angle": 0.4, "size_min": 8e-3, "size_max": 0.04},
        "sheets": [
            {
                "material": "paper80",
                "shape": {"kind": "rectangle", "width": 0.14, "height": 0.108, "size": 0.012},
                "transform": {"rotate": {"angle": 6, "axis": [1, 0.4, 0]}},
                "jitter": {"amplitude": 1e-5, "seed": 1},
            }
        ],
        "obstacles": [
            {"name": "sphere", "shape": {"kind": "sphere", "radius": 0.1, "inside": True}, "motion": "press"}
        ],
        "motions": {"press": {"keys": keys}},
    }


@dataclass(frozen=True)
class Extent:
    """How large a sheet is: `radius` of gyration [m], `volume` of the box around it, along its own axes [m³]."""

    radius: float
    volume: float


def measure(model: Model, state: crumple.State) -> Extent:
    mass = node_masses(state.mesh, model.materials)
    centred = state.x - mass @ state.x / mass.sum()
    inertia = (centred * mass[:, None]).T @ centred / mass.sum()
    axes = np.linalg.eigh(inertia)[1]
    return Extent(float(np.sqrt(np.trace(inertia))), float(np.prod(np.ptp(centred @ axes, axis=0))))


def crumple_sheet(rule: str, folder: Path) -> tuple[Extent, Extent]:
    """How large the sheet is when the sphere is tightest, and at the end; recorded in the `folder`."""
    scene = scene_from_tables(tables(rule))
    model, state, _ = crumple.build(scene)
    with crumple.create_recording(folder, dump_scene(scene)) as recorder:
        tight = crumple.run(model, state, [recorder], frames=round(TIGHT / model.frame_time))
        end = crumple.run(model, tight, [recorder])
    return measure(model, tight), measure(model, end)


def main(picture: str | None = None) -> dict[str, tuple[Extent, Extent]]:
    """Crumple both sheets, print a table, and return how large they were."""
    found, panels = {}, []
    print("rule         radius of gyration, box: when tightest        after release")
    with TemporaryDirectory() as folder:
        for rule in ("curvature", "none"):
            path = Path(folder) / rule
            found[rule] = crumple_sheet(rule, path)
            sizes = [f"{1e3 * size.radius:5.1f} mm{1e6 * size.volume:6.0f} cm³" for size in found[rule]]
            print(f"{rule:38s}{sizes[0]}    {sizes[1]}")
            if picture:
                panels.append(draw(path))
    if picture:
        import imageio.v3 as imageio

        imageio.imwrite(picture, np.concatenate(panels, axis=1))
    return found


def draw(folder: Path) -> np.ndarray:
    """A picture of the last frame."""
    import imageio.v3 as imageio

    from crumple.rendering import render_frame

    return imageio.imread(render_frame(crumple.Recording(folder), -1, folder / "last.png", size=(600, 480)))


if __name__ == "__main__":
    sizes = main(*sys.argv[1:])
    grown = {rule: after.radius / before.radius for rule, (before, after) in sizes.items()}
    assert grown["curvature"] < 1.3, grown
    assert grown["none"] > 1.6, grown
