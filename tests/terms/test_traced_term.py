"""Traced energies in runs: parameters are asked for again after a remeshing, and a run goes on to the same bits."""

from __future__ import annotations

import numpy as np
import pytest

import crumple
from crumple.energies.traced import dot, norm, sqrt
from crumple.model.derived import Derived
from crumple.recording.frame import state_digest
from crumple.runtime.errors import InputError, SimulationError

ASKED: list[int] = []


@crumple.energy(elements="edges", parameters={"k": (), "length": ()}, residuals=True)
def shrinking(x0, x1, k, length, time):
    return sqrt(k) * (norm(x1 - x0) - length * (1.0 - 0.2 * time))


def lengths(mesh):
    ASKED.append(mesh.face_count)
    return {"k": 5.0, "length": mesh.corner_length[mesh.edge_corners]}


def made():
    model, state, _ = crumple.build(crumple.load_scene("demo", ["remeshing.size_min=0.01"], quick=True))
    return model.with_energy(shrinking, lengths, damping=0.01), state


def test_a_run_is_remeshed_and_resumed_to_the_same_bits(tmp_path):
    ASKED.clear()
    model, state = made()
    whole = crumple.run(model, state, frames=2)
    assert len(set(ASKED)) > 1, "the mesh has changed, and the parameters with it"
    assert whole.mesh.face_count != state.mesh.face_count
    sim = crumple.Simulation(model=model, state=state)
    sim.record(tmp_path / "run")
    sim.run(1)
    sim.close()
    with pytest.raises(InputError, match="the run was made with shrinking"):
        crumple.Simulation.resume(tmp_path / "run")
    with crumple.Simulation.resume(tmp_path / "run", terms=[shrinking.term(lengths, damping=0.01)]) as again:
        last = again.run(2)
    assert state_digest(last) == state_digest(whole)
    assert crumple.Recording(tmp_path / "run").frames == [0, 1, 2]


def test_its_energy_is_reported_and_its_name_is_taken_once():
    model, state = made()
    (term,) = (mounted for kind, mounted in Derived(model, state).terms if kind.name == "shrinking")
    assert term.measure(state) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(InputError, match="a term of this name already"):
        model.with_energy(shrinking, lengths)
    with pytest.raises(InputError, match=r"@crumple.energy"):
        model.with_energy(lambda x: x[2], {})


def test_a_run_ends_with_the_line_where_numbers_end():
    @crumple.energy(elements="nodes", parameters={"place": (3,)})
    def pull(x, place):
        return sqrt(dot(x - place, x - place))

    model, state = made()
    model = model.with_energy(pull, {"place": state.x[5]})
    with pytest.raises(SimulationError, match=r"frame 1, t = 0 s: .*test_traced_term.py:\d+: pull: `return sqrt"):
        crumple.run(model, state, frames=1)


def test_forces_of_a_term_accelerate_the_sheet():
    """A field of force in empty space: all nodes fall by ½ a t², as TR-BDF2 has it exactly."""

    @crumple.energy(elements="nodes", parameters={"mass": ()})
    def fall(x, mass):
        return mass * 3.0 * x[1]

    model, state, _ = crumple.build(crumple.load_scene("demo", ["environment.gravity=[0,0,0]"], quick=True))
    density = model.materials[0].density
    model = model.with_energy(fall, lambda mesh: {"mass": density * mesh.node_area})
    first = state.mesh.node_area @ state.x / state.mesh.node_area.sum()
    last = crumple.run(model, state, frames=1)
    middle = last.mesh.node_area @ last.x / last.mesh.node_area.sum()
    moved = middle - first - last.time * np.mean(state.v, axis=0)
    assert moved[1] == pytest.approx(-0.5 * 3.0 * last.time**2, rel=0.15)
