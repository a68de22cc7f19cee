"""One frame and its parts: steps, what terms are asked, yielding, embedding, and who is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import groupby

import numpy as np
import pytest
from simulation_samples import PAPER, falling_sheet, free_sheet

from crumple.contract import Energy, EnergyTerm, MountedTerm, Stage, Term, projection_mask
from crumple.energies.nodal import make_nodal
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.options.remeshing import RemeshingOptions
from crumple.options.sizing import SizingOptions
from crumple.recording.frame import state_digest
from crumple.runtime.errors import InputError, SimulationError
from crumple.session.session import run
from crumple.simulation.embedding import FRAMES, embed
from crumple.simulation.frame import adapt, advance_frame, advance_once, close_frame
from crumple.simulation.observers import Observer, Statistics, StopRun
from crumple.state import State
from crumple.stepping.settling import settle
from crumple.stepping.step import advance_step


@dataclass(frozen=True)
class Diary(Term):
    """A term without energy that notes what it is asked."""

    notes: list[tuple[str, float]]
    name = "diary"

    def mount(self, state: State) -> MountedTerm:
        self.notes.append(("mount", state.time))
        return MountedDiary(self.notes)


@dataclass(frozen=True)
class MountedDiary(MountedTerm):
    notes: list[tuple[str, float]]

    def stored(self, state: State, time: float) -> Sequence[Energy]:
        return []

    def over(self, stage: Stage) -> Sequence[Energy]:
        self.notes.append(("over", stage.time))
        return []

    def begin(self, state: State, step: float) -> State:
        self.notes.append(("begin", state.time))
        return state

    def settle(self, state: State, step: float) -> State:
        self.notes.append(("settle", state.time))
        return state.with_field("age", state.field("age") + step, where="face", rule="conserve")


def aged(state: State) -> State:
    return state.with_field("age", np.zeros(state.mesh.face_count), where="face", rule="conserve")


def test_terms_are_asked_in_order_and_may_write_their_own_field():
    model, state = free_sheet(0.03, fixed_step=0.02)
    notes: list[tuple[str, float]] = []
    state, report = advance_frame(model.with_term(Diary(notes)), aged(state))
    assert report.steps == 2
    stages = [list(asked) for _, asked in groupby(notes, key=lambda note: note[0])]  # a step may have several stages
    assert [asked[-1][0] for asked in stages] == ["mount", *(["begin", "over", "settle"] * 2)]
    assert [asked[-1][1] for asked in stages[1:]] == pytest.approx([0.0, 0.02, 0.02, 0.02, 0.04, 0.04])
    np.testing.assert_allclose(state.field("age"), 0.04)
    assert report.energies["diary"] == 0.0


def test_a_term_is_mounted_again_on_a_new_mesh_and_its_field_follows():
    model, state = free_sheet(0.03, fixed_step=0.02)
    sizing = RemeshingOptions(SizingOptions(size_min=5e-3, size_max=0.01), projection=False)
    notes: list[tuple[str, float]] = []
    model = replace(model, remeshing=sizing).with_term(Diary(notes))
    after = run(model, aged(state), frames=2)
    assert after.mesh.face_count > state.mesh.face_count
    np.testing.assert_allclose(after.field("age"), 0.08)
    assert [what for what, _ in notes].count("mount") >= 2


def test_a_name_is_used_once():
    model, _ = free_sheet(0.03)
    with pytest.raises(InputError, match="membrane"):
        model.with_term(EnergyTerm("membrane", lambda state: []))
    twice = EnergyTerm("spring", lambda state: [])
    with pytest.raises(InputError, match="spring"):
        model.with_term(twice).with_term(twice)


def test_an_energy_of_ones_own_acts():
    """Springs to where the nodes are keep a sheet that would drift."""
    model, state = free_sheet(0.03)

    def springs(state: State) -> Energy:
        nodes = np.arange(state.mesh.node_count, dtype=np.int32).reshape(-1, 1)
        return make_nodal(nodes, state.x, np.full(len(nodes), 10.0))

    held, report = advance_frame(model.with_term(EnergyTerm("springs", springs)), state)
    loose, _ = advance_frame(model, state)
    assert np.abs(held.x - state.x).max() < 0.2 * np.abs(loose.x - state.x).max()
    assert report.energies["springs"] > 0.0


@dataclass(frozen=True)
class Saddle(Energy):
    """−½ k z² of each node: it pushes a sheet away from z = 0, faster and faster."""

    stencil: np.ndarray

    def evaluate(self, x, order, project, value, gradient, hessian):  # type: ignore[no-untyped-def]
        z = x[self.stencil[:, 0], 2]
        value[:] = -0.5 * z**2
        if order >= 1:
            gradient[:] = 0.0
            gradient[:, 0, 2] = -z
        if order >= 2:
            hessian[:] = 0.0
            hessian[~projection_mask(project, len(z)), 0, 2, 2] = -1.0


def test_remeshing_does_not_run_down_a_potential():
    """The projection keeps the forces of the sheet: a potential in space has no part in it."""
    model, state = free_sheet(0.03)
    sizing = RemeshingOptions(SizingOptions(size_min=5e-3, size_max=0.01))
    model = replace(model, remeshing=sizing)
    saddle = EnergyTerm("saddle", lambda state: Saddle(np.arange(len(state.x), dtype=np.int32)[:, None]))
    plain = adapt(state, Derived(model, state))
    assert plain.mesh.face_count > state.mesh.face_count
    pushed = adapt(state, Derived(model.with_term(saddle), state))
    np.testing.assert_array_equal(pushed.x, plain.x)


def test_the_past_of_a_stage_is_the_weighted_sum():
    _, state = free_sheet(0.03)
    a, b = state.x, 2.0 * state.x + 1.0
    others = {one.name: None for one in fields(Stage)}  # the past depends on nothing else
    euler = Stage(**others | {"before": ((1.0, a),)})
    assert euler.past(np.asarray) is a  # nothing is multiplied: the same bits
    second = Stage(**others | {"before": ((4.0 / 3.0, a), (-1.0 / 3.0, b))})
    np.testing.assert_allclose(second.past(lambda x: x[:, 0] ** 2), (4.0 * a[:, 0] ** 2 - b[:, 0] ** 2) / 3.0)


def test_steps_lead_to_the_end_of_the_frame():
    model, state = free_sheet(0.03)
    end = 0.04
    derived = Derived(model, state)
    times = [state.time]
    while state.time < end:
        moved, report = advance_step(state, derived, end)
        assert moved.time == state.time + report.step or moved.time == end
        assert moved.steps == state.steps + 1
        assert moved.iterations > state.iterations
        assert np.all(np.any(moved.x != state.x, axis=1))
        state = moved
        times.append(state.time)
    assert state.time == end
    assert np.all(np.diff(times) > 0.0)


def test_free_fall_has_the_right_velocity():
    """No force but weight: v = g t after any number of steps."""
    model, state = free_sheet(0.03, fixed_step=0.01)
    model = replace(model, gravity=(0.0, 0.0, -9.81))
    state = state.replaced(x=state.mesh.node_rest.copy(), v=np.zeros_like(state.v))
    derived = Derived(model, state)
    for step in (1, 2, 3):
        state, _ = advance_step(state, derived, 0.04)
        np.testing.assert_allclose(state.v, np.tile([0.0, 0.0, -0.0981 * step], (len(state.x), 1)), atol=1e-9)


def test_a_failing_step_says_when():
    model, state = free_sheet(0.03, max_iterations=1, min_step=0.03, max_step=0.04)
    with pytest.raises(SimulationError, match=r"frame 1, t = 0 s: a step of .* did not converge"):
        advance_frame(model, state.replaced(step_size=0.04))


def plastic_sheet() -> tuple[Model, State]:
    model, state = free_sheet(0.03)
    return replace(model, materials=(replace(PAPER, yield_curvature=2.0),)), state


def bent(state: State) -> State:
    x = state.mesh.node_rest.copy()
    x[:, 2] = 10.0 * x[:, 0] ** 2
    return state.replaced(x=x)


def test_what_is_bent_too_far_yields_and_is_embedded():
    model, state = plastic_sheet()
    derived, shape = Derived(model, state), bent(state)
    settled = settle(shape, derived, 0.01)
    assert settled.plastic_curvature.any()
    assert (settled.damage >= 0.0).all()
    assert settled.damage.any()
    assert embed(shape, settled, derived) is settled  # nobody reads it in this frame
    settled = settled.replaced(frame=FRAMES - 1)
    moved, last = embed(shape, settled, derived), settled
    assert np.abs(moved.y - state.y).max() > 1e-4
    while moved is not last:
        moved, last = embed(moved, moved, derived), moved
    assert derived.embedding.is_settled(moved.y, moved.plastic_curvature, moved.plastic_strain)


def test_the_embedding_of_a_large_sheet_that_hardly_yields_waits_for_the_remeshing():
    model, state = free_sheet(3e-3)
    remeshing = RemeshingOptions(SizingOptions(size_min=3e-3))
    model = replace(model, materials=(replace(PAPER, yield_curvature=2.0),), remeshing=remeshing)
    derived, shape = Derived(model, state), bent(state)
    settled = settle(shape, derived, 0.01)
    moves = [embed(settled, settled.replaced(frame=frame), derived).y is not state.y for frame in range(5)]
    assert moves == [False, False, False, True, False]
    assert embed(shape, settled, derived).y is not state.y, "it has just yielded"


def test_nothing_settles_in_an_elastic_sheet():
    model, state = free_sheet(0.03)
    derived, shape = Derived(model, state), bent(state)
    assert not model.is_plastic
    assert settle(shape, derived, 0.01) is shape
    assert embed(shape, shape, derived) is shape
    assert adapt(shape, derived) is shape


def test_the_report_measures_what_is_left_after_yielding():
    model, state = plastic_sheet()
    shape = bent(state).replaced(v=np.zeros_like(state.v))
    elastic = advance_once(shape, Derived(replace(model, materials=(PAPER,)), shape), 1e-5)[1]
    plastic = advance_once(shape, Derived(model, shape), 1e-5)[1]
    assert plastic.energies["bending"] < 0.9 * elastic.energies["bending"]


class Stopping(Observer):
    """Raises something at a step or frame, and notes what it is told."""

    def __init__(self, *, step: int = 0, frame: int = 0, start: bool = False, error: Exception | None = None) -> None:
        self._step, self._frame, self._start = step, frame, start
        self._error = StopRun() if error is None else error
        self.told: list[str] = []

    def on_start(self, model: Model, state: State) -> None:
        self._note("start", self._start)

    def on_step(self, model: Model, state: State, report: object) -> None:
        self._note(f"step {state.steps}", state.steps == self._step)

    def on_frame(self, model: Model, state: State, report: object) -> None:
        self._note(f"frame {state.frame}", state.frame == self._frame)

    def on_end(self, model: Model, state: State) -> None:
        self.told.append("end")

    def _note(self, what: str, stop: bool) -> None:
        self.told.append(what)
        if stop:
            raise self._error


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("when", [{"step": 3}, {"frame": 2}, {"step": 4, "frame": 2}])
def test_a_stop_ends_the_run_after_its_frame_and_everyone_is_told(place, when):
    model, state = free_sheet(0.05, fixed_step=0.02)
    observers: list[Observer] = [Stopping(), Stopping()]
    observers.insert(place, Stopping(**when))
    last = run(model, state, observers, frames=5)
    assert last.frame == 2
    assert last.time == pytest.approx(0.08)
    expected = ["start", "step 1", "step 2", "frame 1", "step 3", "step 4", "frame 2", "end"]
    assert all(observer.told == expected for observer in observers)


def test_a_stop_at_the_start_runs_nothing():
    model, state = free_sheet(0.05)
    watch = Stopping()
    assert run(model, state, [Stopping(start=True), watch]) is state
    assert watch.told == ["start", "end"]


def test_an_error_reaches_the_caller_after_everyone_has_the_frame():
    model, state = free_sheet(0.05, fixed_step=0.02)
    watch = Stopping()
    with pytest.raises(ZeroDivisionError):
        run(model, state, [Stopping(frame=1, error=ZeroDivisionError()), watch])
    assert watch.told == ["start", "step 1", "step 2", "frame 1", "end"]


def test_one_frame_of_contact_reports_its_phases():
    model, state = falling_sheet()
    reports = Statistics()
    run(model, state, [reports], frames=1)
    (frame,) = reports.frames
    assert frame.steps == len(reports.steps)
    assert frame.iterations == sum(step.iterations for step in reports.steps)
    assert {"preparation", "contact"} <= set(frame.phases)
    assert set(frame.energies) == {"kinetic", "gravity", "membrane", "bending", "contact"}


def test_steps_by_hand_make_the_same_frame():
    model, state = falling_sheet()
    model = replace(model, remeshing=RemeshingOptions(SizingOptions(size_min=5e-3, size_max=0.02)))
    whole, report = advance_frame(model, state)
    derived, reports = Derived(model, state), []
    while state.time < model.frame_time:
        state, step, derived = advance_once(state, derived, model.frame_time)
        reports.append(step)
    told = Meshes()
    closed, same = close_frame(state, derived, reports, [told])
    assert state_digest(closed) == state_digest(whole)
    assert told.faces == [closed.mesh.face_count]
    assert closed.mesh.face_count != state.mesh.face_count
    differing = {"seconds": 0.0, "phases": {}}
    assert replace(same, **differing) == replace(report, **differing)
    assert same.seconds > sum(step.seconds for step in reports)


class Meshes(Observer):
    """Notes the face counts of new meshes."""

    def __init__(self) -> None:
        self.faces: list[int] = []

    def on_mesh(self, model: Model, state: State) -> None:
        self.faces.append(state.mesh.face_count)


def test_a_criterion_of_ones_own_refines():
    model, state = free_sheet(0.03)
    sizing = SizingOptions(size_min=2e-3, size_max=0.1, refine_velocity=np.inf, refine_compression=np.inf)

    def left_half(state: State) -> np.ndarray:
        middle = state.mesh.u[state.mesh.faces].mean(axis=1)[:, 0]
        return np.where(middle < 0.05, 0.01, np.inf)

    options = RemeshingOptions(sizing, projection=False, criteria=(left_half,))
    after = adapt(state, Derived(replace(model, remeshing=options), state))
    middle = after.mesh.u[after.mesh.faces].mean(axis=1)[:, 0]
    assert after.mesh.face_area[middle < 0.04].mean() < 0.2 * after.mesh.face_area[middle > 0.06].mean()
    wrong = replace(options, criteria=(lambda state: np.ones(3),))
    with pytest.raises(InputError, match=r"remeshing\.criteria: must have the shape"):
        adapt(state, Derived(replace(model, remeshing=wrong), state))
