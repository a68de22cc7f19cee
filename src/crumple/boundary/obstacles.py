"""Obstacles: rigid or deforming triangle surfaces with prescribed positions, seen by contact only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from crumple.boundary.motions import Motion
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints


@dataclass(frozen=True)
class Obstacle:
    """A surface whose node positions are a function of time.

    `faces` (face_count, 3);  `shapes` (shape_count, node_count, 3) [m] at `times` (shape_count,) [s], linear
    between, clamped outside;  `motion` moves the shape;  takes part in contact from `start` until `end` [s];
    `friction` coefficient against sheets, None = the scene's;  `thickness` [m].
    """

    name: str
    faces: Ints
    shapes: Floats
    times: Floats
    motion: Motion | None = None
    start: float = 0.0
    end: float = inf
    friction: float | None = None
    thickness: float = 0.0

    @property
    def node_count(self) -> int:
        return int(self.shapes.shape[1])

    @property
    def moves(self) -> bool:
        """Whether positions can differ between two times."""
        return self.motion is not None or len(self.times) > 1

    def active(self, t: float) -> bool:
        """Whether the obstacle takes part in contact at time `t` [s]."""
        return self.start <= t < self.end

    def positions(self, t: float) -> Floats:
        """Node positions at time `t` [s], (node_count, 3) [m], C-contiguous."""
        shape = self._shape(t)
        moved = shape if self.motion is None else self.motion.apply(t, shape)
        return np.array(moved, np.float64, order="C")

    @cached_property
    def middle_at_start(self) -> Floats:
        """The middle of the nodes where the obstacle begins to take part, (3,) [m]."""
        return np.asarray(self.positions(max(self.start, 0.0)).mean(axis=0))

    def _shape(self, t: float) -> Floats:
        k = int(np.searchsorted(self.times, t, side="right")) - 1
        if k < 0:
            return self.shapes[0]
        if k >= len(self.times) - 1:
            return self.shapes[-1]
        s = (t - self.times[k]) / (self.times[k + 1] - self.times[k])
        return (1 - s) * self.shapes[k] + s * self.shapes[k + 1]


def make_obstacle(
    name: str,
    faces: Ints,
    shapes: Floats | Sequence[Floats],
    *,
    times: Sequence[float] = (0.0,),
    inside: bool = False,
    motion: Motion | None = None,
    start: float = 0.0,
    end: float = inf,
    friction: float | None = None,
    thickness: float = 0.0,
    place: str | None = None,
) -> Obstacle:
    """An `Obstacle` from one vertex array (n, 3) or several at `times`; `inside` turns its normals inwards.

    Raises InputError naming `place` for shapes of different sizes, unordered times, bad indices or numbers.
    """
    place = place or f"obstacle {name}"
    frames = [np.asarray(shape, np.float64) for shape in _frames(shapes)]
    if not frames or len(frames) != len(times):
        raise InputError(f"{place}.times", f"needs one time per shape, {len(frames)} here", list(times))
    for k, frame in enumerate(frames):
        if frame.shape != frames[0].shape or frame.ndim != 2 or frame.shape[1] != 3:
            remedy = f"every shape needs the same nodes as the first, {frames[0].shape[0]} here"
            raise InputError(f"{place}.shapes[{k}]", remedy, frame.shape)
        if not np.isfinite(frame).all():
            raise InputError(f"{place}.shapes[{k}]", "every coordinate must be finite, in m")
    if np.any(~(np.diff(times) > 0)):
        raise InputError(f"{place}.times", "must ascend, in s", list(times))
    triangles = np.ascontiguousarray(faces, np.int32)
    if triangles.ndim != 2 or triangles.shape[1] != 3 or not len(triangles):
        raise InputError(f"{place}.faces", "needs at least one triangle", triangles.shape)
    if triangles.min() < 0 or triangles.max() >= len(frames[0]):
        raise InputError(f"{place}.faces", f"indices must be within 0…{len(frames[0]) - 1}", int(triangles.max()))
    if not end > start:
        raise InputError(f"{place}.end", f"must be later than start = {start:g} s", end)
    return Obstacle(
        name=name,
        faces=np.ascontiguousarray(triangles[:, ::-1]) if inside else triangles,
        shapes=np.ascontiguousarray(frames),
        times=np.array(times, np.float64),
        motion=motion,
        start=start,
        end=end,
        friction=friction,
        thickness=thickness,
    )


def _frames(shapes: Floats | Sequence[Floats]) -> Sequence[Floats]:
    """One array (n, 3) as a sequence of one."""
    if isinstance(shapes, np.ndarray) and shapes.ndim == 2:
        return [shapes]
    return list(shapes)
