"""Attachments between nodes inside a simulation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from simulation_samples import free_sheet

from crumple.boundary import Attachment
from crumple.contract import Energy
from crumple.energies.inertia import node_masses
from crumple.model.model import Model
from crumple.recording.frame import decode_frame, encode_frame
from crumple.simulation.frame import advance_frame
from crumple.state import Bonds, State, no_bonds
from crumple.terms import Attachments


def attached_sheet(**attachment: float) -> tuple[Model, State]:
    """The free sheet with two of its corners drawn together."""
    model, state = free_sheet(0.03)
    corners = np.array([[np.argmin(state.mesh.u.sum(axis=1)), np.argmax(state.mesh.u.sum(axis=1))]], np.int32)
    model = replace(model, attachments=(Attachment("glue", **{"stiffness": 5.0} | attachment),))
    return model, state.replaced(bonds=Bonds(corners, np.zeros(1, np.int32)))


def gap(state: State) -> float:
    a, b = state.x[state.bonds.nodes[0]]
    return float(np.linalg.norm(a - b))


def test_attachments_conserve_momentum_and_pull() -> None:
    model, state = attached_sheet()
    model = replace(model, solver=replace(model.solver, max_step=1e-3))
    mass = node_masses(state.mesh, model.materials)
    after, _ = advance_frame(model, state)
    loose, _ = advance_frame(replace(model, attachments=()), state.replaced(bonds=no_bonds()))
    assert gap(after) < np.linalg.norm(np.subtract(*loose.x[state.bonds.nodes[0]])) - 1e-3
    np.testing.assert_allclose(mass @ after.v, mass @ state.v, atol=1e-7 * mass.sum())
    spin = [np.cross(s.x, mass[:, None] * s.v).sum(axis=0) for s in (state, after)]
    assert np.linalg.norm(spin[1] - spin[0]) < 0.1 * np.linalg.norm(spin[0])  # implicit Euler keeps it to first order


def bond_energies(model: Model, state: State, time: float) -> list[Energy]:
    return list(Attachments(model.attachments).mount(state).stored(state, time))


def test_springs_act_only_while_they_hold() -> None:
    model, state = attached_sheet(start=1.0, end=2.0, fade=1.0)
    assert bond_energies(model, state, 0.5) == []
    assert bond_energies(model, state, 3.5) == []
    full, half = (bond_energies(model, state, t)[0].value(state.x).sum() for t in (1.5, 2.5))
    assert half == pytest.approx(0.5 * full)


def test_bonds_are_recorded(tmp_path) -> None:  # type: ignore[no-untyped-def]
    _, state = attached_sheet()
    path = tmp_path / "frame.vtkhdf"
    path.write_bytes(encode_frame(state))
    np.testing.assert_array_equal(decode_frame(path).bonds.nodes, state.bonds.nodes)
