"""After remeshing the nodes move to where the accelerations from before act ([Narain2013] §4.3), a minimum of

    E(x) + Σ m a·(x − x⁰) + ½ μ |x − x⁰|²                                                               (eq. 13)

with E the elastic energy, the handles and the contact barrier; steps are bounded by collisions.

Only the surroundings of what has changed move: nodes farther than `RINGS` faces from a new face stay where they are,
where their accelerations are right already. In a calm frame a handful of faces changes, and this costs next to nothing.

Accelerations by the elastic energy alone are not those of a sheet in which damping balances large forces, such as of
slivers beside a slit: a new mesh without these faces would have to store many times the energy to have such forces.
Then the nodes stay where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
from crumple.solving.compact.potential import CompactPotential
from crumple.solving.compact.system import CompactSystem
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
GAIN = TUNING.projection_gain.value


def accelerations(state: State, derived: Derived) -> tuple[Floats, float]:
    """Accelerations by the elastic energy, handles and contact (eq. 11), (node_count, 3) [m/s²], and the least gap of
    contacts over the one at which they begin."""
    x = np.concatenate([state.x, state.obstacle_x])
    step_contact = derived.contact(state.time, x, timer=PhaseTimer())
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
    energies = derived.projected(state)
    if free.all():
        step_contact = derived.contact(state.time, x, timer=PhaseTimer())
    else:
        energies = [energy.restricted(is_free, number, edges.number) for energy in energies]
        step_contact = _restricted_contact(derived, derived.surface(state.time), is_free, number, x)
    count = int(np.count_nonzero(free))
    moving = order[:count]
    kind = CompactPotential if derived.is_small and free.all() else Potential
    potential = kind(count, energies, step_contact, PhaseTimer(), turn_count=len(edges.chosen))
    pose = make_pose(x, edges.ordered(state.half_turn))
    energy = potential.value(pose)
    softest = min(material.stretch_stiffness for material in derived.model.materials)
    nodes = np.arange(count, dtype=np.int32).reshape(-1, 1)
    mass = derived.mass[moving, None]
    anchor = make_nodal(nodes, x[:count], np.full(count, REGULARISATION * softest), -mass * wanted[moving])
    potential.add(anchor)
    system = _system(derived, count, nodes, energies, edges, number)
    judged = np.ones(len(free), bool)
    judged[state.pins.node] = False
    limit = PEAK * _peak(wanted[judged])
    for share in TOLERANCES:
        options = NewtonOptions(
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
    reached_energy = potential.value(pose) - float(np.sum(anchor.value(pose.x)))
    if state.ledger.has_begun and reached_energy > GAIN * max(energy, state.ledger.stored):
        return state
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
    derived: Derived, count: int, nodes: Ints, energies: Sequence[Energy], edges: _Edges, number: Ints
) -> LinearSystem:
    """The system of the first `count` nodes (count, 1), and of the free edges if there are any."""
    stencils = [nodes, *(energy.stencil for energy in energies)]
    couplings = [(energy.stencil, energy.turns) for energy in energies if energy.turns.shape[1]]
    if derived.is_small and count == derived.state.mesh.node_count:
        ends = derived.state.mesh.edges[edges.chosen]
        return CompactSystem(count, stencils, PhaseTimer(), anchor=ends, couplings=couplings)
    solver = make_solver(derived.model.solver.linear_solver)
    anchor = _anchors(derived, count, edges, number)
    return NewtonSystem(count, stencils, solver, PhaseTimer(), anchor=anchor, couplings=couplings)


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


def _restricted_contact(
    derived: Derived, surface: Surface | None, is_free: Bools, number: Ints, x: Floats
) -> StepContact | None:
    """Contact without friction at x of the nodes that are free, by their new numbers."""
    if surface is None:
        return None
    restricted = restrict_surface(surface, is_free, number)
    return StepContact(restricted, derived.model.contact.stiffness, x, PhaseTimer())


def _peak(acceleration: Floats) -> float:
    """The largest acceleration [m/s²]."""
    return float(np.linalg.norm(acceleration, axis=1).max(initial=0.0))
