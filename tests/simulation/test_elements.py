"""The two bending elements in a run: hinges are those of the energies, turns follow remeshing and are resumed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from simulation_samples import PAPER, falling_sheet, free_sheet

from crumple.energies import make_hinges
from crumple.model.derived import Derived
from crumple.options.remeshing import RemeshingOptions
from crumple.options.sizing import SizingOptions
from crumple.recording import Recording, create_recording, resume_recording
from crumple.recording.frame import state_digest
from crumple.session.session import run
from crumple.simulation.frame import advance_frame


def with_element(model, element):
    return replace(model, solver=replace(model.solver, bending=element))


def test_hinges_are_the_hinges_of_the_energies():
    model, state = free_sheet()
    model = with_element(model, "hinge")
    state, report = advance_frame(model, state)
    ((energy, _),) = make_hinges(state.mesh, (PAPER,)).at(np.zeros(len(state.mesh.hinges.nodes)))
    assert report.energies["bending"] == pytest.approx(float(energy.value(state.x).sum()), rel=1e-12)
    assert report.energies["bending"] > 0.0
    assert not state.half_turn.any(), "hinges have no directors"
    assert Derived(model, state).turn_count == 0


def test_turns_are_in_equilibrium_after_a_step():
    """Without damping the moments of all edges vanish: directors have no mass."""
    model, state = free_sheet()
    model = with_element(model, "midedge")
    state, _ = advance_frame(model, state)
    assert np.abs(state.half_turn).max() > 1e-3
    (energy,) = [one for one in Derived(model, state).stored(state) if one.turns.shape[1]]
    moments = energy.moments(state.x, state.half_turn)
    total = np.bincount(energy.turns.ravel(), moments.ravel())
    assert np.abs(total).max() < 1e-4 * np.abs(moments).max()


def remeshed(element="midedge"):
    """A sheet that falls on a ball and is remeshed in every frame."""
    model, state = falling_sheet()
    sizing = SizingOptions(size_min=8e-3, size_max=0.03)
    model = replace(model, remeshing=RemeshingOptions(sizing), duration=0.2)
    return with_element(model, element), state


def test_turns_follow_remeshing():
    model, state = remeshed()
    faces = {state.mesh.face_count}
    for _ in range(4):
        state, _ = advance_frame(model, state)
        faces.add(state.mesh.face_count)
        assert state.half_turn.shape == (len(state.mesh.edges),)
        assert np.isfinite(state.half_turn).all()
        assert np.abs(state.half_turn).max() < np.pi
    assert len(faces) > 2


def test_a_remeshed_run_is_resumed_with_the_same_bits(tmp_path):
    model, state = remeshed()
    whole = run(model, state, frames=4)
    with create_recording(tmp_path / "run", "") as recorder:
        run(model, state, [recorder], frames=2)
    taken_up, recorder = resume_recording(tmp_path / "run")
    with recorder:
        last = run(remeshed()[0], taken_up, [recorder], frames=4)
    assert whole.half_turn.any()
    assert whole.half_rate.any()
    assert state_digest(last) == state_digest(whole)
    assert state_digest(Recording(tmp_path / "run").load(4)) == state_digest(whole)
