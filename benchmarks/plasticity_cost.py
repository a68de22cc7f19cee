"""What share of a frame plasticity takes: yielding, rest angles and the plastic embedding on a crumpled sheet.

python benchmarks/plasticity_cost.py [recording [frame …]]

With a recording of a crumpled sheet its frames are taken up (the last one by default) and continued by one frame each.
Without, half a letter sheet is crumpled coarsely first (a minute or two) and then refined to some 7000 faces.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import crumple
from crumple.energies import make_hinges
from crumple.geometry.curvature import curvature_stencil, rest_angle, shape_curvature
from crumple.model.model import Model
from crumple.options.remeshing import RemeshingOptions
from crumple.options.sizing import SizingOptions
from crumple.plasticity import make_yield_law, yield_curvature
from crumple.plasticity.embedding import Embedding
from crumple.scenes import load_scene, scene_from_tables
from crumple.simulation.frame import advance_frame
from crumple.state import State

CRUMPLED, FACES = 36, 7000
"""Frames of the coarse run; faces that its last state is refined to at least."""
SCENE = {
    "name": "half-letter",
    "contact": {"friction": 0.3, "activation": 0.5e-3},
    "remeshing": {"refine_angle": 0.4, "size_min": 6e-3, "size_max": 0.04},
    "sheets": [
        {
            "material": "paper80",
            "shape": {"kind": "rectangle", "width": 0.14, "height": 0.108, "size": 0.012},
            "transform": {"rotate": {"angle": 6, "axis": [1, 0.4, 0]}},
            "jitter": {"amplitude": 1e-5, "seed": 1},
        }
    ],
    "obstacles": [{"name": "sphere", "shape": {"kind": "sphere", "radius": 0.1, "inside": True}, "motion": "press"}],
    "motions": {"press": {"keys": [{"time": 0.0, "scale": 1}, {"time": 1.6, "scale": 0.3}]}},
}


def make_crumpled() -> tuple[Model, State]:
    """Half a letter sheet in a sphere that shrinks, on a fine mesh."""
    model, state, _ = crumple.build(scene_from_tables(SCENE))
    state = crumple.run(model, state, frames=CRUMPLED)
    size = 4e-3
    while state.mesh.face_count < FACES:
        size *= 0.8
        model = replace(
            model, remeshing=RemeshingOptions(SizingOptions(refine_angle=0.3, size_min=size, size_max=0.01))
        )
        state, _ = advance_frame(model, state)
    return model, state


def best(work: Callable[[], object], repeats: int = 5) -> float:
    """Shortest CPU time of some calls [s]."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def show_parts(model: Model, state: State) -> None:
    """CPU time of each part of the plastic update, once per step."""
    mesh, stencil = state.mesh, curvature_stencil(state.mesh)
    law = make_yield_law(mesh, model.materials)
    hinges = make_hinges(mesh, model.materials)
    embedding = Embedding(mesh, stencil=stencil)
    disturbed = 1.1 * state.plastic_curvature

    def bend() -> None:
        yield_curvature(law, shape_curvature(mesh, state.x, stencil), state.plastic_curvature, state.damage)

    def rest() -> None:
        hinges.at(rest_angle(stencil, state.plastic_curvature), state.damage)

    begin = time.process_time()
    embedding.advance(state.y, disturbed)
    first = time.process_time() - begin
    parts = {
        "strain and yielding": best(bend),
        "rest angles, damage": best(rest),
        "embedding, first step of a frame": first,
        "embedding, later steps": best(lambda: embedding.advance(state.y, disturbed)),
    }
    for name, seconds in parts.items():
        print(f"    {name:34s}{1e3 * seconds:9.1f} ms")


def show_frame(model: Model, state: State) -> None:
    """One frame by phases, and the parts of plasticity."""
    after, report = advance_frame(model, state)
    total = sum(report.phases.values())
    shares = sorted(report.phases.items(), key=lambda item: -item[1])
    yielded = float(np.mean(after.damage > 0.0))
    print(f"{state.mesh.face_count} faces, {yielded:.0%} yielded, {report.contacts_max} contacts, {report.steps} steps")
    print("    " + "  ".join(f"{name} {seconds / total:.1%}" for name, seconds in shares))
    show_parts(model, state)


def main(path: str | None = None, *frames: str) -> None:
    if path is None:
        show_frame(*make_crumpled())
        return
    recording = crumple.Recording(path)
    model, _, _ = crumple.build(load_scene(recording.scene_path))
    for frame in frames or ("-1",):
        show_frame(model, recording.load(int(frame)))


if __name__ == "__main__":
    main(*sys.argv[1:])
