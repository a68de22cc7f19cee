"""twist: the field's usual scene, a square of cotton with two opposite sides turned against each other."""

from __future__ import annotations

from collections.abc import Sequence

from crumple.scenes import load_scene
from crumple.session.simulation import Simulation
from crumple.simulation.observers import Statistics
from crumple.studies.benchmarking.report import Record, Report, iteration_costs

SIDE = 0.5
"""Of the square [m]."""


def measure_twist(quads: Sequence[int] = (32, 64), steps: int | None = None) -> Report:
    """Time per step of 1/30 s and per Newton iteration for meshes of quads × quads; `steps`: only the first ones."""
    records: list[Record] = []
    for count in quads:
        sim = Simulation(load_scene("twist", [f"sheets[0].shape.size={SIDE / count!r}"]))
        statistics = Statistics()
        last = sim.run(steps, observers=[statistics])
        seconds = sum(frame.seconds for frame in statistics.frames)
        done = len(statistics.steps)
        record: Record = {
            "quads": f"{count}×{count}",
            "turned [°]": 90.0 * last.time,
            "steps": done,
            "iterations/step": last.iterations / done,
            "contacts": max(frame.contacts_max for frame in statistics.frames),
            "ms/step": 1e3 * seconds / done,
        }
        costs = iteration_costs(statistics.frames)
        records.append(record | {"ms/iteration" if key == "ms" else key: value for key, value in costs.items()})
    return Report("twist", tuple(records), ("quads", "steps"), ("iterations/step", "ms/step", "ms/iteration"))
