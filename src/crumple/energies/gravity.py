"""Weight: −m g·x per node."""

from __future__ import annotations

import numpy as np

from crumple.contract.energy import Example, register
from crumple.energies.examples import PATCH, patch_poses
from crumple.energies.nodal import NodalQuadratic, all_nodes, make_nodal
from crumple.runtime.typing import Floats, Ints


def make_gravity(mass: Floats, acceleration: Floats, *, nodes: Ints | None = None) -> NodalQuadratic:
    """The weight of `nodes` (the first len(mass) ones by default); `mass` (n,) [kg], `acceleration` (3,) [m/s²]."""
    count = len(mass)
    force = mass[:, None] * np.asarray(acceleration)
    return make_nodal(all_nodes(count) if nodes is None else nodes, np.zeros((count, 3)), np.zeros(count), force)


@register("gravity")
def example(rng: np.random.Generator) -> Example:
    """The weight of the sample patch."""
    poses = patch_poses(rng)
    energy = make_gravity(rng.uniform(1e-4, 1e-3, PATCH.node_count), np.array([0.1, 0.0, -9.81]))
    return Example(energy, poses, convex=tuple(poses))
