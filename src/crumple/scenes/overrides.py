"""Overrides such as `sheets[0].material.thickness=1e-4`, applied to the tables of a scene before validation."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from crumple.runtime.errors import InputError
from crumple.scenes.messages import Path, one_line, place

_STEP = re.compile(r"(?:^|\.)([A-Za-z0-9_\-]{1,64})|\[(\d{1,9})\]")
_WORD = re.compile(r"[A-Za-z_/.~][\w./~\-]*")
_NOT_TEXT = {"true", "false", "inf", "nan"}


def parse_override(text: str) -> tuple[Path, Any]:
    """Key path and value of `path=value`; the value is TOML, and a bare word is a text."""
    key, equals, value = text.partition("=")
    if not equals:
        raise InputError("--set", "must have the form key=value", text)
    return parse_path(key.strip()), _parse_value(key.strip(), value.strip())


def parse_path(text: str) -> Path:
    """`sheets[0].material` as ("sheets", 0, "material")."""
    steps: list[str | int] = []
    position = 0
    while position < len(text):
        found = _STEP.match(text, position)
        if not found:
            break
        steps.append(found[1] if found[1] is not None else int(found[2]))
        position = found.end()
    if not steps or position < len(text) or isinstance(steps[0], int):
        raise InputError("--set", "must be a key path such as sheets[0].material.thickness", text)
    return tuple(steps)


def apply_overrides(tables: dict[str, Any], overrides: Sequence[tuple[Path, Any]], source: str) -> None:
    """Write the values into `tables`, making tables that are not there yet; `source` is what errors name."""
    for path, value in overrides:
        current: Any = tables
        for depth, (step, following) in enumerate(pairwise(path)):
            current = _descend(current, step, following, source, path[: depth + 1])
        if isinstance(path[-1], int):
            _check_index(current, path[-1], source, path)
        elif not isinstance(current, dict):
            raise InputError(place(source, path), "the key above is not a table")
        current[path[-1]] = value


def quick_overrides(quick: Any, source: str) -> list[tuple[Path, Any]]:
    """The overrides of a scene's `[quick]` table, whose keys are key paths."""
    if not isinstance(quick, Mapping):
        raise InputError(f"{source}: quick", "must be a table of key paths and values", type(quick).__name__)
    try:
        return [(parse_path(key), value) for key, value in quick.items()]
    except InputError as error:
        raise InputError(f"{source}: quick", one_line(error.remedy)) from None


def _parse_value(key: str, text: str) -> Any:
    if _WORD.fullmatch(text) and text not in _NOT_TEXT:
        return text
    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError) as error:
        remedy = f"the value is not TOML: {one_line(str(error), 80)}"
        raise InputError(f"--set {one_line(key, 80)}", remedy, text) from None
    if set(parsed) != {"value"}:
        raise InputError(f"--set {one_line(key, 80)}", "must be a single value", text)
    return parsed["value"]


def _descend(current: Any, step: str | int, following: str | int, source: str, path: Path) -> Any:
    """The table or list under `step`, made if a table is missing; a material given by name becomes a table."""
    if isinstance(step, int):
        _check_index(current, step, source, path)
    elif not isinstance(current, dict):
        raise InputError(place(source, path), "the key above is not a table")
    elif step not in current:
        if isinstance(following, int):
            raise InputError(place(source, (*path, following)), "there is no such entry, the list is empty")
        current[step] = {}
    below = current[step]
    if isinstance(below, str) and isinstance(following, str):
        below = current[step] = {"preset": below}
    return below


def _check_index(current: Any, index: int, source: str, path: Path) -> None:
    if not isinstance(current, list):
        raise InputError(place(source, path), "the key before the brackets is not a list")
    if index >= len(current):
        raise InputError(place(source, path), f"there is no such entry, the list has {len(current)}")
