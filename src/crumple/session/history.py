"""The places that a session can go back to, and on again from there."""

from __future__ import annotations

from dataclasses import dataclass, field

from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.session.arguments import whole
from crumple.session.guidance import Body
from crumple.session.tuning import TUNING
from crumple.simulation.engine import Moment

KEPT_FACES = TUNING.kept_faces.value


@dataclass(frozen=True)
class Mark:
    """A place to go back to: the engine's moment, how bodies that were turned by hand are turned, (3, 3) each, and
    where hands have their points from the middles of their nodes, (3,) [m] each."""

    moment: Moment
    turns: dict[Body, Floats]
    offsets: dict[str, Floats]

    @property
    def faces(self) -> int:
        """Of its state."""
        return self.moment.state.mesh.face_count


@dataclass
class History:
    """Marks of the `past`, and of the `future` that was undone; the last of each is the nearest."""

    past: list[Mark] = field(default_factory=list)
    future: list[Mark] = field(default_factory=list)
    _faces: int = 0
    """Of all states of the past together."""

    def keep(self, mark: Mark) -> None:
        """Add a place to go back to; the oldest are forgotten when they are too large together."""
        self.past.append(mark)
        self.future.clear()
        self._faces += mark.faces
        while self._faces > KEPT_FACES and len(self.past) > 1:
            self._faces -= self.past.pop(0).faces

    def goal(self, place: str, count: int) -> Mark:
        """Where `count` steps back ("undo") or on again ("redo") lead."""
        return self.way(place, count)[-1]

    def way(self, place: str, count: int) -> list[Mark]:
        """The places that `count` steps back ("undo") or on again ("redo") lead through, where they lead to last."""
        source = self._source(place)
        steps = whole(f"{place}: count", count)
        if not 1 <= steps <= len(source):
            raise InputError(f"{place}: count", f"must be 1 to {len(source)}, as often as it can be done", count)
        return source[: -steps - 1 : -1]

    def go(self, place: str, count: int, here: Mark) -> None:
        """Take the steps from `here`, to which the way back is kept."""
        source, target = self._source(place), self.past if place == "redo" else self.future
        for _ in range(count):
            target.append(here)
            here = source.pop()
        self._faces = sum(mark.faces for mark in self.past)

    def _source(self, place: str) -> list[Mark]:
        return self.future if place == "redo" else self.past
