"""Air: pressure on the faces and drag along them, from wind or from the sheet's own motion through still air.

A face of area A and normal n that moves with w = wind − v relative to the air feels

    f = ½ ρ A |w·n| (w·n) n + c A (w − (w·n) n)

Over one step the normal, the area and |w·n| are those at its start, which makes f linear in v and the step
minimise a dissipative quadratic potential, one per node: E = dt/2 wᵀ K w with v = (x − x_previous)/dt and
K = Σ A/3 [½ ρ |w·n| n nᵀ + c (I − n nᵀ)] over the faces around the node. It never adds energy in still air.

The wind is steady, or follows keys: linear in between, constant before the first and after the last. A gust is added.
It is taken at the end of a step, where the nodes are at its start.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crumple.contract.energy import Example, register
from crumple.energies.examples import PATCH, patch_poses
from crumple.energies.gusts import Gust
from crumple.energies.nodal import NodalQuadratic, all_nodes, make_nodal
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints

Vec3 = tuple[float, float, float]


@dataclass(frozen=True)
class Wind:
    """Air around the sheets: `density` ρ [kg/m³], `velocity` [m/s], tangential `drag` c [kg/(m² s)].

    `keys`: times [s], ascending, and velocities [m/s] there, which replace `velocity`;  `gust` is added to either.
    """

    density: float = 0.0
    velocity: Vec3 = (0.0, 0.0, 0.0)
    drag: float = 0.0
    keys: tuple[tuple[float, Vec3], ...] = ()
    gust: Gust | None = None

    def __post_init__(self) -> None:
        for key, value in (("density", self.density), ("drag", self.drag)):
            if not 0.0 <= value < float("inf"):
                raise InputError(f"wind: {key}", "must be >= 0", value)
        for velocity in (self.velocity, *(velocity for _, velocity in self.keys)):
            if len(velocity) != 3 or not np.isfinite(velocity).all():
                raise InputError("wind: velocity", "must be three finite numbers, in m/s", velocity)
        times = [time for time, _ in self.keys]
        if not np.isfinite(times).all() or any(np.diff(times) <= 0.0):
            raise InputError("wind: keys", "their times must ascend, in s", times)

    @property
    def is_vacuum(self) -> bool:
        """Whether there is nothing to feel."""
        return self.density == 0.0 and self.drag == 0.0

    @property
    def blows(self) -> bool:
        """Whether the air ever moves by itself."""
        is_gusty = self.gust is not None and self.gust.speed > 0.0
        return is_gusty or any(any(velocity) for velocity in (self.velocity, *(one for _, one in self.keys)))

    def mean(self, time: float) -> Floats:
        """The velocity [m/s] at `time` [s] without the gust, (3,)."""
        if not self.keys:
            return np.asarray(self.velocity, np.float64)
        times, velocities = self._tables
        return np.array([np.interp(time, times, velocities[:, axis]) for axis in range(3)])

    def at(self, x: Floats, time: float) -> Floats:
        """The velocity [m/s] at `time` [s]: (3,) if it is the same everywhere, else (n, 3) at the points `x` (n, 3)."""
        if self.gust is None:
            return self.mean(time)
        return self.mean(time) + self.gust.velocity(x, time, self.drift(time))

    def drift(self, time: float) -> Floats:
        """The way [m] that the mean wind has gone from time 0 to `time` [s], (3,)."""
        if not self.keys:
            return time * np.asarray(self.velocity, np.float64)
        times = self._tables[0]
        corners = np.concatenate([[0.0], times[(times > 0.0) & (times < time)], [time]])
        speeds = np.array([self.mean(corner) for corner in corners])
        return np.asarray(np.diff(corners) @ (0.5 * (speeds[1:] + speeds[:-1])))

    @cached_property
    def _tables(self) -> tuple[Floats, Floats]:
        """Times (n,) [s] and velocities (n, 3) [m/s] of the keys."""
        return np.array([time for time, _ in self.keys]), np.array([velocity for _, velocity in self.keys])


def make_wind(
    wind: Wind,
    face_nodes: Ints,
    x: Floats,
    v: Floats,
    step: float,
    *,
    before: Floats | None = None,
    time: float = 0.0,
) -> NodalQuadratic:
    """The potential of the air over one step from positions `x` (n, 3) [m] and velocities `v` (n, 3) [m/s].

    `face_nodes` (face_count, 3); `step` dt [s]; `before`: the positions that velocities are formed with, x by default;
    `time` [s] at which the wind is taken.
    """
    air = wind.at(x, time)
    corners = x[face_nodes]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    twice_area = np.linalg.norm(normal, axis=1)
    normal /= np.maximum(twice_area, np.finfo(float).tiny)[:, None]
    relative = (air if air.ndim == 1 else air[face_nodes].mean(axis=1)) - v[face_nodes].mean(axis=1)
    share = twice_area / 6.0
    along = share * wind.drag
    across = share * 0.5 * wind.density * np.abs(np.einsum("fi,fi->f", relative, normal)) - along
    blocks = along[:, None, None] * np.eye(3) + across[:, None, None] * normal[:, :, None] * normal[:, None, :]
    stiffness = np.empty((len(x), 3, 3))
    corner = face_nodes.ravel()
    for i, j in np.ndindex(3, 3):
        stiffness[:, i, j] = np.bincount(corner, weights=np.repeat(blocks[:, i, j], 3), minlength=len(x))
    center = (x if before is None else before) + step * air
    return make_nodal(all_nodes(len(x)), center, stiffness / step)


@register("wind")
def example(rng: np.random.Generator) -> Example:
    """A gust on the sample patch."""
    poses = patch_poses(rng)
    wind = Wind(1.2, (3.0, -1.0, 2.0), 0.1)
    velocity = rng.standard_normal((PATCH.node_count, 3))
    energy = make_wind(wind, PATCH.face_nodes, poses["random"], velocity, 0.01)
    return Example(energy, poses, rest=poses["random"] + 0.01 * np.array(wind.velocity), convex=tuple(poses))
