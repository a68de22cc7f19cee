"""ARCSim's JSON: text into objects, and a reader of objects that remembers which keys were used."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import inf, isfinite
from pathlib import Path as FilePath
from typing import Any

from crumple.runtime.errors import InputError
from crumple.scenes.messages import Path, one_line, place, suggest
from crumple.scenes.text import read_text

_STRING = r'"(?:\\.|[^"\\\n])*"?'
"""A string, also one that does not end: a pattern that had to give it up would look for its end again and again."""
_COMMENT = re.compile(_STRING + r"|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMA = re.compile(_STRING + r"|,(?=\s*[\]}])", re.DOTALL)
_BRACKET = re.compile(_STRING + r"|[\[{\]}]", re.DOTALL)
"""Strings (left alone), with comments, commas before a closing bracket, or brackets."""
MOST_UNKNOWN = 30
"""Unknown keys of an object that are named; more are counted."""

MOST_DEPTH = 50
"""Brackets within brackets; scenes have less than ten."""


class Tables(dict[str, Any]):
    """Scene tables, with `notes` about what their file said in vain."""

    notes: tuple[str, ...] = ()


class Notes:
    """What has no meaning here, once per key whatever the number of sheets, handles … that have it."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def add(self, path: Path, text: str) -> None:
        """Note `text` about a key, unless this key has a note."""
        key = ".".join(step for step in path if isinstance(step, str))
        self.texts.setdefault(one_line(key, 120), text)

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(f"{key}: {text}" for key, text in self.texts.items())


class Entry:
    """A JSON object at a key path; a key that is never read gets a note when the entry is closed."""

    def __init__(self, record: Any, path: Path, label: str, notes: Notes) -> None:
        self.path, self.label, self.notes = path, label, notes
        if not isinstance(record, Mapping):
            raise self.error("must be an object { … }", record)
        self.record: Mapping[str, Any] = record
        self.known: set[str] = set()

    def error(self, remedy: str, *value: Any, key: str | int | None = None) -> InputError:
        """The InputError at this object or one of its keys."""
        path = self.path if key is None else (*self.path, key)
        return InputError(place(self.label, path), remedy, *(_short(v) for v in value))

    def _wrong(self, key: str, remedy: str) -> str:
        return remedy if key in self.record else "this key is missing"

    def has(self, key: str) -> bool:
        """Whether the key is there; from now on it is known."""
        self.known.add(key)
        return key in self.record

    def take(self, key: str, default: Any = None) -> Any:
        """The raw value of a key."""
        return self.record[key] if self.has(key) else default

    def number(self, key: str, default: float | None = None) -> float:
        """A number; JSON's infinities count as one too."""
        value = self.take(key, default)
        if not _is_number(value):
            raise self.error(self._wrong(key, "must be a number"), *_given(value), key=key)
        return _bounded(value)

    def optional_number(self, key: str) -> float | None:
        return self.number(key) if self.has(key) else None

    def whole(self, key: str, default: int | None = None) -> int:
        """A whole number, also when written 3.0."""
        value = self.number(key, default)
        if not isfinite(value) or value != int(value) or abs(value) > 2**31:
            raise self.error("must be a whole number", value, key=key)
        return int(value)

    def text(self, key: str, default: str | None = None) -> str:
        value = self.take(key, default)
        if not isinstance(value, str):
            raise self.error(self._wrong(key, "must be a text"), *_given(value), key=key)
        return value

    def vector(self, key: str, size: int, default: list[float] | None = None) -> list[float]:
        """A list of `size` numbers."""
        value = self.take(key, default)
        if not isinstance(value, list) or len(value) != size or not all(map(_is_number, value)):
            raise self.error(self._wrong(key, f"must be a list of {size} numbers"), *_given(value), key=key)
        return [_bounded(number) for number in value]

    def items(self, key: str) -> list[Any]:
        """A list, empty if the key is not there."""
        value = self.take(key, [])
        if not isinstance(value, list):
            raise self.error("must be a list", value, key=key)
        return value

    def entry(self, key: str) -> Entry:
        """The object under a key, empty if it is not there."""
        return Entry(self.take(key, {}), (*self.path, key), self.label, self.notes)

    def entries(self, key: str) -> list[Entry]:
        """The objects in a list."""
        return [Entry(one, (*self.path, key, k), self.label, self.notes) for k, one in enumerate(self.items(key))]

    def ignore(self, key: str, reason: str) -> None:
        """Note that a key has no effect, if it is there."""
        if self.has(key):
            self.notes.add((*self.path, key), reason)

    def close(self) -> None:
        """Note every key that was not read."""
        unknown = [key for key in self.record if key not in self.known]
        known = sorted(self.known)
        for key in unknown[:MOST_UNKNOWN]:
            hint = suggest(key, known).partition("; known here")[0]
            self.notes.add((*self.path, key), f"unknown, ignored{hint}")
        if len(unknown) > MOST_UNKNOWN:
            self.notes.add((*self.path, "…"), f"{len(unknown) - MOST_UNKNOWN} more unknown keys, ignored")


def parse_json(text: str, label: str) -> Any:
    """The value in a JSON text that may have comments and commas before closing brackets; errors name the line."""
    plain = _COMMA.sub(_blank, _COMMENT.sub(_blank, text))
    depth = deepest = 0
    for bracket in _BRACKET.findall(plain):
        depth += (bracket in "[{") - (bracket in "]}")
        deepest = max(deepest, depth)
    if deepest > MOST_DEPTH:
        raise InputError(label, "values are nested too deeply")
    try:
        return json.loads(plain)
    except json.JSONDecodeError as error:
        spot = f"{label}: line {error.lineno}, column {error.colno}"
        raise InputError(spot, one_line(f"is not JSON: {error.msg}", 200)) from None
    except (ValueError, RecursionError) as error:
        raise InputError(label, one_line(f"is not JSON: {error}", 200)) from None


def read_json(path: FilePath, label: str) -> Any:
    """The value in a JSON file."""
    return parse_json(read_text(path, label), label)


def _blank(match: re.Match[str]) -> str:
    """A token as it is, comments and superfluous commas as blanks that keep lines and columns."""
    token = match[0]
    return token if token.startswith('"') else re.sub(r"[^\n]", " ", token)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _bounded(value: float) -> float:
    """A number that arithmetic can take: whole ones beyond 64 bits become infinite, which every table refuses."""
    if isinstance(value, int) and abs(value) >= 2**63:
        return inf if value > 0 else -inf
    return value


def _given(value: Any) -> tuple[Any, ...]:
    return () if value is None else (value,)


def _short(value: Any) -> Any:
    """A value whose `repr` fits in a line and cannot fail."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) < 10**18 else float("inf")
    return value if isinstance(value, float | bool) else one_line(str(value)[:200], 80)
