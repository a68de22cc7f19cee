"""What was done in a session, so that it can be done again without hands, to the bit.

A script is a list of calls of the session's own methods with plain values: numbers that are written to a file and read
again are the same numbers. A call that ended in a `SimulationError` is in it as well: it fails again in the same way,
and leaves the same safe state behind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np

from crumple.recording.frame import state_digest
from crumple.runtime.errors import InputError
from crumple.runtime.reading import read_regular
from crumple.session.tape import Action, Tape
from crumple.state import State

VERSION = 1
MOST_BYTES = 256 * 1024**2
"""Size of the largest script that is read."""

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Script:
    """The actions of a session, first to last; the scene that it began with is not in it.

    `start`: the digest of the state that it began with, by which that scene is known again; empty: any will do.
    """

    actions: Sequence[Action]
    start: str = ""

    def save(self, path: str | Path) -> None:
        """Write it as JSON."""
        listed = ", ".join(json.dumps([one.method, one.arguments], allow_nan=False) for one in self.actions)
        text = f'{{"crumple_script": {VERSION}, "start": {json.dumps(self.start)}, "actions": [{listed}]}}'
        Path(path).write_text(text + "\n", encoding="utf-8")

    def check_start(self, state: State) -> None:
        """Refuse a state that is not the one that the script began with."""
        if self.start and self.start != state_digest(state):
            remedy = "was made with another scene, or the session is not at its start; reset() it, or give check=False"
            raise InputError("script", remedy)

    @classmethod
    def load(cls, path: str | Path) -> Script:
        """The script in a file; `InputError` when there is none."""
        place = str(path)
        try:
            read = json.loads(read_regular(path, MOST_BYTES))
        except OSError as error:
            raise InputError(place, f"cannot be read ({error.strerror or error})") from None
        except (ValueError, RecursionError):
            raise InputError(place, "is no script: not JSON") from None
        return cls.from_plain(read, place)

    @classmethod
    def from_plain(cls, read: object, place: str = "script") -> Script:
        """The script in what a JSON file holds."""
        if not isinstance(read, dict) or read.get("crumple_script") != VERSION:
            raise InputError(place, f'is no script of this version: "crumple_script" must be {VERSION}')
        actions, start = read.get("actions"), read.get("start", "")
        if not isinstance(start, str):
            raise InputError(place, '"start" must be the digest of a state')
        if not isinstance(actions, list):
            raise InputError(place, '"actions" must be a list')
        return cls(tuple(_action(entry, f"{place}: actions[{k}]") for k, entry in enumerate(actions)), start)


def _action(entry: object, place: str) -> Action:
    if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str) and isinstance(entry[1], dict):
        return Action(entry[0], entry[1])
    raise InputError(place, 'must be ["method", {arguments}]')


class Scripted(Protocol):
    """What keeps the actions that are done to it."""

    _actions: Tape
    _depth: int


S = TypeVar("S", bound=Scripted)
APART = ("self", "observers", "between")
"""Arguments that are not kept."""
GOALS = {"move": "hand", "set_handle": "name", "set_obstacle": "name"}
"""Methods that say where something is to go, and the argument that names it: of several in a row the last counts."""
METHODS: set[str] = set()
"""Names of all methods that scripts may call."""


def scripted(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """The method, which adds its calls to the session's actions, but not those that other such methods make.

    A call that was refused has changed nothing and is not kept; who watches is no part of what is done.
    """
    parameters, name = signature(method), method.__name__
    given = list(parameters.parameters.values())[1:]
    names = [one.name for one in given if one.kind is one.POSITIONAL_OR_KEYWORD]
    fewest = sum(one.default is one.empty for one in given)
    METHODS.add(name)

    @wraps(method)
    def kept(self: S, *positional: P.args, **named: P.kwargs) -> R:
        if self._depth:
            return method(self, *positional, **named)
        if named or not fewest <= len(positional) <= len(names):
            bound = parameters.bind(self, *positional, **named).arguments
        else:  # the same in a tenth of the time: live sessions call thousands of times in a minute
            bound = dict(zip(names, positional, strict=False))
        action = Action(name, {key: _plain(value) for key, value in bound.items() if key not in APART})
        self._actions.add(action)
        self._depth += 1
        try:
            done = method(self, *positional, **named)
        except InputError:
            self._actions.remove(action)
            raise
        finally:
            self._depth -= 1
        if name in GOALS and _is_same_goal(self._actions.before_last(), action):
            self._actions.drop_before_last()
        return done

    return kept


def _is_same_goal(before: Action | None, action: Action) -> bool:
    """Whether an action says anew where the same thing is to go as the one before it."""
    of = GOALS[action.method]
    return before is not None and before.method == action.method and before.arguments[of] == action.arguments[of]


def _plain(value: object) -> Any:
    """The value as JSON has it."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value
