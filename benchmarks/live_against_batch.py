"""Whether a sheet in the hand ends where a careful run ends: a session at the pace of a screen, and again finely.

    python benchmarks/live_against_batch.py [--session laid] [--slower 3] [--faces 130] [--steps 2 4]

Kitchen foil, 15 cm square, which keeps its creases, is folded over by its corner and let go; after that the sheet is
brought to rest again and again until it lies still. In the session "laid" the corner is laid down, in "dragged" the
fold is pressed down and dragged. The session takes steps of 1/60 s of implicit Euler, as `crumple play` does. Its
script is then replayed with implicit Euler and with TR-BDF2 in shorter steps, `--steps` in a frame. What is compared at
the end: where the sheet is creased (faces with more than half of the largest plastic curvature; Hausdorff distance over
the mean edge), the energy that it stores, what has yielded, and where its nodes are. Replays that do not agree with
each other tell that the session has no answer: it goes through a snap that any step decides.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from crumple.runtime.typing import Floats
from crumple.scenes import scene_from_tables
from crumple.session.simulation import Simulation
from crumple.studio.sheets import FACES, FRAME, sheet_tables

SESSIONS = {  # where the corner is; time [s], and where the hand is from where it took it [m]
    "laid": (
        (0.005, 0.145),
        [
            (0.0, 0.0, 0.0, 0.0),
            (0.8, 0.03, -0.03, 0.04),
            (2.0, 0.09, -0.09, 0.03),
            (3.0, 0.11, -0.11, 0.003),  # folded over
            (3.4, 0.11, -0.11, 0.003),
        ],
    ),
    "dragged": (
        (0.145, 0.145),
        [
            (0.0, 0.0, 0.0, 0.0),
            (0.6, -0.03, -0.03, 0.05),
            (1.4, -0.11, -0.11, 0.03),
            (2.0, -0.12, -0.12, 0.002),  # folded over
            (2.4, -0.12, -0.12, -0.002),  # pressed down
            (3.0, -0.10, -0.13, -0.002),  # dragged
        ],
    ),
}
REST, CALM_EVERY = 1.5, 6
"""Time after it was let go [s], and frames after which the sheet is brought to rest in it."""
CREASED = 0.5
"""Of the largest plastic curvature, from which on a face belongs to a crease."""


def start(faces: int, solver: dict[str, Any] | None = None) -> Simulation:
    """The sheet on its table."""
    tables = sheet_tables("foil")
    tables["sheets"][0]["shape"]["size"] *= float(np.sqrt(FACES / faces))
    return Simulation(scene_from_tables(tables | ({"solver": solver} if solver else {}), source="live"))


def fold_by_hand(sim: Simulation, session: str, slower: float) -> Simulation:
    """The session at the pace of a screen."""
    corner, listed = SESSIONS[session]
    keys = np.array(listed) * [slower, 1.0, 1.0, 1.0]
    hand = sim.grab(corner)
    first = sim.hand_position(hand)
    for frame in range(round(keys[-1, 0] / FRAME)):
        way = [np.interp((frame + 1) * FRAME, keys[:, 0], keys[:, d]) for d in (1, 2, 3)]
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
    parser.add_argument("--session", choices=SESSIONS, default="laid")
    parser.add_argument("--slower", type=float, default=3.0, help="how much more time the hand takes")
    parser.add_argument("--faces", type=int, default=130, help="about how many the sheet has")
    parser.add_argument("--steps", type=int, nargs="+", default=[2, 4], help="steps per frame of the replays")
    options = parser.parse_args()
    begin = time.process_time()
    live = fold_by_hand(start(options.faces), options.session, options.slower)
    stored = live.state.ledger
    numbers = f"stored {stored.stored:.4g} J, yielded {stored.yielding:.4g} J"
    print(f"live: {time.process_time() - begin:.1f} s CPU; {numbers}", flush=True)
    for integrator in ("implicit-euler", "tr-bdf2"):
        for steps in options.steps:
            begin = time.process_time()
            fine = start(options.faces, {"integrator": integrator, "max_step": FRAME / steps})
            fine.play(live.script(), check=False)
            print(f"{integrator}, {steps} steps a frame: {time.process_time() - begin:.1f} s CPU", flush=True)
            for name, value in compare(live, fine).items():
                print(f"    {name}: {value:.4g}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
