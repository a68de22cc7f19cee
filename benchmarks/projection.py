"""What the projection after remeshing is for: python benchmarks/projection.py SCENE [FRAMES] [KEY=VALUE]...

Runs a scene and prints for every frame in which the mesh changed the peak acceleration of the free nodes after
remeshing over that before it, with the projection and without (on the same state; the run goes on with it). The
accelerations are those by elastic energy, handles and contact ([Narain2013] eq. 11), so at rest they balance gravity.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.remeshing.projection import accelerations
from crumple.runtime.errors import InputError
from crumple.scenes import build, load_scene
from crumple.simulation.frame import adapt, advance_frame
from crumple.state import State


@dataclass(frozen=True)
class Jump:
    """One remeshing: frame, faces before and after, peak acceleration before it [m/s²], ratios after/before."""

    frame: int
    faces: int
    faces_after: int
    before: float
    with_projection: float
    without: float


def measure_jumps(model: Model, state: State, frames: int) -> Iterator[Jump]:
    """Every remeshing of the first `frames` frames that changed the mesh."""
    assert model.remeshing is not None
    fixed = replace(model, remeshing=None)
    projected, plain = (replace(model, remeshing=replace(model.remeshing, projection=on)) for on in (True, False))
    while state.frame < frames:
        moved, _ = advance_frame(fixed, state)
        state = adapt(moved, Derived(projected, moved))
        if state.mesh is not moved.mesh:
            peaks = [peak_acceleration(model, one) for one in (moved, state, adapt(moved, Derived(plain, moved)))]
            faces = moved.mesh.face_count, state.mesh.face_count
            yield Jump(state.frame, *faces, peaks[0], peaks[1] / peaks[0], peaks[2] / peaks[0])


def peak_acceleration(model: Model, state: State) -> float:
    """The largest acceleration of a node that nothing holds [m/s²]."""
    acceleration, _ = accelerations(state, Derived(model, state))
    acceleration[state.pins.node] = 0.0
    return float(np.linalg.norm(acceleration, axis=1).max())


def main(arguments: list[str]) -> None:
    if not arguments:
        sys.exit("\n".join((__doc__ or "").splitlines()[:1]))
    scene = load_scene(arguments[0], [one for one in arguments[1:] if "=" in one])
    if scene.remeshing is None:
        raise InputError(arguments[0], "does not remesh; nothing to measure")
    model, state, _ = build(scene)
    frames = next((int(one) for one in arguments[1:] if "=" not in one), model.frame_count)
    print("frame  faces before  after   peak before [m/s²]   after/before: with projection   without")
    jumps = []
    for jump in measure_jumps(model, state, frames):
        jumps.append(jump)
        print(
            f"{jump.frame:5d}  {jump.faces:12d}  {jump.faces_after:5d}   {jump.before:18.4g}   "
            f"{jump.with_projection:29.3f}   {jump.without:7.3g}",
            flush=True,
        )
    for name in ("with_projection", "without"):
        values = np.array([getattr(jump, name) for jump in jumps] or [inf])
        print(
            f"{name:15s}: {len(jumps)} remeshings, median {np.median(values):.3f}, largest {values.max():.3f}, "
            f"{np.mean(values > 1.5):.1%} above 1.5"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
