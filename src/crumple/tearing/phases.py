"""What tearing does in a frame: its phases in every step, and at the end.

Without tearing they do nothing, except that the lips of cuts that are made by hand part."""

from __future__ import annotations

from dataclasses import replace

from crumple.remeshing.adapting import Adapting
from crumple.stepping.advance import Advance
from crumple.stepping.bookkeeping import open_ledger
from crumple.stepping.step_control import first_attempt
from crumple.tearing.growth import solve_accuracy, tear
from crumple.tearing.leading import lead, remember_pace
from crumple.tearing.lips import grow_lips
from crumple.tearing.pieces import part_pieces
from crumple.tearing.tip_load import spare_tips


def lead_cracks(advance: Advance) -> Advance:
    """The step that begins with its running cracks where they are expected at its end."""
    model, state = advance.derived.model, advance.state
    if model.tearing is None or not len(state.tips.node):
        return advance
    with advance.derived.timer("tearing"):
        attempt = first_attempt(model.solver, state, advance.end - state.time, hold=False)
        led, derived = lead(state, advance.derived, attempt.step)
    if led is state:
        return advance
    led = led.replaced(ledger=open_ledger(state, advance.derived))
    plain = (state, advance.derived)
    return replace(advance, state=led, derived=derived, accuracy=solve_accuracy(led, derived), plain=plain)


def tear_sheets(advance: Advance) -> Advance:
    """The step after cracks have run as far as they do, with the work of that in its report; stuck when a crack is
    overloaded and cannot run on."""
    if advance.derived.model.tearing is None:
        return advance
    assert advance.step_path is not None  # the sheets have been moved
    with advance.derived.timer("tearing"):
        end = tear(advance.state, advance.derived, advance.step_path, advance.before)
        torn = end.booked(len(advance.step_path.stages), advance.report.step)
        torn = remember_pace(advance.before, torn, advance.report.step)
    found = advance.torn(torn, end.derived, end.noted(advance.report), is_stuck=end.is_stuck)
    return replace(found, longest=end.longest)


def spare_cracks(advance: Advance) -> Advance:
    """The step whose yielding around the tips of cracks is no fold."""
    model = advance.derived.model
    if model.tearing is None:
        return advance
    return replace(advance, state=spare_tips(advance.unyielded, advance.state, model))


def part_lips(adapting: Adapting) -> Adapting:
    """The end of a frame whose lips of cracks have gained thickness, and whose pieces are told apart."""
    model = adapting.derived.model
    if model.tearing is None and not len(adapting.state.torn.points):
        return adapting
    return replace(adapting, state=part_pieces(model, grow_lips(model, adapting.state)))
