"""How far the drawn surface may bulge from the mesh without crossing what the simulation keeps apart.

A patch that is refined on its curve leaves its face by at most `reach` times the share of the curve that is drawn. Two
faces at the distance d whose reaches add up to more are therefore drawn with the share d / (reach + reach) of their
curves, and their neighbours with at most as much at the corners that they have in common. Faces next to each other in
the same sheet are left out: they meet at an edge, whatever their curves are. Faces of one obstacle are left out too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crumple.geometry.bvh import STACK_SIZE, build_tree, tree_query
from crumple.geometry.distance import triangle_distance
from crumple.rendering.surface import Patches
from crumple.runtime.compiled import kernel
from crumple.runtime.typing import Floats, Ints

BULGE = 0.3
"""Largest distance of a patch from its face over how far its edges leave the planes at their ends, added up: 4/27 for a
cubic above its chord, 4/3 of that in the middle of a patch, and half as much again where only a share is drawn (the
curves of finer levels then count from flatter edges)."""
MARGIN = 0.8
"""Share of a gap that two curves may take up together."""
SHEETS = 0
"""The body number of all sheets; obstacles have the following ones."""


def bend_shares(bodies: list[Patches]) -> list[Floats]:
    """The share of its curve, 0 … 1, with which every corner of the patches may be drawn, (n, 3) for each body.

    `bodies`: the sheets, all in one, then each obstacle; one patch per face of the mesh, not yet refined.
    """
    point = np.ascontiguousarray(np.concatenate([patches.point for patches in bodies]))
    if len(point) == 0:
        return [np.ones((0, 3)) for _ in bodies]
    reach = np.concatenate([bulge(patches) for patches in bodies])
    body = np.repeat(np.arange(len(bodies), dtype=np.int32), [len(patches) for patches in bodies])
    nodes = _same_points(point)
    order = np.argsort(nodes.ravel(), kind="stable").astype(np.int32)
    start = np.searchsorted(nodes.ravel()[order], np.arange(nodes.max() + 2)).astype(np.int32)
    box = _boxes(point, reach)
    allowed = np.ones(len(point))
    _limit(build_tree(box), box, point, reach, body, nodes, order // 3, start, allowed)
    first = np.cumsum([0, *(len(patches) for patches in bodies)])
    return [_at_corners(patches, allowed[first[k] : first[k + 1]]) for k, patches in enumerate(bodies)]


def bulge(patches: Patches) -> Floats:
    """A bound on how far each patch, refined on its curve, leaves its face [m], (n,)."""
    edge = np.roll(patches.point, -1, axis=1) - patches.point
    leaving = np.abs(np.einsum("fck,fck->fc", edge, patches.normal))
    arriving = np.abs(np.einsum("fck,fck->fc", edge, np.roll(patches.normal, -1, axis=1)))
    return BULGE * np.where(patches.sharp, 0.0, leaving + arriving).max(axis=1, initial=0.0)


def _at_corners(patches: Patches, allowed: Floats) -> Floats:
    """The least of what the patches around a corner are allowed, so that both sides of an edge agree, (n, 3)."""
    least = np.ones(int(patches.shared.max(initial=-1)) + 1)
    np.minimum.at(least, patches.shared.ravel(), np.repeat(allowed, 3))
    return least[patches.shared]


def _same_points(point: Floats) -> Ints:
    """A number for each corner, equal where the points are, (n, 3)."""
    rows = np.ascontiguousarray(point.reshape(-1, 3) + 0.0)  # no negative zeros: bits are compared
    keys = rows.view(np.dtype((np.void, rows.itemsize * 3))).ravel()
    _, number = np.unique(keys, return_inverse=True)
    return number.reshape(-1, 3).astype(np.int32)


def _boxes(point: Floats, reach: Floats) -> NDArray[np.float32]:
    """Bounds of the faces with all that their curves may reach [m], (n, 6)."""
    low, high = point.min(axis=1) - reach[:, None], point.max(axis=1) + reach[:, None]
    outwards = np.float32(np.inf)
    return np.concatenate(
        [np.nextafter(np.float32(low), -outwards), np.nextafter(np.float32(high), outwards)], axis=1
    ).astype(np.float32)


@kernel
def _limit(tree, box, point, reach, body, nodes, node_face, node_start, allowed):
    """Lower `allowed` (n,) of the faces whose curves might cross that of another."""
    n = len(point)
    found, stack = np.empty(n, np.int32), np.empty(STACK_SIZE, np.int32)
    near = np.full(len(node_start), -1, np.int32)
    for f in range(n):
        if reach[f] == 0.0:
            continue
        for k in range(3):  # the nodes of the faces around this one
            for i in range(node_start[nodes[f, k]], node_start[nodes[f, k] + 1]):
                for m in range(3):
                    near[nodes[node_face[i], m]] = f
        for i in range(tree_query(tree, box[f], found, stack)):
            g = found[i]
            if g == f or (g < f and reach[g] > 0.0):  # a pair is looked at once
                continue
            if body[f] == body[g] and (body[f] != SHEETS or _is_near(near, nodes, f, g)):
                continue
            share = MARGIN * triangle_distance(point[f], point[g]) / (reach[f] + reach[g])
            allowed[f], allowed[g] = min(allowed[f], share), min(allowed[g], share)


@kernel
def _is_near(near, nodes, f, g):
    """Whether face g has a node that is marked as near face f."""
    return near[nodes[g, 0]] == f or near[nodes[g, 1]] == f or near[nodes[g, 2]] == f
