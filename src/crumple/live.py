"""Simulations under one's own control: for notebooks, robots and tests.

>>> import crumple
>>> sim = crumple.Simulation("drape", quick=True)     # doctest: +SKIP
>>> while sim.time < 0.5:                             # doctest: +SKIP
...     sim.step(0.02)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from crumple.boundary.handles import Handle
from crumple.boundary.motions import Rate, make_motion, rotation_matrix, rotation_vector_of
from crumple.contract import Term
from crumple.errors import InputError
from crumple.recording import Recording, create_recording, resume_recording
from crumple.recording.model_file import fit_problem
from crumple.recording.recorder import Recorder
from crumple.scenes import Scene, build, dump_scene, load_scene, scene_from_tables
from crumple.simulation.contact_forces import contact_forces
from crumple.simulation.derived import Derived
from crumple.simulation.frame import adapt, advance_frame, advance_once
from crumple.simulation.model import Criterion, Model
from crumple.simulation.observers import FrameReport, Observer, StepReport
from crumple.simulation.run import run
from crumple.state import State
from crumple.state.ragged import Pins
from crumple.typing import Floats


def simulate(
    scene: Scene | str | Path,
    *,
    out: str | Path | None = None,
    overrides: Sequence[str] = (),
    quick: bool = False,
    frames: int | None = None,
    observers: Sequence[Observer] = (),
    force: bool = False,
) -> Simulation:
    """Run a scene to its end, or for a number of `frames`, and return the finished simulation.

    `scene`: a built-in name, a file, or a `Scene`;  `out`: a folder for the recording, none by default;
    `overrides`: "key=value" as for `crumple run --set`;  `quick`: the short variant of a built-in scene;
    `force`: replace a recording that is there.
    """
    sim = Simulation(scene, overrides, quick=quick)
    if out is not None:
        sim.record(out, force=force)
    try:
        sim.run(frames, observers=observers)
    finally:
        sim.close()
    return sim


class Simulation:
    """A scene, or a model and a state, that is advanced as one likes.

    `state` is what the simulation is at; it may be replaced between steps. `model` is constant but for the handles
    that are moved by hand.
    """

    def __init__(
        self,
        scene: Scene | str | Path | None = None,
        overrides: Sequence[str] = (),
        *,
        quick: bool = False,
        model: Model | None = None,
        state: State | None = None,
    ) -> None:
        """From a scene as for `simulate`, or from a `model` and its first `state`."""
        if (scene is None) == (model is None or state is None):
            raise InputError("Simulation", "give either a scene, or a model and a state")
        self.scene: Scene | None = None
        self._recorder: Recorder | None = None
        self._is_embedded = False
        if scene is not None:
            self.scene = load_scene(scene, overrides, quick=quick)
            model, state = build(self.scene)
        assert model is not None
        assert state is not None
        self.model, self.state = model, state
        self._first = model, state
        self._wishes: dict[int, tuple[Floats | None, Floats | None]] = {}
        self._turns: dict[int, Floats] = {}
        self._forget()

    @classmethod
    def resume(
        cls,
        path: str | Path,
        *,
        frame: int | None = None,
        terms: Sequence[Term] = (),
        criteria: Sequence[Criterion] = (),
        model: Model | None = None,
        warn: Callable[[str], None] | None = None,
    ) -> Simulation:
        """The simulation that goes on with the recording at `path` from its last intact frame, or from `frame`.

        New frames are added to the recording; those that cannot be used, and those after `frame`, are moved aside, of
        which `warn` is told.  `terms`, `criteria`: the user's own that the run was made with, which a recording names
        but does not hold;  `model`: one to go on with instead of the recorded one. Rotations of handles that are set
        by hand count from here.
        """
        recording = Recording(path)
        given = _recorded_model(recording, terms, criteria) if model is None else model

        def check(state: State) -> None:
            problem = fit_problem(given, state)
            if problem:
                raise InputError(str(recording.path), f"the model {problem}")

        state, recorder = resume_recording(path, frame=frame, check=check, warn=warn)
        try:
            sim = cls(model=given, state=state)
            recorder.on_start(given, state)
        except BaseException:
            recorder.close()
            raise
        sim._recorder = recorder
        return sim

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.state.time

    @property
    def handles(self) -> tuple[str, ...]:
        """Names of the handles."""
        return tuple(handle.name for handle in self.model.handles)

    def step(self, dt: float) -> StepReport:
        """Advance by exactly `dt` [s], in as many time steps as that needs; returns the report of the last.

        The mesh is adapted whenever a frame of the scene is over, and the frame recorded if there is a recording.
        """
        if not (np.isfinite(dt) and dt > 0.0):
            raise InputError("step: dt", "must be > 0, in s", dt)
        end = self.state.time + dt
        self._send_handles(end)
        while self.state.time < end:
            report = self._advance(end)
        self._let_handles_be(end)
        return report

    def advance_frame(self) -> FrameReport:
        """Advance to the end of the current frame of the scene."""
        end = self._frame_end
        self._send_handles(end)
        observers = [] if self._recorder is None else [self._recorder]
        self.state, report = advance_frame(self.model, self.state, observers)
        self._let_handles_be(end)
        for observer in observers:
            observer.on_frame(self.model, self.state, report)
        self._forget()
        return report

    def run(self, frames: int | None = None, *, observers: Sequence[Observer] = ()) -> State:
        """Advance to the end of the scene, or until `frames` frames are done, and return the state."""
        end = self._frame_end
        self._send_handles(end)
        recorders = [] if self._recorder is None else [self._recorder]
        self.state = run(self.model, self.state, [*recorders, *observers], frames=frames)
        self._let_handles_be(end)
        self._forget()
        return self.state

    def set_handle(
        self,
        name: str,
        position: Sequence[float] | Floats | None = None,
        rotation: Sequence[float] | Floats | None = None,
    ) -> None:
        """Say where a handle is to be at the end of the next step; it goes there steadily, and then stays.

        `position` [m]: of the middle of the nodes that it holds, where it is by default;  `rotation`: a rotation vector
        [rad] from its direction at the start, as it is by default.
        """
        index = self._handle(name)
        where = None if position is None else _finite("position", position)
        turn = None if rotation is None else rotation_matrix(_finite("rotation", rotation))
        self._wishes[index] = where, turn

    def move_handle(self, name: str, translate: Sequence[float] | Floats) -> None:
        """Move a handle by `translate` [m] in the next step."""
        self.set_handle(name, self.handle_position(name) + _finite("translate", translate))

    def release(self, name: str) -> None:
        """Let a handle go of its nodes from now on."""
        index = self._handle(name)
        pins = self.state.pins
        kept = pins.handle != index
        self.state = self.state.replaced(
            pins=replace(pins, node=pins.node[kept], handle=pins.handle[kept], anchor=pins.anchor[kept])
        )

    def grasp(self, name: str, at: Sequence[float] | Floats, *, reach: float = 0.01) -> bool:
        """Let a handle take hold of the node nearest to the point `at` [m] that no handle holds; whether it found one.

        Only a node within `reach` [m] is taken, where it is. What the handle holds already it keeps.
        """
        index, point = self._handle(name), _finite("at", at)
        pins, x = self.state.pins, self.state.x
        distance = np.linalg.norm(x - point, axis=1)
        distance[pins.node] = np.inf
        node = int(distance.argmin())
        if not distance[node] <= reach:
            return False
        anchor = self.model.handles[index].anchor(self.state.time, x[[node]])
        nodes, handles = np.append(pins.node, np.int32(node)), np.append(pins.handle, np.int32(index))
        order = np.lexsort((nodes, handles))
        anchors = np.concatenate([pins.anchor, anchor])
        self.state = self.state.replaced(pins=Pins(nodes[order], handles[order], anchors[order]))
        return True

    def handle_position(self, name: str) -> Floats:
        """Where the middle of the nodes of a handle is wanted now, (3,) [m]."""
        index = self._handle(name)
        pins = self.state.pins
        held = pins.handle == index
        if not held.any():
            raise InputError("handle", "it holds no node", name)
        target: Floats = self.model.handles[index].target(self.state.time, pins.anchor[held]).mean(axis=0)
        return target

    def forces(self, name: str) -> Floats:
        """The force that a handle or an obstacle feels from the sheets, (3,) [N]; friction on obstacles is left out."""
        if name in self.handles:
            index = self._handle(name)
            pins, handle = self.state.pins, self.model.handles[index]
            held = pins.handle == index
            stretch = self.state.x[pins.node[held]] - handle.target(self.state.time, pins.anchor[held])
            return handle.stiffness * handle.strength(self.state.time) * stretch.sum(axis=0)
        names = [obstacle.name for obstacle in self.model.obstacles]
        if name not in names:
            raise InputError(
                "forces",
                f"no handle or obstacle has this name, there are {', '.join(self.handles + tuple(names))}",
                name,
            )
        part = len(self.model.sheet_names) + names.index(name)
        derived = Derived(self.model, self.state)
        felt: Floats = contact_forces(self.model, self.state)[derived.node_part == part].sum(axis=0)
        return felt

    def reset(self, seed: int | None = None) -> State:
        """Back to the start. A `seed` replaces those of the sheets' jitter, so that every seed is another start."""
        model, state = self._first
        if seed is not None:
            if self.scene is None or not any(sheet.jitter is not None for sheet in self.scene.sheets):
                raise InputError("reset: seed", "the scene has no jitter that a seed could change", seed)
            tables = self.scene.tables()
            for number, sheet in enumerate(tables["sheets"]):
                if "jitter" in sheet:
                    sheet["jitter"]["seed"] = seed + number
            model, state = build(scene_from_tables(tables, source=self.scene.source))
        self.model, self.state = model, state
        self._wishes, self._turns = {}, {}
        self._forget()
        return state

    def record(self, path: str | Path, *, force: bool = False) -> Recording:
        """Write every frame from now on into a new recording in the folder `path`.

        A model that was built by hand is recorded like that of a scene, and resumed, analysed and shown in the same
        way.
        """
        self.close()
        text = None if self.scene is None else dump_scene(self.scene)
        self._recorder = create_recording(path, text, force=force)
        self._recorder.on_start(self.model, self.state)
        return self._recorder.recording

    def save(self, path: str | Path, *, force: bool = False) -> Recording:
        """Write the present state as the only frame of a recording in the folder `path`."""
        kept, self._recorder = self._recorder, None
        try:
            return self.record(path, force=force)
        finally:
            self.close()
            self._recorder = kept

    def close(self) -> None:
        """End the recording, if there is one."""
        if self._recorder is not None:
            self._recorder.close()
        self._recorder = None

    def __enter__(self) -> Simulation:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _forget(self) -> None:
        """Nothing is derived, and no step of the present frame is known."""
        self._derived: Derived | None = None
        self._is_embedded = False
        self._reports: list[StepReport] = []

    @property
    def _frame_end(self) -> float:
        """When the present frame of the scene ends [s]."""
        return (self.state.frame + 1) * self.model.frame_time

    def _advance(self, end: float) -> StepReport:
        """One time step, which passes neither `end` [s] nor the end of the frame."""
        rounding = 1e-9 * self.model.frame_time
        goal = end if self._frame_end > end - rounding else self._frame_end
        self.state, report, self._is_embedded, self._derived = advance_once(
            self.state, self._derive(), goal, self._is_embedded
        )
        self._reports.append(report)
        if self._recorder is not None:
            self._recorder.on_step(self.model, self.state, report)
        if self.state.time >= self._frame_end - rounding:
            if self.state.time >= end:  # the frame records where handles are wanted now, not where they came from
                self._let_handles_be(end)
            self._end_frame()
        return report

    def _handle(self, name: str) -> int:
        """The number of a handle."""
        if name not in self.handles:
            raise InputError("handle", f"the scene has {', '.join(self.handles) or 'no handles'}", name)
        return self.handles.index(name)

    def _derive(self) -> Derived:
        """What the next step needs."""
        if self._derived is None or self._derived.state.mesh is not self.state.mesh:
            self._derived, self._is_embedded = Derived(self.model, self.state), False
        return self._derived

    def _send_handles(self, end: float) -> None:
        """The handles that are wanted somewhere are on their way until `end` [s]."""
        if not self._wishes:
            return
        handles = list(self.model.handles)
        for index, (where, turn) in self._wishes.items():
            handles[index] = self._sent(index, where, turn, end)
        self.model = replace(self.model, handles=tuple(handles))
        if self._derived is not None:
            self._derived = self._derived.with_handles(self.model)

    def _sent(self, index: int, where: Floats | None, turn: Floats | None, end: float) -> Handle:
        """The handle on its way; the nodes that it holds become anchored where it wants them now."""
        handle, pins, now = self.model.handles[index], self.state.pins, self.state.time
        held = pins.handle == index
        anchor = pins.anchor.copy()
        anchor[held] = handle.target(now, pins.anchor[held])
        self.state = self.state.replaced(pins=replace(pins, anchor=anchor))
        middle = anchor[held].mean(axis=0) if held.any() else np.zeros(3)
        before = self._turns.get(index, np.eye(3))
        spin = np.zeros(3) if turn is None else rotation_vector_of(turn @ before.T)
        self._turns[index] = before if turn is None else turn
        way = np.zeros(3) if where is None else where - middle
        span = end - now
        rate = Rate(tuple(way / span), tuple(spin / span), now, end)
        return replace(handle, motion=make_motion(handle.name, [], rate=rate, center=tuple(middle)), grips=False)

    def _let_handles_be(self, end: float) -> None:
        """The handles that were sent somewhere hold their nodes where they are at `end` [s], whatever comes."""
        if not self._wishes:
            return
        handles, pins = list(self.model.handles), self.state.pins
        anchor = pins.anchor.copy()
        for index in self._wishes:
            held = pins.handle == index
            anchor[held] = handles[index].target(end, pins.anchor[held])
            handles[index] = replace(handles[index], motion=None)
        self.state = self.state.replaced(pins=replace(pins, anchor=anchor))
        self.model = replace(self.model, handles=tuple(handles))
        if self._derived is not None:
            self._derived = self._derived.with_handles(self.model)
        self._wishes = {}

    def _end_frame(self) -> None:
        """Adapt the mesh and record the frame."""
        self.state = adapt(self.state.replaced(frame=self.state.frame + 1), self._derive())
        steps, self._reports = self._reports, []
        if self._recorder is not None:
            report = FrameReport(
                frame=self.state.frame,
                time=self.state.time,
                faces=self.state.mesh.face_count,
                steps=len(steps),
                iterations=sum(step.iterations for step in steps),
                contacts_max=max(step.contacts for step in steps),
                seconds=sum(step.seconds for step in steps),
                phases={},
                energies=steps[-1].energies,
            )
            self._recorder.on_frame(self.model, self.state, report)


def _recorded_model(recording: Recording, terms: Sequence[Term], criteria: Sequence[Criterion]) -> Model:
    """The model of a recording with the user's own parts, which must be those that it was made with."""
    stored = recording.stored_model()
    if stored is None and recording.scene_path.is_file():  # from before models were stored
        model = build(recording.scene_path)[0]
    else:
        model = recording.model()
        assert stored is not None  # or there would have been no model
        if sorted(term.name for term in terms) != sorted(stored.terms):
            names = ", ".join(stored.terms) or "none"
            raise InputError("resume: terms", f"the run was made with {names}", [term.name for term in terms])
        if len(criteria) != len(stored.criteria):
            names = ", ".join(stored.criteria) or "none"
            raise InputError("resume: criteria", f"the run was made with {names}", len(criteria))
    if model.remeshing is not None and criteria:
        model = replace(model, remeshing=replace(model.remeshing, criteria=tuple(criteria)))
    for term in terms:
        model = model.with_term(term)
    return model


def _finite(name: str, values: Sequence[float] | Floats) -> Floats:
    """Three finite numbers as an array."""
    array = np.asarray(values, np.float64)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise InputError(name, "must be three finite numbers", list(np.ravel(array)))
    return array
