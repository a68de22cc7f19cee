"""The unit of a key of a scene file, found in its declaration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel

from crumple.options.quantities import Quantity
from crumple.scenes.overrides import parse_path
from crumple.scenes.quantities import Vector
from crumple.scenes.schema.scene import Scene


def key_unit(key: str) -> str:
    """The unit of a key such as `sheets[0].material.thickness`, "" for a number without one and for what is none.

    Where the key stands in tables of several kinds (shapes), that of the first kind that has it.
    """
    hints: list[Any] = [Scene]
    for part in parse_path(key):
        hints = [inner for hint in hints for inner in _inside(hint, part)]
    return next((unit for hint in hints for unit in _units(hint)), "")


def _inside(hint: Any, part: str | int) -> Iterator[Any]:
    """What stands at `part`, a key or a place in a list, of what has the type `hint`."""
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        if isinstance(part, str) and part in hint.model_fields:
            yield hint.model_fields[part].rebuild_annotation()
        return
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is list and isinstance(part, int):
        yield arguments[0]
    elif origin is dict and isinstance(part, str):
        yield arguments[1]
    elif origin is Annotated and isinstance(part, int) and any(isinstance(mark, Vector) for mark in arguments[1:]):
        yield hint
    else:
        for argument in arguments:
            yield from _inside(argument, part)


def _units(hint: Any) -> Iterator[str]:
    """Units in the marks of an annotation."""
    for mark in get_args(hint):
        if isinstance(mark, Quantity):
            yield mark.unit
        elif isinstance(mark, Vector):
            yield mark.component.unit
        elif get_args(mark):
            yield from _units(mark)
