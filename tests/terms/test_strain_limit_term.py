"""Strain limits hold in a run: a soft sheet that is pulled hard stretches up to its limit and no farther."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from simulation_samples import SIDE

from crumple.boundary import Handle
from crumple.contract import ENERGIES
from crumple.energies.strain_limit import squared_stretches
from crumple.geometry.triangle import shape_gradients
from crumple.materials.material import Material
from crumple.model.model import Model
from crumple.options.contact import ContactOptions
from crumple.session.session import run
from crumple.shapes import rectangle, side_nodes
from crumple.state import Pins, initial_state

SOFT = Material.from_stiffness("cloth", stretch=2.0, bend=1e-6, thickness=1e-4, density=0.1, damping=1e-2)


def hung(limit):
    """A heavy, soft sheet that falls into its handle: the largest stretch of any face in any of some frames."""
    mesh, x = rectangle(SIDE, SIDE, 0.025)
    held = side_nodes(mesh, "top")
    pins = Pins(held, np.zeros(len(held), np.int32), x[held])
    model = Model(
        (replace(SOFT, strain_limit=limit),),
        handles=(Handle("rod", stiffness=1e4),),
        gravity=(0.0, -60.0, 0.0),
        contact=ContactOptions(enabled=False),
    )
    state, most = initial_state(mesh, x, pins=pins), 0.0
    gradients = shape_gradients(mesh.u[mesh.faces])
    for frame in range(1, 5):
        state = run(model, state, frames=frame)
        most = max(most, float(np.sqrt(squared_stretches(state.x, mesh.face_nodes, gradients).max())))
    return model, most


def test_no_face_is_stretched_beyond_the_limit():
    model, most = hung(1.1)
    assert "strain limit" in [term.name for term in model.terms]
    assert 1.08 < most < 1.1


def test_without_a_limit_it_is_stretched_far():
    model, most = hung(np.inf)
    assert "strain limit" not in [term.name for term in model.terms]
    assert most > 1.2


def test_its_energy_is_tested_with_all_others():
    assert "strain_limit" in ENERGIES
    assert ENERGIES["strain_limit"](np.random.default_rng(0)).invariant


def test_limits_that_cannot_be():
    with pytest.raises(Exception, match="strain_limit"):
        replace(SOFT, strain_limit=0.9)
