"""Newton's method with collision-bounded steps, projected on demand.

Obstacles and the sheet move together: the remaining displacement of the obstacles is part of the direction until
they have arrived (those steps are bounded by collisions only); from then on every step must decrease the potential.

The Hessian keeps the compressive membrane stress, which sets the rate of convergence, as long as the whole matrix is
positive definite; where it is not, the stress is clamped, and the exact Hessian is tried again after a pause that
doubles with every failure.

A full step along a stiff, turning sheet stretches it at second order, so the potential may rise although the step is
right (the effect of Maratos). Such a step is taken on trust: the next `TRUST` iterations must make up for it, or the
method goes back and takes the shorter step that decreases the potential (a watchdog [Chamberlain1982]).

Friction has no curvature along a slip, so that a step may run past the point where contacts stick. It is followed by
its own curvature as long as steps gain what they promise, else by the quadratic above it, which no step overshoots.

Constraints among the energies are enforced by multipliers, which move with every iteration (see `multipliers`) but not
while a step that was taken on trust is pending.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from crumple.contract.constraint import Constraint
from crumple.linalg import inner
from crumple.solving.multipliers import predict
from crumple.solving.newton_options import NewtonOptions
from crumple.solving.pose import Pose, make_pose
from crumple.solving.potential import Expansion, Potential
from crumple.solving.system import NewtonSystem
from crumple.typing import Floats, Ints

ARMIJO = 1e-4
"""Share of the decrease that the gradient promises which a step must deliver."""
BACKTRACKS = 40
"""Halvings of a step before the line search gives up."""
ROUNDING = 1e-13
"""Relative decrease of the potential below which rounding decides."""
BLOCKED_STEP = 0.02
"""A collision-free fraction below this, `BLOCKED_PATIENCE` times in a row, means that an obstacle has no room."""
BLOCKED_PATIENCE = 6
SMALLEST_GAP = 1e-3
"""Gap over the activation distance below which a blocked obstacle stops pressing: it would shrink the gap for ever."""
TRUST = 1
"""Iterations that may make up for a step that raised the potential."""
STRAIGHT = 0.8
"""Decrease over the one by the gradient alone above which a longer step is tried: 0.5 when the Hessian is right, 1
when the potential does not curve. At 0.8 the best length is 2.5."""
ROUGH_ROUNDING = 1e-9
"""Relative decrease of the potential below which rounding may hide how it curves."""
LONGEST = 1e4
"""Most that a step is lengthened."""
LONGEST_PAUSE = 16
"""Most iterations between two attempts with the exact Hessian, or with friction's own curvature."""
PROMISE = 0.5
"""Share of the predicted decrease that a step with friction's own curvature must bring, or the next ones do without."""
LONGEST_DISTRUST = 4
"""Most iterations between two steps that are taken on trust."""
LARGEST_BOOST = 1e4
"""Most by which the change of multipliers is enlarged where contact keeps a constraint from being met: there the
multipliers have a long way to their strength."""


class Ending(Enum):
    """How a step ended; the value says it in words."""

    CONVERGED = ""
    NO_ROOM = "an obstacle has no room"
    NOT_ARRIVED = "Newton's method did not bring the obstacles to their places"
    NOT_FINITE = "a force is not finite"
    NO_DESCENT = "no step along the Newton direction decreases the energy"
    NOT_CONVERGED = "Newton's method did not converge"
    INACCURATE = "the step is too inaccurate"
    UNMET = "creases do not reach their angles: do they fit together at every vertex? a lower strength lets them stop"


@dataclass(frozen=True)
class Outcome:
    """Where Newton's method ended: x (node_count, 3), obstacles included, half turns (edge_count,), and how.

    `loose`: it was content with less, see `NewtonOptions.patience`;
    `held`: obstacle parts that could not follow their motion;  `predicted`: decrease still possible [J];
    `min_gap`: smallest contact gap [m], infinite when nothing is near;  `contact_energy`: of the barrier [J];
    `obstacle_force` (obstacle_nodes, 3) with which obstacles push the sheets [N], empty where it was not asked for;
    `multipliers`: what each constraint bears, in the form that `Constraint.remembered` gives it, (n, 3) each.
    """

    x: Floats
    half_turn: Floats
    ending: Ending
    iterations: int
    contacts: int
    predicted: float
    min_gap: float
    held: tuple[int, ...]
    loose: bool = False
    contact_energy: float = 0.0
    multipliers: tuple[Floats, ...] = ()
    obstacle_force: Floats = field(default_factory=lambda: np.zeros((0, 3)))


@dataclass(frozen=True)
class _Step:
    """A step that could be taken from `pose` along `direction`, free of collisions up to `limit`.

    `energy` at x and `full` at the limit [J];  `decrement` is twice the predicted decrease of the whole direction [J].
    """

    pose: Pose
    direction: Pose
    limit: float
    energy: float
    full: float
    decrement: float

    @property
    def goal(self) -> float:
        """The value that the step to the limit has to reach [J]."""
        return self.energy - ARMIJO * self.limit * self.decrement

    @property
    def is_good(self) -> bool:
        return self.full <= self.goal


class Newton:
    """One minimisation; holds what its iterations share."""

    def __init__(
        self, potential: Potential, system: NewtonSystem, options: NewtonOptions, *, enforce: bool = False
    ) -> None:
        """`enforce`: move the multipliers of constraints until these are met; else they stay as they are."""
        self._enforces = enforce and bool(potential.constraints)
        self._boost = 1.0
        self._moves_multipliers = False
        self._has_moved = False
        self._change = 0.0
        self._potential = potential
        self._system = system
        self._options = options
        self._pause = options.exact_pause
        self._wait = 0
        self._slip_pause = 1
        self._slip_wait = 0
        self._distrust_pause = 1
        self._distrust = 0
        self._iterations = 0
        self._contacts = 0
        self._predicted, self._predicted_before = np.inf, np.inf
        self._held: set[int] = set()
        self._loose = False

    def minimise(
        self,
        x: Floats,
        obstacle_target: Floats,
        node_part: Ints,
        *,
        hold: bool,
        guess: Floats | None = None,
        half_turn: Floats | None = None,
    ) -> Outcome:
        """Minimise from x (node_count, 3) while the obstacle nodes go to `obstacle_target` (obstacle_nodes, 3).

        `half_turn`: those of the edges to start from, if there are any (edge_count,) [rad];

        `hold`: let obstacles that have no room stay behind instead of giving up;  `guess` (free_count, 3): where the
        minimum may be, used if nothing is in the way.
        """
        pose = make_pose(x, half_turn)
        if guess is not None:
            self._jump(pose, guess, obstacle_target)
        ending = self._arrive(pose, obstacle_target, node_part, hold)
        if ending is Ending.CONVERGED:
            ending = self._descend(pose)
        touching = self._potential.touching
        return Outcome(
            x=pose.x,
            half_turn=pose.half_turn,
            ending=ending,
            iterations=self._iterations,
            contacts=self._contacts,
            predicted=self._predicted,
            min_gap=np.inf if touching is None else touching.smallest_gap(pose.x),
            held=tuple(sorted(self._held)),
            loose=self._loose,
            contact_energy=0.0 if touching is None else touching.barrier_value(pose.x),
            multipliers=tuple(one.remembered(pose.x) for one in self._potential.constraints),
        )

    def _jump(self, pose: Pose, guess: Floats, target: Floats) -> None:
        """Move the nodes to the `guess`, and the obstacles to their `target`, if the way is free and it is a better
        start."""
        free = self._potential.free_count
        direction = Pose(np.concatenate([guess, target]) - pose.x, np.zeros_like(pose.half_turn))
        if self._limit(pose, direction)[0] < 1.0:
            return
        if np.any(direction.x[free:]) or self._potential.value(pose.moved(direction, 1.0)) < self._potential.value(
            pose
        ):
            pose.x[:free], pose.x[free:] = guess, target

    def _arrive(self, pose: Pose, target: Floats, node_part: Ints, hold: bool) -> Ending:
        """Move the pose with the obstacles until they are at `target` or held."""
        free, x = self._potential.free_count, pose.x
        blocked = 0
        while self._iterations < self._options.max_iterations:
            remaining = target - x[free:]
            remaining[np.isin(node_part[free:], sorted(self._held))] = 0.0
            if not np.any(remaining):
                return Ending.CONVERGED
            direction, _ = self._direction(pose, remaining)
            if not direction.is_finite:
                return Ending.NOT_FINITE
            limit, parts = self._limit(pose, direction)
            blocked = blocked + 1 if limit < BLOCKED_STEP else 0
            has_room = blocked == 0 or self._gap(x) > SMALLEST_GAP
            if has_room:
                pose.move(direction, limit)
            if limit >= 1.0:
                x[free:] = np.where(remaining != 0.0, target, x[free:])
            if blocked >= BLOCKED_PATIENCE or not has_room:
                if not hold:
                    return Ending.NO_ROOM
                moving = set(node_part[free:][np.any(remaining != 0.0, axis=1)].tolist())
                self._held |= (moving & set(parts)) or moving  # a sheet may be pressed on the other side, or on itself
                blocked = 0
        return Ending.NOT_ARRIVED

    def _descend(self, pose: Pose) -> Ending:
        """Decrease the potential until the options are met."""
        energy: float | None = None
        trusted: _Step | None = None
        doubt = 0
        while self._iterations < self._options.max_iterations:
            self._moves_multipliers = self._enforces and trusted is None
            step = self._propose(pose, energy)
            if step is None:
                return Ending.NOT_FINITE
            is_last = self._is_last(step)
            if trusted is None and not is_last and not step.is_good and self._trusts(step):
                trusted, doubt = step, 0
                pose.move(step.direction, step.limit)
                energy = step.full
                continue
            if not step.is_good:
                length, energy = self._search(step)
            else:
                length, energy = (step.limit, step.full) if is_last else self._lengthen(step)
            pose.move(step.direction, length)
            if trusted is not None and energy > trusted.goal:
                doubt += 1
                if length > 0.0 and doubt <= TRUST:
                    continue
                is_last = False
                length, energy = self._go_back(pose, trusted)
            trusted = None
            is_stuck = length == 0.0 and self._predicted <= ROUNDING * abs(energy)
            if (is_last or is_stuck) and self._is_met(pose):
                return Ending.CONVERGED
            if length == 0.0 and not self._has_moved:
                return Ending.NO_DESCENT
        if trusted is not None:
            pose.take(trusted.pose)
        return Ending.NOT_CONVERGED if self._is_met(pose) else Ending.UNMET

    def _propose(self, pose: Pose, energy: float | None) -> _Step | None:
        """The Newton step from a pose, where the potential is `energy` [J] if known; None when it is not finite."""
        self._has_moved, self._change = False, 0.0
        direction, decrement = self._direction(pose, None)
        if not np.isfinite(decrement):
            return None
        self._predicted, self._predicted_before = 0.5 * decrement, self._predicted
        limit, _ = self._limit(pose, direction)
        energy = self._potential.value(pose) if energy is None else energy + self._change
        full = self._potential.value(pose.moved(direction, limit))
        self._judge_slips(energy - full, limit * (1.0 - 0.5 * limit) * decrement)
        return _Step(pose.copy(), direction, limit, energy, full, decrement)

    def _judge_slips(self, gain: float, promised: float) -> None:
        """Decide whether friction is followed by its own curvature in the next iterations, by what one step brought."""
        if self._slip_wait > 0:
            self._slip_wait -= 1
        elif gain >= PROMISE * promised:
            self._slip_pause = 1
        else:
            self._slip_wait, self._slip_pause = self._slip_pause, min(2 * self._slip_pause, LONGEST_PAUSE)

    def _is_last(self, step: _Step) -> bool:
        """Whether the step is so small that it may be the last."""
        options = self._options
        self._loose = False
        is_small = options.is_met(step.pose.x, step.direction.x, self._predicted)
        if not is_small:
            is_small = self._loose = options.is_met_loosely(
                step.pose.x, step.direction.x, self._predicted, self._iterations, self._predicted_before
            )
        if not is_small or self._is_met(step.pose.moved(step.direction, step.limit)):
            self._boost = 1.0
            return is_small
        self._boost = min(2.0 * self._boost, LARGEST_BOOST)
        self._loose = False
        return False

    def _is_met(self, pose: Pose) -> bool:
        """Whether all constraints that are to be enforced are met within their tolerance."""
        return not self._enforces or self._potential.worst_residual(pose.x) <= 1.0

    def _lengthen(self, step: _Step) -> tuple[float, float]:
        """A good step, made longer where the potential hardly curves along it: its length and the energy there.

        The Hessian of friction lies above it, so that contacts which begin to slide would gain speed by a small factor
        in every iteration; so does that of constraints that are overloaded. Lengths that quadruple find it in a few
        evaluations.
        """
        length, energy = step.limit, step.full
        touching = self._potential.touching
        slides = touching is not None and touching.has_friction
        if not (slides or self._enforces) or length < 1.0:
            return length, energy
        if step.decrement < ROUGH_ROUNDING * abs(energy) or step.energy - energy < STRAIGHT * step.decrement:
            return length, energy
        while length < LONGEST:
            longer = 4.0 * length
            if self._limit(step.pose, step.direction, longer)[0] < 1.0:
                break
            value = self._potential.value(step.pose.moved(step.direction, longer))
            if not value < energy:
                break
            length, energy = longer, value
        self._limit(step.pose, step.direction, length)
        return length, energy

    def _trusts(self, step: _Step) -> bool:
        """Whether to take a step that raises the potential; less and less often if it was not made up for."""
        if self._distrust > 0:
            self._distrust -= 1
            return False
        return bool(np.isfinite(step.full))

    def _go_back(self, pose: Pose, step: _Step) -> tuple[float, float]:
        """Move the pose back to where `step` was proposed and take a shorter one; its length and the energy there."""
        self._distrust = self._distrust_pause
        self._distrust_pause = min(2 * self._distrust_pause, LONGEST_DISTRUST)
        pose.take(step.pose)
        self._limit(pose, step.direction)
        length, energy = self._search(step)
        pose.move(step.direction, length)
        return length, energy

    def _direction(self, pose: Pose, remaining: Floats | None) -> tuple[Pose, float]:
        """The Newton direction, and twice the decrease that it promises [J]; not a number when there is none.

        `remaining` is the obstacles' own displacement, if they move.
        """
        self._iterations += 1
        direction = Pose(np.zeros_like(pose.x), np.zeros_like(pose.half_turn))
        if remaining is not None:
            direction.x[self._potential.free_count :] = remaining
        is_exact = remaining is None and self._tries_exact()
        expansion, solution = self._expand(pose, direction.x, is_exact)
        if is_exact and solution is None:
            self._wait, self._pause = self._pause, min(2 * self._pause, LONGEST_PAUSE)
            expansion, solution = self._expand(pose, direction.x, False)
        elif is_exact:
            self._pause = self._options.exact_pause
        self._contacts = max(self._contacts, expansion.contacts)
        free = self._potential.free_count
        if solution is None:
            direction.x[:free] = np.nan
            return direction, np.nan
        displacement, turn = solution
        if self._moves_multipliers and remaining is None:
            displacement, turn = self._move_multipliers(pose, expansion, displacement, turn)
        direction.x[:free] = displacement
        if self._potential.turn_count:
            direction.half_turn = self._potential.half_direction(pose, direction.x, turn)
        decrement = -inner(expansion.gradient, direction.x[:free]) - inner(expansion.moments, turn)
        return direction, decrement

    def _move_multipliers(
        self, pose: Pose, expansion: Expansion, displacement: Floats, turn: Floats
    ) -> tuple[Floats, Floats]:
        """The direction after the multipliers have moved, if it descends then; its gradient is put into `expansion`."""
        still = np.zeros_like(expansion.moments)
        found = predict(
            self._potential.constraints,
            pose.x,
            (displacement, turn),
            lambda force: self._system.respond(force, still),
            self._boost,
        )
        if found is None:
            return displacement, turn
        slope = inner(expansion.gradient + found.force, found.displacement)
        slope += inner(expansion.moments, found.turn)
        if not slope < 0.0:
            return displacement, turn
        expansion.gradient[:] += found.force
        before = _total(self._potential.constraints, pose.x)
        self._potential.take_multipliers(found.multipliers)
        self._has_moved, self._change = True, _total(self._potential.constraints, pose.x) - before
        return found.displacement, found.turn

    def _tries_exact(self) -> bool:
        """Whether it is time for the exact Hessian again."""
        if self._wait == 0:
            return True
        self._wait -= 1
        return False

    def _expand(self, pose: Pose, obstacles: Floats, exact: bool) -> tuple[Expansion, tuple[Floats, Floats] | None]:
        """The expansion at a pose, and the displacement and turns of the sheet that belong to the displacement of the
        `obstacles` (node_count, 3).

        None when the Hessian is not positive definite; with `exact` = False it should be.
        """
        is_arriving = bool(np.any(obstacles))
        expansion = self._potential.expand(pose, exact=exact, slips=not is_arriving and self._slip_wait == 0)
        right = -expansion.gradient
        if is_arriving:
            right += expansion.pull(obstacles)
        found = self._system.newton_direction(
            expansion.terms,
            expansion.edge_terms,
            right,
            -expansion.moments,
            is_convex=not exact,
            is_direct=self._enforces,  # multipliers need the factorisation of this matrix
        )
        return expansion, found

    def _gap(self, x: Floats) -> float:
        """Smallest gap at x over the activation distance."""
        touching = self._potential.touching
        return np.inf if touching is None else touching.smallest_gap(x) / touching.surface.dhat

    def _limit(self, pose: Pose, direction: Pose, length: float = 1.0) -> tuple[float, tuple[int, ...]]:
        """How much of `length` times the direction is free of collisions and within other barriers, and the parts that
        limit it."""
        way = direction.x if length == 1.0 else length * direction.x
        allowed = self._potential.step_limit(pose.x, way)
        touching = self._potential.touching
        if touching is None:
            return allowed, ()
        free, parts = touching.sweep(pose.x, pose.x + allowed * way)
        return free * allowed, parts

    def _search(self, step: _Step) -> tuple[float, float]:
        """Backtracking below the limit: the length that decreases the potential, 0 if none does, and its value."""
        length = step.limit
        for _ in range(BACKTRACKS):
            length *= 0.5
            energy = self._potential.value(step.pose.moved(step.direction, length))
            if energy <= step.energy - ARMIJO * length * step.decrement:
                return length, energy
        return 0.0, step.energy


def _total(constraints: Sequence[Constraint], x: Floats) -> float:
    """The energy of constraints at x [J]."""
    return sum(float(np.sum(one.value(x))) for one in constraints)
