"""What follows from a model and the mesh of a state; made anew whenever the mesh changes, never changed itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TypeAlias

import numpy as np

from crumple.contact import Surface, SurfaceTrees, make_surface
from crumple.contract import Constraint, Energy, MountedTerm, Stage, Term
from crumple.energies.inertia import node_masses
from crumple.geometry.curvature import CurvatureStencil, curvature_stencil
from crumple.geometry.triangle import shape_gradients
from crumple.linalg import make_solver
from crumple.linalg.front_solver import FrontSolver
from crumple.model.critical import critical_step
from crumple.model.model import Model
from crumple.plasticity.embedding import Embedding
from crumple.runtime.errors import InputError
from crumple.runtime.remembered import Equal, Remembered
from crumple.runtime.timing import PhaseTimer
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.solving.compact.contact import CompactContact, Nearby
from crumple.solving.compact.system import CompactSystem
from crumple.solving.linear_system import LinearSystem
from crumple.solving.step_contact import StepContact
from crumple.solving.system import NO_TURNS, NewtonSystem
from crumple.solving.tuning import TUNING
from crumple.state import State
from crumple.state.transfer import Custom

SMALL = TUNING.compact_faces.value

Mounted: TypeAlias = tuple[tuple[Term, MountedTerm], ...]
"""Terms, each with its form on a mesh."""


_NODES: Remembered[Ints] = Remembered(2)
_SIZES: Remembered[float] = Remembered(2)
_MASSES: Remembered[Floats] = Remembered(2)
_SURFACES: Remembered[Surface] = Remembered(4)
"""What follows from the model and the mesh alone stays from frame to frame, while these do."""


class MeshParts:
    """What steps on one mesh share, whatever the handles and the damping; each part is made when it is first asked for.

    `size`, `mass`, `nodes` and `node_part` as in `Derived`.
    """

    def __init__(self, model: Model, state: State, timer: PhaseTimer) -> None:
        self._model, self._state, self._timer = model, state, timer
        self._surfaces: dict[tuple[bool, ...], Surface] = {}
        self._trees: dict[tuple[bool, ...], SurfaceTrees] = {}
        self._nearby: dict[tuple[bool, ...], Nearby] = {}

    @cached_property
    def mass(self) -> Floats:
        mesh, materials = self._state.mesh, self._model.materials
        return _MASSES.find((mesh, *materials), lambda: node_masses(mesh, materials))

    @cached_property
    def size(self) -> float:
        mesh = self._state.mesh
        return _SIZES.find((mesh,), lambda: float(np.linalg.norm(np.ptp(mesh.node_rest, axis=0))))

    @cached_property
    def nodes(self) -> Ints:
        mesh = self._state.mesh
        return _NODES.find((mesh,), lambda: np.arange(mesh.node_count, dtype=np.int32).reshape(-1, 1))

    @cached_property
    def node_part(self) -> Ints:
        return node_parts(self._model, self._state)

    @cached_property
    def embedding(self) -> Embedding:
        solver = FrontSolver() if self.is_small else make_solver(self._model.solver.linear_solver)
        return Embedding(self._state.mesh, solver=solver)

    @property
    def is_small(self) -> bool:
        return self._state.mesh.face_count < SMALL and self._model.solver.linear_solver == "auto"

    @cached_property
    def explicit_system(self) -> LinearSystem:
        if self.is_small:
            return CompactSystem(len(self.nodes), [self.nodes], self._timer)
        solver = make_solver(self._model.solver.linear_solver)
        return NewtonSystem(len(self.nodes), [self.nodes], solver, self._timer)

    def surface(self, time: float) -> Surface:
        """What can touch at `time` [s], kept while the same obstacles are present."""
        present = self._present(time)
        if present not in self._surfaces:
            self._surfaces[present] = known_surface(self._model, self._state, time)
        return self._surfaces[present]

    def trees(self, time: float) -> SurfaceTrees:
        """The trees of the obstacles that are present at `time` [s]."""
        return self._trees.setdefault(self._present(time), SurfaceTrees())

    def nearby(self, time: float) -> Nearby:
        """What may touch at `time` [s] on a small sheet, kept from solve to solve."""
        present = self._present(time)
        if present not in self._nearby:
            self._nearby[present] = Nearby(self.surface(time), self.trees(time))
        return self._nearby[present]

    def _present(self, time: float) -> tuple[bool, ...]:
        """Which obstacles are there at `time` [s]."""
        return _present(self._model, time)


@dataclass(frozen=True)
class Derived:
    """The terms of `model` on the mesh of `state`, and what the steps on this mesh share.

    Of the state only the mesh counts, and what does not change while the mesh does not. Costly parts are made when
    they are first asked for, unless they are given: `mounted` terms, the `linear` system, and the other `parts`.
    """

    model: Model
    state: State
    timer: PhaseTimer = field(default_factory=PhaseTimer)
    mounted: Mounted | None = None
    linear: LinearSystem | None = None
    parts: MeshParts | None = None

    def prepared(self) -> Derived:
        """The same, with what every step needs made already."""
        return self._with_terms(self.model, self.terms)

    def with_handles(self, model: Model) -> Derived:
        """The same for a `model` that differs in its handles only; all else is shared."""
        kept = {kind.name: term for kind, term in self.terms}
        terms = ((kind, kept[kind.name].with_handles(kind) if kind.name in kept else kind.mount(self.state))
                 for kind in model.terms)  # fmt: skip
        return self._with_terms(model, tuple(terms))

    def undamped(self, faces: Bools) -> Derived:
        """The same without damping in the marked `faces` (face_count,); all else is shared."""
        return self._with_terms(self.model, tuple((kind, term.undamped(faces)) for kind, term in self.terms))

    def _with_terms(self, model: Model, terms: Mounted) -> Derived:
        """The same with other terms; all else is shared."""
        return Derived(model, self.state, self.timer, terms, self.system, self._parts)

    @cached_property
    def terms(self) -> Mounted:
        """Every term of the model with its form on this mesh."""
        if self.mounted is not None:
            return self.mounted
        return tuple((term, term.mount(self.state)) for term in self.model.terms)

    @cached_property
    def _parts(self) -> MeshParts:
        return MeshParts(self.model, self.state, self.timer) if self.parts is None else self.parts

    @property
    def mass(self) -> Floats:
        """Mass of each node [kg], (node_count,)."""
        return self._parts.mass

    @property
    def size(self) -> float:
        """Diagonal of the box around the sheets at rest [m]."""
        return self._parts.size

    @property
    def nodes(self) -> Ints:
        """The stencil of all nodes, (node_count, 1)."""
        return self._parts.nodes

    @cached_property
    def gradients(self) -> Floats:
        """Gradients of the linear shape functions of each face in the pattern [1/m], (face_count, 3, 2)."""
        return shape_gradients(self.state.mesh.u[self.state.mesh.faces])

    @cached_property
    def curvature_stencil(self) -> CurvatureStencil:
        """The maps between the angles of hinges and the bending strains of faces."""
        return curvature_stencil(self.state.mesh)

    @property
    def node_part(self) -> Ints:
        """The part of every node: sheets first, then obstacles, (node_count + obstacle_nodes,)."""
        return self._parts.node_part

    @property
    def embedding(self) -> Embedding:
        """What moves the plastic embedding of this mesh."""
        return self._parts.embedding

    @property
    def is_small(self) -> bool:
        """Whether the parts of `solving.compact` serve the mesh: it has few faces, and no other solver is asked for."""
        return self._parts.is_small

    @cached_property
    def system(self) -> LinearSystem:
        """The linear system of all nodes. Springs that hold something come and go; the other stencils stay."""
        if self.linear is not None:
            return self.linear
        lasting = [term for kind, term in self.terms if kind.is_in_play or kind.keeps_stencils]
        kept = [e for term in lasting for e in term.stored(self.state, self.state.time)]
        stencils = [self.nodes, *(energy.stencil for energy in kept)]
        edges, turns = self.state.mesh.edges, self.turn_count
        anchor = edges if turns == len(edges) else edges[:turns] if turns else NO_TURNS  # an array that stays the same
        couplings = [(energy.stencil, energy.turns) for energy in kept if energy.turns.shape[1]]
        if self.is_small:
            return CompactSystem(len(self.nodes), stencils, self.timer, anchor=anchor, couplings=couplings)
        solver = make_solver(self.model.solver.linear_solver)
        return NewtonSystem(len(self.nodes), stencils, solver, self.timer, anchor=anchor, couplings=couplings)

    @property
    def explicit_system(self) -> LinearSystem:
        """The linear system of a step with explicit elasticity: masses, springs that hold something, contact."""
        return self._parts.explicit_system

    @cached_property
    def critical_step(self) -> float:
        """The step [s] at which explicit elasticity becomes unstable, for the pose of `state`."""
        return self.critical_step_with(self.damping)

    @property
    def damping(self) -> float:
        """The longest damping time of the materials [s]."""
        return max(material.damping for material in self.model.materials)

    def critical_step_with(self, damping: float) -> float:
        """The critical step [s] if the damping time were `damping` [s]."""
        state = self.state
        kept = [e for kind, term in self.terms if kind.is_in_play for e in term.stored(state, state.time)]
        return critical_step([e for e in kept if isinstance(e, Energy)], state.x, self.mass, damping)

    @property
    def turn_count(self) -> int:
        """How many edges have unknown turns: all, or none where hinges bend."""
        return max((term.turn_count for _, term in self.terms), default=0)

    def surface(self, time: float) -> Surface | None:
        """What can touch at `time` [s]: the sheets and the obstacles present then; None without contact."""
        return self._parts.surface(time) if self.model.contact.enabled else None

    def contact(
        self, time: float, x: Floats, guess: Floats | None = None, timer: PhaseTimer | None = None
    ) -> StepContact | None:
        """Contact without friction in a solve from x (nodes of sheets and obstacles, 3) on, at `time` [s]; None
        without contact. `guess` (node_count, 3): where the sheets may go;  `timer`: another one than that of steps."""
        surface, stiffness, timer = self.surface(time), self.model.contact.stiffness, timer or self.timer
        if surface is None:
            return None
        if not self.is_small:
            return StepContact(surface, stiffness, x, timer, self._parts.trees(time))
        nearby = self._parts.nearby(time)
        if guess is not None:
            nearby.look_ahead(x, guess)
        return CompactContact(nearby, stiffness, x, timer)

    def stored(self, state: State) -> list[Energy]:
        """The energies of all terms at the time of `state`, without what depends on motion."""
        return [energy for _, term in self.terms for energy in term.stored(state, state.time)]

    def projected(self, state: State) -> list[Energy]:
        """Those of them whose forces the projection after a remeshing keeps."""
        terms = (term for kind, term in self.terms if kind.is_projected)
        return [energy for term in terms for energy in term.stored(state, state.time)]

    def over(self, stage: Stage, *, explicit: bool = False) -> list[Energy]:
        """The energies of all terms over a stage of a step; without the sheets' own with `explicit`."""
        energies: list[Energy] = []
        for kind, term in self.terms:
            if explicit and kind.is_in_play:
                continue
            own = term.over(stage)
            held = sum(isinstance(energy, Constraint) for energy in own)
            if held != term.constraint_count:
                problem = f"must be {held}, the number of constraints that `over` returns"
                raise InputError(f"term '{kind.name}': constraint_count", problem, term.constraint_count)
            energies += own
        return energies

    def acceleration(self) -> Floats:
        """What acts on all nodes alike, (3,) [m/s²]."""
        return self._acceleration

    @cached_property
    def _acceleration(self) -> Floats:
        parts = [term.acceleration() for _, term in self.terms]
        return np.sum([part for part in parts if part is not None], axis=0) if parts else np.zeros(3)

    def measure(self, name: str, state: State) -> float:
        """The energy that the term of this name stores in the sheets [J]."""
        return sum(term.measure(state) for kind, term in self.terms if kind.name == name)

    def relaxed(self, state: State) -> State:
        """The state with all that follows its positions at once."""
        for _, term in self.terms:
            state = term.relax(state)
        return state

    def keep(self, state: State, step: float, multipliers: Sequence[Floats]) -> tuple[State, list[str]]:
        """The state at the end of a step of `step` [s] with what all constraints bear, and what has happened in words.

        `multipliers`: (n, 3) of every constraint, in the order of `over`.
        """
        events: list[str] = []
        left = iter(multipliers)
        for _, term in self.terms:
            state, reported = term.keep(state, step, tuple(islice(left, term.constraint_count)))
            events += reported
        return state, events

    def residuals(self, state: State) -> tuple[Floats, Bools]:
        """By how much what constraints demand is missed (n,), and where they bear load that they can bear (n,)."""
        found = [term.residuals(state) for _, term in self.terms]
        return np.concatenate([off for off, _ in found]), np.concatenate([bears for _, bears in found])

    def protected(self, state: State) -> Ints:
        """Nodes (n,) that no edit of the mesh may remove, for the sake of a term."""
        return np.concatenate([term.protected(state) for _, term in self.terms])

    def field_rules(self, *, is_cut: bool) -> dict[str, Custom]:
        """How terms let fields follow a change of the mesh, see `MountedTerm.field_rules`."""
        return {name: rule for _, term in self.terms for name, rule in term.field_rules(is_cut=is_cut).items()}

    def curvature(self, state: State) -> Floats:
        """The curvature of each face by the terms that bend the sheets, the first of them, (face_count, 3) [1/m]."""
        shown = (term.curvature(state) for _, term in self.terms)
        return next(curvature for curvature in shown if curvature is not None)


def node_parts(model: Model, state: State) -> Ints:
    """The part of every node: sheets first, then obstacles, (node_count + obstacle_nodes,)."""
    sheets = len(model.sheet_names)
    counts = [obstacle.node_count for obstacle in model.obstacles]
    obstacles = np.repeat(np.arange(len(counts)) + sheets, counts)
    return np.concatenate([state.mesh.node_sheet, obstacles]).astype(np.int32)


def _present(model: Model, time: float) -> tuple[bool, ...]:
    """Which obstacles are there at `time` [s]."""
    return tuple(obstacle.active(time) for obstacle in model.obstacles)


def known_surface(model: Model, state: State, time: float) -> Surface:
    """The same as `contact_surface`, kept while the mesh, what is said of contact and the obstacles are the same."""
    parts = state.mesh, model.contact, Equal(len(model.sheet_names)), Equal(_present(model, time)), *model.obstacles
    return _SURFACES.find(parts, lambda: contact_surface(model, state, time))


def contact_surface(model: Model, state: State, time: float) -> Surface:
    """What can touch at `time` [s]: the sheets and the obstacles present then, nodes as in `node_parts`."""
    mesh = state.mesh
    offset = mesh.node_count
    faces = []
    for obstacle in model.obstacles:
        if obstacle.active(time):
            faces.append(obstacle.faces + np.int32(offset))
        offset += obstacle.node_count
    contact = model.contact
    thickness = [*contact.sheet_thickness, *(obstacle.thickness for obstacle in model.obstacles)]
    return make_surface(
        mesh.face_nodes,
        np.concatenate([mesh.node_rest, model.obstacle_positions(0.0)]),
        dynamic_count=mesh.node_count,
        obstacle_faces=np.concatenate(faces) if faces else None,
        node_part=node_parts(model, state),
        part_thickness=np.array(thickness) if thickness else 0.0,
        friction=contact.friction if contact.friction.size else 0.0,
        face_area=mesh.face_area,
        dhat=contact.activation,
    )
