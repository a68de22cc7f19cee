"""Whether a sheet in the hand ends where a careful run ends: a session at the pace of a screen, and again finely.

    python benchmarks/live_against_batch.py [--finer 4]

Kitchen foil, 15 cm square, which keeps its creases, is folded over by its corner, the fold is pressed down and dragged,
and the corner let go; after that the sheet is brought to rest again and again until it lies still. The session takes
steps of 1/60 s of implicit Euler, as `crumple play` does. Its script is then replayed with TR-BDF2 in steps that are
`--finer` times as short, and with implicit Euler in such steps. What is compared at the end: where the sheet is creased
(faces with more than half of the largest plastic curvature; Hausdorff distance over the mean edge), the energy that it
stores, and where its nodes are.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from crumple.runtime.typing import Floats
from crumple.scenes import scene_from_tables
from crumple.session.simulation import Simulation
from crumple.studio.sheets import FRAME, sheet_tables

KEYS = np.array(
    [  # time [s], and where the hand is from where it took the corner [m]
        (0.0, 0.0, 0.0, 0.0),
        (0.6, -0.03, -0.03, 0.05),
        (1.4, -0.11, -0.11, 0.03),
        (2.0, -0.12, -0.12, 0.002),  # folded over
        (2.4, -0.12, -0.12, -0.002),  # pressed down
        (3.0, -0.10, -0.13, -0.002),  # dragged
    ]
)
REST, CALM_EVERY = 1.5, 6
"""Time after it was let go [s], and frames after which the sheet is brought to rest in it."""
CREASED = 0.5
"""Of the largest plastic curvature, from which on a face belongs to a crease."""


def start(solver: dict[str, Any] | None = None) -> Simulation:
    """The sheet on its table."""
    tables = sheet_tables("foil")
    return Simulation(scene_from_tables(tables | ({"solver": solver} if solver else {}), source="live"))


def fold_by_hand() -> Simulation:
    """The session at the pace of a screen."""
    sim = start()
    hand = sim.grab((0.145, 0.145))
    first = sim.hand_position(hand)
    for frame in range(round(KEYS[-1, 0] / FRAME)):
        way = [np.interp((frame + 1) * FRAME, KEYS[:, 0], KEYS[:, d]) for d in (1, 2, 3)]
        sim.move(hand, first + np.array(way))
        sim.advance(FRAME, keep=False)
    sim.release(hand)
    for frame in range(round(REST / FRAME)):
        if frame % CALM_EVERY == 0:
            sim.calm()
        sim.advance(FRAME, keep=False)
    return sim


def creased(sim: Simulation) -> Floats:
    """Middles of the faces of creases in the pattern, (n, 2) [m]."""
    state = sim.state
    size = np.linalg.norm(state.plastic_curvature, axis=1)
    return state.mesh.u[state.mesh.faces].mean(axis=1)[size > CREASED * size.max()]


def compare(live: Simulation, fine: Simulation) -> dict[str, float]:
    """What differs between the ends of two sessions."""
    a, b, edge = creased(live), creased(fine), float(live.state.mesh.corner_length.mean())
    away = np.linalg.norm(a[:, None] - b[None], axis=2)
    gone = np.linalg.norm(live.state.x - fine.state.x, axis=1)
    return {
        "faces of creases, live": len(a),
        "faces of creases, finely": len(b),
        "creases, edges apart": float(max(away.min(axis=1).max(), away.min(axis=0).max())) / edge,
        "creases, mean": float((away.min(axis=1).mean() + away.min(axis=0).mean()) / 2) / edge,
        "stored energy over that of the live one": fine.state.ledger.stored / live.state.ledger.stored,
        "work of yielding over it": fine.state.ledger.yielding / live.state.ledger.yielding,
        "largest distance of a node [mm]": 1e3 * float(gone.max()),
        "mean distance of nodes [mm]": 1e3 * float(gone.mean()),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--finer", type=float, default=4.0, help="steps per frame of the replays")
    options = parser.parse_args()
    begin = time.process_time()
    live = fold_by_hand()
    stored = live.state.ledger
    numbers = f"stored {stored.stored:.4g} J, yielded {stored.yielding:.4g} J"
    print(f"live: {time.process_time() - begin:.1f} s CPU; {numbers}", flush=True)
    for integrator in ("tr-bdf2", "implicit-euler"):
        begin = time.process_time()
        fine = start({"integrator": integrator, "max_step": FRAME / options.finer})
        fine.play(live.script(), check=False)
        print(f"{integrator}, {options.finer:g} steps a frame: {time.process_time() - begin:.1f} s CPU", flush=True)
        for name, value in compare(live, fine).items():
            print(f"    {name}: {value:.4g}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
