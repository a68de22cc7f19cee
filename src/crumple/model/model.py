"""What stays constant during a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from crumple.boundary.attachments import Attachment
from crumple.boundary.creases import HARD, SPRING, Crease
from crumple.boundary.handles import Handle
from crumple.boundary.obstacles import Obstacle
from crumple.contract import Term
from crumple.energies.traced.declaration import EnergyFunction
from crumple.energies.traced.term import Parameters
from crumple.energies.wind import Wind
from crumple.materials.material import Material
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.options.contact import ContactOptions
from crumple.options.plasticity import PlasticityOptions
from crumple.options.quantities import Quantity
from crumple.options.remeshing import RemeshingOptions
from crumple.options.solver import VERLET, SolverOptions
from crumple.options.tearing import Tearing
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.terms import (
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

STANDARD_GRAVITY = 9.81
"""[m/s²]"""


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
        Quantity("1/s", least=0).require("velocity_damping", self.velocity_damping)

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
