"""Soft handles: springs ½ k |x − target|² that hold chosen nodes at moving targets."""

from __future__ import annotations

import numpy as np

from crumple.contract.energy import Example, register
from crumple.energies.examples import patch_poses
from crumple.energies.nodal import NodalQuadratic, make_nodal
from crumple.runtime.typing import Floats, Ints


def make_holding(nodes: Ints, targets: Floats, stiffness: Floats) -> NodalQuadratic:
    """Springs from `nodes` (m,) to `targets` (m, 3) [m]; `stiffness` (m,) with the fade-out included [N/m]."""
    return make_nodal(nodes, targets, stiffness)


@register("holding")
def example(rng: np.random.Generator) -> Example:
    """Three pinned nodes of the sample patch."""
    poses = patch_poses(rng)
    nodes = np.array([1, 4, 6], np.int32)
    rest = poses["flat"] + 0.01 * rng.standard_normal(poses["flat"].shape)
    return Example(make_holding(nodes, rest[nodes], rng.uniform(1, 9, 3)), poses, rest=rest, convex=tuple(poses))
