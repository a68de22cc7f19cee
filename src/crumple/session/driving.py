"""Driven creases by hand: groups of creases, and how far each is folded."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.boundary.creases import FREE, SET, Crease
from crumple.model.model import Model
from crumple.runtime.errors import InputError

QUARTER = 0.5 * np.pi
"""What a crease folds by in its ramp [rad]."""


def driven_groups(model: Model) -> tuple[str, ...]:
    """Names of the creases that can be driven, each once: those with one name go together."""
    return tuple(dict.fromkeys(crease.name for crease in model.creases if _is_driven(crease)))


def fold_percent(model: Model, group: str, time: float) -> float:
    """How far a group is to be folded at `time` [s], in percent of its largest angles."""
    return 100.0 * max(crease.fraction_at(time) for crease in _members(model, group))


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
