"""Tells when a frame costs far more than those before it, and what is the likely cause."""

from __future__ import annotations

import time as clock
from collections import deque

import numpy as np

from crumple.geometry.strain import largest_strains
from crumple.model.model import Model
from crumple.state import State
from crumple.stepping.reports import FrameReport, StepReport

MANY_TIMES_FACES, MANY_FACES = 10.0, 5_000
"""Growth of a mesh within a frame, and faces, from which on it is told of."""
MANY_ITERATIONS = 1_000
"""Newton iterations in a frame from which on it is told of."""
MANY_TIMES_SECONDS, MANY_SECONDS = 20.0, 30.0
"""How much longer than those before a frame takes, and seconds, from which on it is told of."""
LARGE_STRAIN = 0.1
"""Strain from which on it is the likely cause: paper has torn by then, cloth is taut."""
DENSE = 1.0
"""Contacts per face from which on the sheet is pressed together."""
SHORT_STEP = 1e-2
"""Share of a frame below which steps are called short."""


class FrameCost:
    """What the present frame has cost so far. Its methods return a warning, or "": one per frame and kind."""

    def __init__(self) -> None:
        self.steps = self.iterations = 0
        self._begin = clock.monotonic()
        self._faces = 0
        self._model: Model | None = None
        self._told = False
        self._before: deque[float] = deque(maxlen=10)

    @property
    def seconds(self) -> float:
        """Since the frame began [s]."""
        return clock.monotonic() - self._begin

    def on_frame_start(self, model: Model, state: State) -> None:
        """Forget the last frame but for how long it took."""
        self.steps = self.iterations = 0
        self._begin, self._faces = clock.monotonic(), state.mesh.face_count
        self._model, self._told = model, False

    def on_mesh(self, state: State) -> str:
        """The frame has a new mesh."""
        faces = state.mesh.face_count
        if faces < MANY_FACES or faces < MANY_TIMES_FACES * self._faces:
            return ""
        return f"the mesh grows from {self._faces} to {faces} faces at once: {_cause_of_faces(state)}"

    def on_step(self, state: State, report: StepReport) -> str:
        """A step is done."""
        self.steps += 1
        self.iterations += report.iterations
        usual = float(np.median(self._before)) if self._before else np.inf
        is_long = self.seconds > max(MANY_SECONDS, MANY_TIMES_SECONDS * usual)
        if self._told or not (is_long or self.iterations > MANY_ITERATIONS):
            return ""
        self._told = True
        spent = f"{self.seconds:.0f} s, {self.steps} steps and {self.iterations} Newton iterations so far"
        return f"takes long, {spent}: {self._cause(state, report)}"

    def on_frame(self, report: FrameReport) -> None:
        """The frame is done."""
        self._before.append(report.seconds)

    def _cause(self, state: State, report: StepReport) -> str:
        """Why steps are costly, as far as the last one shows."""
        assert self._model is not None
        if report.step < SHORT_STEP * self._model.frame_time:
            why = f" ({report.trouble})" if report.trouble else ""
            return (
                f"steps of {report.step:.2g} s{why}; a fast impact, a handle that pulls too hard, or a stiff material"
            )
        if report.contacts > DENSE * state.mesh.face_count:
            return f"the sheet is pressed together ({report.contacts} contacts), which is slow until it opens"
        strain = float(largest_strains(state.mesh, state.x, state.plastic_strain).max(initial=0.0))
        if strain > LARGE_STRAIN:
            return _strained(strain)
        return f"{state.mesh.face_count} faces; remeshing.size_min and remeshing.max_faces bound them"


def _cause_of_faces(state: State) -> str:
    """Why a mesh became so fine."""
    strain = float(largest_strains(state.mesh, state.x, state.plastic_strain).max(initial=0.0))
    if strain > LARGE_STRAIN:
        return _strained(strain)
    return "the sheet folds finely everywhere; remeshing.size_min and remeshing.max_faces bound the mesh"


def _strained(strain: float) -> str:
    return (
        f"the sheet is strained by up to {100 * strain:.3g} %; is its pattern right (crumple check), "
        "does a handle or an obstacle pull too far, or is the material too soft?"
    )
