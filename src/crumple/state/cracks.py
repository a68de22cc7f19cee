"""Cracks of a state: the tips at which they end, and the paths that they have torn."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from crumple.runtime.typing import Bools, Floats, Ints
from crumple.state.change import Change


def _nothing() -> Floats:
    return np.zeros(0)


@dataclass(frozen=True)
class Tips:
    """Ends of cracks inside the sheets, which may run on.

    `node` (k,), a node on the boundary whose two lips meet there;  `heading` (k, 2) unit vector on the pattern, the way
    that the crack runs;  `last` (k, 2) [m] the vertex of the path behind the tip, where both lips have a node;
    `crack` (k,) number of the crack that it belongs to.

    What is remembered for the next step, 0 where nothing is known: `pace` (k,) [m/s], how fast the crack runs on,
    `fall` (k,) [1/m], by how much the logarithm of its load falls per length that it runs, and `due` (k,) [m], how far
    it had still to run when the step ended, below 0 where it had run too far.
    """

    node: Ints
    heading: Floats
    last: Floats
    crack: Ints
    pace: Floats = field(default_factory=_nothing)
    fall: Floats = field(default_factory=_nothing)
    due: Floats = field(default_factory=_nothing)

    def __post_init__(self) -> None:
        for name in ("pace", "fall", "due"):
            if len(getattr(self, name)) != len(self.node):
                object.__setattr__(self, name, np.zeros(len(self.node)))

    @property
    def nodes_needed(self) -> Ints:
        return self.node

    def shifted(self, nodes: int) -> Tips:
        """The same with `nodes` added to all node numbers."""
        return replace(self, node=(self.node + nodes).astype(np.int32))

    def follow(self, change: Change) -> Tips:
        """The tips after a change that kept their nodes; those whose node has gone are dropped."""
        if not len(self.node):
            return self
        where = change.node_map[self.node]
        kept = where >= 0
        return replace(self.chosen(kept), node=where[kept])

    def chosen(self, rows: Bools) -> Tips:
        """Those of the tips that are marked in `rows` (k,)."""
        return Tips(**{name: value[rows] for name, value in vars(self).items()})


def make_tips(node: Ints, heading: Floats, last: Floats, crack: Ints) -> Tips:
    """Tips with arrays of the right kinds and headings of unit length; see `Tips`."""
    heading = np.asarray(heading, np.float64).reshape(-1, 2)
    return Tips(
        np.ascontiguousarray(node, np.int32),
        heading / np.linalg.norm(heading, axis=1, keepdims=True),
        np.ascontiguousarray(last, np.float64).reshape(-1, 2),
        np.ascontiguousarray(crack, np.int32),
    )


def no_tips() -> Tips:
    """Nothing is torn."""
    return Tips(np.zeros(0, np.int32), np.zeros((0, 2)), np.zeros((0, 2)), np.zeros(0, np.int32))


@dataclass(frozen=True)
class Torn:
    """The paths of all cracks on the pattern: `points` (m, 2) [m] in the order in which they were torn, the last of a
    crack being where its tip is; `crack` (m,) which one each belongs to; `sheet` (m,) in which sheet it is."""

    points: Floats
    crack: Ints
    sheet: Ints

    def path(self, crack: int) -> Floats:
        """The points of one crack, (n, 2) [m]."""
        return self.points[self.crack == crack]

    def length(self) -> float:
        """The length of all paths together [m]."""
        return sum(self.length_of(crack) for crack in np.unique(self.crack).tolist())

    def length_of(self, crack: int) -> float:
        """The length of the path of one crack [m], 0 without one."""
        return float(np.linalg.norm(np.diff(self.path(crack), axis=0), axis=1).sum())

    def extended(self, point: Floats, crack: int, sheet: int) -> Torn:
        """With one more point (2,) [m] at the end of a crack."""
        return Torn(
            np.concatenate([self.points, np.asarray(point, np.float64).reshape(1, 2)]),
            np.append(self.crack, np.int32(crack)),
            np.append(self.sheet, np.int32(sheet)),
        )

    def moved(self, point: Floats, crack: int) -> Torn:
        """With the last point of a crack moved to `point` (2,) [m]."""
        points = self.points.copy()
        points[np.flatnonzero(self.crack == crack)[-1]] = point
        return replace(self, points=points)


def nothing_torn() -> Torn:
    """No paths."""
    return Torn(np.zeros((0, 2)), np.zeros(0, np.int32), np.zeros(0, np.int32))
