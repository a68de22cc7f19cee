"""Air: pressure on the faces and drag along them, from wind or from the sheet's own motion through still air.

A face of area A and normal n that moves with w = wind − v relative to the air feels

    f = ½ ρ A |w·n| (w·n) n + c A (w − (w·n) n)

Over one step the normal, the area and |w·n| are those at its start, which makes f linear in v and the step
minimise a dissipative quadratic potential, one per node: E = dt/2 wᵀ K w with v = (x − x_previous)/dt and
K = Σ A/3 [½ ρ |w·n| n nᵀ + c (I − n nᵀ)] over the faces around the node. It never adds energy in still air.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.contract.energy import Example, register
from crumple.energies.examples import PATCH, patch_poses
from crumple.energies.nodal import NodalQuadratic, all_nodes, make_nodal
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints


@dataclass(frozen=True)
class Wind:
    """Air around the sheets: `density` ρ [kg/m³], `velocity` [m/s], tangential `drag` c [kg/(m² s)]."""

    density: float = 0.0
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    drag: float = 0.0

    def __post_init__(self) -> None:
        for key, value in (("density", self.density), ("drag", self.drag)):
            if not 0.0 <= value < float("inf"):
                raise InputError(f"wind: {key}", "must be >= 0", value)
        if len(self.velocity) != 3 or not np.isfinite(self.velocity).all():
            raise InputError("wind: velocity", "must be three finite numbers, in m/s", self.velocity)

    @property
    def is_vacuum(self) -> bool:
        """Whether there is nothing to feel."""
        return self.density == 0.0 and self.drag == 0.0


def make_wind(
    wind: Wind, face_nodes: Ints, x: Floats, v: Floats, step: float, *, before: Floats | None = None
) -> NodalQuadratic:
    """The potential of the air over one step from positions `x` (n, 3) [m] and velocities `v` (n, 3) [m/s].

    `face_nodes` (face_count, 3); `step` dt [s]; `before`: the positions that velocities are formed with, x by default.
    """
    corners = x[face_nodes]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    twice_area = np.linalg.norm(normal, axis=1)
    normal /= np.maximum(twice_area, np.finfo(float).tiny)[:, None]
    relative = np.asarray(wind.velocity) - v[face_nodes].mean(axis=1)
    share = twice_area / 6.0
    along = share * wind.drag
    across = share * 0.5 * wind.density * np.abs(np.einsum("fi,fi->f", relative, normal)) - along
    blocks = along[:, None, None] * np.eye(3) + across[:, None, None] * normal[:, :, None] * normal[:, None, :]
    stiffness = np.empty((len(x), 3, 3))
    corner = face_nodes.ravel()
    for i, j in np.ndindex(3, 3):
        stiffness[:, i, j] = np.bincount(corner, weights=np.repeat(blocks[:, i, j], 3), minlength=len(x))
    center = (x if before is None else before) + step * np.asarray(wind.velocity)
    return make_nodal(all_nodes(len(x)), center, stiffness / step)


@register("wind")
def example(rng: np.random.Generator) -> Example:
    """A gust on the sample patch."""
    poses = patch_poses(rng)
    wind = Wind(1.2, (3.0, -1.0, 2.0), 0.1)
    velocity = rng.standard_normal((PATCH.node_count, 3))
    energy = make_wind(wind, PATCH.face_nodes, poses["random"], velocity, 0.01)
    return Example(energy, poses, rest=poses["random"] + 0.01 * np.array(wind.velocity), convex=tuple(poses))
