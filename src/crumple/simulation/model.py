"""What stays constant during a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from crumple.boundary.attachments import Attachment
from crumple.boundary.creases import HARD, SPRING, Crease
from crumple.boundary.handles import Handle
from crumple.boundary.obstacles import Obstacle
from crumple.contract import Term
from crumple.energies.traced import EnergyFunction
from crumple.energies.traced_term import Parameters
from crumple.energies.wind import Wind
from crumple.errors import InputError
from crumple.materials.material import Material
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.plasticity.options import PlasticityOptions
from crumple.remeshing.options import MAX_FACES
from crumple.simulation.schemes import SCHEMES, TR_BDF2, VERLET
from crumple.simulation.terms import (
    Air,
    Attachments,
    Bending,
    CreaseSprings,
    Gravity,
    Handles,
    Membrane,
    Pressing,
    StrainLimits,
    VelocityDamping,
)
from crumple.sizing.options import SizingOptions
from crumple.state import State
from crumple.tearing.options import Tearing
from crumple.typing import Floats

STANDARD_GRAVITY = 9.81
"""[m/s²]"""

Criterion: TypeAlias = Callable[[State], Floats]
"""What a state asks of its mesh, see `RemeshingOptions`."""


@dataclass(frozen=True)
class ContactOptions:
    """Penetration-free contact.

    `activation` gap below which surfaces repel [m];  `stiffness` pressure scale of the barrier [Pa];
    `sheet_thickness` (sheet_count,) closest distance of mid-surfaces [m] (0: only the barrier keeps them apart);
    `friction` (part_count, part_count) Coulomb coefficients, parts are the sheets followed by the obstacles;
    `slip_speed` below which friction is regularised [m/s].
    """

    enabled: bool = True
    activation: float = 1e-3
    stiffness: float = 1e5
    sheet_thickness: tuple[float, ...] = ()
    friction: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    slip_speed: float = 1e-4

    def __post_init__(self) -> None:
        for name in ("activation", "stiffness", "slip_speed"):
            _require(f"contact.{name}", getattr(self, name))
        for thickness in self.sheet_thickness:
            _require("contact.sheet_thickness", thickness, least=True)
        if not (np.isfinite(self.friction).all() and (self.friction >= 0.0).all()):
            raise InputError("contact.friction", "must be numbers >= 0", self.friction.tolist())


@dataclass(frozen=True)
class RemeshingOptions:
    """Adaptive remeshing once per frame: how fine (`sizing`), and whether to project afterwards against jitter.

    `sheet_sizing`: one for each sheet where they differ, else empty.
    `max_faces`: refinement ends when all sheets together have this many faces.
    `criteria`: further criteria of one's own. Each is called with the state before a remeshing and returns for every
    face the longest edge (face_count,) [m], infinite where it does not care, or a tensor M (face_count, 3) [1/m²] as
    (xx, yy, xy) in the pattern: edges w should satisfy wᵀM w ≤ 1. The limits of `sizing` hold for them as well.
    """

    sizing: SizingOptions = field(default_factory=SizingOptions)
    projection: bool = True
    sheet_sizing: tuple[SizingOptions, ...] = ()
    max_faces: int = MAX_FACES
    criteria: tuple[Criterion, ...] = ()

    @property
    def all_sizing(self) -> tuple[SizingOptions, ...]:
        """That of each sheet, or the one for all."""
        return self.sheet_sizing or (self.sizing,)


@dataclass(frozen=True)
class SolverOptions:
    """Time stepping and Newton's method.

    `mode`: "dynamic" or "static" (each step seeks equilibrium);
    `integrator`: "tr-bdf2" (second order), "implicit-euler" (first order, dissipates motion), "semi-implicit" (the
    same with one linear solve [Baraff1998]) or "verlet" (explicit, so steps have to be short);
    `motion_tolerance`: error of the velocities at which Newton's method stops, over the change that forces make [-];
    `tolerance`, `speed_tolerance`: the same in dense contact and in static mode, as a share of the energy in play [-]
    and as the fastest correction anywhere [m/s];
    `path_error`: error of a step that the step control allows, over the way that the sheets go in it [-];
    `step_error`: and over the sheets' size, where motion is too sudden for that [-];
    `max_step`, `min_step`: bounds of the step control [s]; `fixed_step`: a constant step instead [s];
    `max_iterations` of Newton's method per step before the step is shortened;
    `linear_solver`: "auto", "pardiso", "superlu" or "cholmod";
    `bending`: the element, "midedge" or "hinge" (see `terms.Bending`);
    `angle_tolerance` within which the angles of hard and pressed creases are met after every step [degrees].
    """

    mode: str = "dynamic"
    integrator: str = TR_BDF2
    motion_tolerance: float = 1e-3
    tolerance: float = 5e-3
    speed_tolerance: float = 0.05
    path_error: float = 1e-3
    step_error: float = 5e-3
    max_step: float = 0.04
    min_step: float = 1e-6
    fixed_step: float | None = None
    max_iterations: int = 60
    linear_solver: str = "auto"
    bending: str = "midedge"
    angle_tolerance: float = 0.1

    def __post_init__(self) -> None:
        if self.mode not in ("dynamic", "static"):
            raise InputError("solver.mode", "must be 'dynamic' or 'static'", self.mode)
        if self.bending not in ("midedge", "hinge"):
            raise InputError("solver.bending", "must be 'midedge' or 'hinge'", self.bending)
        if self.integrator not in SCHEMES:
            raise InputError("solver.integrator", f"must be one of {', '.join(SCHEMES)}", self.integrator)
        tolerances = ("motion_tolerance", "tolerance", "speed_tolerance", "path_error", "step_error")
        for name in (*tolerances, "max_step", "min_step", "angle_tolerance"):
            value = getattr(self, name)
            _require(f"solver.{name}", value)
        if self.min_step > self.max_step:
            raise InputError("solver.min_step", f"must be ≤ max_step = {self.max_step}", self.min_step)
        if self.fixed_step is not None:
            _require("solver.fixed_step", self.fixed_step)
        if self.max_iterations < 1:
            raise InputError("solver.max_iterations", "must be at least 1", self.max_iterations)


def _require(place: str, value: float, *, least: bool = False) -> None:
    """Refuse what is not a finite number > 0, or ≥ 0 with `least`."""
    if not (np.isfinite(value) and (value > 0.0 or (least and value == 0.0))):
        raise InputError(place, "must be >= 0" if least else "must be > 0", value)


@dataclass(frozen=True)
class Model:
    """The constant part of a simulation; see `State` for what varies.

    `materials` are indexed by `SheetMesh.face_material`, `sheet_names` by `SheetMesh.face_sheet`.
    `velocity_damping`: rate at which all motion of the sheets dies away [1/s];  `tearing`: how sheets tear, None = they
    do not.
    """

    materials: tuple[Material, ...]
    sheet_names: tuple[str, ...] = ("sheet",)
    handles: tuple[Handle, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    creases: tuple[Crease, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    gravity: tuple[float, float, float] = (0.0, 0.0, -STANDARD_GRAVITY)
    wind: Wind = field(default_factory=Wind)
    contact: ContactOptions = field(default_factory=ContactOptions)
    solver: SolverOptions = field(default_factory=SolverOptions)
    plasticity: PlasticityOptions = field(default_factory=PlasticityOptions)
    remeshing: RemeshingOptions | None = None
    tearing: Tearing | None = None
    frame_time: float = 0.04
    duration: float = 1.0
    own_terms: tuple[Term, ...] = ()
    velocity_damping: float = 0.0

    def __post_init__(self) -> None:
        _require("velocity_damping", self.velocity_damping, least=True)

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """All that stores energy in the sheets or exchanges it with them, contact apart: one's own terms come last."""
        terms: list[Term] = [
            Gravity(self.materials, self.gravity),
            Membrane(self.materials, self.plasticity.rule != "none"),
            Bending(self.materials, self.plasticity, self.bending_element, self.handles, self.creases),
        ]
        if any(crease.drive == SPRING for crease in self.creases):
            terms.append(CreaseSprings(self.creases, self.materials))
        if any(np.isfinite(material.strain_limit) for material in self.materials):
            terms.append(StrainLimits(self.materials))
        if self.handles:
            terms.append(Handles(self.handles))
        if self.attachments:
            terms.append(Attachments(self.attachments))
        if any(crease.drive == HARD or crease.press is not None for crease in self.creases):
            terms.append(Pressing(self.creases, self.materials, float(np.radians(self.solver.angle_tolerance))))
        if not self.wind.is_vacuum:
            terms.append(Air(self.wind))
        if self.velocity_damping:
            terms.append(VelocityDamping(self.materials, self.velocity_damping))
        return (*terms, *self.own_terms)

    @property
    def bending_element(self) -> str:
        """The bending element: explicit steps have no unknown turns of edges, so they have hinges."""
        return "hinge" if self.solver.integrator == VERLET else self.solver.bending

    def with_term(self, term: Term) -> Model:
        """The model with a term of one's own, which is mounted again after every remeshing."""
        if term.name in {other.name for other in self.terms}:
            raise InputError("with_term: name of the term", "the model has a term of this name already", term.name)
        return replace(self, own_terms=(*self.own_terms, term))

    def with_energy(
        self,
        function: EnergyFunction,
        parameters: Callable[[SheetMesh], Parameters] | Parameters | None = None,
        *,
        damping: float = 0.0,
        is_projected: bool | None = None,
    ) -> Model:
        """The model with an energy of one's own, a function decorated with `crumple.energy`.

        `parameters`: a function of the mesh that returns name → values of every element, called again after each
        remeshing, or values that fit any mesh; the others as for `EnergyFunction.term`.
        """
        if not isinstance(function, EnergyFunction):
            raise InputError("with_energy: function", "must be decorated with @crumple.energy(...)", function)
        return self.with_term(function.term(parameters, damping=damping, is_projected=is_projected))

    @property
    def is_plastic(self) -> bool:
        """Whether any sheet can yield."""
        return any(term.yields for term in self.terms)

    @property
    def frame_count(self) -> int:
        """Frames after the initial one that `duration` asks for."""
        return max(0, int(np.ceil(self.duration / self.frame_time - 1e-9)))

    @property
    def part_names(self) -> tuple[str, ...]:
        """Sheets, then obstacles: everything that touches."""
        return self.sheet_names + tuple(obstacle.name for obstacle in self.obstacles)

    @property
    def obstacle_nodes(self) -> int:
        return sum(obstacle.node_count for obstacle in self.obstacles)

    def obstacle_positions(self, time: float) -> Floats:
        """Where the motions put all obstacle nodes at `time` [m], (obstacle_nodes, 3)."""
        parts = [obstacle.positions(time) for obstacle in self.obstacles]
        return np.ascontiguousarray(np.concatenate(parts)) if parts else np.zeros((0, 3))
