"""Cracks that run steadily run on before the sheets move, by as much as they did in the last steps.

A sheet whose hands move while its crack waits is stretched far beyond what tearing takes: Γ is 10 to 100 at the end of
a step in which the crack would have run by 2 mm, and both the solve that leads there and the one that leads back cost
more than all others. So the tip is put where it is expected at the end of the step, the step is solved once, and where
Γ is not 1 then, the tip glides on or back (`growth`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import numpy as np

from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.state import State, no_change
from crumple.tearing.gliding import Way, glide_tips, least_cut
from crumple.tearing.path import FIRST, open_ahead
from crumple.tearing.tip_load import Load, state_toughness, tip_load, tip_size
from crumple.tearing.tips import (
    SHORTEST,
    TURN,
    distance_behind,
    gone_on,
    kept_nodes,
    room_ahead,
)
from crumple.tearing.trials import Cracks, derive, intersects, kerfs, place
from crumple.tearing.tuning import TUNING

LEAST_LOAD = TUNING.led_load.value
MEMORY = TUNING.pace_memory.value
SHORTEST_LEAD = TUNING.shortest_lead.value


@dataclass(frozen=True)
class Led:
    """How far a tip was put ahead, `length` [m], and how near to its old place it may be drawn back, `least` [m]."""

    length: float
    least: float


def lead(state: State, derived: Derived, span: float) -> tuple[State, Derived]:
    """The state with its running tips where they are expected in `span` [s], and what is derived from it; the same
    objects when none is led."""
    model = derived.model
    if not can_lead(model, state) or not (state.tips.pace > 0.0).any():
        return state, derived
    size, toughness = tip_size(model, state), state_toughness(model, state)
    for number in np.flatnonzero(state.tips.pace > 0.0).tolist():
        load = tip_load(state, derived, toughness, number, size, None)
        state, derived = _led(state, derived, number, load, span, size)
        if len(state.tips.node) != len(derived.state.tips.node):
            break
    return state, derived


def can_lead(model: Model, state: State) -> bool:
    """Whether cracks are led: several decide among themselves which of them runs, and where to."""
    return model.solver.mode == "static" and len(state.tips.node) == 1


def _led(state: State, derived: Derived, number: int, load: Load, span: float, size: float) -> tuple[State, Derived]:
    """The same with one tip led: it glides as far as there is room, and the edge ahead of it is cut for the rest."""
    tips = state.tips
    wanted = expected(span * float(tips.pace[number]), load, float(tips.fall[number]))
    if load.ratio < LEAST_LOAD or wanted < SHORTEST_LEAD * size:
        return state, derived
    room = room_ahead(state, number, size)
    is_straight = float(load.direction @ tips.heading[number]) >= TURN
    if room > 0.0 and (is_straight or distance_behind(state, number) < SHORTEST * size):
        glided = wanted if wanted <= room else min(room, wanted - FIRST * size)
        found = _glided(state, derived, number, load, glided)
        if found is None:
            return state, derived
        (state, derived), wanted = found, wanted - glided
    if wanted < 0.5 * FIRST * size:
        return state, derived
    return _opened(state, derived, number, load, min(wanted, size)) or (state, derived)


def expected(distance: float, load: Load, fall: float) -> float:
    """How far a tip will run [m] that ran by `distance` [m] in the last steps, and is not quite at rest yet."""
    behind = log(load.straight[1]) / fall if load.straight[1] > 0.0 and fall > 0.0 else 0.0
    return distance + min(max(behind, -distance), 0.5 * distance)


def _glided(state: State, derived: Derived, number: int, load: Load, distance: float) -> tuple[State, Derived] | None:
    """The tip moved along its heading."""
    glide = glide_tips(state, no_change(state.mesh), [Way(number, load.straight[0], distance)])
    if glide is None:
        return None
    change, torn, work = glide
    led = place(state, derived, change, np.asarray(change.node_operator @ state.x), Cracks(state.tips, torn, work))
    led = led.replaced(half_turn=state.half_turn)
    found = derive(led, derived, same_links=True)
    return None if intersects(led, found, change.changed_nodes) else (led, found)


def _opened(state: State, derived: Derived, number: int, load: Load, distance: float) -> tuple[State, Derived] | None:
    """An edge ahead of the tip cut."""
    node = int(state.tips.node[number])
    opening = open_ahead(state.mesh, node, load.direction, first=distance, kept=kept_nodes(state))
    if opening is None or opening.tip < 0 or opening.is_fixed or opening.length > 1.5 * distance:
        return None
    cracks = Cracks(*gone_on(state, number, opening), state.fracture_work + load.resistance * opening.length)
    for change, x in kerfs(state, opening, node):
        led = place(state, derived, change, x, cracks)
        found = derive(led, derived, same_links=False)
        if not intersects(led, found, change.changed_nodes):
            return found.relaxed(led), found
    return None


def leads(before: State, state: State, size: float) -> dict[int, Led]:
    """How the tips of `state` were led, by their numbers; `before` that;  `size` ℓ [m]."""
    if state.torn is before.torn:
        return {}
    found = {}
    for number, crack in enumerate(state.tips.crack.tolist()):
        length = state.torn.length_of(crack) - before.torn.length_of(crack)
        behind = distance_behind(state, number)
        if length > 0.0:
            is_open = len(state.torn.path(crack)) > len(before.torn.path(crack))
            found[number] = Led(behind, least_cut(behind, size)) if is_open else Led(length, 0.0)
    return found


def remember_pace(before: State, state: State, span: float) -> State:
    """The state whose tips remember how fast they have run in the step of `span` [s] from the state `before` on, what
    they are due then less what they were due before included."""
    tips = state.tips
    if not len(tips.node):
        return state
    ran = np.array([state.torn.length_of(k) - before.torn.length_of(k) for k in tips.crack.tolist()])
    ran[~np.isfinite(ran)] = 0.0  # paths of a changed recording may be anywhere
    rows = zip(before.tips.crack.tolist(), before.tips.pace.tolist(), before.tips.due.tolist(), strict=True)
    known = {crack: (pace, due) for crack, pace, due in rows}
    old, due = np.array([known.get(k, (0.0, 0.0)) for k in tips.crack.tolist()]).T
    now = np.maximum(ran + tips.due - due, 0.0) / span
    pace = np.where((old > 0.0) & (now > 0.0), MEMORY * old + (1.0 - MEMORY) * now, now)
    return state.replaced(tips=replace(tips, pace=pace))
