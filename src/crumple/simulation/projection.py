"""After remeshing the nodes move to where the accelerations from before act ([Narain2013] §4.3), a minimum of

    E(x) + Σ m a·(x − x⁰) + ½ μ |x − x⁰|²                                                               (eq. 13)

with E the elastic energy, the handles and the contact barrier; steps are bounded by collisions.

Only the surroundings of what has changed move: nodes farther than `RINGS` faces from a new face stay where they are,
where their accelerations are right already. In a calm frame a handful of faces changes, and this costs next to nothing.
"""

from __future__ import annotations

import numpy as np

from crumple.contact import Surface, free_first, restrict_surface
from crumple.energies.nodal import make_nodal
from crumple.linalg import make_solver
from crumple.mesh import surroundings
from crumple.simulation.derived import Derived
from crumple.solving.newton import Ending, Newton, NewtonOptions
from crumple.solving.potential import Potential
from crumple.solving.system import NewtonSystem
from crumple.solving.touching import Touching
from crumple.state import State
from crumple.timing import PhaseTimer
from crumple.typing import Bools, Floats

RINGS = 2
"""Rings of faces around those that changed whose nodes move."""
WHOLE = 0.8
"""Share of the nodes above which all of them move."""
SMALL = 1000
"""Nodes of a mesh of which all may move: in a calm, stiff sheet even those far from a change feel it a little."""
REGULARISATION = 1e-5
"""μ per node over the (least) membrane stiffness [N/m] of the sheets. At the minimum the accelerations are wrong by
μ|x − x⁰|/m, so μ has to be small beside the stiffness to bending too, or curved sheets keep their jitter."""
ITERATIONS, WORK = 5, 20_000
"""Newton iterations for each tolerance at least, and iterations times nodes: a small mesh may take its time."""
TOLERANCES = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
"""Shares of the energy after remeshing below which the projection stops; most of that energy is what it removes. The
next one is tried while the accelerations are still too large, unless the iterations did not suffice for this one."""
PEAK = 1.2
"""Peak acceleration of the free nodes over that before remeshing which is good enough."""


def accelerations(state: State, derived: Derived) -> tuple[Floats, float]:
    """Accelerations by the elastic energy, handles and contact (eq. 11), (node_count, 3) [m/s²], and the least gap of
    contacts over the one at which they begin."""
    x = np.concatenate([state.x, state.obstacle_x])
    touching = _touching(derived, derived.surface(state.time), x)
    potential = Potential(state.mesh.node_count, derived.projected(state), touching, PhaseTimer())
    least_gap = 1.0 if touching is None else touching.least_relative_gap(x)
    return -potential.gradient(x) / derived.mass[:, None], least_gap


def project(state: State, derived: Derived, wanted: Floats, changed: Bools) -> State:
    """The state with the nodes around the `changed` ones (node_count,) moved to where they have the accelerations
    `wanted` (node_count, 3) [m/s²]."""
    if not changed.any():
        return state
    free = surroundings(state.mesh.face_nodes, changed, RINGS, WHOLE) if len(changed) > SMALL else np.ones_like(changed)
    is_free = np.concatenate([free, np.zeros(len(state.obstacle_x), bool)])
    order, number = free_first(is_free)
    x = np.concatenate([state.x, state.obstacle_x])[order]
    energies = [energy.restricted(is_free, number) for energy in derived.projected(state)]
    surface = derived.surface(state.time)
    if surface is not None:
        surface = restrict_surface(surface, is_free, number)
    count = int(np.count_nonzero(free))
    moving = order[:count]
    potential = Potential(count, energies, _touching(derived, surface, x), PhaseTimer())
    energy = potential.value(x)
    softest = min(material.stretch_stiffness for material in derived.model.materials)
    nodes = np.arange(count, dtype=np.int32).reshape(-1, 1)
    mass = derived.mass[moving, None]
    anchor = make_nodal(nodes, x[:count], np.full(count, REGULARISATION * softest), -mass * wanted[moving])
    potential.add(anchor)
    stencils = [nodes, *(term.stencil for term in energies)]
    system = NewtonSystem(count, stencils, make_solver(derived.model.solver.linear_solver), PhaseTimer())
    judged = np.ones(len(free), bool)
    judged[state.pins.node] = False
    limit = PEAK * _peak(wanted[judged])
    for share in TOLERANCES:
        options = NewtonOptions(share * energy + np.finfo(float).tiny, np.inf, max(ITERATIONS, WORK // len(free)))
        newton = Newton(potential, system, options)
        outcome = newton.minimise(x, x[count:], derived.node_part[order], hold=True)
        x = outcome.x
        reached = (potential.gradient(x) - anchor.gradient(x)[:, 0]) / mass
        if outcome.ending is not Ending.CONVERGED or _peak(reached[judged[moving]]) <= limit:
            break
    moved = state.x.copy()
    moved[moving] = x[:count]
    return state.replaced(x=moved)


def _touching(derived: Derived, surface: Surface | None, x: Floats) -> Touching | None:
    """Contact without friction at x."""
    return None if surface is None else Touching(surface, derived.model.contact.stiffness, x, PhaseTimer())


def _peak(acceleration: Floats) -> float:
    """The largest acceleration [m/s²]."""
    return float(np.linalg.norm(acceleration, axis=1).max(initial=0.0))
