"""Motions of handles and obstacles: keyframes through a cubic Hermite spline, steady rates, composition.

A pose is a 9-vector (translation 3 [m] | rotation vector 3 [rad] | scale 3 [-]); it stands for

    x' = R S (x - c) + c + d,   R = exp([rotation]×),  S = diag(scale), c fixed centre, d translation.

Rotations are interpolated as rotation vectors, so that turns of more than 360° mean what they say.
Between two keys the pose is the cubic Hermite polynomial of their poses p and tangents m. Inner tangents are
Catmull–Rom, m_k = (p_k+1 - p_k-1) / (t_k+1 - t_k-1), the first and last are zero; a velocity given at a key
replaces its tangent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats

KEPT = 8
"""Transforms of a motion that are kept: those of the few times of a step."""
_TRANSLATE, _ROTATE, _SCALE = slice(0, 3), slice(3, 6), slice(6, 9)
_UNTURNED = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
_AS_IT_IS: Floats = np.eye(3)
"""A of all motions that only translate: known by being this very array, it need not be multiplied with."""


@dataclass(frozen=True)
class Key:
    """A pose at a time [s]: translation [m], rotation vector [rad], scale [-]; velocities per second or None."""

    time: float
    translate: Sequence[float] = (0.0, 0.0, 0.0)
    rotate: Sequence[float] = (0.0, 0.0, 0.0)
    scale: Sequence[float] = (1.0, 1.0, 1.0)
    velocity_translate: Sequence[float] | None = None
    velocity_rotate: Sequence[float] | None = None
    velocity_scale: Sequence[float] | None = None


@dataclass(frozen=True)
class Rate:
    """A steady velocity [m/s] and spin [rad/s, rotation vector] between the times start and end [s]."""

    velocity: Sequence[float] = (0.0, 0.0, 0.0)
    spin: Sequence[float] = (0.0, 0.0, 0.0)
    start: float = 0.0
    end: float = inf


@dataclass(frozen=True)
class Motion:
    """A time-dependent affine map: x' = A(t) x + b(t).

    `times` (key_count,) ascending [s];  `poses`, `tangents` (key_count, 9), the latter per second;
    `rate` (9,) pose per second added between `rate_start` and `rate_end` [s];
    `center` (3,) fixed point of rotation and scale [m];  `parent`: this motion happens in its frame.
    """

    name: str
    times: Floats
    poses: Floats
    tangents: Floats
    rate: Floats
    rate_start: float
    rate_end: float
    center: Floats
    parent: Motion | None = None

    def pose(self, t: float) -> Floats:
        """The own pose at time `t` [s] without the parent, (9,); times outside the keys are clamped."""
        turned = self.rate * (min(max(t, self.rate_start), self.rate_end) - self.rate_start)
        return self._key_pose(t) + turned

    def transform(self, t: float) -> tuple[Floats, Floats]:
        """The map x' = A x + b at time `t` [s]: A (3, 3) and b (3,) [m], not to be changed."""
        found = self._transforms.get(t)
        if found is None:
            if len(self._transforms) >= KEPT:
                self._transforms.clear()
            found = self._transforms[t] = self._make_transform(t)
        return found

    @cached_property
    def _transforms(self) -> dict[float, tuple[Floats, Floats]]:
        return {}

    def _make_transform(self, t: float) -> tuple[Floats, Floats]:
        pose = self.pose(t)
        if self.parent is None and pose[3:].tolist() == _UNTURNED:
            return _AS_IT_IS, pose[_TRANSLATE]
        matrix, offset = affine(pose[_TRANSLATE], pose[_ROTATE], pose[_SCALE], self.center)
        if self.parent is None:
            return matrix, offset
        outer, outer_offset = self.parent.transform(t)
        return outer @ matrix, outer @ offset + outer_offset

    def apply(self, t: float, points: Floats) -> Floats:
        """`points` (n, 3) moved to where they are at time `t` [s]."""
        matrix, offset = self.transform(t)
        return points + offset if matrix is _AS_IT_IS else points @ matrix.T + offset

    def unapply(self, t: float, points: Floats) -> Floats:
        """The points (n, 3) that the motion brings to `points` at time `t` [s]."""
        matrix, offset = self.transform(t)
        if matrix is _AS_IT_IS:
            return np.ascontiguousarray(points - offset, np.float64)
        return np.ascontiguousarray(np.linalg.solve(matrix, (points - offset).T).T, np.float64)

    def _key_pose(self, t: float) -> Floats:
        """The Hermite spline through the keys at the clamped time."""
        k = int(np.searchsorted(self.times, t, side="right")) - 1
        if k < 0:
            return self.poses[0]
        if k >= len(self.times) - 1:
            return self.poses[-1]
        step = self.times[k + 1] - self.times[k]
        s = (t - self.times[k]) / step
        return (
            (1 + 2 * s) * (1 - s) ** 2 * self.poses[k]
            + s * (1 - s) ** 2 * step * self.tangents[k]
            + s**2 * (3 - 2 * s) * self.poses[k + 1]
            + s**2 * (s - 1) * step * self.tangents[k + 1]
        )


def make_motion(
    name: str,
    keys: Sequence[Key] = (),
    *,
    rate: Rate | None = None,
    center: Sequence[float] = (0.0, 0.0, 0.0),
    parent: Motion | None = None,
    place: str | None = None,
) -> Motion:
    """A `Motion` from keys in ascending time and/or a steady rate; `place` is what errors name.

    Raises InputError when times do not ascend, a number is not finite, or the spline shrinks to nothing.
    """
    place = place or f"motion {name}"
    times = np.array([key.time for key in keys] or [0.0], np.float64)
    poses = np.array([_pose(key) for key in keys] or [_pose(Key(0.0))], np.float64)
    rate = rate or Rate()
    steady = np.array([*rate.velocity, *rate.spin, 0.0, 0.0, 0.0], np.float64)
    tangents = _tangents(times, poses, keys) if len(keys) else np.zeros((1, 9))
    _check_numbers(place, times, poses, tangents, steady, rate, center)
    _check_scale(place, times, poses[:, _SCALE], tangents[:, _SCALE])
    return Motion(name, times, poses, tangents, steady, rate.start, rate.end, np.array(center, np.float64), parent)


def link_order(parents: Mapping[str, str | None], place: str = "motions") -> list[str]:
    """The names so ordered that a motion comes after the one it is relative to.

    Raises InputError for a name that does not exist and for circular references, naming the circle.
    """
    done: dict[str, None] = {}  # in order, and quick to look up
    for first in parents:
        chain: list[str] = []
        name: str | None = first
        while name is not None and name not in done:
            if name in chain:
                circle = " → ".join([*chain[chain.index(name) :], name])
                raise InputError(f"{place}.{first}.relative_to", f"circular reference: {circle}", parents[first])
            if name not in parents:
                raise InputError(f"{place}.{chain[-1]}.relative_to", "no motion has this name", name)
            chain.append(name)
            name = parents[name]
        done.update(dict.fromkeys(reversed(chain)))
    return list(done)


def affine(
    translate: Sequence[float] | Floats,
    rotate: Sequence[float] | Floats,
    scale: Sequence[float] | Floats,
    center: Sequence[float] | Floats = (0.0, 0.0, 0.0),
) -> tuple[Floats, Floats]:
    """A (3, 3) and b (3,) of x' = R S (x - c) + c + d for translation d [m], rotation vector [rad], scale."""
    matrix = rotation_matrix(rotate) * np.asarray(scale, np.float64)
    middle = np.asarray(center, np.float64)
    return matrix, middle - matrix @ middle + np.asarray(translate, np.float64)


def rotation_matrix(vector: Sequence[float] | Floats) -> Floats:
    """The rotation (3, 3) about `vector` by its length [rad] (Rodrigues)."""
    v = np.asarray(vector, np.float64)
    angle = float(np.linalg.norm(v))
    if angle == 0.0:
        return np.eye(3)
    a, b, c = v / angle
    cross = np.array([[0.0, -c, b], [c, 0.0, -a], [-b, a, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * (cross @ cross)


def rotation_vector_of(matrix: Floats) -> Floats:
    """The rotation vector (3,) [rad], at most π long, of a rotation (3, 3)."""
    from scipy.spatial.transform import Rotation  # slow to import, seldom needed

    vector: Floats = Rotation.from_matrix(matrix).as_rotvec()
    return vector


def rotation_vector(angle: float, axis: Sequence[float]) -> tuple[float, float, float]:
    """The rotation vector [rad] of `angle` [degrees] about `axis` (any length but zero)."""
    length = float(np.linalg.norm(axis))
    if not (np.isfinite(length) and length > 0):
        raise InputError("rotation axis", "must be finite and not zero", list(axis))
    x, y, z = (float(np.radians(angle)) * float(a) / length for a in axis)
    return x, y, z


def _pose(key: Key) -> list[float]:
    return [*key.translate, *key.rotate, *key.scale]


def _tangents(times: Floats, poses: Floats, keys: Sequence[Key]) -> Floats:
    """Catmull–Rom tangents inside, zero at the ends, given velocities first, (key_count, 9)."""
    if np.any(np.diff(times) <= 0):
        return np.zeros_like(poses)  # reported by _check_numbers
    tangents = np.zeros_like(poses)
    tangents[1:-1] = (poses[2:] - poses[:-2]) / (times[2:] - times[:-2])[:, None]
    for k, key in enumerate(keys):
        given = (
            (_TRANSLATE, key.velocity_translate),
            (_ROTATE, key.velocity_rotate),
            (_SCALE, key.velocity_scale),
        )
        for part, velocity in given:
            if velocity is not None:
                tangents[k, part] = velocity
    return tangents


def _check_numbers(
    place: str,
    times: Floats,
    poses: Floats,
    tangents: Floats,
    steady: Floats,
    rate: Rate,
    center: Sequence[float],
) -> None:
    late = np.flatnonzero(~(np.diff(times) > 0))
    if len(late):
        k = int(late[0]) + 1
        raise InputError(f"{place}.keys[{k}].time", "key times must ascend, in s", float(times[k]))
    for k in range(len(times)):
        if not (np.isfinite(times[k]) and np.isfinite(poses[k]).all() and np.isfinite(tangents[k]).all()):
            raise InputError(f"{place}.keys[{k}]", "every number must be finite")
    if not (np.isfinite(steady).all() and np.isfinite(rate.start) and rate.end > rate.start):
        raise InputError(f"{place}.rate", "numbers must be finite and end later than start")
    if not np.isfinite(np.asarray(center, np.float64)).all():
        raise InputError(f"{place}.center", "must be finite, in m", list(center))


def _check_scale(place: str, times: Floats, scales: Floats, tangents: Floats) -> None:
    """Refuse splines whose scale reaches zero at or between keys: the body would turn inside out."""
    for k, scale in enumerate(scales):
        if not np.all(scale > 0):
            raise InputError(f"{place}.keys[{k}].scale", "must be > 0", scale.tolist())
    for k in range(len(times) - 1):
        for axis in range(3):
            low = _cubic_minimum(
                scales[k, axis],
                scales[k + 1, axis],
                tangents[k, axis] * (times[k + 1] - times[k]),
                tangents[k + 1, axis] * (times[k + 1] - times[k]),
            )
            if low <= 0:
                remedy = "the spline overshoots to a scale ≤ 0 before the next key; add a key or a velocity"
                raise InputError(f"{place}.keys[{k}].scale", remedy, scales[k].tolist())


def _cubic_minimum(p0: float, p1: float, m0: float, m1: float) -> float:
    """Smallest value on [0, 1] of the Hermite cubic with end values p and end slopes m."""
    cubic = np.array([2 * p0 - 2 * p1 + m0 + m1, -3 * p0 + 3 * p1 - 2 * m0 - m1, m0, p0])
    roots = np.roots(np.polyder(cubic))
    inner = roots.real[(np.abs(roots.imag) < 1e-12) & (roots.real > 0) & (roots.real < 1)]
    return float(min(p0, p1, *np.polyval(cubic, inner)))
