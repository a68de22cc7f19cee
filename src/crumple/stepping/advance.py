"""A time step with all that it leaves behind, phase after phase.

A phase takes a step as far as the phases before have brought it, and brings it further: the first moves the sheets,
others let them tear, yield, or follow, the last adds up what has happened. One that cannot finish its work, but could
after a shorter step, says so with `is_stuck`: then the whole step is taken again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf

from crumple.model.derived import Derived
from crumple.runtime.errors import SimulationError
from crumple.state import State
from crumple.stepping.bookkeeping import book_motion, close_ledger, open_ledger
from crumple.stepping.integration import StepPath
from crumple.stepping.losses import yield_losses
from crumple.stepping.parting import part_contacts
from crumple.stepping.pulling import handle_loads, handle_pulls, obstacle_pulls
from crumple.stepping.reports import StepReport
from crumple.stepping.settling import settle
from crumple.stepping.step import measure_energies, take_step
from crumple.stepping.tuning import TUNING

SHORTENINGS = TUNING.stuck_halvings.value


@dataclass(frozen=True)
class Advance:
    """A step from the state `before`, which does not pass `end` [s], as far as it has come: its `state`, what is
    derived from the mesh of that, and its `report`.

    `accuracy` [J]: the energy by which its solves may be off at most, if that is asked for;
    `moved`: at the end of the step, nothing torn or yielded;  `unyielded`: nothing yielded;  `step_path`: what the
    solve went through;  `is_stuck`: a phase could not finish, but may be able to after a shorter step;
    `longest` [s]: the step is too long for what has happened in it, and means nothing;  `plain`: the state with which
    the sheets set out, and what is derived from it, where a phase has changed that in advance: a step that fails is
    taken from there.
    """

    before: State
    end: float
    state: State
    derived: Derived
    report: StepReport
    moved: State
    unyielded: State
    step_path: StepPath | None = None
    is_stuck: bool = False
    accuracy: float = inf
    longest: float = inf
    plain: tuple[State, Derived] | None = None

    def torn(self, state: State, derived: Derived, report: StepReport, *, is_stuck: bool) -> Advance:
        """The step with another mesh and another state before anything yields."""
        return replace(self, state=state, unyielded=state, derived=derived, report=report, is_stuck=is_stuck)

    @property
    def is_too_long(self) -> bool:
        """Whether the step must be taken again, shorter."""
        return self.longest < inf


Phase = Callable[[Advance], Advance]
"""What a step goes through; the same object where there is nothing to do."""


def advance_through(phases: Sequence[Phase], state: State, derived: Derived, end: float) -> Advance:
    """The step from `state` towards `end` [s] after all `phases`.

    A step that is stuck is taken again, shorter, a few times; if that does not help, the first attempt counts that was
    not too long.
    """
    solver = derived.model.solver
    state = part_contacts(state, derived)
    tried = [_attempt(phases, state, derived, end)]
    while tried[-1].is_stuck and len(tried) <= SHORTENINGS and solver.fixed_step is None:
        shorter = min(0.5 * tried[-1].report.step, tried[-1].longest)
        if shorter < solver.min_step:
            break
        try:
            tried.append(_attempt(phases, state.replaced(step_size=shorter), derived, end))
        except SimulationError:
            break  # the attempt before could be taken
    counting = [one for one in tried if not one.is_too_long] or tried
    found = counting[0] if tried[-1].is_stuck else tried[-1]
    iterations = sum(one.report.iterations for one in tried)
    report = replace(found.report, iterations=iterations, retries=found.report.retries + len(tried) - 1)
    return replace(found, report=report)


def _attempt(phases: Sequence[Phase], state: State, derived: Derived, end: float) -> Advance:
    """The step after all phases, once."""
    blank = StepReport(state.time, 0.0, 0, 0, float("inf"), {}, 0.0)
    advance = Advance(state, end, state, derived, blank, moved=state, unyielded=state)
    for phase in phases:
        advance = phase(advance)
    return advance


def move_sheets(advance: Advance) -> Advance:
    """The step with its sheets and obstacles moved."""
    before, is_plain = advance.state, advance.plain is None
    try:
        moved, report, step_path = take_step(
            before, advance.derived, advance.end, accuracy=advance.accuracy, once=not is_plain
        )
    except SimulationError as error:
        if advance.plain is not None:
            state, derived = advance.plain
            return move_sheets(replace(advance, state=state, derived=derived, accuracy=inf, plain=None))
        raise SimulationError(f"frame {before.frame + 1}, t = {before.time:.6g} s: {error}") from None
    ledger = book_motion(open_ledger(before, advance.derived), step_path, advance.derived, report.step)
    moved = moved.replaced(ledger=ledger)
    return replace(advance, state=moved, moved=moved, unyielded=moved, report=report, step_path=step_path)


def yield_sheets(advance: Advance) -> Advance:
    """The step after what it has bent and stretched too far has yielded."""
    with advance.derived.timer("plasticity"):
        return replace(advance, state=settle(advance.state, advance.derived, advance.report.step))


def sum_up(advance: Advance) -> Advance:
    """The step with its energies, with what handles and obstacles have done and what has yielded in its report, and
    with its ledger."""
    state, derived, report = advance.state, advance.derived, advance.report
    model = derived.model
    report = replace(
        report,
        energies=measure_energies(state, derived) | report.energies,  # those of contact were found in the solve
        handles=handle_pulls(model, advance.before, advance.moved, state),
        obstacles=obstacle_pulls(model, advance.before, advance.moved, state),
        losses=yield_losses(advance.unyielded, state, derived),
    )
    ledger = close_ledger(advance.before, state, derived, report)
    state = state.replaced(handle_load=handle_loads(model, state), ledger=ledger)
    return replace(advance, state=state, report=replace(report, ledger=ledger.entries()))
