"""Cracks run, after the sheets have moved: within the same step, until no tip is overloaded.

    repeat  Γ of all tips; stop when all ≤ 1
            the most overloaded tip, with others far from it, glides to where Γ = 1, or an edge ahead of it is cut
            the same stage of the step is solved again on the new mesh, from where the sheets are

So a crack may cross any number of elements in a step, and how far it runs does not depend on the mesh: a stiff sheet
goes slack when its tip moves by a fraction of an element. All fields are carried over from the mesh at the start of the
step, however often it changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import cos, log, radians

import numpy as np

from crumple.contact import free_first, has_intersections, restrict_surface
from crumple.contract import Stage
from crumple.mesh.edit_glide import glide_room
from crumple.simulation.carrying import carry_hinges, carry_plastic, follow_stage
from crumple.simulation.derived import Derived
from crumple.simulation.initiation import (
    Weakness,
    can_begin,
    longest_way,
    overload,
    weakest_place,
    weakest_vertex,
)
from crumple.simulation.integrate import Passage, solve_stage
from crumple.simulation.observers import StepReport
from crumple.simulation.schemes import reached
from crumple.simulation.tip_load import Load, state_toughness, tip_load, tip_size
from crumple.simulation.tips import LEAST_ROOM, begun_at, gone_on, kept_nodes, room_ahead, tips_apart
from crumple.solving.newton import Ending
from crumple.state import Change, State, Tips, Torn, no_change, transfer
from crumple.state.change import NEW
from crumple.tearing.opening import open_kerf
from crumple.tearing.path import (
    FIRST,
    Opening,
    compose,
    followed,
    glide_change,
    node_vertex,
    open_ahead,
    open_inside,
)
from crumple.tearing.resistance import resistance
from crumple.tearing.rest import TOLERANCE, Rest
from crumple.typing import Bools, Floats

TURN = cos(radians(10.0))
"""A crack that wants to turn by more gets a new edge; below, it runs straight on."""
ACCURACY = 1e-4
"""Error of the energy in solves, over what tearing takes along one edge at a tip: the force on a tip is a
difference."""
MOST_CHANGES = 200
"""Times that the mesh may change within a step."""
MOST_BEGINS = 4
"""Places where the sound sheet may be tried to tear within a step."""
MOST_TRIALS = 8
"""Places that are tried for a gliding tip."""
FIRST_GLIDE = 0.02
"""The first of them, over the edge length at tips."""
LEAST_TURN = 0.1
"""Way that a crack has run before it turns although nothing drives it straight on, over the edge length at tips."""
SHRUNK = 0.6
"""Share of a fresh cut by which its tip may be drawn back."""
SHORTEST = 0.3
"""Way that a crack runs straight before it may turn again, over the edge length at tips."""
PACE = 0.6
"""First guess of how far a crack runs, over how far the hands have moved in the step."""
FAR = 3.0
"""Γ from which on a crack is expected to run as far as that."""
REACH = 3.0
"""Times that a solution is extrapolated beyond the way between the last two."""


@dataclass(frozen=True)
class Tear:
    """What tearing has made of a step: the `state`, what is derived from its mesh, the Newton `iterations` of all
    solves, and a `note` when it was not finished; `is_stuck`: a tip is overloaded, but cannot run on."""

    state: State
    derived: Derived
    iterations: int = 0
    note: str = ""
    is_stuck: bool = False

    def noted(self, report: StepReport) -> StepReport:
        """The report of the step with what tearing has cost."""
        note = "; ".join(text for text in (report.note, self.note) if text)
        return replace(report, iterations=report.iterations + self.iterations, note=note)


@dataclass(frozen=True)
class _Trial:
    """The step solved on a mesh: the `change` from the mesh at its start, the `state` reached, what is derived from it,
    the same without damping in new faces, and the `stage` that was solved."""

    change: Change
    state: State
    derived: Derived
    undamped: Derived
    stage: Stage
    iterations: int = 0


def tear(state: State, derived: Derived, passage: Passage) -> Tear:
    """The state after its cracks have run as far as they do at the end of the step that `passage` tells of."""
    assert derived.model.tearing is not None
    begins = can_begin(derived.model)
    if passage.stage is None or not (len(state.tips.node) or begins):
        return Tear(state, derived)
    size = tip_size(derived.model, state)
    accuracy = ACCURACY * size * _least_resistance(derived)
    step = _Step(state, passage.stage, passage.obstacle_x, accuracy, _pace(state, passage.stage.state))
    trial = _Trial(no_change(state.mesh), state, derived, derived, passage.stage)
    if passage.outcome.loose and len(state.tips.node) and max(load.ratio for load in _loads(trial, size)) > 1.0:
        trial = step.solved_well(trial)  # the last digits of the solve are stress at the tips
    if derived.model.tearing.criterion == "strength":
        return _split(step, trial, size)
    blocked: set[int] = set()
    stuck = 0
    sound: set[int] = set()
    for _ in range(MOST_CHANGES):
        loads = _loads(trial, size)
        free = [k for k, load in enumerate(loads) if load.ratio > 1.0 + TOLERANCE and k not in blocked]
        if not free:
            place = (
                weakest_place(derived.model, trial.state, size, sound) if begins and len(sound) < MOST_BEGINS else None
            )
            if place is None:
                break
            sound.add(place.node)
            trial = step.begun(trial, place, size) or trial
            continue
        worst = max(free, key=lambda k: loads[k].ratio)
        others = [k for k in tips_apart(trial.state, worst, free, size) if k != worst]
        found = step.advanced(trial, worst, others, loads, size)
        if found is None:
            blocked.add(worst)
            stuck += loads[worst].straight[1] > 1.0 + TOLERANCE
        elif len(found.state.tips.node) < len(trial.state.tips.node):
            trial, blocked = found, set()  # tips are numbered anew
            step.last_cut.clear()
        else:
            trial = found
    else:
        note = f"t = {state.time:.4g} s: cracks have not come to rest"
        return Tear(trial.state, trial.derived, trial.iterations, note, is_stuck=True)
    if not stuck:
        return Tear(trial.state, trial.derived, trial.iterations)
    why = ", ".join(dict.fromkeys(step.refusals))
    note = f"t = {state.time:.4g} s: {stuck} crack(s) could not run on: {why}"
    return Tear(trial.state, trial.derived, trial.iterations, note, is_stuck=True)


def _pace(state: State, before: State) -> float:
    """How far the nodes that are held have moved at most since the state `before` [m]."""
    held = np.unique(state.pins.node)
    return float(np.linalg.norm(state.x[held] - before.x[held], axis=1).max(initial=0.0))


def _split(step: _Step, trial: _Trial, size: float) -> Tear:
    """Vertices split one after the other while their strength is exceeded [Jiang2016]."""
    start, blocked = trial.state, set[int]()
    for _ in range(MOST_CHANGES):
        weak = weakest_vertex(trial.derived.model, trial.state, size, blocked)
        if weak is None:
            return Tear(trial.state, trial.derived, trial.iterations)
        found = step.split(trial, weak, size)
        if found is None:
            blocked.add(weak.node)
        else:
            trial = found
    note = f"t = {start.time:.4g} s: cracks have not come to rest"
    return Tear(trial.state, trial.derived, trial.iterations, note)


def _least_resistance(derived: Derived) -> float:
    """G_c t of the sheet that tears most easily [N]."""
    return min(min(material.tear_energy) * material.thickness for material in derived.model.materials)


def _load(trial: _Trial, number: int, size: float) -> Load:
    """The load of one tip."""
    toughness = state_toughness(trial.derived.model, trial.state)
    return tip_load(trial.state, trial.undamped, toughness, number, size, trial.stage)


def _loads(trial: _Trial, size: float) -> list[Load]:
    """The loads of all tips."""
    toughness = state_toughness(trial.derived.model, trial.state)
    count = len(trial.state.tips.node)
    return [tip_load(trial.state, trial.undamped, toughness, number, size, trial.stage) for number in range(count)]


@dataclass(frozen=True)
class _Step:
    """The step that is solved again: the state at its end before tearing, its last stage, and where the obstacles were
    at the start of that, how well it is solved [J], and how far the hands have moved, `pace` [m].

    `refusals`: why tips could not run on, in words;  `last_cut` [m]: how far each tip was cut on at last.
    """

    start: State
    stage: Stage
    obstacle_x: Floats | None
    accuracy: float
    pace: float
    refusals: list[str] = field(default_factory=list)
    last_cut: dict[int, float] = field(default_factory=dict)

    def advanced(self, trial: _Trial, worst: int, others: list[int], loads: list[Load], size: float) -> _Trial | None:
        """The tip `worst` moved on, None when it cannot be; `others` that only have to glide glide along."""
        load = loads[worst]
        tips, mesh = trial.state.tips, trial.state.mesh
        heading = tips.heading[worst]
        behind = float(np.linalg.norm(mesh.u[node_vertex(mesh, int(tips.node[worst]))] - tips.last[worst]))
        room = room_ahead(trial.state, worst, size)
        is_driven = load.straight[1] > 1.0 + TOLERANCE
        is_straight = float(load.direction @ heading) >= TURN
        if room > 0.0 and not is_driven and behind < LEAST_TURN * size:
            return None  # it waits until it is driven straight on, or this way is long enough to turn
        if room > 0.0 and is_driven and (behind < SHORTEST * size or is_straight):
            first = room if is_straight else min(room, 2.0 * LEAST_ROOM * size)
            along = [k for k in others if _glides(trial.state, k, loads[k], size)]
            rooms = [first, *(room_ahead(trial.state, k, size) for k in along)]
            found = self.glided(trial, [worst, *along], [load, *(loads[k] for k in along)], rooms, size)
            if found is not None:
                return found
        return self.opened(trial, worst, load, size)

    def solved_well(self, trial: _Trial) -> _Trial:
        """The step solved as well as tearing needs it, on the same mesh."""
        state = trial.state
        same = no_change(state.mesh)
        found = self._solved(trial, same, state.x, state.tips, state.torn, state.fracture_work, same_links=True)
        return found or trial

    def glided(
        self, trial: _Trial, numbers: list[int], loads: list[Load], rooms: list[float], size: float
    ) -> _Trial | None:
        """Tips moved along their headings to where Γ = 1, or as far as there is room [m]."""
        tips = []
        for number, load, room in zip(numbers, loads, rooms, strict=True):
            held, ratio = load.straight
            tips.append(_Moving(number, held, Rest(ratio, self.first_way(ratio, size), room)))
        return _Run(self, size, trial, tips).to_rest()

    def opened(self, trial: _Trial, number: int, load: Load, size: float) -> _Trial | None:
        """An edge ahead of the tip cut, in the direction of the load, and the tip moved on to where Γ = 1."""
        state, tips = trial.state, trial.state.tips
        node = int(tips.node[number])
        # a tip that was cut on and is overloaded still, without room to glide, goes twice as far
        doubled = min(2.0 * self.last_cut.get(number, 0.0), PACE * self.pace)
        first = min(max(FIRST * size, self.first_way(load.ratio, size), doubled), size)
        opening = open_ahead(state.mesh, node, load.direction, first=first, kept=kept_nodes(state))
        if opening is None:
            self.refusals.append("no edge ahead of it can be cut")
            return None
        self.last_cut[number] = opening.length
        work = state.fracture_work + load.resistance * opening.length
        found = self._kerfed(trial, opening, node, *gone_on(state, number, opening), work)
        if found is None or len(found.state.tips.node) < len(tips.node) or opening.is_fixed:
            return found
        vertex = node_vertex(found.state.mesh, opening.tip)
        room = opening.length + glide_room(found.state.mesh, vertex, opening.heading)
        room, least = min(room, max(size, opening.length)), min(opening.length, (1.0 - SHRUNK) * FIRST * size)
        rest = Rest(load.ratio, opening.length, room, least)
        return _Run(self, size, found, [_Moving(number, load.resistance, rest, opening.length)]).to_rest()

    def first_way(self, ratio: float, size: float) -> float:
        """How far a tip may run that is loaded by `ratio` Γ [m]: when the hands move on, it runs about as far."""
        least = FIRST_GLIDE * size
        return max(least, min(1.0, log(ratio) / log(FAR)) * PACE * self.pace) if ratio > 1.0 else least

    def glide(self, base: _Trial, last: _Trial, tips: list[_Moving], guess: Floats | None) -> _Trial | None:
        """The `tips` moved along their headings to where they are tried, from where they were in `base`, on from the
        `last` trial; `guess` (node_count, 3): where the sheet may be then."""
        state, change = base.state, no_change(last.state.mesh)
        torn, work = state.torn, state.fracture_work
        for tip in tips:
            vertex = node_vertex(state.mesh, int(state.tips.node[tip.number]))
            way = tip.rest.way - tip.behind
            target = state.mesh.u[vertex] + way * state.tips.heading[tip.number]
            glide = glide_change(change.mesh, vertex, target)
            if glide is None:
                self.refusals.append("its tip has no room to glide")
                return None
            change = compose(change, glide)
            torn = torn.moved(target, int(state.tips.crack[tip.number]))
            work += tip.charged * way
        x = change.node_operator @ last.state.x
        return self._solved(last, change, x, state.tips, torn, work, same_links=True, guess=guess)

    def begun(self, trial: _Trial, weak: Weakness, size: float) -> _Trial | None:
        """A crack at a weak place, as long as it has to be to set free the energy that it takes; None when the sheet is
        not overloaded all along such a way."""
        ratio, first = overload(trial.derived.model, trial.state), len(trial.state.tips.node)
        found = self.split(trial, weak, size)
        while found is not None:
            freed = _stored(trial) - _stored(found)
            if freed >= found.state.fracture_work - trial.state.fracture_work:
                return found
            way = longest_way(found.state, trial.state, ratio, first)
            found = None if way is None else self.split(found, way, size)
        return None

    def split(self, trial: _Trial, weak: Weakness, size: float) -> _Trial | None:
        """A whole edge opened at a weak vertex: a tip runs on, or a crack begins there."""
        state, mesh = trial.state, trial.state.mesh
        opening = None
        for way in (weak.direction, -weak.direction) if weak.tip < 0 else (weak.direction,):
            make = open_ahead if mesh.boundary_nodes[weak.node] else open_inside
            opening = opening or make(mesh, weak.node, way, first=np.inf, kept=kept_nodes(state))
        if opening is None:
            return None
        toughness = state_toughness(trial.derived.model, state)
        vertex = node_vertex(mesh, weak.node)
        held = float(resistance(toughness, mesh, vertex, opening.heading[None], size=size)[0])
        tips, torn = begun_at(state, opening, weak.node) if weak.tip < 0 else gone_on(state, weak.tip, opening)
        work = state.fracture_work + held * opening.length
        return self._kerfed(trial, opening, weak.node, tips, torn, work)

    def _kerfed(self, trial: _Trial, opening: Opening, node: int, tips: Tips, torn: Torn, work: float) -> _Trial | None:
        """The step solved with a cut open, its lips set apart so that nothing intersects."""
        x = opening.change.node_operator @ trial.state.x
        for way in (None, *_normals(trial.state, node)):
            mesh, apart = open_kerf(opening.change.mesh, x, opening.copies, opening.heading, way=way)
            found = self._solved(trial, replace(opening.change, mesh=mesh), apart, tips, torn, work)
            if found is not None:
                return found
        return None

    def _solved(
        self,
        trial: _Trial,
        change: Change,
        x: Floats,
        tips: Tips,
        torn: Torn,
        work: float,
        *,
        same_links: bool = False,
        guess: Floats | None = None,
    ) -> _Trial | None:
        """The step solved on the mesh of a further `change`, from x (node_count, 3) on; None when that fails.

        `same_links`: only the pattern is another one;  `guess` (node_count, 3): where the solution may be.
        """
        total = compose(trial.change, change)
        model = trial.derived.model
        custom = {"plastic_curvature": carry_plastic if trial.derived.turn_count else carry_hinges}
        x = np.ascontiguousarray(x)
        state = transfer(self.start, followed(total, x), custom=custom)
        state = state.replaced(tips=tips, torn=torn, fracture_work=work, obstacle_x=trial.state.obstacle_x)
        derived = Derived(model, state, trial.derived.timer)
        if same_links:
            vars(derived)["system"] = trial.derived.system
        if _intersects(state, derived, change.changed_nodes):
            self.refusals.append("its lips would cross the sheet")
            return None
        for _, term in derived.terms:
            state = term.relax(state)
        stage = replace(follow_stage(self.stage, state, derived, total), guess=guess)
        hold = bool(np.any(state.obstacle_lag > 0.0))
        assert derived.system
        undamped = derived.undamped(total.face_source == NEW)
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
        count = state.mesh.node_count
        instant = reached(stage, np.ascontiguousarray(outcome.x[:count]), outcome.half_turn)
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
        solved = solved.replaced(
            obstacle_force=outcome.obstacle_force,
            iterations=solved.iterations + outcome.iterations + trial.iterations,
        )
        return _Trial(total, solved, derived, undamped, stage, trial.iterations + outcome.iterations)


@dataclass(frozen=True)
class _Moving:
    """A tip on its way along its heading: its `number`, R that is `charged` on the way [N], where it comes to `rest`,
    and how much of the way lies `behind` it at the start [m]."""

    number: int
    charged: float
    rest: Rest
    behind: float = 0.0


@dataclass(frozen=True)
class _Run:
    """Tips that glide together from the `base` trial on; `size` ℓ [m]."""

    step: _Step
    size: float
    base: _Trial
    tips: list[_Moving]

    def to_rest(self) -> _Trial | None:
        """The trial with all tips where Γ = 1, or as near to that as they come; None when they could not be moved."""
        is_open = any(tip.behind > 0.0 for tip in self.tips)
        found = self.base if is_open else self._next([])
        tried: list[tuple[float, _Trial]] = []
        for _ in range(MOST_TRIALS):
            if found is None:
                break
            tried.append((self.tips[0].rest.way, found))
            for tip in self.tips:
                if not tip.rest.is_done:
                    tip.rest.tried(_load(found, tip.number, self.size).straight[1])
            if all(tip.rest.is_done for tip in self.tips):
                break
            found = self._next(tried)
        return tried[-1][1] if tried else None

    def _next(self, tried: list[tuple[float, _Trial]]) -> _Trial | None:
        """The trial with the tips where they are tried next, after others; `tried`: ways of the first [m]."""
        last = tried[-1][1] if tried else self.base
        guess = None
        if len(tried) > 1 and len(self.tips) == 1:
            (a, p), (b, q) = tried[-2:]
            way = self.tips[0].rest.way
            if p.state.mesh.node_count == q.state.mesh.node_count and abs(way - b) < REACH * abs(b - a):
                guess = q.state.x + (q.state.x - p.state.x) * ((way - b) / (b - a))
        return self.step.glide(self.base, last, self.tips, guess)


def _glides(state: State, number: int, load: Load, size: float) -> bool:
    """Whether the tip `number` only has to run straight on."""
    is_driven = load.straight[1] > 1.0 + TOLERANCE
    is_straight = float(load.direction @ state.tips.heading[number]) >= TURN
    return is_driven and is_straight and room_ahead(state, number, size) > 0.0


def _stored(trial: _Trial) -> float:
    """The energy of the sheets and of what holds them [J]."""
    return sum(term.measure(trial.state) for _, term in trial.derived.terms)


def _normals(state: State, node: int) -> list[Floats]:
    """Both normals of the sheet at a node, (3,) each: other ways to set copies apart."""
    corner = state.x[state.mesh.face_nodes[(state.mesh.face_nodes == node).any(axis=1)]]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]).sum(axis=0)
    return [normal, -normal]


def _intersects(state: State, derived: Derived, changed: Bools) -> bool:
    """Whether anything around the `changed` nodes (node_count,) intersects."""
    surface = derived.surface(state.time)
    if surface is None:
        return False
    among = np.concatenate([changed, np.zeros(len(state.obstacle_x), bool)])
    order, number = free_first(among)
    x = np.concatenate([state.x, state.obstacle_x])
    return has_intersections(restrict_surface(surface, among, number), np.ascontiguousarray(x[order]))
