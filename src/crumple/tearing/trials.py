"""The same step solved again on a mesh that cracks have changed.

All fields are carried over from the mesh at the start of the step, however often it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from crumple.contact import free_first, has_intersections, restrict_surface
from crumple.contract import Stage
from crumple.mesh import BOUNDARY
from crumple.model.derived import Derived
from crumple.runtime.typing import Bools, Floats
from crumple.solving.outcome import Ending
from crumple.state import Change, State, Tips, Torn, transfer
from crumple.state.change import NEW
from crumple.stepping.bookkeeping import drained_powers
from crumple.stepping.integration import solve_stage, stage_potential
from crumple.stepping.schemes import reached
from crumple.tearing.carrying import follow_stage
from crumple.tearing.opening import KERF, open_kerf
from crumple.tearing.path import Opening, compose, followed
from crumple.tearing.resistance import Toughness
from crumple.tearing.tip_load import Begins, Load, state_toughness, tip_load
from crumple.tearing.tuning import TUNING

ACCURACY = TUNING.trial_accuracy.value
PARTED = TUNING.parted_lips.value


@dataclass(frozen=True)
class Trial:
    """The step solved on a mesh: the `change` from the mesh at its start, the `state` reached, what is derived from it,
    the same without damping in new faces, and the `stage` that was solved."""

    change: Change
    state: State
    derived: Derived
    undamped: Derived
    stage: Stage
    iterations: int = 0
    begins: Callable[[], Begins] = dict
    """What drove the tips at the start of the step."""
    contact_energy: float = 0.0
    """Of the barrier [J]."""
    rubbing: float = 0.0
    impact: float = 0.0
    """Power that friction and the damping of contact take [W]."""
    known: dict[int, Load] = field(default_factory=dict, repr=False)
    """Loads that have been asked for."""

    def load(self, number: int, size: float) -> Load:
        """The load of one tip; `size` ℓ [m], the same whenever it is asked for."""
        if number not in self.known:
            self.known[number] = tip_load(
                self.state, self.undamped, self._toughness, number, size, self.stage, self.begins
            )
        return self.known[number]

    @cached_property
    def _toughness(self) -> Toughness:
        return state_toughness(self.derived.model, self.state)

    def drained(self) -> dict[str, float]:
        """The powers that are drained at the end of the stage, by their columns of the ledger [W]."""
        instant = reached(self.stage, self.state.x, self.state.half_turn)
        return drained_powers(self.stage, instant, self.undamped, rubbing=self.rubbing, impact=self.impact)

    def loads(self, size: float) -> list[Load]:
        """The loads of all tips."""
        return [self.load(number, size) for number in range(len(self.state.tips.node))]

    @property
    def taken(self) -> float:
        """What tearing has taken [J]."""
        return self.state.fracture_work

    @property
    def stored(self) -> float:
        """The energy of the sheets and of what holds and loads them, in motion what the stage minimises [J].

        A crack sets free what that falls by: in motion the sheets go on bending around it, and what they store may grow
        at the cost of their speed.
        """
        if self.stage.is_static:
            return sum(term.measure(self.state) for _, term in self.derived.terms)
        elastic = stage_potential(self.derived, self.stage, self.state.x, self.state.half_turn)
        return elastic + self.contact_energy


@dataclass(frozen=True)
class Cracks:
    """What tearing itself changes of a state: tips, paths, and the energy that it has taken, `work` [J]."""

    tips: Tips
    torn: Torn
    work: float


def place(start: State, derived: Derived, total: Change, x: Floats, cracks: Cracks) -> State:
    """The state `start` on the mesh of the `total` change, at x (node_count, 3), with other `cracks`."""
    rules = derived.field_rules(is_cut=True)
    state = transfer(start, followed(total, np.ascontiguousarray(x)), custom=rules)
    return state.replaced(tips=cracks.tips, torn=cracks.torn, fracture_work=cracks.work)


def derive(state: State, before: Derived, *, same_links: bool) -> Derived:
    """What is derived from a `state` on a changed mesh; `same_links`: only the pattern is another one."""
    return Derived(before.model, state, before.timer, linear=before.system if same_links else None)


@dataclass
class Step:
    """The step that is solved again and again: the state at its end before tearing, its last stage, where the obstacles
    were at the start of that, how well it is solved [J], how far the hands have moved, `pace` [m], what drove the tips
    before, `begins`, and half the width of cuts that are only placed, `kerf` [m].

    Noted on the way: `refusals`, why tips could not run on, in words;  `last_cut` [m], how far each tip was cut on at
    last;  `falls` [1/m], how fast the load of each fell when it was last followed.
    """

    start: State
    stage: Stage
    obstacle_x: Floats | None
    accuracy: float
    pace: float
    refusals: list[str] = field(default_factory=list)
    last_cut: dict[int, float] = field(default_factory=dict)
    falls: dict[int, float] = field(default_factory=dict)
    begins: Callable[[], Begins] = dict
    kerf: float = KERF

    def solved_well(self, trial: Trial) -> Trial | None:
        """The step solved as well as tearing needs it, on the same mesh; None when that fails."""
        return self._minimised(trial, trial.change, trial.state, trial.derived, None)

    def kerfed(self, trial: Trial, opening: Opening, node: int, cracks: Cracks) -> Trial | None:
        """The step solved with a cut open at `node`, its lips set apart so that nothing intersects."""
        tried = (self.solved(trial, change, x, cracks) for change, x in kerfs(trial.state, opening, node))
        return next((found for found in tried if found is not None), None)

    def placed(self, trial: Trial, opening: Opening, node: int, cracks: Cracks) -> Trial | None:
        """The trial with a cut open at `node`, its lips set apart so that nothing intersects or touches, not solved
        yet; None where they cannot be."""
        for change, x in kerfs(trial.state, opening, node, self.kerf):
            total = compose(trial.change, change)
            state = place(self.start, trial.derived, total, x, cracks).replaced(obstacle_x=trial.state.obstacle_x)
            derived = derive(state, trial.derived, same_links=False)
            if not intersects(state, derived, change.changed_nodes) and not touches(state, derived):
                return Trial(total, state, derived, derived, trial.stage, trial.iterations, self.begins)
        return None

    def solved_placed(self, trial: Trial) -> Trial | None:
        """The step solved with all cuts of a trial that is only placed; None when that fails."""
        return self._minimised(trial, trial.change, trial.derived.relaxed(trial.state), trial.derived, None)

    def solved(
        self,
        trial: Trial,
        change: Change,
        x: Floats,
        cracks: Cracks,
        *,
        same_links: bool = False,
        guess: Floats | None = None,
    ) -> Trial | None:
        """The step solved on the mesh of a further `change`, from x (node_count, 3) on; None when that fails.

        `same_links`: only the pattern is another one;  `guess` (node_count, 3): where the solution may be.
        """
        total = compose(trial.change, change)
        state = place(self.start, trial.derived, total, x, cracks).replaced(obstacle_x=trial.state.obstacle_x)
        derived = derive(state, trial.derived, same_links=same_links)
        if intersects(state, derived, change.changed_nodes):
            self.refusals.append("its lips would cross the sheet")
            return None
        turned = state.replaced(half_turn=trial.state.half_turn) if same_links else derived.relaxed(state)
        return self._minimised(trial, total, turned, derived, guess)

    def _minimised(
        self,
        trial: Trial,
        total: Change,
        state: State,
        derived: Derived,
        guess: Floats | None,
    ) -> Trial | None:
        """The stage solved from a `state` on; None when that fails."""
        stage = replace(follow_stage(self.stage, state, derived, total), guess=guess)
        hold = bool(np.any(state.obstacle_lag > 0.0))
        undamped = derived if stage.is_static else derived.undamped(total.face_source == NEW)
        outcome = solve_stage(
            undamped,
            stage,
            state.obstacle_x,
            state.half_turn,
            hold=hold,
            obstacle_begin=self.obstacle_x,
            accuracy=self.accuracy,
        )
        if outcome.ending is not Ending.CONVERGED:
            self.refusals.append(outcome.ending.value)
            return None
        instant = reached(stage, np.ascontiguousarray(outcome.x[: state.mesh.node_count]), outcome.half_turn)
        if stage.is_static:
            solved = state.replaced(x=instant.x, half_turn=instant.half_turn)
        else:
            # accelerations of nodes that have glided are worth nothing: the next step does not use any
            solved = state.replaced(
                x=instant.x,
                v=instant.v,
                a=instant.a,
                half_turn=instant.half_turn,
                half_rate=instant.half_rate,
                has_acceleration=total.is_none and state.has_acceleration,
            )
        spent = trial.iterations + outcome.iterations
        solved = solved.replaced(obstacle_force=outcome.obstacle_force, iterations=self.start.iterations + spent)
        return Trial(
            total,
            solved,
            derived,
            undamped,
            stage,
            spent,
            self.begins,
            outcome.contact_energy,
            outcome.rubbing,
            outcome.impact,
        )


def kerfs(state: State, opening: Opening, node: int, kerf: float = KERF) -> Iterator[tuple[Change, Floats]]:
    """Ways to set the lips of a cut at `node` apart by ±`kerf` [m]: the change that opens it, and where the nodes are
    then."""
    x = opening.change.node_operator @ state.x
    for direction in (*_parting(opening, x), None, *_normals(state, node)):
        mesh, apart = open_kerf(opening.change.mesh, x, opening.copies, opening.heading, direction=direction, kerf=kerf)
        yield replace(opening.change, mesh=mesh), apart


def _parting(opening: Opening, x: Floats) -> list[Floats]:
    """How the lips behind a fresh cut have parted, across the crack, (3,): its lips will do the same. Where one goes up
    and the other down, lips that were set apart sideways would overlap and hold each other. None where the lips behind
    are hardly apart; `x` (node_count, 3): where the nodes are."""
    if len(opening.copies) != 1 or opening.tip < 0:
        return []
    mesh, (old, new) = opening.change.mesh, opening.copies[0].tolist()
    ends = mesh.edges[mesh.twin[mesh.edge_corners] == BOUNDARY]
    behind = [np.setdiff1d(ends[(ends == copy).any(axis=1)], [old, new, opening.tip]) for copy in (old, new)]
    if len(behind[0]) != 1 or len(behind[1]) != 1:
        return []
    along = x[opening.tip] - x[old]
    along = along / max(float(np.linalg.norm(along)), np.finfo(float).tiny)
    apart = x[behind[0][0]] - x[behind[1][0]]
    apart = apart - (apart @ along) * along
    return [apart] if float(np.linalg.norm(apart)) > PARTED * KERF else []


def _normals(state: State, node: int) -> list[Floats]:
    """Both normals of the sheet at a node, (3,) each: other ways to set copies apart."""
    corner = state.x[state.mesh.face_nodes[(state.mesh.face_nodes == node).any(axis=1)]]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]).sum(axis=0)
    return [normal, -normal]


def intersects(state: State, derived: Derived, changed: Bools) -> bool:
    """Whether anything around the `changed` nodes (node_count,) intersects."""
    surface = derived.surface(state.time)
    if surface is None:
        return False
    among = np.concatenate([changed, np.zeros(len(state.obstacle_x), bool)])
    order, number = free_first(among)
    x = np.concatenate([state.x, state.obstacle_x])
    return has_intersections(restrict_surface(surface, among, number), np.ascontiguousarray(x[order]))


def touches(state: State, derived: Derived) -> bool:
    """Whether surfaces are so near to each other that contact cannot push them apart."""
    x = np.concatenate([state.x, state.obstacle_x])
    contact = derived.contact(state.time, x, None)
    return contact is not None and not np.isfinite(contact.value(x))
