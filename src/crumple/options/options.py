"""What all options have in common: each is declared once, and checked as it is declared.

An option is a field of a dataclass. Its annotation says what it must be (`Quantity`, `Whole`, `Literal`, `bool`) and,
as a text, what it means:

    max_step: Annotated[float, Quantity("s", above=0, most=1e6), "Longest time step."] = 0.04

The table of a scene file with these options is a subclass (see `scenes.schema.scene`), so its keys, their validation,
their messages and their line in the scene reference all come from that one declaration.
"""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from crumple.options.quantities import Requirement
from crumple.runtime.errors import InputError


@dataclass(frozen=True)
class Options:
    """Options that belong together; what is wrong raises an InputError that names `section` and key."""

    section: ClassVar[str]

    def __post_init__(self) -> None:
        kind: Any = type(self)
        hints = _hints(kind)
        for field in fields(self):
            _require(f"{self.section}.{field.name}", getattr(self, field.name), hints[field.name])
        for key, remedy in self.conflicts():
            raise InputError(f"{self.section}.{key}", remedy, getattr(self, key))

    def conflicts(self) -> Iterator[tuple[str, str]]:
        """Keys whose values contradict others, each with what it must be."""
        yield from ()


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _require(place: str, value: Any, hint: Any) -> None:
    """Refuse a value that is not what its annotation says; what has no requirement is taken as it is."""
    if get_origin(hint) in (Union, types.UnionType):
        if value is not None or type(None) not in get_args(hint):
            _require(place, value, next(member for member in get_args(hint) if member is not type(None)))
    elif get_origin(hint) is Annotated:
        inner, *marks = get_args(hint)
        requirement = next((mark for mark in marks if isinstance(mark, Requirement)), None)
        if requirement is None:
            _require(place, value, inner)
        else:
            requirement.require(place, value)
    elif get_origin(hint) is Literal and value not in get_args(hint):
        raise InputError(place, f"must be one of {', '.join(map(repr, get_args(hint)))}", value)
    elif hint is bool and not isinstance(value, bool):
        raise InputError(place, "must be true or false", value)


def values(options: Options, kind: type[Options]) -> dict[str, Any]:
    """What `options` say of those that `kind` declares, by key."""
    return {field.name: getattr(options, field.name) for field in fields(kind)}


def meaning(hint: Any) -> str:
    """What an annotation says that its key means; "" if it says nothing."""
    if get_origin(hint) in (Union, types.UnionType):
        return next(filter(None, map(meaning, get_args(hint))), "")
    marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((mark for mark in marks if isinstance(mark, str)), "")
