"""What yielding takes, and that remeshing adds nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crumple.materials import Material
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.options.plasticity import PlasticityOptions
from crumple.options.remeshing import RemeshingOptions
from crumple.options.sizing import SizingOptions
from crumple.options.tearing import Tearing
from crumple.scenes import build, scene_from_tables
from crumple.session.session import run
from crumple.shapes import rectangle
from crumple.simulation.frame import adapt
from crumple.state import initial_state
from crumple.stepping.losses import yield_losses
from crumple.stepping.settling import settle


def bent():
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
    return build(scene_from_tables(tables))[:2]


@pytest.mark.parametrize("steps", [1, 4, 32])
def test_yielding_takes_the_moment_at_yield_times_the_turn(steps: int) -> None:
    """A sheet rolled to a cylinder loses B κ_y (κ − κ_y) per area, in however many steps."""
    material = Material.isotropic(
        "film", young=1e9, poisson=0.0, thickness=1e-4, density=0.1, yield_curvature=10.0, tear_energy=(1e3, 1e3)
    )
    mesh, flat = rectangle(0.06, 0.03, 0.006, kind="equilateral")
    state = initial_state(mesh, flat)
    model = Model((material,), tearing=Tearing())
    derived = Derived(model, state)
    lost = over = 0.0
    for curvature in np.linspace(0.0, 30.0, steps + 1)[1:]:
        angle = curvature * mesh.node_rest[:, 0]
        x = np.stack([np.sin(angle) / curvature, mesh.node_rest[:, 1], (1.0 - np.cos(angle)) / curvature], axis=1)
        bent = state.replaced(x=x)
        for _, term in derived.terms:
            bent = term.relax(bent)
        state = settle(bent, derived, 1.0)
        losses = yield_losses(bent, state, derived)
        lost += losses["yielding"]
        over += losses["overstress"]
    area = float(np.abs(mesh.face_area).sum())
    assert lost == pytest.approx(material.bend_stiffness * 10.0 * 20.0 * area, rel=0.1)
    flow = np.diff(np.maximum(np.linspace(0.0, 30.0, steps + 1) - 10.0, 0.0))
    assert over == pytest.approx(0.5 * material.bend_stiffness * float(flow @ flow) * area, rel=0.15)


def test_a_crease_that_softens_takes_the_work_of_its_falling_moment() -> None:
    """∫ (m + ½ γ m²) dδ along the path, whether a sheet is bent in two steps or in sixty."""
    material = Material.isotropic(
        "paper", young=1e9, poisson=0.0, thickness=1e-4, density=0.1, yield_curvature=10.0, weakening=1.0
    )
    mesh, flat = rectangle(0.06, 0.03, 0.006, kind="equilateral")
    losses = []
    for steps in (2, 60):
        state, lost = initial_state(mesh, flat), 0.0
        derived = Derived(Model((material,), plasticity=PlasticityOptions(crease_strength=0.3)), state)
        for curvature in np.linspace(0.0, 30.0, steps + 1)[1:]:
            angle = curvature * mesh.node_rest[:, 0]
            x = np.stack([np.sin(angle) / curvature, mesh.node_rest[:, 1], (1.0 - np.cos(angle)) / curvature], axis=1)
            bent = derived.relaxed(state.replaced(x=x))
            state = settle(bent, derived, 1.0)
            lost += yield_losses(bent, state, derived)["yielding"]
        losses.append(lost)
    assert losses[0] == pytest.approx(losses[1], rel=0.03)
    area = float(np.abs(mesh.face_area).sum())
    damage = np.linspace(0.0, float(state.damage.mean()), 1000)
    moment = np.maximum(0.3, 1.0 / (1.0 + 2.0 * damage))  # faces are longer than creases are wide: c γ = 1 + γ
    expected = np.trapezoid(moment + 0.5 * moment**2, damage)
    assert losses[1] == pytest.approx(material.bend_stiffness * 10.0**2 * area * expected, rel=0.05)


def test_remeshing_adds_no_energy_beside_a_place_that_is_held() -> None:
    """Faces that a handle holds are rigid: plastic curvature that a new mesh gave them would be locked in for ever."""
    model, state = bent()
    settled = run(model, state, frames=4)
    finer = replace(model, remeshing=RemeshingOptions(SizingOptions(size_min=3e-3, size_max=4e-3)))
    remeshed = adapt(settled, Derived(finer, settled))
    assert remeshed.mesh.face_count > 2 * settled.mesh.face_count
    for one in (settled, remeshed):
        held = np.isin(one.mesh.face_nodes, one.pins.node[one.pins.handle == 0]).all(axis=1)
        assert np.count_nonzero(held) > 4
        bend = np.linalg.norm(one.plastic_curvature, axis=1)
        assert bend[~held].max() > 5.0
        assert bend[held].max() < 0.1
