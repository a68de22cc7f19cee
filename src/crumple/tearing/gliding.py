"""Tips glide to where Γ = 1: places are tried, each by solving the step again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from crumple.mesh.edit_glide import glide_room
from crumple.runtime.typing import Floats
from crumple.state import Change, State, Torn, no_change
from crumple.tearing.path import FIRST, Opening, compose, glide_change, node_vertex
from crumple.tearing.rest import Rest
from crumple.tearing.tip_load import Load
from crumple.tearing.trials import Cracks, Step, Trial
from crumple.tearing.tuning import TUNING

MOST_TRIALS = TUNING.glide_trials.value
SHRUNK = TUNING.drawn_back.value
REACH = TUNING.glide_extrapolation.value


@dataclass(frozen=True)
class Moving:
    """A tip on its way along its heading: its `number`, R that is `charged` on the way [N], where it comes to `rest`,
    and how much of the way lies `behind` it at the start [m]."""

    number: int
    charged: float
    rest: Rest
    behind: float = 0.0


class Way(NamedTuple):
    """How far the tip `number` goes along its heading, `distance` [m], and R that is `charged` for it [N]."""

    number: int
    charged: float
    distance: float


def glide_tips(state: State, change: Change, ways: list[Way]) -> tuple[Change, Torn, float] | None:
    """Tips of a `state` moved along their headings, on from a `change` of its mesh that keeps the numbers of vertices:
    the whole change, the paths, and what tearing has taken [J]; None when there is no room."""
    torn, work = state.torn, state.fracture_work
    for number, charged, distance in ways:
        vertex = node_vertex(state.mesh, int(state.tips.node[number]))
        target = state.mesh.u[vertex] + distance * state.tips.heading[number]
        glide = glide_change(change.mesh, vertex, target)
        if glide is None:
            return None
        change = compose(change, glide)
        torn = torn.moved(target, int(state.tips.crack[number]))
        work += charged * distance
    return change, torn, work


def opened_tip(state: State, number: int, load: Load, opening: Opening, size: float, tolerance: float) -> Moving:
    """The tip of a fresh cut in `state`, which may glide on and back, until Γ is off 1 by the `tolerance` at most."""
    vertex = node_vertex(state.mesh, opening.tip)
    room = opening.length + glide_room(state.mesh, vertex, opening.heading)
    room, least = min(room, max(size, opening.length)), least_cut(opening.length, size)
    rest = Rest(load.ratio, opening.length, room, least, float(state.tips.fall[number]), tolerance=tolerance)
    return Moving(number, load.resistance, rest, opening.length)


def least_cut(length: float, size: float) -> float:
    """How short a fresh cut of a `length` [m] may become when its tip is drawn back [m]; `size` ℓ [m]."""
    return min(length, (1.0 - SHRUNK) * FIRST * size)


@dataclass(frozen=True)
class Run:
    """Tips that glide together from the `base` trial on, or back where some of their way is behind them; `size` ℓ
    [m]."""

    step: Step
    size: float
    base: Trial
    tips: list[Moving]

    def to_rest(self) -> Trial | None:
        """The trial with all tips where Γ = 1, or as near to that as they come; None when they could not be moved."""
        is_open = any(tip.behind > 0.0 for tip in self.tips)
        found = self.base if is_open else self._next([])
        tried: list[tuple[float, Trial]] = []
        while found is not None and len(tried) < MOST_TRIALS:
            tried.append((self.tips[0].rest.distance, found))
            for tip in self.tips:
                if not tip.rest.is_done:
                    tip.rest.tried(found.load(tip.number, self.size).straight[1])
            self._remember()
            if all(tip.rest.is_done for tip in self.tips):
                break
            found = self._next(tried)
        return tried[-1][1] if tried else None

    def _remember(self) -> None:
        """Note how fast the loads fall."""
        for tip in self.tips:
            if tip.rest.fall > 0.0 and len(self.base.state.tips.node) == 1:  # several unload each other
                self.step.falls[tip.number] = tip.rest.fall

    def _next(self, tried: list[tuple[float, Trial]]) -> Trial | None:
        """The trial with the tips where they are tried next, after others; `tried`: ways of the first [m]."""
        last = tried[-1][1] if tried else self.base
        guess = None
        if len(tried) > 1 and len(self.tips) == 1:
            (a, p), (b, q) = tried[-2:]
            distance = self.tips[0].rest.distance
            if p.state.mesh.node_count == q.state.mesh.node_count and abs(distance - b) < REACH * abs(b - a):
                guess = q.state.x + (q.state.x - p.state.x) * ((distance - b) / (b - a))
        return self._glide(last, guess)

    def _glide(self, last: Trial, guess: Floats | None) -> Trial | None:
        """The tips moved along their headings to where they are tried, from where they were in the base, on from the
        `last` trial; `guess` (node_count, 3): where the sheet may be then."""
        state = self.base.state
        ways = [Way(tip.number, tip.charged, tip.rest.distance - tip.behind) for tip in self.tips]
        glide = glide_tips(state, no_change(last.state.mesh), ways)
        if glide is None:
            self.step.refusals.append("its tip has no room to glide")
            return None
        change, torn, work = glide
        x = change.node_operator @ last.state.x
        cracks = Cracks(state.tips, torn, work)
        return self.step.solved(last, change, np.asarray(x), cracks, same_links=True, guess=guess)
