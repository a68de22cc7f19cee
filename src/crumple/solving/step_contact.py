"""Contact during one step: candidates, barrier, lagged friction, collision-free steps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crumple.contact import (
    Approach,
    Barrier,
    Candidates,
    Friction,
    Neighbours,
    StepLimit,
    Surface,
    SurfaceTrees,
    active_pairs,
    barrier_energy,
    candidate_parts,
    find_along,
    least_relative_gap,
    make_friction,
    min_gap,
    step_limit,
)
from crumple.contact.barrier import Scan, gather_active, scan_pairs
from crumple.contract.energy import Energy
from crumple.contract.ready import ReadyEnergy
from crumple.linalg import add_vectors
from crumple.runtime.timing import PhaseTimer
from crumple.runtime.typing import Floats
from crumple.solving.tuning import TUNING

MARGIN = TUNING.candidate_margin.value
WIDEST_MARGIN = TUNING.widest_candidate_margin.value
MARGIN_FACES = TUNING.candidate_margin_faces.value
STRAYS = TUNING.straying_nodes.value

MOMENT = TUNING.moment_of_motion.value
AHEAD = TUNING.sweep_ahead.value


class Slip(NamedTuple):
    """What friction counts from: the positions `before` (node_count, 3) [m] at the start of a step [s], and the speed
    below which contacts stick [m/s]."""

    before: Floats
    step: float
    speed: float


class Change(NamedTuple):
    """How the forces of friction change when they are frozen anew: by `force` (free_count, 3) [N], over their size
    `fraction`."""

    force: Floats
    fraction: float


class Looked(NamedTuple):
    """What the `candidates` are like at x (node_count, 3), damped from the `approach` on."""

    x: Floats
    candidates: Candidates
    approach: Approach | None
    scan: Scan


class StepContact:
    """The contact terms of one potential.

    Candidates cover the whole step along a direction: the collision limit, the line search and the next expansion all
    use them. Those found for a pose, with a margin, serve until many nodes leave the margin; see `Neighbours`.
    """

    def __init__(
        self, surface: Surface, stiffness: float, x: Floats, timer: PhaseTimer, trees: SurfaceTrees | None = None
    ) -> None:
        """Contact without friction and damping, of the pose x (node_count, 3) and of what follows from it.

        `trees`: those of the obstacles, if they are kept from before.
        """
        self.surface = surface
        self._margin = surface.reach * min(max(MARGIN_FACES / max(surface.dynamic_faces, 1), MARGIN), WIDEST_MARGIN)
        self._trees = trees or SurfaceTrees()
        self.contacts = 0
        self._stiffness = stiffness
        self._timer = timer
        self._neighbours: Neighbours | None = None
        self._looked: Looked | None = None
        self._acting: tuple[Looked, Barrier] | None = None
        self.friction: Friction | None = None
        self._slip: Slip | None = None
        self.is_frozen = False
        self._approach: Approach | None = None
        self._free_fraction = 1.0
        with self._timer("contact"):
            self._candidates = self._first_candidates(x)

    def start_damping(self, before: Floats, *, opening: float) -> None:
        """Damp contact from the positions `before` (node_count, 3) at the start of a stage on; it stops to push pairs
        that part by more than `opening` [m]."""
        self._approach = Approach(before, opening) if np.isfinite(opening) else None

    def start_friction(
        self, x: Floats, before: Floats, *, step: float, slip_speed: float, is_known: bool = True
    ) -> None:
        """Add the friction of a step of `step` [s], its forces taken at x unless they are not known there yet.

        Slip counts from the positions `before`. Contacts that move slower than `slip_speed` [m/s] count as sticking.
        """
        self._slip = Slip(before, step, slip_speed)
        self.is_frozen = is_known
        if is_known:
            self.freeze(x)

    @property
    def may_slide(self) -> bool:
        """Whether contacts have friction in this step, if there are any."""
        return self._slip is not None and bool(np.any(self.surface.friction))

    def freeze(self, x: Floats) -> None:
        """Take the forces and tangents of friction at x (node_count, 3)."""
        self.friction = self.friction_at(x)
        self.is_frozen = True

    def refreeze(self, x: Floats, free_count: int) -> Change:
        """Take the forces and tangents of friction at x (node_count, 3), and how its forces on the first `free_count`
        nodes have changed."""
        before = self._rubbing_force(x, free_count)
        self.freeze(x)
        after = self._rubbing_force(x, free_count)
        change = after - before
        size = max(float(np.abs(before).sum()), float(np.abs(after).sum()))
        return Change(change, float(np.abs(change).sum()) / size if size > 0.0 else 0.0)

    def _rubbing_force(self, x: Floats, free_count: int) -> Floats:
        """The gradient of friction by the first `free_count` nodes, (free_count, 3) [N]."""
        gradient = np.zeros((free_count, 3))
        if self.friction is not None:
            add_vectors(self.friction.stencil, self.friction.gradient(x), 1.0, gradient)
        return gradient

    def friction_at(self, x: Floats) -> Friction | None:
        """Friction with forces and tangents taken at x (node_count, 3); None where nothing rubs."""
        if self._slip is None or not self.may_slide:
            return None
        with self._timer("contact"):
            barrier = self._barrier(x)
            before, step, speed = self._slip
            return make_friction(barrier, x, before, dt=step, eps_v=speed) if len(barrier.stencil) else None

    def _first_candidates(self, x: Floats) -> Candidates:
        """The candidates at the pose x, with which a solve begins."""
        self._neighbours = self._look(x)
        return self._neighbours.candidates

    def _look(self, x: Floats) -> Neighbours:
        """What is near the pose x."""
        return Neighbours(self.surface, x, self._margin, self._trees)

    @property
    def has_friction(self) -> bool:
        """Whether a contact rubs in this step."""
        return self.friction is not None

    def energies(self, x: Floats) -> list[Energy]:
        """The barrier of the pairs that are active at x, and friction."""
        with self._timer("contact"):
            barrier = self._barrier(x)
        self.contacts = len(barrier.stencil)
        return [barrier] if self.friction is None else [barrier, self.friction]

    def ready_energies(self, x: Floats) -> list[ReadyEnergy]:
        """The same, ready."""
        return [energy.ready() for energy in self.energies(x)]

    def value(self, x: Floats) -> float:
        """Energy of the barrier, with its damping, and of friction [J], infinite where surfaces touch."""
        total = self._stiffness * float(np.sum(self._look_at(x).scan.energy))
        if self.friction is not None and np.isfinite(total):
            total += float(np.sum(self.friction.value(x)))
        return total

    def barrier_value(self, x: Floats) -> float:
        """The energy that is stored in the barrier [J]."""
        return barrier_energy(self.surface, self._candidates, x, self._stiffness)

    def sweep(self, x: Floats, target: Floats) -> tuple[float, tuple[int, ...]]:
        """The fraction of the way from x to `target` that is free of collisions, and the parts that limit it."""
        with self._timer("collision"):
            fraction = min(AHEAD * self._free_fraction, 1.0)
            limit = self._limit(x, x + fraction * (target - x)) if fraction < 1.0 else None
            if limit is None or limit.pair < 0:
                fraction, limit = 1.0, self._limit(x, target)
            self._free_fraction = fraction * limit.fraction
        parts = () if limit.pair < 0 else candidate_parts(self.surface, self._candidates, limit.pair)
        return self._free_fraction, parts

    def forces(self, x: Floats) -> tuple[Floats, Floats]:
        """The force of contact at x, without friction, on each node of the sheets (node_count, 3), and that with which
        each node of the obstacles pushes and rubs the sheets (obstacle_nodes, 3) [N]."""
        gradient, count = np.zeros_like(x), self.surface.dynamic_count
        with self._timer("contact"):
            barrier = self._barrier(x)
            add_vectors(barrier.stencil, barrier.gradient(x), 1.0, gradient)
            normal = -gradient[:count]
            if self.friction is not None:
                add_vectors(self.friction.stencil, self.friction.gradient(x), 1.0, gradient)
        return normal, np.ascontiguousarray(gradient[count:])

    def force_in_motion(self, x: Floats, v: Floats, rebound_speed: float) -> tuple[Floats, float]:
        """The force of contact, damped but without friction, on the nodes of the sheets (node_count, 3) [N] that are at
        x and move at v, that of a moment in which gaps hardly change; and how much of it is damping, as a fraction of
        what it would be at rest."""
        moment = MOMENT * self.surface.dhat / max(float(np.abs(v).max(initial=0.0)), rebound_speed)
        with self._timer("contact"):
            gradient, size, extra = self._damped_force(x, Approach(x - moment * v, rebound_speed * moment))
        return -gradient[: self.surface.dynamic_count], extra / size if size else 0.0

    def _damped_force(self, x: Floats, approach: Approach) -> tuple[Floats, float, float]:
        """The derivative of contact with the damping of an `approach` by all nodes (node_count, 3) [N], the size of
        what pairs would push with undamped, and of what damping adds to it, each summed over all numbers [N]."""
        gradient = np.zeros_like(x)
        barrier = active_pairs(self.surface, self._candidates, x, self._stiffness, approach)
        damped, elastic = barrier.gradient(x), barrier.undamped().gradient(x)
        add_vectors(barrier.stencil, damped, 1.0, gradient)
        return gradient, float(np.abs(elastic).sum()), float(np.abs(damped - elastic).sum())

    def damping(self, x: Floats, v: Floats) -> float:
        """The power [W] that the damping of contact takes at x with the velocities v, (node_count, 3) each."""
        if self._approach is None:
            return 0.0
        with self._timer("contact"):
            barrier = self._barrier(x)
            extra = barrier.gradient(x) - barrier.undamped().gradient(x)
        return float(np.sum(extra * v[barrier.stencil]))

    def rubbing(self, x: Floats) -> float:
        """The power [W] that friction takes at x (node_count, 3)."""
        if self.friction is None or self._slip is None:
            return 0.0
        move = x[self.friction.stencil] - self.friction.start
        return float(np.sum(self.friction.gradient(x) * move)) / self._slip.step

    def smallest_gap(self, x: Floats) -> float:
        """The smallest gap [m] at x, infinite when nothing is near."""
        return min_gap(self.surface, self._candidates, x)[0]

    def least_relative_gap(self, x: Floats) -> float:
        """The smallest gap at x over the one at which its barrier starts; 1 when nothing is near."""
        return least_relative_gap(self.surface, self._candidates, x)

    def _limit(self, x: Floats, target: Floats) -> StepLimit:
        """How far x can go to `target`; the candidates then cover that way."""
        self._candidates = self._find(x, target)
        return step_limit(self.surface, self._candidates, x, target)

    def _find(self, x: Floats, target: Floats) -> Candidates:
        """The candidates on the way from x to `target`."""
        if self._neighbours is not None:
            found = self._found_among(self._neighbours, x, target)
            if found is not None:
                return found
        self._neighbours = None
        motion = (target - x)[: self.surface.dynamic_count]
        moving = np.count_nonzero(_square(motion - np.mean(motion, axis=0)) > self._margin**2)
        if moving > STRAYS * len(x):
            return find_along(self.surface, x, target, self._trees)
        self._neighbours = self._look(x)
        found = self._found_among(self._neighbours, x, target)
        return find_along(self.surface, x, target, self._trees) if found is None else found

    def _found_among(self, neighbours: Neighbours, x: Floats, target: Floats) -> Candidates | None:
        """The candidates, if few nodes of the sheets leave the neighbourhood, or one that moves with the sheets."""
        far = neighbours.strays(x, target)
        count, few = np.count_nonzero(far), STRAYS * len(x)
        if count == 0:
            return neighbours.candidates
        if count <= few and not far[self.surface.dynamic_count :].any():
            return neighbours.along(far, x, target)
        return neighbours.following(x, target, few)

    def _barrier(self, x: Floats) -> Barrier:
        looked = self._look_at(x)
        if self._acting is None or self._acting[0] is not looked:
            barrier = gather_active(self.surface, looked.candidates, looked.scan, self._stiffness, looked.approach)
            self._acting = looked, barrier
        return self._acting[1]

    def _look_at(self, x: Floats) -> Looked:
        """What the candidates are like at x, kept for the next who asks: a line search ends where the next expansion
        begins, and friction is frozen there."""
        known = self._looked
        is_known = known is not None and known.candidates is self._candidates and known.approach is self._approach
        if known is None or not is_known or not np.array_equal(known.x, x):
            scan = scan_pairs(self.surface, self._candidates, x, self._approach)
            known = self._looked = Looked(x.copy(), self._candidates, self._approach, scan)
        return known


def _square(displacement: Floats) -> Floats:
    """The squared lengths of the displacements (n, 3) [m²], (n,)."""
    return np.asarray(np.einsum("ij,ij->i", displacement, displacement))
