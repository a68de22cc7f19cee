"""What a sweep varies: `key=a,b,c` is a list, `key=lo:hi:n` and `key=lo:hi:n:log` are grids, and `key=lo:hi[:log]` is a
range from which values are drawn."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tomli_w

from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.scenes.overrides import parse_override

MOST_VALUES = 100_000
"""Of one key."""
DIGITS = 12
"""Significant digits of the numbers in a grid, so that 0.1:0.4:4 has 0.3 and not 0.30000000000000004."""
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_RANGE = re.compile(rf"({NUMBER}):({NUMBER})(?::(\d{{1,9}}))?(?::(log))?")
_OPENING, _CLOSING = "[{", "]}"


@dataclass(frozen=True)
class Axis:
    """A `key` of the scene, and either the texts of its `values`, as `--set` takes them, or a range to draw from."""

    key: str
    values: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0
    log: bool = False

    def at(self, share: float) -> str:
        """The text of the value at a fraction in [0, 1) of the range, or of the list."""
        if self.values:
            return self.values[int(share * len(self.values))]
        if self.log:
            return number_text(float(np.exp(np.log(self.low) + share * (np.log(self.high) - np.log(self.low)))))
        return number_text(self.low + share * (self.high - self.low))


def parse_axis(text: str, *, sampled: bool) -> Axis:
    """The axis that a text after `--vary` describes; `sampled`: values are drawn from it, so it may be a range."""
    key, equals, given = (part.strip() for part in text.partition("="))
    if not equals or not key:
        raise InputError("--vary", "must have the form key=a,b,c or key=lo:hi:n or key=lo:hi:n:log", text)
    if not given:
        raise InputError(f"--vary {key}", "names no value; give a list a,b,c or a range lo:hi:n")
    found = _RANGE.fullmatch(given)
    if found:
        return _range(key, given, found, sampled)
    if re.fullmatch(r"[^\[{\"',]*:[^\[{\"',]*", given):
        raise InputError(f"--vary {key}", "a range is lo:hi:n or lo:hi:n:log with two numbers and a count", given)
    values = tuple(part.strip() for part in _split(given))
    if not all(values):
        raise InputError(f"--vary {key}", "has an empty value between two commas", given)
    return _listed(key, values)


def axis_text(key: str, values: str | Sequence[Any]) -> str:
    """The text that `--vary` takes, from what a Python program gives: such a text, or a list of values."""
    if isinstance(values, str):
        return f"{key}={values}"
    if isinstance(values, Mapping) or not isinstance(values, Sequence | np.ndarray):
        raise InputError(f"vary {key}", "must be a list of values or a range such as '0.1:0.5:5'", values)
    if not len(values):
        raise InputError(f"--vary {key}", "names no value; give a list a,b,c or a range lo:hi:n")
    return f"{key}={','.join(_toml(key, value) for value in values)}"


def _range(key: str, given: str, found: re.Match[str], sampled: bool) -> Axis:
    low, high, count, log = float(found[1]), float(found[2]), found[3], found[4] is not None
    if not np.isfinite([low, high]).all():
        raise InputError(f"--vary {key}", "both ends must be finite", given)
    if log and not low > 0.0:
        raise InputError(f"--vary {key}", "a logarithmic range needs numbers above 0", given)
    if sampled:
        if count is not None:
            raise InputError(f"--vary {key}", "values are drawn (--sample), so the range is lo:hi or lo:hi:log", given)
        if not low < high:
            raise InputError(f"--vary {key}", "the range is empty: its first number must be below its second", given)
        return Axis(key, low=low, high=high, log=log)
    if count is None:
        raise InputError(f"--vary {key}", "how many values? a grid is lo:hi:n; --sample draws from lo:hi", given)
    if not 1 <= int(count) <= MOST_VALUES:
        raise InputError(f"--vary {key}", f"the range is empty or too long: 1 to {MOST_VALUES} values", given)
    if int(count) > 1 and not low < high:
        raise InputError(f"--vary {key}", "the range is empty: its first number must be below its second", given)
    grid = np.geomspace(low, high, int(count)) if log else np.linspace(low, high, int(count))
    whole = all(re.fullmatch(r"[+-]?\d+", found[k]) for k in (1, 2)) and not log
    return _listed(key, _grid_texts(grid, whole))


def _grid_texts(grid: Floats, whole: bool) -> tuple[str, ...]:
    """The values as texts; whole numbers stay whole, for keys that take no others."""
    if whole and bool(np.all(grid == np.round(grid))):
        return tuple(str(int(value)) for value in grid)
    return tuple(number_text(float(value)) for value in grid)


def _listed(key: str, values: tuple[str, ...]) -> Axis:
    """The list, each value of which must be TOML and there once."""
    known: dict[str, str] = {}
    for value in values:
        try:
            parsed = parse_override(f"{key}={value}")[1]
        except InputError as error:
            raise InputError(f"--vary {key}", error.remedy, value) from None
        same = repr(float(parsed)) if isinstance(parsed, int | float) and not isinstance(parsed, bool) else repr(parsed)
        if same in known:
            raise InputError(
                f"--vary {key}", f"the same value is there twice ({known[same]} and {value}); give it once"
            )
        known[same] = value
    return Axis(key, values)


def _split(text: str) -> list[str]:
    """The parts between the commas that are not inside of brackets or quotes."""
    parts, depth, quote = [""], 0, ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign == "," and depth == 0:
            parts.append("")
            continue
        depth += 0 if quote else (sign in _OPENING) - (sign in _CLOSING)
        parts[-1] += sign
    return parts


def number_text(value: float) -> str:
    """The number as a text, with a point or an exponent, so that TOML reads it as the same number."""
    return repr(float(f"{value:.{DIGITS}g}"))


def _toml(key: str, value: Any) -> str:
    """A value as TOML on one line."""
    plain = value.tolist() if isinstance(value, np.generic | np.ndarray) else value
    try:
        return " ".join(tomli_w.dumps({"v": plain}).partition("=")[2].split())
    except (TypeError, ValueError) as error:
        raise InputError(f"vary {key}", f"is no value of a scene ({error})", value) from None
