"""What a command of a page may hold: each function returns a checked value, or raises an `InputError`.

Commands come from outside. Numbers are finite and not larger than a room, lists are short, names are known ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from crumple.runtime.errors import InputError
from crumple.runtime.numbers import is_finite_number
from crumple.runtime.typing import Floats
from crumple.session.arguments import vector

FARTHEST = 1e3
"""Largest coordinate [m]."""
MOST_POINTS = 128
"""Of a line that is drawn on a sheet."""
LONGEST_NAME = 200
"""Characters of a name."""
SHOWN = 80
"""Characters of a wrong value that are shown in a message."""

Command = Mapping[str, Any]


def hand_key(command: Command) -> str:
    """What a hand of a page is known by: its page and its number there."""
    return f"{command.get('page')}:{whole_number(command, 'hand')}"


def whole_number(command: Command, name: str, most: int = 2**31 - 1) -> int:
    """A whole number from 0 to `most`."""
    number = command.get(name)
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= most:
        raise InputError(name, f"must be a whole number from 0 to {most}", _shown(number))
    return number


def number_within(command: Command, name: str, least: float, most: float) -> float:
    """A number from `least` to `most`."""
    value = command.get(name)
    if not is_finite_number(value) or not least <= value <= most:
        raise InputError(name, f"must be a number from {least:g} to {most:g}", _shown(value))
    return float(value)


def name_within(command: Command, name: str) -> str:
    """A name that is not empty, of at most LONGEST_NAME characters."""
    value = command.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_NAME:
        raise InputError(name, f"must be a name of 1 to {LONGEST_NAME} characters", _shown(value))
    return value


def point(command: Command, name: str) -> Floats:
    """Three numbers, (3,) [m]; those that are too large are clipped."""
    values = command.get(name)
    if not isinstance(values, list) or len(values) != 3:
        raise InputError(name, "must be three finite numbers", _shown(values))
    return np.clip(vector(name, values), -FARTHEST, FARTHEST)


def velocity(command: Command, name: str, most: float) -> Floats:
    """Three numbers, (3,) [m/s], of at most the speed `most`."""
    values = point(command, name)
    speed = float(np.linalg.norm(values))
    return values if speed <= most else values * (most / speed)


def polyline(command: Command, name: str) -> Floats:
    """Points of a pattern, (n, 2) [m]: at least two, no two of them in a row the same."""
    listed = command.get(name)
    if not isinstance(listed, list) or not 2 <= len(listed) <= MOST_POINTS:
        count = len(listed) if isinstance(listed, list) else listed
        raise InputError(name, f"must be a list of 2 to {MOST_POINTS} points of the pattern", _shown(count))
    points = np.array([_pattern_point(name, one) for one in listed])
    different = np.append(True, np.any(np.diff(points, axis=0) != 0.0, axis=1))
    if different.sum() < 2:
        raise InputError(name, "all points are the same; draw a longer line")
    return points[different]


def _pattern_point(name: str, values: object) -> Floats:
    if not isinstance(values, list):
        raise InputError(name, "each point must be two finite numbers", _shown(values))
    return np.clip(vector(name, values, 2), -FARTHEST, FARTHEST)


def _shown(value: object) -> str:
    try:
        return str(value)[:SHOWN]
    except ValueError:  # Python refuses to print numbers of more than some thousand digits
        return "a very long number"
