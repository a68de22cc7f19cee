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
from crumple.developable.clearance import Clearance
from crumple.developable.creases import Crease, fold, with_creases
from crumple.developable.cuts import with_slits
from crumple.developable.enrich import enrich
from crumple.developable.gripping import grip
from crumple.developable.hands import Hand, idle_handle, make_handle, select_held
from crumple.developable.memory import HALF, hinge_term, with_hinges
from crumple.developable.outline import Outline
from crumple.developable.paper import Paper
from crumple.developable.settling import remember_folds
from crumple.developable.sounding import sounding
from crumple.developable.structure import flat_structure
from crumple.developable.tuning import TUNING
from crumple.developable.view import SmoothView
from crumple.developable.viewer import Viewer
from crumple.materials.material import Material
from crumple.materials.presets import preset
from crumple.model.model import STANDARD_GRAVITY, Model
from crumple.options.contact import ContactOptions
from crumple.options.developable import DevelopableOptions
from crumple.options.solver import EULER, SolverOptions
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints
from crumple.simulation.engine import Engine, Moment, PhysicsEngine
from crumple.simulation.observers import Observer
from crumple.simulation.surface_view import SurfaceView
from crumple.state import State, initial_state
from crumple.state.ragged import Pins
from crumple.stepping.reports import FrameReport, StepReport

UNEVEN = TUNING.unevenness.value
FRAME_TIME = 1.0 / 60.0
"""Of a live session [s]."""
DAMPING = TUNING.damping.value
STRUCTURE = "a developable sheet has its folds and its outline in a structure that tools do not change; use Simulation"
REFUSED = {"flatten": STRUCTURE, "press": STRUCTURE, "cut": STRUCTURE}
"""Tools that the engine has no use for, and why."""


class DevelopableEngine(Engine):
    """A sheet that is a piecewise developable surface at the end of every frame."""

    def __init__(self, paper: Paper) -> None:
        self._paper = paper
        self._physics = PhysicsEngine(paper.model, paper.state)
        self._viewer = Viewer()

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
        self._viewer.forget()
        self._physics.restore(Moment(moment.model, moment.state, moment.inner[1]))

    def change(self, model: Model, state: State) -> None:
        if state.mesh is not self._paper.layout.mesh:
            raise InputError("state", "its mesh must be that of the engine: the structure goes with it")
        self._physics.change(model, state)

    def grip(self, face: int, u: Floats, radius: float) -> Ints:
        moved = self._now()
        paper, nodes = grip(moved, u, radius)
        if paper is not moved:
            if self._viewer.is_watched:
                self._viewer.follow(moved, paper)
            self._paper = paper
            self._physics.change(self.model, paper.state)
        return nodes

    def view(self) -> SurfaceView:
        return self.shown().surface()

    def shown(self) -> SmoothView:
        """The sheet as it is shown now: what was shown before is not left at once when its structure changes."""
        return self._viewer.show(self._now())

    def shown_state(self) -> State:
        return self.shown().state(self.state)

    def _now(self) -> Paper:
        """The sheet with model and state as they are now, within a frame, too."""
        return replace(self._paper, model=self.model, state=self.state)

    def refusal(self, action: str) -> str:
        return REFUSED.get(action, "")

    def advance(self, until: float, observer: Observer) -> StepReport:
        return self._physics.advance(until, observer)

    def close_frame(self, observer: Observer) -> FrameReport:
        report = self._physics.close_frame(Observer())
        begin = clock.perf_counter()
        before = self._paper.layout.mesh
        moved = self._now()
        self._paper = finish_frame(replace(moved, begun=self._paper.state))
        if self._viewer.is_watched and self._paper.layout is not moved.layout:
            self._viewer.follow(moved, self._paper)
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
        for event in sounding(moved, self._paper):
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
    damping: float = DAMPING,
    outline: Floats | None = None,
    creases: Sequence[Crease] = (),
    slits: Sequence[Floats] = (),
) -> DevelopableEngine:
    """An engine with one flat sheet in the plane z = 0, its pattern the same as its place; with creases it is folded.

    `width`, `height` [m] of a rectangle with a corner at the origin, or the corners (n, 2) of an `outline`;
    `idle_hands`: how many hands there are besides, which hold nothing until a session lets them grasp;
    `damping`: rate at which motion dies away [1/s];  `duration` [s] of a run;
    `creases`: fold lines that cross the sheet;  `slits`: polylines (n, 2) of the pattern [m] from the border inwards.
    """
    options = DevelopableOptions() if options is None else options
    stuff = preset(material) if isinstance(material, str) else material
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], float) if outline is None else outline
    model = _model(stuff, _handles(hands, idle_hands), tuple(obstacles), gravity, friction, duration, damping)
    return lay_out(model, stuff, Outline(corners), options, hands, creases, slits)


def lay_out(
    model: Model,
    stuff: Material,
    outline: Outline,
    options: DevelopableOptions,
    hands: Sequence[Hand] = (),
    creases: Sequence[Crease] = (),
    slits: Sequence[Floats] = (),
    *,
    turn: Floats | None = None,
    origin: Floats | None = None,
) -> DevelopableEngine:
    """The engine of a model with a flat sheet of the material `stuff`, which remembers its folds.

    `turn` (3, 3), `origin` (3,) [m]: the pattern lies at turn (u, 0) + origin, in the plane z = 0 by default.
    """
    model = model.with_term(hinge_term(stuff))
    slit = with_slits(outline, slits, options.spacing)
    layout = enrich(with_creases(flat_structure(slit, options.spacing), creases), options.ghost_spacing)
    mesh = layout.mesh
    x = fold(layout, np.concatenate([mesh.u, _unevenness(mesh.u, options.seed)[:, None]], axis=1))
    if turn is not None:
        x = x @ turn.T
    if origin is not None:
        x = x + origin
    chosen = [select_held(hand, mesh) for hand in hands]
    node = np.concatenate([np.zeros(0, np.int32), *chosen])
    handle = np.concatenate([np.zeros(0, np.int32), *(np.full(len(n), k, np.int32) for k, n in enumerate(chosen))])
    state = initial_state(
        mesh, x, obstacle_x=model.obstacle_positions(0.0), obstacle_count=len(model.obstacles),
        pins=Pins(node, handle, x[node]), step_size=model.frame_time,
    )  # fmt: skip
    if not Clearance(model, state).is_clear(state.x):
        raise InputError("creases, obstacles", "the sheet must not intersect itself nor obstacles at the start")
    return DevelopableEngine(remember_folds(Paper(model, options, layout, with_hinges(state, layout, {}))))


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
    parts = 1 + len(obstacles)
    return Model(
        materials=(softened(stuff),),
        handles=handles,
        obstacles=obstacles,
        gravity=(float(gravity[0]), float(gravity[1]), float(gravity[2])),
        contact=ContactOptions(sheet_thickness=(0.0,), friction=np.full((parts, parts), friction)),
        solver=solver_options(FRAME_TIME),
        frame_time=FRAME_TIME,
        duration=duration,
        velocity_damping=damping,
    )


def softened(stuff: Material) -> Material:
    """The material of a sheet whose lengths are restored at the end of every frame, whose hinges have stiffness of
    their own besides, and which does not yield."""
    return replace(
        stuff,
        membrane=TUNING.softened.value * stuff.membrane,
        bending=HALF * stuff.bending,
        yield_curvature=np.inf,
        yield_strain=np.inf,
    )


def solver_options(frame_time: float) -> SolverOptions:
    """Options of the steps: one a frame, with hinges, which rulings are, and solved as well as the projection that
    follows is worth. With step control, sheets dragged over a floor took up to 63 steps in a frame."""
    return SolverOptions(
        integrator=EULER,
        bending="hinge",
        max_step=frame_time,
        fixed_step=frame_time,
        patience=TUNING.solve_patience.value,
        tolerance=TUNING.solve_energy.value,
        speed_tolerance=TUNING.solve_speed.value,
    )


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
