"""Cracks that burst: in motion, tips that are overloaded many times over run on together, an edge at a time.

A sheet that is hit stores a thousand times what its cracks take. Nothing brings such a crack to rest where Γ = 1: it
runs as fast as waves let it, by Freund's law

    v = ½ c (1 − 1/Γ),    c² = C₃₃/(2ρ)

with half the speed c of shear waves in the sheet for the largest speed, as cracks branch from there on. So the place
where Γ = 1 is not looked for: every such tip is cut on by an edge, the step is solved once for all of them, as well as
any other step, and so on until they have run for as long as the step lasts, or the sheet has come apart. A tip that is
overloaded still runs on in the next step. Such steps are short: waves pass a few edges in them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf, sqrt

import numpy as np

from crumple.model.model import Model
from crumple.state import State
from crumple.tearing.path import Opening, open_ahead
from crumple.tearing.tip_load import Load
from crumple.tearing.tips import gone_on, kept_nodes
from crumple.tearing.trials import Cracks, Step, Trial
from crumple.tearing.tuning import TUNING

BURSTING = TUNING.bursting_load.value
FASTEST = TUNING.fastest_crack.value
LEAST = TUNING.bursting_stride.value
EDGES = TUNING.bursting_edges.value


def wave_speed(model: Model) -> float:
    """The speed of shear waves in the fastest of the sheets [m/s]."""
    return max(sqrt(0.5 * float(np.atleast_2d(one.membrane)[0, 3]) / one.density) for one in model.materials)


@dataclass
class Burst:
    """The cracks of a `step` that burst; `size` ℓ [m].

    Noted on the way, by the numbers of cracks: how far each has `run` [m], and which are `blocked` for this step; and
    how often they have been cut on, `rounds`.
    """

    step: Step
    size: float
    run: dict[int, float] = field(default_factory=dict)
    rounds: int = 0
    blocked: set[int] = field(default_factory=set)

    def bursts(self, trial: Trial, load: Load) -> bool:
        """Whether a tip with such a `load` bursts."""
        return not trial.stage.is_static and load.ratio > BURSTING

    def longest(self, trial: Trial) -> float:
        """The longest step in which cracks may burst [s]: they pass a few edges in it."""
        return max(EDGES * self.size / wave_speed(trial.derived.model), trial.derived.model.solver.min_step)

    def is_too_long(self, trial: Trial, loads: list[Load]) -> bool:
        """Whether cracks burst in a step that could be short enough to tell how, and is not."""
        solver, stage = trial.derived.model.solver, trial.stage
        is_long = solver.fixed_step is None and stage.time - stage.since > 1.5 * self.longest(trial)
        return is_long and not self.run and any(self.bursts(trial, load) for load in loads)

    def slowed(self, trial: Trial) -> Trial:
        """The trial after which steps stay short if cracks have burst in it."""
        if not self.run:
            return trial
        longest = min(trial.state.step_size, self.longest(trial))
        return replace(trial, state=trial.state.replaced(step_size=longest))

    def may_run(self, trial: Trial, loads: list[Load]) -> list[int]:
        """The cracks that burst and may run on in this step, those that are overloaded most first."""
        longest = FASTEST * wave_speed(trial.derived.model) * trial.stage.span
        found: list[tuple[float, int]] = []
        if self.rounds > EDGES:
            return []
        for crack, load in zip(trial.state.tips.crack.tolist(), loads, strict=True):
            left = longest * (1.0 - 1.0 / max(load.ratio, 1.0)) - self.run.get(crack, 0.0)
            if self.bursts(trial, load) and left > 0.0 and crack not in self.blocked:
                found.append((load.ratio, crack))
        return [crack for _, crack in sorted(found, reverse=True)]

    def ran_on(self, trial: Trial, loads: list[Load]) -> Trial | None:
        """The step with all cracks that burst cut on by an edge; None when none could be.

        Where the step cannot be solved with all of them, fewer are cut, those first that are overloaded most.
        """
        load_of = dict(zip(trial.state.tips.crack.tolist(), loads, strict=True))
        cracks = self.may_run(trial, loads)
        if cracks:
            self.step.accuracy = inf
        while cracks:
            placed, cut = self._cut_all(trial, cracks, load_of)
            found = self.step.solved_placed(placed) if cut else None
            if found is not None:
                for crack, length in cut.items():
                    self.run[crack] = self.run.get(crack, 0.0) + length
                self.rounds += 1
                return found
            if len(cut) < 2:
                self.blocked |= set(cut)
                cracks = [crack for crack in cracks if crack not in self.blocked]
            else:
                cracks = list(cut)[: len(cut) // 2]
        return None

    def _cut_all(self, trial: Trial, cracks: list[int], load_of: dict[int, Load]) -> tuple[Trial, dict[int, float]]:
        """The `cracks` cut on where they can be, nothing solved yet, and how far each has gone [m]."""
        cut: dict[int, float] = {}
        for crack in cracks:
            while cut.get(crack, 0.0) < LEAST * self.size and crack in trial.state.tips.crack:
                found = self._cut(trial, crack, load_of[crack])
                if found is None:
                    break
                trial, opening = found
                cut[crack] = cut.get(crack, 0.0) + opening.length
            if crack not in cut:
                self.blocked.add(crack)
        return trial, cut

    def _cut(self, trial: Trial, crack: int, load: Load) -> tuple[Trial, Opening] | None:
        """One crack cut on by an edge at most, its lips set apart; None when it cannot be."""
        state: State = trial.state
        number = int(np.argmax(state.tips.crack == crack))
        node = int(state.tips.node[number])
        opening = open_ahead(state.mesh, node, load.direction, first=self.size, kept=kept_nodes(state))
        if opening is None:
            return None
        work = state.fracture_work + load.resistance * opening.length
        placed = self.step.placed(trial, opening, node, Cracks(*gone_on(state, number, opening), work))
        return None if placed is None else (placed, opening)
