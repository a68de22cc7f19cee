"""What tearing does in a frame: its phases in every step, and at the end. Without tearing they do nothing."""

from __future__ import annotations

from dataclasses import replace

from crumple.remeshing.adapting import Adapting
from crumple.stepping.advance import Advance
from crumple.tearing.growth import tear
from crumple.tearing.lips import grow_lips
from crumple.tearing.pieces import part_pieces
from crumple.tearing.tip_load import spare_tips


def tear_sheets(advance: Advance) -> Advance:
    """The step after cracks have run as far as they do, with the work of that in its report; stuck when a crack is
    overloaded and cannot run on."""
    if advance.derived.model.tearing is None:
        return advance
    assert advance.step_path is not None  # the sheets have been moved
    with advance.derived.timer("tearing"):
        end = tear(advance.state, advance.derived, advance.step_path)
    report = end.noted(advance.report)
    report = replace(report, energies=report.energies | {"fracture": end.state.fracture_work})
    return advance.torn(end.state, end.derived, report, is_stuck=end.is_stuck)


def spare_cracks(advance: Advance) -> Advance:
    """The step whose yielding around the tips of cracks is no fold."""
    model = advance.derived.model
    if model.tearing is None:
        return advance
    return replace(advance, state=spare_tips(advance.unyielded, advance.state, model))


def part_lips(adapting: Adapting) -> Adapting:
    """The end of a frame whose lips of cracks have gained thickness, and whose pieces are told apart."""
    model = adapting.derived.model
    if model.tearing is None:
        return adapting
    return replace(adapting, state=part_pieces(model, grow_lips(model, adapting.state)))
