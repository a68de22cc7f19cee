"""What was done in a session, in little memory: hours of dragging are hundreds of thousands of calls."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from crumple.session.tuning import TUNING

BLOCK = 128
"""Actions that are packed together."""
MOST_BYTES = TUNING.kept_script.value


@dataclass(frozen=True)
class Action:
    """The call of a method of the session, with its arguments by name."""

    method: str
    arguments: dict[str, Any]


class Tape(Sequence[Action]):
    """Actions in their order. All but the newest are packed: they come out as they were put in, to the bit.

    When they are larger than MOST_BYTES, all are forgotten and none is kept any more (`is_full`).
    """

    def __init__(self, actions: Iterable[Action] = ()) -> None:
        self._packed: list[bytes] = []
        self._newest: list[Action] = []
        self._bytes = 0
        self.is_full = False
        for action in actions:
            self.add(action)

    @property
    def packed_bytes(self) -> int:
        """Of what is packed."""
        return self._bytes

    def add(self, action: Action) -> None:
        """Put one more at the end."""
        if self.is_full:
            return
        self._newest.append(action)
        if len(self._newest) == 2 * BLOCK:
            self._pack()

    def remove(self, action: Action) -> None:
        """Take the last action away, if it is this one."""
        if self._newest and self._newest[-1] is action:
            self._newest.pop()

    def drop_before_last(self) -> None:
        """Take the action before the last one away: the last one undoes all that it did."""
        if len(self._newest) > 1:
            del self._newest[-2]

    def before_last(self) -> Action | None:
        """The action before the last one, if it is among the newest."""
        return self._newest[-2] if len(self._newest) > 1 else None

    def copy(self) -> Tape:
        """The same, to which nothing more is added; what is packed is shared."""
        other = Tape()
        other._packed, other._newest = list(self._packed), list(self._newest)
        other._bytes, other.is_full = self._bytes, self.is_full
        return other

    def __len__(self) -> int:
        return BLOCK * len(self._packed) + len(self._newest)

    def __iter__(self) -> Iterator[Action]:
        for block in self._packed:
            yield from _unpacked(block)
        yield from self._newest

    @overload
    def __getitem__(self, index: int) -> Action: ...

    @overload
    def __getitem__(self, index: slice) -> list[Action]: ...

    def __getitem__(self, index: int | slice) -> Action | list[Action]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(index)
        block, within = divmod(place, BLOCK)
        if block < len(self._packed):
            return _unpacked(self._packed[block])[within]
        return self._newest[place - BLOCK * len(self._packed)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(one == another for one, another in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def _pack(self) -> None:
        """Pack the older half of what is not packed."""
        plain = [(action.method, action.arguments) for action in self._newest[:BLOCK]]
        self._packed.append(zlib.compress(pickle.dumps(plain, 5), 1))
        self._bytes += len(self._packed[-1])
        del self._newest[:BLOCK]
        if self._bytes > MOST_BYTES:
            self._packed, self._newest, self._bytes, self.is_full = [], [], 0, True


def _unpacked(block: bytes) -> list[Action]:
    """The actions of a block; it never left this process."""
    return [Action(method, arguments) for method, arguments in pickle.loads(zlib.decompress(block))]


class Playback:
    """Actions that are still to be done, first to last; `len` tells how many."""

    def __init__(self, actions: Sequence[Action] = ()) -> None:
        self._coming, self._left = iter(actions), len(actions)

    def __len__(self) -> int:
        return self._left

    def take(self) -> Action:
        """The next one."""
        self._left -= 1
        return next(self._coming)
