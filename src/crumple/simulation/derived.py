"""What follows from a model and the mesh of a state; made anew whenever the mesh changes, never changed itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from crumple.contact import ObstacleTrees, Surface, make_surface
from crumple.contract import EdgeEnergy, Energy, MountedTerm, Stage, Term
from crumple.energies.inertia import node_masses
from crumple.linalg import make_solver
from crumple.simulation.critical import critical_step
from crumple.simulation.embedding import Embedding
from crumple.simulation.model import Model
from crumple.simulation.terms import Bending, Handles, MountedHinges, MountedMidedge, MountedPressing, Pressing
from crumple.solving.mixed_system import MixedSystem
from crumple.solving.system import NewtonSystem
from crumple.state import State
from crumple.timing import PhaseTimer
from crumple.typing import Bools, Floats, Ints


@dataclass(frozen=True)
class Derived:
    """The terms of `model` on the mesh of `state`, and what the steps on this mesh share.

    Of the state only the mesh counts, and what does not change while the mesh does not. Costly parts are made when
    they are first asked for.
    """

    model: Model
    state: State
    timer: PhaseTimer = field(default_factory=PhaseTimer)

    @cached_property
    def terms(self) -> tuple[tuple[Term, MountedTerm], ...]:
        """Every term of the model with its form on this mesh."""
        return tuple((term, term.mount(self.state)) for term in self.model.terms)

    def prepared(self) -> Derived:
        """The same, with what every step needs made already."""
        assert self.terms
        assert self.system
        return self

    def with_handles(self, model: Model) -> Derived:
        """The same for a `model` that differs in its handles only; all else is shared."""
        other = Derived(model, self.state, self.timer)
        shared = {name: value for name, value in vars(self).items() if name not in vars(other) and name != "bending"}
        vars(other).update(shared)
        kept = {term.name: mounted for term, mounted in self.terms if term.name != Handles.name}
        kept[Bending.name] = self.bending.of(next(term for term in model.terms if isinstance(term, Bending)))
        vars(other)["terms"] = tuple(
            (term, kept[term.name] if term.name in kept else term.mount(self.state)) for term in model.terms
        )
        return other

    def undamped(self, faces: Bools) -> Derived:
        """The same without damping in the marked `faces` (face_count,); all else is shared."""
        other = Derived(self.model, self.state, self.timer)
        vars(other).update({name: value for name, value in vars(self).items() if name != "bending"})
        vars(other)["terms"] = tuple((kind, term.undamped(faces)) for kind, term in self.terms)
        return other

    @cached_property
    def mass(self) -> Floats:
        """Mass of each node [kg], (node_count,)."""
        return node_masses(self.state.mesh, self.model.materials)

    @cached_property
    def size(self) -> float:
        """Diagonal of the box around the sheets at rest [m]."""
        return float(np.linalg.norm(np.ptp(self.state.mesh.node_rest, axis=0)))

    @cached_property
    def nodes(self) -> Ints:
        """The stencil of all nodes, (node_count, 1)."""
        return np.arange(self.state.mesh.node_count, dtype=np.int32).reshape(-1, 1)

    @cached_property
    def node_part(self) -> Ints:
        """The part of every node: sheets first, then obstacles, (node_count + obstacle_nodes,)."""
        return node_parts(self.model, self.state)

    @cached_property
    def embedding(self) -> Embedding:
        """What moves the plastic embedding of this mesh."""
        return Embedding(self.state.mesh, solver=make_solver(self.model.solver.linear_solver))

    @cached_property
    def system(self) -> NewtonSystem:
        """The linear system of all nodes. Springs that hold something come and go; the other stencils stay."""
        lasting = [term for kind, term in self.terms if kind.is_in_play or isinstance(kind, Pressing)]
        kept = [e for term in lasting for e in term.stored(self.state, self.state.time)]
        stencils = [self.nodes, *(energy.stencil for energy in kept)]
        couplings = [(energy.stencil, energy.edges) for energy in kept if isinstance(energy, EdgeEnergy)]
        solver, count = make_solver(self.model.solver.linear_solver), len(self.nodes)
        if not couplings:
            return NewtonSystem(count, stencils, solver, self.timer)
        return MixedSystem(count, self.state.mesh.edges, stencils, couplings, solver, self.timer)

    @cached_property
    def explicit_system(self) -> NewtonSystem:
        """The linear system of a step with explicit elasticity: masses, springs that hold something, contact."""
        return NewtonSystem(len(self.nodes), [self.nodes], make_solver(self.model.solver.linear_solver), self.timer)

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

    @cached_property
    def bending(self) -> MountedHinges | MountedMidedge:
        """The bending of this mesh."""
        found = next(term for kind, term in self.terms if isinstance(kind, Bending))
        assert isinstance(found, (MountedHinges, MountedMidedge))
        return found

    @cached_property
    def pressing(self) -> MountedPressing | None:
        """The held creases of this mesh, if there are any."""
        found = next((term for kind, term in self.terms if isinstance(kind, Pressing)), None)
        assert found is None or isinstance(found, MountedPressing)
        return found

    @property
    def turn_count(self) -> int:
        """How many edges have unknown turns: all, or none where hinges bend."""
        return self.bending.turn_count

    @cached_property
    def _surfaces(self) -> dict[tuple[bool, ...], Surface]:
        return {}

    def surface(self, time: float) -> Surface | None:
        """What can touch at `time` [s]: the sheets and the obstacles present then; None without contact."""
        if not self.model.contact.enabled:
            return None
        present = self._present(time)
        if present not in self._surfaces:
            self._surfaces[present] = contact_surface(self.model, self.state, time)
        return self._surfaces[present]

    @cached_property
    def _trees(self) -> dict[tuple[bool, ...], ObstacleTrees]:
        return {}

    def trees(self, time: float) -> ObstacleTrees:
        """The trees of the obstacles that are present at `time` [s], kept while they rest."""
        return self._trees.setdefault(self._present(time), ObstacleTrees())

    def _present(self, time: float) -> tuple[bool, ...]:
        """Which obstacles are there at `time` [s]."""
        return tuple(obstacle.active(time) for obstacle in self.model.obstacles)

    def stored(self, state: State) -> list[Energy | EdgeEnergy]:
        """The energies of all terms at the time of `state`, without what depends on motion."""
        return [energy for _, term in self.terms for energy in term.stored(state, state.time)]

    def projected(self, state: State) -> list[Energy | EdgeEnergy]:
        """Those of them whose forces the projection after a remeshing keeps."""
        terms = (term for kind, term in self.terms if kind.is_projected)
        return [energy for term in terms for energy in term.stored(state, state.time)]

    def over(self, stage: Stage, *, explicit: bool = False) -> list[Energy | EdgeEnergy]:
        """The energies of all terms over a stage of a step; without the sheets' own with `explicit`."""
        terms = (term for kind, term in self.terms if not (explicit and kind.is_in_play))
        return [energy for term in terms for energy in term.over(stage)]

    def acceleration(self) -> Floats:
        """What acts on all nodes alike, (3,) [m/s²]."""
        parts = [term.acceleration() for _, term in self.terms]
        return np.sum([part for part in parts if part is not None], axis=0) if parts else np.zeros(3)


def node_parts(model: Model, state: State) -> Ints:
    """The part of every node: sheets first, then obstacles, (node_count + obstacle_nodes,)."""
    sheets = len(model.sheet_names)
    counts = [obstacle.node_count for obstacle in model.obstacles]
    obstacles = np.repeat(np.arange(len(counts)) + sheets, counts)
    return np.concatenate([state.mesh.node_sheet, obstacles]).astype(np.int32)


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
