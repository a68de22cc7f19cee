"""How far the bending of a compressed flat region reaches: straight lines across the compression, to the region's edge.

[Schreck2015], appendix A, walks from triangle to triangle; that gave bands of two rulings. Here parallel lines are shot
from the compressed place to both sides, and the widest run of them that ends on edges of the same kinds is the *band*.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from crumple.developable.compression import Compression
from crumple.developable.outline import is_inside
from crumple.developable.structure import Edge, Refused, Structure
from crumple.developable.tuning import TUNING
from crumple.runtime.compiled import kernel
from crumple.runtime.typing import Floats

FREE = None
"""A line that ends on the border of the sheet; others end on a chord."""
STEP, FINEST, FARTHEST = TUNING.band_step.value, TUNING.band_finest.value, TUNING.band_steps.value


class Ray(NamedTuple):
    """A line across a region: the `edges` that its two ends are on, FREE on the border, and the `points` (2,) [m]."""

    edges: tuple[Edge | None, Edge | None]
    points: tuple[Floats, Floats]


class Band(NamedTuple):
    """Lines from `low` to `high` [m] along the compression that end on the same kinds of `edges`; `shoot` one of them;
    `origin` (2,) and `along` (2,): where these lengths are from, and in which direction."""

    edges: tuple[Edge | None, Edge | None]
    low: float
    high: float
    shoot: Callable[[float], Ray | None]
    origin: Floats
    along: Floats


def find_band(structure: Structure, squeeze: Compression) -> Band:
    """The widest band around the compressed place; `Refused` when no line goes through it."""
    polygon, keys = structure.polygon(squeeze.cell), structure.cells[squeeze.cell]
    names = [_name(structure, a, b) for a, b in zip(keys, (*keys[1:], keys[0]), strict=True)]
    across = np.array([-squeeze.along[1], squeeze.along[0]])

    def shoot(offset: float) -> Ray | None:
        p = squeeze.middle + offset * squeeze.along
        if not is_inside(polygon, p):
            return None
        (i, one), (j, other) = (_hit(polygon, p, way) for way in (across, -across))
        if i < 0 or j < 0:
            return None
        return Ray((names[i], names[j]), (p + one * across, p - other * across))

    first = shoot(0.0)
    if first is None:
        raise Refused("no line through the compressed place")
    low, high = (_reach(shoot, first.edges, sign * structure.spacing) for sign in (-1.0, 1.0))
    return Band(first.edges, low, high, shoot, squeeze.middle, squeeze.along)


def _reach(shoot: Callable[[float], Ray | None], edges: tuple[Edge | None, Edge | None], unit: float) -> float:
    """How far lines end on the same kinds of edges, in the direction of `unit`, the spacing [m]."""
    offset, step = 0.0, STEP
    for _ in range(FARTHEST):
        ray = shoot(offset + step * unit)
        if ray is not None and ray.edges == edges:
            offset += step * unit
        elif step < FINEST:
            break
        else:
            step *= 0.5
    return offset


def _name(structure: Structure, a: int, b: int) -> Edge | None:
    """The chord between two vertices, FREE where they follow each other on the border."""
    return (min(a, b), max(a, b)) if (b, a) in structure.sides else FREE


@kernel
def _hit(polygon, p, way):
    """The side of a polygon (n, 2) that a ray from p (2,) along the unit vector `way` meets first, −1 if none, and how
    far it is."""
    side, far = -1, np.inf
    for k in range(len(polygon)):
        m = (k + 1) % len(polygon)
        a, b = polygon[m, 0] - polygon[k, 0], polygon[m, 1] - polygon[k, 1]
        turn = way[0] * b - way[1] * a
        if abs(turn) <= 1e-300:
            continue
        x, y = polygon[k, 0] - p[0], polygon[k, 1] - p[1]
        there, along = (x * b - y * a) / turn, (x * way[1] - y * way[0]) / turn
        if -1e-9 <= along <= 1.0 + 1e-9 and 0.0 < there < far:
            side, far = k, there
    return side, far
