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

from crumple.contract import Term
from crumple.model.model import Model
from crumple.options.developable import DevelopableOptions
from crumple.options.remeshing import Criterion
from crumple.recording import Recording, resume_recording
from crumple.recording.model_file import fit_problem
from crumple.runtime.errors import InputError
from crumple.scenes import Scene, build, load_scene, scene_from_tables
from crumple.session.arguments import whole
from crumple.session.driving import refuse_before_drives
from crumple.session.engines import PHYSICS, make_engine, refuse_resumption
from crumple.session.guidance import leave_obstacles
from crumple.session.session import Session
from crumple.simulation.engine import Moment
from crumple.simulation.observers import Observer
from crumple.state import State
from crumple.stepping.reports import StepReport


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
    last = None if frames is None else whole("run: frames", frames)  # before a recording is replaced
    if out is not None:
        sim.record(out, force=force)
    try:
        sim.run(last, observers=observers)
    finally:
        sim.close()
    return sim


class Simulation(Session):
    """A session of a scene, or of a model and a state, that is advanced as one likes."""

    def __init__(
        self,
        scene: Scene | str | Path | None = None,
        overrides: Sequence[str] = (),
        *,
        quick: bool = False,
        model: Model | None = None,
        state: State | None = None,
        engine: str = PHYSICS,
        developable: DevelopableOptions | None = None,
    ) -> None:
        """From a scene as for `simulate`, or from a `model` and its first `state`.

        `engine`: "physics", or "developable" for one flat sheet without creases and handles, with options of its own.
        """
        if (scene is None) == (model is None or state is None):
            raise InputError("Simulation", "give either a scene, or a model and a state")
        self.scene: Scene | None = None
        if scene is not None:
            self.scene = load_scene(scene, overrides, quick=quick)
            model, state, _ = build(self.scene)
        assert model is not None
        assert state is not None
        super().__init__(make_engine(engine, model, state, developable), scene=self.scene)
        self.engine_name = engine

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
        but does not hold;  `model`: one to go on with instead of the recorded one. Obstacles that were moved by hand
        are where they were; rotations that are set by hand count from here. Frames from before creases were last driven
        by hand are refused: what was wanted of them then is not recorded.
        """
        recording = Recording(path)
        given = _recorded_model(recording, terms, criteria) if model is None else model

        def check(state: State) -> None:
            problem = fit_problem(given, state)
            if problem:
                raise InputError(str(recording.path), f"the model {problem}")
            if model is None:
                refuse_before_drives("resume: frame", given, state)

        state, recorder = resume_recording(path, frame=frame, check=check, warn=warn)
        try:
            given = leave_obstacles(given, state) if model is None else model
            sim = cls(model=given, state=state)
            recorder.on_start(given, state)
        except BaseException:
            recorder.close()
            raise
        sim._recorder = recorder
        return sim

    def step(self, dt: float) -> StepReport:
        """Advance by exactly `dt` [s], in as many time steps as that needs; returns the report of the last.

        The mesh is adapted whenever a frame of the scene is over, and the frame recorded if there is a recording.
        """
        return self.advance(dt)

    def reset(self, seed: int | None = None) -> State:
        """Back to the start; a recording ends. A `seed` replaces those of the sheets' jitter, so that every seed is
        another start."""
        if seed is None:
            return super().reset()
        if self.engine_name != PHYSICS:
            raise InputError("reset: seed", "is for the engine physics; others have seeds among their options", seed)
        if self.scene is None or not any(sheet.jitter is not None for sheet in self.scene.sheets):
            raise InputError("reset: seed", "the scene has no jitter that a seed could change", seed)
        tables = self.scene.tables()
        for number, sheet in enumerate(tables["sheets"]):
            if "jitter" in sheet:
                sheet["jitter"]["seed"] = seed + number
        model, state, _ = build(scene_from_tables(tables, source=self.scene.source))
        super().reset()
        self.engine.restore(Moment(model, state))
        return state


def _recorded_model(recording: Recording, terms: Sequence[Term], criteria: Sequence[Criterion]) -> Model:
    """The model of a recording with the user's own parts, which must be those that it was made with."""
    stored = recording.stored_model()
    refuse_resumption(str(recording.path), () if stored is None else stored.terms)
    if stored is None and recording.scene_path.is_file():  # from before models were stored
        model = build(recording.scene_path).model
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
