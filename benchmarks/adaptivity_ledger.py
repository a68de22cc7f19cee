"""What rib-stiffening and the smallest enclosing disk save: triangles with and without, beside [Narain2013] §6.

    python benchmarks/adaptivity_ledger.py                          states of a quick run, then a run of each variant
    python benchmarks/adaptivity_ledger.py --no-runs --frames 60    only the states, of the first 60 frames
    python benchmarks/adaptivity_ledger.py --recording out/crumple  states of a recording instead of a run
    python benchmarks/adaptivity_ledger.py --full remeshing.size_min=6e-3    not the quick settings, and overrides

Crumpling is chaotic, so whole runs differ by more than their meshes. The cleaner numbers are of the same states:
frames of one run are remeshed with each variant (projection included) until the number of faces hardly changes. "asked
for" is the ideal number of faces of the field on the unchanged mesh: its area in the metric over that of an
equilateral face.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import numpy as np

from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.recording import Recording
from crumple.remeshing.sizing import criteria
from crumple.remeshing.sizing.buckling import Buckling
from crumple.runtime.errors import InputError, SimulationError
from crumple.scenes import build, load_scene
from crumple.simulation.demands import state_sizing
from crumple.simulation.frame import adapt, advance_frame
from crumple.state import State

CALM = 0.02
"""Relative change of the number of faces at which a state counts as remeshed."""


@dataclass(frozen=True)
class Variant:
    """Changed sizing options; `ratio_is_c`: whether eq. 9 takes c² for B/Y; `paper`: triangles over the reference."""

    name: str
    options: dict[str, Any] = field(default_factory=dict)
    ratio_is_c: bool = False
    paper: str = "–"
    whole_run: bool = True


REFERENCE = Variant("ribs, disk", paper="1")
VARIANTS = (
    REFERENCE,
    Variant("compression term", {"rib_stiffening": False}, paper="up to 2.08"),
    Variant("sum", {"combine": "sum"}, paper="1.319"),
    Variant("compression, sum", {"rib_stiffening": False, "combine": "sum"}),
    Variant("ribs with c²", ratio_is_c=True),
    Variant("no such criterion", {"refine_compression": float("inf")}, whole_run=False),
)
"""The last one tells how much the buckling criterion has to say at all."""

Strain = Callable[[State], np.ndarray]


@contextmanager
def varied(variant: Variant, model: Model) -> Iterator[Model]:
    """The model whose sizing field is that of the variant."""
    assert model.remeshing is not None
    changed = replace(
        model.remeshing,
        sizing=replace(model.remeshing.sizing, **variant.options),
        sheet_sizing=tuple(replace(one, **variant.options) for one in model.remeshing.sheet_sizing),
    )
    make = Buckling
    if variant.ratio_is_c:
        square = changed.sizing.refine_compression**2

        def make(compression: float, membrane: Strain, bending: Strain, ratio: np.ndarray) -> Buckling:
            return Buckling(compression, membrane, bending, np.full_like(ratio, square))

    with patch.object(criteria, "Buckling", make):
        yield replace(model, remeshing=changed)


def asked_for(model: Model, state: State) -> float:
    """Ideal number of faces: ∫ √det M dA over the area √3/4 of a face whose edges are 1 in the metric."""
    mean = state_sizing(model, state)[state.mesh.faces].mean(axis=1)
    density = np.sqrt(np.maximum(mean[:, 0] * mean[:, 1] - mean[:, 2] ** 2, 0.0))
    return float(density @ state.mesh.face_area / (0.25 * np.sqrt(3.0)))


def settled_faces(model: Model, state: State, repeats: int) -> int:
    """Faces after remeshing again and again until their number is calm."""
    for _ in range(repeats):
        before = state.mesh.face_count
        state = adapt(state, Derived(model, state))
        if abs(state.mesh.face_count - before) <= CALM * before:
            break
    return state.mesh.face_count


def run_variant(model: Model, state: State, frames: int) -> Iterator[State]:
    """The state after every frame; ends early, with a word, when a run fails."""
    while state.frame < frames:
        try:
            state, _ = advance_frame(model, state)
        except SimulationError as error:
            print(f"  stopped: {error}")
            return
        yield state


def compare_states(model: Model, states: Iterable[State], repeats: int) -> None:
    """Print the table of the same states."""
    print("\nthe same states             " + "".join(f"{one.name:>24s}" for one in VARIANTS))
    print("frame  faces  at size_min    " + "".join(f"{'asked for':>15s}{'faces':>9s}" for _ in VARIANTS))
    rows = []
    for state in states:
        row = []
        for variant in VARIANTS:
            with varied(variant, model) as other:
                row.append((asked_for(other, state), settled_faces(other, state, repeats)))
        rows.append(row)
        cells = "".join(f"{asked:15.0f}{faces:9d}" for asked, faces in row)
        print(f"{state.frame:5d}  {state.mesh.face_count:5d}  {saturated(model, state):11.0%}   {cells}", flush=True)
    table = np.array(rows)
    for name, ratios in (("sum", table.sum(axis=0) / table[:, 0].sum(axis=0)), ("largest", _largest(table))):
        print(f"over the reference, {name:7s}  " + "".join(f"{a:15.2f}{b:9.2f}" for a, b in ratios))
    print(f"{'paper':27s}  " + "".join(f"{one.paper:>24s}" for one in VARIANTS))


def _largest(table: np.ndarray) -> np.ndarray:
    return (table / table[:, :1]).max(axis=0)


def saturated(model: Model, state: State) -> float:
    """Share of the area where the field of the reference asks for the smallest edges in both directions."""
    assert model.remeshing is not None
    mean = state_sizing(model, state)[state.mesh.faces].mean(axis=1)
    least = 0.5 * (mean[:, 0] + mean[:, 1]) - np.hypot(0.5 * (mean[:, 0] - mean[:, 1]), mean[:, 2])
    full = least > 0.8 / model.remeshing.sizing.size_min**2
    return float(state.mesh.face_area[full].sum() / state.mesh.face_area.sum())


def compare_runs(model: Model, initial: State, frames: int, known: Sequence[int]) -> None:
    """Print the table of whole runs; `known`: faces of the reference."""
    print("\nwhole runs            frames   mean faces   final    over the reference: mean   final   paper   seconds")
    for variant in VARIANTS:
        if not variant.whole_run:
            continue
        begin = time.perf_counter()
        with varied(variant, model) as other:
            counts = known if variant is REFERENCE else _counts(other, initial, frames)
        shared = min(len(counts), len(known))
        mean, base = float(np.mean(counts[:shared])), float(np.mean(known[:shared]))
        print(
            f"{variant.name:20s}  {shared:6d}   {mean:10.0f}   {counts[shared - 1]:5d}   {mean / base:24.2f}   "
            f"{counts[shared - 1] / known[shared - 1]:5.2f}   {variant.paper:10s} {time.perf_counter() - begin:7.0f}",
            flush=True,
        )


def _counts(model: Model, initial: State, frames: int) -> list[int]:
    return [state.mesh.face_count for state in run_variant(model, initial, frames)]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="changes of the scene")
    parser.add_argument("--scene", default="crumple")
    parser.add_argument("--full", action="store_true", help="not the quick settings of the scene")
    parser.add_argument("--frames", type=int, help="frames of each run (default: the whole scene)")
    parser.add_argument("--states", type=int, default=6, help="states to compare, spread over the second half")
    parser.add_argument("--repeats", type=int, default=8, help="remeshings of a state at most")
    parser.add_argument("--recording", help="take the states from here, and run nothing")
    parser.add_argument("--no-runs", action="store_true", help="only the same states")
    chosen = parser.parse_args()
    source = f"{chosen.recording}/scene.toml" if chosen.recording else chosen.scene
    scene = load_scene(source, chosen.overrides, quick=not (chosen.full or chosen.recording))
    if scene.remeshing is None:
        raise InputError(source, "does not remesh; nothing to measure")
    model, initial, _ = build(scene)
    if chosen.recording:
        recording = Recording(chosen.recording)
        numbers = [k for k in recording.frames if k <= (chosen.frames or k)]
        picked = (recording.load(numbers[k]) for k in _second_half(len(numbers), chosen.states))
        compare_states(model, picked, chosen.repeats)
        return
    frames = chosen.frames or model.frame_count
    states = list(run_variant(model, initial, frames))
    compare_states(model, (states[k] for k in _second_half(len(states), chosen.states)), chosen.repeats)
    if not chosen.no_runs:
        compare_runs(model, initial, frames, [state.mesh.face_count for state in states])


def _second_half(count: int, number: int) -> list[int]:
    """So many of `count` frames, evenly spread from the middle to the last."""
    return sorted({int(k) for k in np.linspace(count // 2, count - 1, number)})


if __name__ == "__main__":
    main()
