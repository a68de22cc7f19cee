"""Tables without what is wrong in them, so that the rest can be checked in the same pass."""

from __future__ import annotations

import copy
from typing import Any

from pydantic import ValidationError

from crumple.scenes.messages import Path, table_path
from crumple.scenes.schema.scene import Scene

MOST_ROUNDS = 20
"""Removing one thing can uncover another; a scene that is wrong after so many rounds is not looked at further."""
_REFERRED = ("sheets", "obstacles", "motions")
"""Tables whose entries others name."""


def prune(tables: dict[str, Any], context: dict[str, str]) -> Scene | None:
    """The scene without its wrong keys, or None when what is left would give messages that mislead.

    A wrong key is removed, and where the key is needed the list entry that it belongs to. When an entry that others may
    name is gone, or a scene has no sheet left, checking the rest would find faults that are none.
    """
    tables = copy.deepcopy(tables)
    tables.pop("quick", None)
    for _ in range(MOST_ROUNDS):
        try:
            return Scene.model_validate(tables, context=context)
        except ValidationError as error:
            removed = [_remove(tables, table_path(found["loc"], Scene), found["type"]) for found in error.errors()]
            if not all(removed):
                return None
    return None


def _remove(tables: dict[str, Any], path: Path, kind: str) -> bool:
    """Take the value at `path` out of the tables; whether the rest can still be judged."""
    if kind == "missing":
        path = path[:-1]
    while path:
        holder = _holder(tables, path)
        if len(path) == 2 and path[0] in _REFERRED:
            return False
        if isinstance(holder, dict) and path[-1] in holder:
            del holder[path[-1]]
            return True
        if isinstance(holder, list) and isinstance(path[-1], int) and path[-1] < len(holder):
            return False  # the others would change their numbers
        path = path[:-1]
    return False


def _holder(tables: Any, path: Path) -> Any:
    """The table or list that has the last step of a path as its key, or None."""
    for step in path[:-1]:
        try:
            tables = tables[step]
        except (KeyError, IndexError, TypeError):
            return None
    return tables
