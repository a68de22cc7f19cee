"""The books balance: the work of handles is stored, or lost by yielding, also where the mesh is made anew."""

from __future__ import annotations

import pytest

from crumple.scenes import build, scene_from_tables
from crumple.simulation.derived import Derived
from crumple.simulation.frame import adapt
from crumple.simulation.observers import Statistics
from crumple.simulation.run import run
from crumple.simulation.step import measure_energies


def bent(**others):
    """A strip that is held at one end and bent for good beside that by moving the other end up and back."""
    tables = {
        "run": {"frame_time": 0.05, "duration": 0.4},
        "solver": {"mode": "static", "max_step": 0.0125, "tolerance": 1e-5},
        "contact": {"enabled": False},
        "environment": {"gravity": [0, 0, 0]},
        "tearing": {"initiation": False},
        "sheets": [
            {
                "shape": {"kind": "rectangle", "width": 0.1, "height": 0.03, "size": 0.01},
                "material": {"preset": "paper80", "yield_curvature": 10.0},
                "jitter": {"amplitude": 1e-5, "seed": 1},
            }
        ],
        "handles": [
            {
                "name": "fixed",
                "select": {"kind": "box", "low": [-0.06, -1, -1], "high": [-0.035, 1, 1]},
                "stiffness": 1e4,
            },
            {"name": "moved", "select": {"kind": "side", "side": "right"}, "stiffness": 1e4, "motion": "lift"},
        ],
        "motions": {"lift": {"rate": {"velocity": [-0.1, 0, 0.14]}}},
    }
    return build(scene_from_tables(tables | others))


def test_the_work_is_stored_or_lost_by_yielding() -> None:
    model, state = bent()
    statistics = Statistics()
    run(model, state, observers=[statistics])
    work = sum(report.handles["moved"].work for report in statistics.steps)
    lost = sum(report.losses["yielding"] for report in statistics.steps)
    stored = sum(statistics.steps[-1].energies.values())
    assert lost > 0.2 * work
    assert stored + lost == pytest.approx(work, rel=0.03)


@pytest.mark.slow
def test_remeshing_adds_no_energy_beside_a_place_that_is_held() -> None:
    """Faces that a handle holds are rigid: plastic curvature that a new mesh gave them would be locked in for ever."""
    model, state = bent(remeshing={"size_min": 5e-3, "size_max": 0.02, "refine_angle": 0.3})
    statistics = Statistics()
    settled = run(model, state, observers=[statistics])
    work = sum(report.handles["moved"].work for report in statistics.steps)
    lost = sum(report.losses["yielding"] for report in statistics.steps)
    stored = sum(statistics.steps[-1].energies.values())
    assert stored + lost == pytest.approx(work, rel=0.1)
    again = adapt(settled, Derived(model, settled))
    assert sum(measure_energies(again, Derived(model, again)).values()) < 1.5 * stored
