"""After remeshing the nodes move to where the accelerations from before act ([Narain2013] §4.3), a minimum of

    E(x) + Σ m a·(x − x⁰) + ½ μ |x − x⁰|²                                                               (eq. 13)

with E the elastic energy, the handles and the contact barrier; steps are bounded by collisions.

Only the surroundings of what has changed move: nodes farther than `RINGS` faces from a new face stay where they are,
where their accelerations are right already. In a calm frame a handful of faces changes, and this costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from crumple.contact import Surface, free_first, restrict_surface
from crumple.contract import Energy
from crumple.energies.nodal import make_nodal
from crumple.linalg import make_solver
from crumple.mesh import BOUNDARY, surroundings
from crumple.model.derived import Derived
from crumple.plasticity.tuning import TUNING as PLASTICITY
from crumple.remeshing.tuning import TUNING
from crumple.runtime.timing import PhaseTimer
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.solving.compact.options import CompactOptions
from crumple.solving.compact.potential import CompactPotential
from crumple.solving.linear_system import LinearSystem
from crumple.solving.newton import Newton
from crumple.solving.newton_options import NewtonOptions
from crumple.solving.outcome import Ending
from crumple.solving.pose import Pose, make_pose
from crumple.solving.potential import Potential
from crumple.solving.step_contact import StepContact
from crumple.solving.system import NewtonSystem
from crumple.state import State
from crumple.stepping.stopping import exact_pause

RINGS = PLASTICITY.moved_rings.value
WHOLE = TUNING.projection_whole.value
SMALL = PLASTICITY.small_mesh_nodes.value
REGULARISATION = TUNING.projection_regularisation.value
ITERATIONS = TUNING.projection_iterations.value
WORK = TUNING.projection_work.value
TOLERANCES = TUNING.projection_tolerances.value
PEAK = TUNING.projection_peak.value


def accelerations(state: State, derived: Derived) -> tuple[Floats, float]:
    """Accelerations by the elastic energy, handles and contact (eq. 11), (node_count, 3) [m/s²], and the least gap of
    contacts over the one at which they begin."""
    x = np.concatenate([state.x, state.obstacle_x])
    step_contact = _step_contact(derived, derived.surface(state.time), x)
    potential = Potential(state.mesh.node_count, derived.projected(state), step_contact, PhaseTimer())
    least_gap = 1.0 if step_contact is None else step_contact.least_relative_gap(x)
    still = make_pose(x, state.half_turn)
    return -potential.gradient(still) / derived.mass[:, None], least_gap


def project(state: State, derived: Derived, wanted: Floats, changed: Bools) -> State:
    """The state with the nodes around the `changed` ones (node_count,) moved to where they have the accelerations
    `wanted` (node_count, 3) [m/s²]."""
    if not changed.any():
        return state
    free = surroundings(state.mesh.face_nodes, changed, RINGS, WHOLE) if len(changed) > SMALL else np.ones_like(changed)
    is_free = np.concatenate([free, np.zeros(len(state.obstacle_x), bool)])
    order, number = free_first(is_free)
    x = np.concatenate([state.x, state.obstacle_x])[order]
    edges = _free_edges(state, derived, free)
    count = int(np.count_nonzero(free))
    moving = order[:count]
    softest = min(material.stretch_stiffness for material in derived.model.materials)
    is_compact = derived.is_small and bool(free.all())
    make = _compact_parts if is_compact else _restricted_parts
    nodes, potential, system = make(state, derived, x, is_free, number, edges)
    make_options = CompactOptions if is_compact else NewtonOptions
    pose = make_pose(x, edges.ordered(state.half_turn))
    energy = potential.value(pose)
    mass = derived.mass[moving, None]
    anchor = make_nodal(nodes, x[:count], np.full(count, REGULARISATION * softest), -mass * wanted[moving])
    potential.add(anchor)
    judged = np.ones(len(free), bool)
    judged[state.pins.node] = False
    limit = PEAK * _peak(wanted[judged])
    for share in TOLERANCES:
        options = make_options(
            share * energy + np.finfo(float).tiny,
            np.inf,
            max(ITERATIONS, WORK // len(free)),
            exact_pause=exact_pause(state),
        )
        newton = Newton(potential, system, options)
        outcome = newton.minimise(pose.x, pose.x[count:], derived.node_part[order], hold=True, half_turn=pose.half_turn)
        pose = Pose(outcome.x, outcome.half_turn)
        reached = (potential.gradient(pose) - anchor.gradient(pose.x)[:, 0]) / mass
        if outcome.ending is not Ending.CONVERGED or _peak(reached[judged[moving]]) <= limit:
            break
    moved = state.x.copy()
    moved[moving] = pose.x[:count]
    return state.replaced(x=moved, half_turn=pose.half_turn[edges.number])


@dataclass(frozen=True)
class _Edges:
    """Edges whose turns are free: the `chosen` ones (m,), and the `number` of every edge, these first (edge_count,)."""

    chosen: NDArray[np.intp]
    number: Ints

    def ordered(self, values: Floats) -> Floats:
        """Values of the edges (edge_count,) in the order of their new numbers."""
        moved = np.empty_like(values)
        moved[self.number] = values
        return moved


Parts: TypeAlias = tuple[Ints, Potential, LinearSystem]
"""The stencil of all free nodes (n, 1), their potential, and its linear system."""


def _compact_parts(state: State, derived: Derived, x: Floats, is_free: Bools, number: Ints, edges: _Edges) -> Parts:
    """The parts of a small sheet all of whose nodes are free."""
    step_contact = derived.contact(state.time, x)
    turns = len(edges.chosen)
    potential = CompactPotential(
        len(derived.nodes), derived.projected(state), step_contact, PhaseTimer(), turn_count=turns
    )
    return derived.nodes, potential, derived.system


def _restricted_parts(state: State, derived: Derived, x: Floats, is_free: Bools, number: Ints, edges: _Edges) -> Parts:
    """The parts of the free nodes of a sheet, with their new `number` (node_count,), at x (node_count, 3)."""
    count = int(np.count_nonzero(is_free))
    nodes = np.arange(count, dtype=np.int32).reshape(-1, 1)
    energies = [energy.restricted(is_free, number, edges.number) for energy in derived.projected(state)]
    surface = derived.surface(state.time)
    if surface is not None:
        surface = restrict_surface(surface, is_free, number)
    step_contact = _step_contact(derived, surface, x)
    potential = Potential(count, energies, step_contact, PhaseTimer(), turn_count=len(edges.chosen))
    system = _system(derived, count, [nodes, *(term.stencil for term in energies)], energies, edges, number)
    return nodes, potential, system


def _free_edges(state: State, derived: Derived, free: Bools) -> _Edges:
    """The edges all of whose faces have a `free` node (node_count,): the others keep their directors."""
    if not derived.turn_count:
        return _Edges(np.zeros(0, np.intp), np.arange(len(state.half_turn), dtype=np.int32))
    mesh = state.mesh
    kept: Bools = np.any(free[mesh.face_nodes], axis=1)
    first = mesh.edge_corners
    second = mesh.twin[first]
    inner = second != BOUNDARY
    is_free: Bools = np.array(kept[first // 3])
    is_free[inner] &= kept[second[inner] // 3]
    number = np.empty(len(first), np.int32)
    chosen, others = np.flatnonzero(is_free), np.flatnonzero(~is_free)
    number[chosen] = np.arange(len(chosen))
    number[others] = np.arange(len(others)) + len(chosen)
    return _Edges(chosen, number)


def _system(
    derived: Derived,
    count: int,
    stencils: list[Ints],
    energies: Sequence[Energy],
    edges: _Edges,
    number: Ints,
) -> NewtonSystem:
    """The system of the first `count` nodes, and of the free edges if there are any."""
    return NewtonSystem(
        count,
        stencils,
        make_solver(derived.model.solver.linear_solver),
        PhaseTimer(),
        anchor=_anchors(derived, count, edges, number),
        couplings=[(energy.stencil, energy.turns) for energy in energies if energy.turns.shape[1]],
    )


def _anchors(derived: Derived, count: int, edges: _Edges, number: Ints) -> Ints:
    """Free nodes beside each free edge, (m, 6): its ends, or where these stay those of its faces.

    A turn that is eliminated far from its neighbours would fill in a row of the whole matrix.
    """
    mesh = derived.state.mesh
    first = mesh.edge_corners[edges.chosen]
    second = np.where(mesh.twin[first] == BOUNDARY, first, mesh.twin[first])
    ends = number[mesh.edges[edges.chosen]]
    beside = number[np.concatenate([mesh.face_nodes[first // 3], mesh.face_nodes[second // 3]], axis=1)]
    has_end: Bools = np.any(ends < count, axis=1)
    beside = np.where(has_end[:, None], np.tile(ends, 3), beside)
    anchors: Ints = np.where(beside < count, beside, beside.min(axis=1)[:, None]).astype(np.int32)
    return anchors


def _step_contact(derived: Derived, surface: Surface | None, x: Floats) -> StepContact | None:
    """Contact without friction at x."""
    return None if surface is None else StepContact(surface, derived.model.contact.stiffness, x, PhaseTimer())


def _peak(acceleration: Floats) -> float:
    """The largest acceleration [m/s²]."""
    return float(np.linalg.norm(acceleration, axis=1).max(initial=0.0))
