"""The engine of developable sheets: steps of physics on a coarse mesh, geometry at the end of every frame.

It is used like the physics engine, under the same `Session`: hands grasp, move and let go in the same way, and its
states are ordinary ones that are recorded, drawn and exported.
"""

from __future__ import annotations

import time as clock
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from crumple.boundary.handles import Handle
from crumple.boundary.obstacles import Obstacle
from crumple.developable.advance import finish_frame
from crumple.developable.enrich import enrich
from crumple.developable.hands import Hand, idle_handle, make_handle, select_held
from crumple.developable.memory import memory_term
from crumple.developable.outline import Outline
from crumple.developable.paper import Paper
from crumple.developable.settling import remember_folds
from crumple.developable.structure import flat_structure
from crumple.developable.tuning import TUNING
from crumple.materials.material import Material
from crumple.materials.presets import preset
from crumple.model.model import STANDARD_GRAVITY, Model
from crumple.options.contact import ContactOptions
from crumple.options.developable import DevelopableOptions
from crumple.options.solver import EULER, SolverOptions
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.simulation.engine import Engine, Moment, PhysicsEngine
from crumple.simulation.observers import Observer
from crumple.state import State, initial_state
from crumple.state.ragged import Pins
from crumple.stepping.reports import FrameReport, StepReport

UNEVEN = TUNING.unevenness.value
FRAME_TIME = 1.0 / 60.0
"""Of a live session [s]."""


class DevelopableEngine(Engine):
    """A sheet that is a piecewise developable surface at the end of every frame."""

    def __init__(self, paper: Paper) -> None:
        self._paper = paper
        self._physics = PhysicsEngine(paper.model, paper.state)

    @property
    def paper(self) -> Paper:
        """The sheet with its structure, at the end of the last frame."""
        return self._paper

    @property
    def model(self) -> Model:
        return self._physics.model

    @property
    def state(self) -> State:
        return self._physics.state

    @property
    def moment(self) -> Moment:
        inner = self._physics.moment
        return Moment(inner.model, inner.state, (self._paper, inner.inner))

    def restore(self, moment: Moment) -> None:
        if not isinstance(moment.inner, tuple) or not isinstance(moment.inner[0], Paper):
            raise InputError("restore: moment", "must be a moment of this engine", type(moment.inner).__name__)
        self._paper = moment.inner[0]
        self._physics.restore(Moment(moment.model, moment.state, moment.inner[1]))

    def change(self, model: Model, state: State) -> None:
        if state.mesh is not self._paper.layout.mesh:
            raise InputError("state", "its mesh must be that of the engine: the structure goes with it")
        self._physics.change(model, state)

    def advance(self, until: float, observer: Observer) -> StepReport:
        return self._physics.advance(until, observer)

    def close_frame(self, observer: Observer) -> FrameReport:
        report = self._physics.close_frame(Observer())
        begin = clock.perf_counter()
        before = self._paper.layout.mesh
        self._paper = finish_frame(replace(self._paper, model=self.model, state=self.state, begun=self._paper.state))
        self._physics.change(self.model, self._paper.state)
        seconds = clock.perf_counter() - begin
        report = replace(
            report,
            faces=self.state.mesh.face_count,
            seconds=report.seconds + seconds,
            phases={**report.phases, "geometry": seconds},
        )
        if self.state.mesh is not before:
            observer.on_mesh(self.model, self.state)
        for event in self._paper.events:
            observer.on_event(self.model, self.state, event)
        observer.on_frame(self.model, self.state, report)
        return report


def developable_sheet(
    width: float = 0.1,
    height: float = 0.1,
    *,
    material: Material | str = "paper80",
    hands: Sequence[Hand] = (),
    idle_hands: int = 0,
    obstacles: Sequence[Obstacle] = (),
    options: DevelopableOptions | None = None,
    gravity: Sequence[float] = (0.0, 0.0, -STANDARD_GRAVITY),
    friction: float = 0.3,
    duration: float = 10.0,
    damping: float = 2.0,
    outline: Floats | None = None,
) -> DevelopableEngine:
    """An engine with one flat sheet in the plane z = 0, its pattern the same as its place.

    `width`, `height` [m] of a rectangle with a corner at the origin, or the corners (n, 2) of an `outline`;
    `idle_hands`: how many hands there are besides, which hold nothing until a session lets them grasp;
    `damping`: rate at which motion dies away [1/s];  `duration` [s] of a run.
    """
    options = DevelopableOptions() if options is None else options
    stuff = preset(material) if isinstance(material, str) else material
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], float) if outline is None else outline
    model = _model(stuff, _handles(hands, idle_hands), tuple(obstacles), gravity, friction, duration, damping)
    layout = enrich(flat_structure(Outline(corners), options.spacing), options.ghost_spacing)
    mesh = layout.mesh
    x = np.concatenate([mesh.u, _unevenness(mesh.u, options.seed)[:, None]], axis=1)
    chosen = [select_held(hand, mesh) for hand in hands]
    node = np.concatenate([np.zeros(0, np.int32), *chosen])
    handle = np.concatenate([np.zeros(0, np.int32), *(np.full(len(n), k, np.int32) for k, n in enumerate(chosen))])
    state = initial_state(
        mesh, x, obstacle_x=model.obstacle_positions(0.0), obstacle_count=len(obstacles),
        pins=Pins(node, handle, x[node]), step_size=FRAME_TIME,
    )  # fmt: skip
    return DevelopableEngine(remember_folds(Paper(model, options, layout, state)))


def _model(
    stuff: Material,
    handles: tuple[Handle, ...],
    obstacles: tuple[Obstacle, ...],
    gravity: Sequence[float],
    friction: float,
    duration: float,
    damping: float,
) -> Model:
    """The model that is simulated between two geometries."""
    soft = replace(stuff, membrane=TUNING.softened.value * stuff.membrane, yield_curvature=np.inf, yield_strain=np.inf)
    parts = 1 + len(obstacles)
    model = Model(
        materials=(soft,),
        handles=handles,
        obstacles=obstacles,
        gravity=(float(gravity[0]), float(gravity[1]), float(gravity[2])),
        contact=ContactOptions(sheet_thickness=(0.0,), friction=np.full((parts, parts), friction)),
        solver=SolverOptions(integrator=EULER, bending="hinge", max_step=FRAME_TIME),
        frame_time=FRAME_TIME,
        duration=duration,
        velocity_damping=damping,
    )
    return model.with_term(memory_term(stuff))


def _handles(hands: Sequence[Hand], idle: int) -> tuple[Handle, ...]:
    """The hands as handles "hand 0", "hand 1", …; the idle ones come last."""
    moved = [make_handle(f"hand {number}", hand) for number, hand in enumerate(hands)]
    return (*moved, *(idle_handle(f"hand {len(moved) + number}") for number in range(idle)))


def _unevenness(u: Floats, seed: int) -> Floats:
    """Heights [m] of a sheet that is never quite flat: it knows where to bow, up or down by the seed."""
    low, size = u.min(axis=0), np.ptp(u, axis=0)
    s = (u - low) / size
    sign = 1.0 if seed % 2 == 0 else -1.0
    return np.asarray(sign * UNEVEN * float(size.max()) * np.sin(np.pi * s[:, 0]) * np.sin(np.pi * s[:, 1]))
