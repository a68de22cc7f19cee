"""Driven creases by hand: groups of creases, and how far each is folded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.boundary.creases import FREE, SET, Crease
from crumple.model.model import Model
from crumple.runtime.errors import InputError
from crumple.state import State

SAME = 1e-9
"""Of a frame: times that differ by less are the same."""
QUARTER = 0.5 * np.pi
"""What a crease folds by in its ramp [rad]."""


def driven_groups(model: Model) -> tuple[str, ...]:
    """Names of the creases that can be driven, each once: those with one name go together."""
    return tuple(dict.fromkeys(crease.name for crease in model.creases if _is_driven(crease)))


def fold_percent(model: Model, group: str, time: float) -> float:
    """How far a group is to be folded at `time` [s], in percent of its largest angles."""
    return 100.0 * max(crease.fraction_at(time) for crease in _members(model, group))


def fold_goal(model: Model, group: str, time: float) -> float:
    """To how many percent of its largest angles a group was last driven by hand, or else is to be folded at `time`
    [s]."""
    members = _members(model, group)
    return 100.0 * max(float(one.fold[-1, 1]) if len(one.fold) else one.fraction_at(time) for one in members)


def drive_levels(model: Model, time: float) -> dict[str, tuple[float, float]]:
    """Every group of driven creases, how far it is to be folded at `time` [s] and where it goes by hand, in percent of
    its largest angles with one decimal, for sliders."""
    return {
        name: (round(fold_percent(model, name, time), 1), round(fold_goal(model, name, time), 1))
        for name in driven_groups(model)
    }


def is_driven_by_hand(model: Model) -> bool:
    """Whether a hand has driven creases."""
    return any(len(crease.fold) for crease in model.creases)


def refuse_before_drives(place: str, model: Model, state: State) -> None:
    """Refuse to go on from before creases were last driven by hand: what was wanted of them then is not recorded, and
    the run would be another one."""
    later = [one for one in model.creases if len(one.fold) and one.fold[0, 0] > state.time + SAME * model.frame_time]
    if later:
        when = max(float(one.fold[0, 0]) for one in later)
        names = ", ".join(dict.fromkeys(one.name for one in later))
        first = round(when / model.frame_time)
        remedy = f"creases were driven by hand after it ({names}, {when:.6g} s); go on from frame {first} or later"
        raise InputError(place, remedy, state.frame)


def drive_group(model: Model, group: str, percent: float, time: float) -> Model:
    """The model whose group goes from where it is at `time` [s] to `percent` of its largest angles, and stays there; a
    right angle takes the ramp of the crease."""
    goal = 0.01 * percent
    members = _members(model, group)
    span = max(abs(goal - one.fraction_at(time)) * one.largest_angle / QUARTER * one.ramp for one in members)
    is_member = [one.name == group and _is_driven(one) for one in model.creases]
    both = zip(model.creases, is_member, strict=True)
    return replace(model, creases=tuple(_driven(one, time, span, goal) if own else one for one, own in both))


def _driven(crease: Crease, time: float, span: float, goal: float) -> Crease:
    start = crease.fraction_at(time)
    fold = [[time, start], [time + span, goal]] if span > 0.0 else [[time, goal]]
    return replace(crease, fold=np.array(fold))


def _is_driven(crease: Crease) -> bool:
    return crease.drive not in (FREE, SET) and len(crease.labels) > 0 and crease.largest_angle > 0.0


def _members(model: Model, group: str) -> list[Crease]:
    found = [crease for crease in model.creases if crease.name == group and _is_driven(crease)]
    if not found:
        known = ", ".join(driven_groups(model)) or "no driven creases"
        raise InputError("drive: group", f"the scene has {known}", group)
    return found
