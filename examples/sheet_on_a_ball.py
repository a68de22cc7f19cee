"""A sheet of paper laid on a ball, in a few lines of Python: build, run, look at the numbers.

    python examples/sheet_on_a_ball.py

Everything that a scene file can say can be said with tables; here is the shortest useful one. Prints how far the sheet
hangs down beside the ball and checks it against what bending stiffness and weight allow.
"""

from __future__ import annotations

import numpy as np

import crumple
from crumple.scenes import scene_from_tables
from crumple.simulation.observers import Callback, StopAtRest
from crumple.stepping.reports import FrameReport

SCENE = {
    "name": "sheet-on-a-ball",
    "run": {"duration": 0.8},
    "contact": {"friction": 0.6},
    "solver": {"integrator": "implicit-euler"},  # damps motion: only the rest is wanted here
    "sheets": [
        {
            "material": "paper80",
            "shape": {"kind": "rectangle", "width": 0.2, "height": 0.05, "size": 0.01},
            "transform": {"translate": [0.0, 0.0, 0.0515]},
        }
    ],
    "obstacles": [{"name": "ball", "shape": {"kind": "sphere", "radius": 0.05}}],
}


def main() -> float:
    """Run the scene and return how far the ends of the sheet hang below its middle [m]."""
    model, state, _ = crumple.build(scene_from_tables(SCENE))
    final = crumple.run(model, state, [Callback(show), StopAtRest(speed=1e-3)])
    ends = np.abs(final.mesh.u[:, 0] - 0.1) > 0.099
    middle = np.abs(final.mesh.u[:, 0] - 0.1) < 0.006
    return float(final.x[middle, 2].mean() - final.x[ends, 2].mean())


def show(state: crumple.State, report: FrameReport) -> None:
    """One line per frame."""
    print(f"t = {state.time:.2f} s  {report.contacts_max} contacts  bending {1e6 * report.energies['bending']:.1f} µJ")


if __name__ == "__main__":
    sag = main()
    # a strip that is free on both sides of the middle sags like two cantilevers of half its length:
    # ρ_A g L⁴/(8 B) = 0.08 · 9.81 · 0.1⁴ / (8 · 3.0e-4) = 33 mm by the linear theory
    print(f"the ends hang {1e3 * sag:.1f} mm below the middle")
    assert 0.026 < sag < 0.036, sag
