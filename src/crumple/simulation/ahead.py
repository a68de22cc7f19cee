"""Cracks that are about to run are moved on before a step is solved, by about as far as they will run.

A crack that waits for the end of the step while the hands move on makes a stiff sheet taut, a hundred times above what
tearing takes: a state far from the one before and from the one after, which takes as long to find as it is of no use.
Where a crack was at rest with Γ near 1, the hands move on and it has room, it runs; how far is guessed, and corrected
after the solve, backwards too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from crumple.simulation.derived import Derived
from crumple.simulation.gliding import Moving, opened_tip
from crumple.simulation.tip_load import Load, state_toughness, tip_load, tip_size
from crumple.simulation.tips import SHORTEST, TURN, gone_on, kept_nodes, room_ahead, way_behind
from crumple.simulation.trials import Cracks, derive, intersects, kerfs, place, relaxed
from crumple.state import Change, State
from crumple.tearing.path import FIRST, glide_change, node_vertex, open_ahead
from crumple.tearing.rest import Rest
from crumple.typing import Floats

CRITICAL = 0.8
"""Γ at the start of a step from which on a crack is expected to run in it."""
CAUTION = 0.6
"""How far cracks run ahead, over how far they are expected to run: a sheet whose crack has run too far may snap, and
does not snap back when the crack is drawn back."""
PACE = 0.6
"""How far a crack runs, over how far the handles move, before anything is known of it."""
SLOWEST, FASTEST = 0.1, 2.0
"""How far a crack runs at least and at most, over how far the handles move, by what is remembered of it."""
FALL = 1.6
"""By how much log Γ falls along the way that a crack is expected to run in a step."""


@dataclass(frozen=True)
class Ahead:
    """A state whose cracks have run ahead, what is derived from it, and the `tips` that have, which may go back."""

    state: State
    derived: Derived
    tips: Sequence[Moving] = ()

    def with_tip(self, tip: Moving) -> Ahead:
        """The same with one more tip, which takes the place of what it was before."""
        return replace(self, tips=[*self.without_tip(tip.number).tips, tip])

    def without_tip(self, number: int) -> Ahead:
        """The same without the tip `number`, which must stay where it is."""
        return replace(self, tips=[tip for tip in self.tips if tip.number != number])


def run_ahead(state: State, derived: Derived, step: float) -> Ahead:
    """The state with its cracks moved on by about as far as they will run in a `step` [s]; itself where none will."""
    model, tearing = derived.model, derived.model.tearing
    ahead = Ahead(state, derived)
    if tearing is None or tearing.criterion != "griffith" or model.solver.mode != "static" or not len(state.tips.node):
        return ahead
    size, way = tip_size(model, state), CAUTION * (state.crack_pace or PACE) * hand_motion(state, derived, step)
    if way < FIRST * size:
        return ahead
    toughness = state_toughness(model, state)
    loads = [tip_load(state, derived, toughness, number, size, None) for number in range(len(state.tips.node))]
    for number, load in enumerate(loads):
        if load.ratio >= CRITICAL:
            ahead = _moved(ahead, number, load, way, size)
    return ahead


def hand_motion(state: State, derived: Derived, step: float) -> float:
    """How far the targets of the handles move at most in a step of `step` [s], [m]."""
    farthest, pins = 0.0, state.pins
    for index, handle in enumerate(derived.model.handles):
        held = pins.handle == index
        if held.any():
            anchor = pins.anchor[held]
            way = handle.target(state.time + step, anchor) - handle.target(state.time, anchor)
            farthest = max(farthest, float(np.linalg.norm(way, axis=1).max()))
    return farthest


def remember_pace(before: State, after: State, motion: float, *, was_expected: bool) -> State:
    """The state `after` a step that remembers how far its cracks have run since the one `before`, over the `motion` of
    the handles [m]; half of what it remembers is older.

    `was_expected`: cracks that have not run count too.
    """
    count, way = len(before.tips.node), after.torn.length() - before.torn.length()
    if not count or motion == 0.0 or not (way > 0.0 or was_expected):
        return after
    ran = way / (count * motion)
    return after.replaced(crack_pace=0.5 * ((before.crack_pace or PACE) + min(max(ran, SLOWEST), FASTEST)))


def _moved(ahead: Ahead, number: int, load: Load, way: float, size: float) -> Ahead:
    """The tip `number` moved on by about `way` [m], gliding, and by a cut where it has no room or turns."""
    left = way
    if float(load.direction @ ahead.state.tips.heading[number]) >= TURN:
        glided = _glided(ahead, number, load, way, size)
        if glided is not None:
            ahead, left = glided, way - glided.tips[-1].behind
    elif way_behind(ahead.state, number) < SHORTEST * size:
        return ahead
    if left < FIRST * size or room_ahead(ahead.state, number, size) > 0.0:
        return ahead
    return _cut(ahead, number, load, left, way, size) or ahead


def _glided(ahead: Ahead, number: int, load: Load, way: float, size: float) -> Ahead | None:
    """The tip moved straight on by `way` [m], or as far as it has room."""
    state, tips, mesh = ahead.state, ahead.state.tips, ahead.state.mesh
    room = room_ahead(state, number, size)
    if room == 0.0:
        return None
    vertex, first = node_vertex(mesh, int(tips.node[number])), min(way, room)
    target = mesh.u[vertex] + first * tips.heading[number]
    change = glide_change(mesh, vertex, target)
    if change is None:
        return None
    held = load.straight[0]
    cracks = Cracks(tips, state.torn.moved(target, int(tips.crack[number])), state.fracture_work + held * first)
    found = _placed(ahead, change, change.node_operator @ state.x, cracks, same_links=True)
    if found is None:
        return None
    return found.with_tip(Moving(number, held, Rest(1.0, first, room, fall=FALL / way, is_known=False), first))


def _cut(ahead: Ahead, number: int, load: Load, left: float, way: float, size: float) -> Ahead | None:
    """An edge ahead of the tip cut, about as long as what is `left` of the `way` [m]."""
    state, node = ahead.state, int(ahead.state.tips.node[number])
    opening = open_ahead(state.mesh, node, load.direction, first=min(left, size), kept=kept_nodes(state))
    if opening is None or opening.tip < 0:
        return None
    work = state.fracture_work + load.resistance * opening.length
    cracks = Cracks(*gone_on(state, number, opening), work)
    tried = (_placed(ahead, change, x, cracks, same_links=False) for change, x in kerfs(state, opening, node))
    found = next((one for one in tried if one is not None), None)
    if found is None or opening.is_fixed:
        return found and found.without_tip(number)
    return found.with_tip(opened_tip(found.state, number, load, opening, size, fall=FALL / way, is_known=False))


def _placed(ahead: Ahead, change: Change, x: Floats, cracks: Cracks, *, same_links: bool) -> Ahead | None:
    """The state on a changed mesh, not yet in balance; None when something intersects there."""
    placed = place(ahead.state, ahead.derived, change, x, cracks)
    fresh = derive(placed, ahead.derived, same_links=same_links)
    if intersects(placed, fresh, change.changed_nodes):
        return None
    return replace(ahead, state=relaxed(placed, fresh), derived=fresh.prepared())
