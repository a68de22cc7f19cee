"""Results that are kept for the next time: of functions of things that never change, such as a mesh or a field of a
state, which are known again by being the very same objects. Bits cannot depend on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Equal:
    """A part of what a result depends on that is compared by its value."""

    __slots__ = ("value",)

    def __init__(self, value: object) -> None:
        self.value = value


class Remembered(Generic[Result]):
    """The last `most` results; what they were made of is kept alive with them."""

    def __init__(self, most: int = 4) -> None:
        self._most = most
        self._kept: tuple[tuple[tuple[object, ...], Result], ...] = ()

    def find(self, parts: tuple[object, ...], make: Callable[[], Result]) -> Result:
        """The result for these `parts`, made if it is not there. Numbers and tuples of numbers are no objects that can
        be known again: give them as `Equal`."""
        for known, result in self._kept:
            if len(known) != len(parts):
                continue
            for one, other in zip(known, parts, strict=True):  # a plain loop: it is asked dozens of times in a frame
                if one is other:
                    continue
                if one.__class__ is not Equal or other.__class__ is not Equal or one.value != other.value:
                    break
            else:
                return result
        made = make()
        self._kept = ((parts, made), *self._kept[: self._most - 1])  # one assignment: threads may share it
        return made
