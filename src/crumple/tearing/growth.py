"""Cracks run, after the sheets have moved: within the same step, until no tip is overloaded.

    repeat  Γ of all tips; stop when all ≤ 1
            the most overloaded tip, with others far from it, glides to where Γ = 1, or an edge ahead of it is cut
            the same stage of the step is solved again on the new mesh, from where the sheets are

So a crack may cross any number of elements in a step, and how far it runs does not depend on the mesh: a stiff sheet
goes slack when its tip moves by a fraction of an element.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import inf, log

import numpy as np

from crumple.model.derived import Derived
from crumple.state import State, no_change
from crumple.stepping.bookkeeping import rebook_last
from crumple.stepping.integration import StepPath
from crumple.stepping.reports import StepReport
from crumple.tearing.bursting import Burst
from crumple.tearing.gliding import Moving, Run, opened_tip
from crumple.tearing.initiation import Weakness, can_begin, longest_extension, overload, weakest_place, weakest_vertex
from crumple.tearing.leading import Led, can_lead, leads
from crumple.tearing.opening import KERF
from crumple.tearing.path import FIRST, node_vertex, open_ahead, open_inside
from crumple.tearing.resistance import resistance
from crumple.tearing.rest import SLACK, TINY, TOLERANCE, Rest
from crumple.tearing.tip_load import Load, state_toughness, tip_begins, tip_size
from crumple.tearing.tips import (
    LEAST_ROOM,
    SHORTEST,
    TURN,
    begun_at,
    distance_behind,
    ends_of_one_slit,
    gone_on,
    kept_nodes,
    room_ahead,
    tips_apart,
)
from crumple.tearing.trials import ACCURACY, Cracks, Step, Trial
from crumple.tearing.tuning import TUNING

MOST_CHANGES = TUNING.changes_per_step.value
MOST_BEGINS = TUNING.begins_per_step.value
FIRST_GLIDE = TUNING.first_glide.value
PACE = TUNING.crack_pace.value
AWAY = TUNING.running_away.value
FAR = TUNING.far_load.value
LED_TOLERANCE = TUNING.led_tolerance.value
KERF_FRACTION = TUNING.kerf_fraction.value
LEAST_TURN = TUNING.least_turn.value
TIE = TUNING.tie.value


@dataclass(frozen=True)
class Tear:
    """What tearing has made of a step: the `state`, what is derived from its mesh, the Newton `iterations` of all
    solves, and a `note` when it was not finished; `is_stuck`: a tip is overloaded, but cannot run on;  `longest` [s]:
    the step is too long for its cracks, which burst;  `last`: the solve that counts, if the step was solved again."""

    state: State
    derived: Derived
    iterations: int = 0
    note: str = ""
    is_stuck: bool = False
    longest: float = inf
    last: Trial | None = None

    def noted(self, report: StepReport) -> StepReport:
        """The report of the step with what tearing has cost and taken."""
        note = "; ".join(text for text in (report.note, self.note) if text)
        energies = report.energies | {"fracture": self.state.fracture_work}
        if self.last is not None:
            energies["contact"] = self.last.contact_energy
        return replace(report, iterations=report.iterations + self.iterations, note=note, energies=energies)

    def booked(self, stages: int, step: float) -> State:
        """The state whose ledger has what friction, impacts, damping and the air take in the solve that counts, the
        last of so many `stages` of a step of `step` [s]."""
        if self.last is None:
            return self.state
        return self.state.replaced(ledger=rebook_last(self.state.ledger, self.last.drained(), stages, step))


def tear(state: State, derived: Derived, step_path: StepPath, before: State | None = None) -> Tear:
    """The state after its cracks have run as far as they do at the end of the step that `step_path` tells of.

    `before` the step, before cracks were led.
    """
    assert derived.model.tearing is not None
    begins = can_begin(derived.model)
    if step_path.stage is None or not (len(state.tips.node) or begins):
        return Tear(state, derived)
    size = tip_size(derived.model, state)
    accuracy = solve_accuracy(state, derived)
    pace, kerf = _pace(state, step_path.stage.state), max(KERF, KERF_FRACTION * size)
    step = Step(state, step_path.stage, step_path.obstacle_x, accuracy, pace, kerf=kerf)
    if step.stage.is_static:  # in motion, what damping took before the step is not known
        step.begins = cache(lambda: tip_begins(step.stage.state, derived, size))
    start = no_change(state.mesh)
    contact = step_path.outcome.contact_energy
    trial = Trial(start, state, derived, derived, step_path.stage, begins=step.begins, contact_energy=contact)
    if step_path.outcome.loose and len(state.tips.node) and max(load.ratio for load in trial.loads(size)) > 1.0:
        trial = step.solved_well(trial) or trial  # the last digits of the solve are stress at the tips
    if derived.model.tearing.criterion == "strength":
        return _split(step, trial, size)
    loop = _Loop(step, size)
    led = {} if before is None else leads(before, state, size)
    return loop.come_to_rest(loop.drawn_back(trial, led), begins=begins, led=set(led))


def _torn(trial: Trial, note: str = "", *, is_stuck: bool = False) -> Tear:
    """What has become of a step that ends with a `trial`."""
    last = trial if trial.iterations else None
    return Tear(trial.state, trial.derived, trial.iterations, note, is_stuck, last=last)


def solve_accuracy(state: State, derived: Derived) -> float:
    """The energy by which solves may be off where the loads of tips count [J]."""
    return ACCURACY * tip_size(derived.model, state) * _least_resistance(derived)


def _pace(state: State, before: State) -> float:
    """How far the nodes that are held have moved at most since the state `before` [m]."""
    held = np.unique(state.pins.node)
    return float(np.linalg.norm(state.x[held] - before.x[held], axis=1).max(initial=0.0))


def _split(step: Step, trial: Trial, size: float) -> Tear:
    """Vertices split one after the other while their strength is exceeded [Jiang2016]."""
    loop, blocked = _Loop(step, size), set[int]()
    for _ in range(MOST_CHANGES):
        weak = weakest_vertex(trial.derived.model, trial.state, size, blocked)
        if weak is None:
            return _torn(trial)
        found = loop.split(trial, weak)
        if found is None:
            blocked.add(weak.node)
        else:
            trial = found
    note = f"t = {step.start.time:.4g} s: cracks have not come to rest"
    return _torn(trial, note)


def _least_resistance(derived: Derived) -> float:
    """G_c t of the sheet that tears most easily [N]."""
    return min(min(material.tear_energy) * material.thickness for material in derived.model.materials)


@dataclass
class _Loop:
    """The `step` in which cracks run, which notes how; `size` ℓ [m]."""

    step: Step
    size: float

    def come_to_rest(self, trial: Trial, *, begins: bool, led: set[int]) -> Tear:
        """What has become of the step when no tip is overloaded any more, or none can run on.

        `begins`: whether cracks may begin in the sound sheet;  `led`: tips that were, whose loads may be off more.
        """
        step, blocked, sound, stuck = self.step, set[int](), set[int](), 0
        burst = Burst(step, self.size)
        for _ in range(MOST_CHANGES):
            loads = trial.loads(self.size)
            if burst.is_too_long(trial, loads):
                # the note is seen only where no shorter step could be taken
                note = f"t = {step.start.time:.4g} s: cracks that burst were held back, as no shorter step was solved"
                longest = burst.longest(trial)
                return Tear(trial.state, trial.derived, trial.iterations, note, is_stuck=True, longest=longest)
            ran = burst.ran_on(trial, loads)
            if ran is not None:
                trial, blocked, led = ran, set(), set()  # tips may be numbered anew
                step.last_cut.clear()
                continue
            most = [1.0 + (LED_TOLERANCE if k in led else TOLERANCE) for k in range(len(loads))]
            free = [k for k, load in enumerate(loads) if load.ratio > most[k] and k not in blocked]
            free = [k for k in free if not burst.bursts(trial, loads[k])]  # has run as far as it does
            if not free:
                place = self._weakest(trial, sound) if begins else None
                if place is None:
                    break
                sound.add(place.node)
                trial = self.begun(trial, place) or trial
                continue
            worst = max(free, key=lambda k: loads[k].ratio)
            others = [k for k in tips_apart(trial.state, worst, free, self.size) if k != worst]
            found = self.advanced(trial, worst, others, loads)
            if found is None:
                blocked.add(worst)
                stuck += loads[worst].straight[1] > 1.0 + TOLERANCE
            elif len(found.state.tips.node) < len(trial.state.tips.node):
                trial, blocked, led = found, set(), set()  # tips are numbered anew
                step.last_cut.clear()
            else:
                trial = found
                led = led | {worst} if self.tolerance(trial) > TOLERANCE else led
        else:
            return self._unfinished(trial, "cracks have not come to rest")
        trial = self._remembered(burst.slowed(trial))
        if not stuck:
            return _torn(trial)
        why = ", ".join(dict.fromkeys(step.refusals))
        return self._unfinished(trial, f"{stuck} crack(s) could not run on: {why}")

    def drawn_back(self, trial: Trial, led: dict[int, Led]) -> Trial:
        """Tips that were `led` too far back to where Γ = 1, or to where they were."""
        loads = {number: trial.load(number, self.size).straight for number in led}
        left = [number for number, (_, ratio) in loads.items() if ratio < 1.0 - LED_TOLERANCE]
        while left:
            together = tips_apart(trial.state, min(left, key=lambda k: loads[k][1]), left, self.size)
            tips = [self._led_tip(trial, k, led[k], loads[k][0]) for k in together]
            trial = Run(self.step, self.size, trial, tips).to_rest() or trial
            left = [k for k in left if k not in together]
        return trial

    def _led_tip(self, trial: Trial, number: int, led: Led, held: float) -> Moving:
        """A tip that was `led` too far, and is charged `held` R [N]."""
        fall, off = float(trial.state.tips.fall[number]), self.tolerance(trial)
        rest = Rest(1.0, led.length, led.length, led.least, fall, tolerance=off)
        return Moving(number, held, rest, led.length)

    def _unfinished(self, trial: Trial, why: str) -> Tear:
        note = f"t = {self.step.start.time:.4g} s: {why}"
        return _torn(trial, note, is_stuck=True)

    def _remembered(self, trial: Trial) -> Trial:
        """The trial whose tips know how fast their loads fall, and how far they are due to run."""
        tips = trial.state.tips
        fall = tips.fall.copy()
        for number, found in self.step.falls.items():
            if number < len(fall):
                fall[number] = found
        ratio = np.array([load.straight[1] for load in trial.loads(self.size)])
        due = np.log(np.maximum(ratio, TINY)) / np.where(fall > 0.0, fall, np.inf)
        return replace(trial, state=trial.state.replaced(tips=replace(tips, fall=fall, due=due)))

    def _weakest(self, trial: Trial, sound: set[int]) -> Weakness | None:
        """Where the sound sheet may begin to tear, apart from nodes that have been tried."""
        if len(sound) >= MOST_BEGINS:
            return None
        return weakest_place(trial.derived.model, trial.state, self.size, sound)

    def advanced(self, trial: Trial, worst: int, others: list[int], loads: list[Load]) -> Trial | None:
        """The tip `worst` moved on, None when it cannot be; `others` that only have to glide glide along."""
        load, size = loads[worst], self.size
        heading, behind = trial.state.tips.heading[worst], distance_behind(trial.state, worst)
        is_held = load.is_held and behind >= SHORTEST * size
        room = 0.0 if is_held else room_ahead(trial.state, worst, size)
        is_driven = load.straight[1] > 1.0 + TOLERANCE
        is_straight = float(load.direction @ heading) >= TURN
        if room > 0.0 and not is_driven and behind < LEAST_TURN * size:
            return None  # it waits until it is driven straight on, or this way is long enough to turn
        is_away = self.runs_away(trial, worst)
        if room > 0.0 and is_driven and (behind < SHORTEST * size or is_straight) and not is_away:
            first = room if is_straight else min(room, 2.0 * LEAST_ROOM * size)
            along = [k for k in others if _glides(trial.state, k, loads[k], size)]
            rooms = [first, *(room_ahead(trial.state, k, size) for k in along)]
            found = self.glided(trial, [worst, *along], [load, *(loads[k] for k in along)], rooms)
            if found is not None:
                return found
        if is_away:
            ran = [self.ran(trial, k) for k in range(len(loads))]
            strides = self.strides(worst, others, loads, ran)
            return self.opened(trial, {k: loads[k] for k in [worst, *others]}, strides)
        ties = [k for k in others if loads[k].ratio > TIE * load.ratio]
        return self.opened(trial, {k: loads[k] for k in [worst, *ties]}, {})

    def glided(self, trial: Trial, numbers: list[int], loads: list[Load], rooms: list[float]) -> Trial | None:
        """Tips moved along their headings to where Γ = 1, or as far as there is room [m]."""
        tips = []
        for number, load, room in zip(numbers, loads, rooms, strict=True):
            held, ratio = load.straight
            fall = self.step.falls.get(number, float(trial.state.tips.fall[number]))
            rest = Rest(ratio, self.first_distance(ratio, fall), room, tolerance=self.tolerance(trial))
            tips.append(Moving(number, held, rest))
        return Run(self.step, self.size, trial, tips).to_rest()

    def opened(self, trial: Trial, loads: dict[int, Load], strides: dict[int, float]) -> Trial | None:
        """Edges ahead of tips cut, in the directions of their `loads`, and the tips moved on together to where Γ = 1;
        None when the first cannot be cut. `strides` [m] of tips that run away.

        Tips that are loaded alike run together: if the first of them ran alone, it would unload the others, and the
        order in which they are numbered would decide which crack runs.
        """
        moving: list[Moving] = []
        first, count = trial, len(trial.state.tips.node)
        for number, load in loads.items():
            found = self.cut(trial, number, load, strides.get(number))
            if found is None:
                if trial is first:
                    return None
                continue
            trial, tip = found
            if len(trial.state.tips.node) != count:  # at a border: tips are numbered anew
                break
            moving += [] if tip is None else [tip]
        return trial if not moving else Run(self.step, self.size, trial, moving).to_rest() or trial

    def cut(self, trial: Trial, number: int, load: Load, stride: float | None) -> tuple[Trial, Moving | None] | None:
        """An edge cut ahead of a tip, and how the tip may move on from there; None when it cannot be cut. `stride` [m]
        of one that runs away."""
        state, tips, step, size = trial.state, trial.state.tips, self.step, self.size
        node = int(tips.node[number])
        # a tip that was cut on and is overloaded still, without room to glide, goes twice as far
        doubled = min(2.0 * step.last_cut.get(number, 0.0), PACE * step.pace)
        first = min(max(FIRST * size, self.first_distance(load.ratio), doubled), size) if stride is None else stride
        opening = open_ahead(state.mesh, node, load.direction, first=first, kept=kept_nodes(state))
        if opening is None:
            step.refusals.append("no edge ahead of it can be cut")
            return None
        step.last_cut[number] = opening.length
        work = state.fracture_work + load.resistance * opening.length
        cracks = Cracks(*gone_on(state, number, opening), work)
        found = step.kerfed(trial, opening, node, cracks)
        if found is None:
            return None
        if len(found.state.tips.node) < len(tips.node) or opening.is_fixed:
            return found, None
        if stride is not None and found.load(number, size).ratio > 1.0 + TOLERANCE:
            return found, None
        if found.load(number, size).straight[1] < SLACK and trial.stored - found.stored >= found.taken - trial.taken:
            return found, None  # the sheet has snapped, and has set free what this way takes
        return found, opened_tip(found.state, number, load, opening, size, self.tolerance(found))

    def tolerance(self, trial: Trial) -> float:
        """By how much Γ may be off 1 where tips come to rest: more where the next step leads them on or back."""
        return LED_TOLERANCE if can_lead(trial.derived.model, trial.state) else TOLERANCE

    def runs_away(self, trial: Trial, number: int) -> bool:
        """Whether the load of a tip does not fall as it runs: it has run far beyond what the hands have moved. Then it
        goes on in strides, and where Γ = 1 is not looked for until that is behind it. Both ends of a slit may do so
        together, as the length of the slit loads both; of cracks that face each other the longer one takes the load
        from the other, and strides would decide which of them runs."""
        if len(trial.state.tips.node) > 1 and not ends_of_one_slit(trial.state):
            return False
        return self.ran(trial, number) > AWAY * max(self.step.pace, self.size)

    def ran(self, trial: Trial, number: int) -> float:
        """How far a tip has run in this step [m]."""
        crack = int(trial.state.tips.crack[number])
        return trial.state.torn.length_of(crack) - self.step.start.torn.length_of(crack)

    def strides(self, worst: int, others: list[int], loads: list[Load], ran: list[float]) -> dict[int, float]:
        """How far the tip `worst` and `others` that are overloaded, too, go at once while they run away [m]; `ran` [m]:
        how far all have gone in this step.

        A crack is the faster the more it is overloaded: all run in the same time, the worst by an edge. Those that are
        loaded alike go to the same length, whatever the edges of the mesh have let them go before.
        """
        most = loads[worst].ratio
        alike = [k for k in [worst, *others] if loads[k].ratio > TIE * most]
        goal = max(ran[k] for k in alike) + self.size
        wanted = {k: self.size * (loads[k].ratio - 1.0) / (most - 1.0) for k in others}
        wanted |= {k: min(goal - ran[k], 2.0 * self.size) for k in alike}
        return {k: max(FIRST * self.size, wanted[k]) for k in [worst, *others]}

    def first_distance(self, ratio: float, fall: float = 0.0) -> float:
        """How far a tip may run that is loaded by `ratio` Γ [m]: until that has fallen to 1, if its `fall` [1/m] is
        known. When the hands move on, it runs about as far."""
        least = FIRST_GLIDE * self.size
        if ratio <= 1.0:
            return least
        wanted = min(1.0, log(ratio) / log(FAR)) * PACE * self.step.pace
        return min(2.0 * (1.0 - ratio**-0.5) / fall, max(least, wanted)) if fall > 0.0 else max(least, wanted)

    def begun(self, trial: Trial, weak: Weakness) -> Trial | None:
        """A crack at a weak place, as long as it has to be to set free the energy that it takes; None when the sheet is
        not overloaded all along such a way."""
        ratio, first = overload(trial.derived.model, trial.state), len(trial.state.tips.node)
        found = self.split(trial, weak)
        while found is not None:
            freed = trial.stored - found.stored
            if freed >= found.state.fracture_work - trial.state.fracture_work:
                return found
            place = longest_extension(found.state, trial.state, ratio, first)
            found = None if place is None else self.split(found, place)
        return None

    def split(self, trial: Trial, weak: Weakness) -> Trial | None:
        """A whole edge opened at a weak vertex: a tip runs on, or a crack begins there."""
        state, mesh = trial.state, trial.state.mesh
        opening = None
        for direction in (weak.direction, -weak.direction) if weak.tip < 0 else (weak.direction,):
            make = open_ahead if mesh.boundary_nodes[weak.node] else open_inside
            opening = opening or make(mesh, weak.node, direction, first=np.inf, kept=kept_nodes(state))
        if opening is None:
            return None
        toughness = state_toughness(trial.derived.model, state)
        vertex = node_vertex(mesh, weak.node)
        held = float(resistance(toughness, mesh, vertex, opening.heading[None], size=self.size)[0])
        tips, torn = begun_at(state, opening, weak.node) if weak.tip < 0 else gone_on(state, weak.tip, opening)
        cracks = Cracks(tips, torn, state.fracture_work + held * opening.length)
        return self.step.kerfed(trial, opening, weak.node, cracks)


def _glides(state: State, number: int, load: Load, size: float) -> bool:
    """Whether the tip `number` only has to run straight on."""
    is_driven = load.straight[1] > 1.0 + TOLERANCE
    is_straight = float(load.direction @ state.tips.heading[number]) >= TURN
    return is_driven and is_straight and room_ahead(state, number, size) > 0.0
