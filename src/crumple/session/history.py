"""The places that a session can go back to, and on again from there."""

from __future__ import annotations

from dataclasses import dataclass, field

from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.session.arguments import whole
from crumple.session.guidance import Body
from crumple.simulation.engine import Moment

KEPT_FACES = 100_000
"""Faces of all states together that a session keeps to go back to, about 100 MB: hundreds of small sheets, the last one
of a large sheet."""


@dataclass(frozen=True)
class Mark:
    """A place to go back to: the engine's moment, how bodies that were turned by hand are turned, (3, 3) each, and
    where hands have their points from the middles of their nodes, (3,) [m] each."""

    moment: Moment
    turns: dict[Body, Floats]
    offsets: dict[str, Floats]


@dataclass
class History:
    """Marks of the `past`, and of the `future` that was undone; the last of each is the nearest."""

    past: list[Mark] = field(default_factory=list)
    future: list[Mark] = field(default_factory=list)

    def keep(self, mark: Mark) -> None:
        """Add a place to go back to; the oldest are forgotten when they are too large together."""
        self.past.append(mark)
        self.future.clear()
        faces = 0
        for number, one in enumerate(reversed(self.past)):
            faces += one.moment.state.mesh.face_count
            if faces > KEPT_FACES and number > 0:
                del self.past[: len(self.past) - number]
                break

    def goal(self, place: str, count: int) -> Mark:
        """Where `count` steps back ("undo") or on again ("redo") lead."""
        source = self._source(place)
        steps = whole(f"{place}: count", count)
        if not 1 <= steps <= len(source):
            raise InputError(f"{place}: count", f"must be 1 to {len(source)}, as often as it can be done", count)
        return source[-steps]

    def go(self, place: str, count: int, here: Mark) -> None:
        """Take the steps from `here`, to which the way back is kept."""
        source, target = self._source(place), self.past if place == "redo" else self.future
        for _ in range(count):
            target.append(here)
            here = source.pop()

    def _source(self, place: str) -> list[Mark]:
        return self.future if place == "redo" else self.past
