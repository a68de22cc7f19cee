"""What a new mesh of the same pattern takes over from the old one: positions and velocities.

Nodes that stay where they were in the pattern keep everything. On the border the others lie on the cubic through the
old nodes around them, side by side of the outline; inside they lie in the old faces. [Schreck2015] §6.2.
"""

from __future__ import annotations

import numpy as np

from crumple.developable.enrich import Layout, border_nodes
from crumple.developable.structure import BOUNDARY
from crumple.developable.tuning import TUNING
from crumple.runtime.compiled import kernel
from crumple.runtime.typing import Floats

SAME = 1e-9
"""Over the spacing: nodes that are nearer in the pattern are the same."""
KINK = TUNING.kink.value


def transfer(old: Layout, new: Layout, x: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Positions and velocities (node_count, 3) on the new mesh."""
    values = np.concatenate([x, v], axis=1)
    u = new.mesh.u
    nearest, far = _nearest(u, old.mesh.u)
    taken = values[nearest]
    moved = np.flatnonzero(far > SAME * old.structure.spacing)
    keys = list(new.structure.vertices)
    places = [_old_place(old, new, keys[node]) if node < new.ghost else None for node in moved.tolist()]
    is_inside = np.array([place is None for place in places], bool)
    inside, rim = moved[is_inside], moved[~is_inside]
    taken[rim] = BorderCurve(old, values).at(np.array([place for place in places if place is not None]))
    if len(inside):
        taken[inside] = in_faces(old.mesh.u[old.mesh.faces], values[old.mesh.face_nodes], u[inside])
    return np.ascontiguousarray(taken[:, :3]), np.ascontiguousarray(taken[:, 3:])


def _old_place(old: Layout, new: Layout, key: int) -> float | None:
    """Where a vertex of the new structure was on the border of the old one [m], None inside."""
    vertex = new.structure.vertices[key]
    if vertex.kind != BOUNDARY:
        return None
    if new.structure.outline is old.structure.outline:
        return vertex.place
    place, far = old.structure.outline.place(new.structure.u(key))
    return place if far <= SAME * old.structure.spacing else None


def in_faces(corners: Floats, values: Floats, points: Floats) -> Floats:
    """Values (n, k) at `points` (n, 2) of a triangulation with `corners` (m, 3, 2) and `values` (m, 3, k) there."""
    face, weight = _locate(corners, points)
    return np.asarray(np.einsum("nc,nck->nk", weight, values[face]))


@kernel
def _nearest(points, others):
    """The nearest of `others` (m, 2) to each of the points (n, 2), and how far it is."""
    nearest, far = np.empty(len(points), np.int64), np.empty(len(points))
    for n in range(len(points)):
        least = np.inf
        for m in range(len(others)):
            square = (points[n, 0] - others[m, 0]) ** 2 + (points[n, 1] - others[m, 1]) ** 2
            if square < least:
                least, nearest[n] = square, m
        far[n] = np.sqrt(least)
    return nearest, far


@kernel
def _locate(corners, points):
    """The face (m, 3, 2) that each of the points (n, 2) is in, or least outside of, and its weights there (n, 3)."""
    face, weight = np.zeros(len(points), np.int64), np.zeros((len(points), 3))
    for n in range(len(points)):
        best = -np.inf
        for m in range(len(corners)):
            ax, ay = corners[m, 0, 0], corners[m, 0, 1]
            ex, ey, fx, fy = corners[m, 1, 0] - ax, corners[m, 1, 1] - ay, corners[m, 2, 0] - ax, corners[m, 2, 1] - ay
            wx, wy, area = points[n, 0] - ax, points[n, 1] - ay, ex * fy - ey * fx
            second, third = (wx * fy - wy * fx) / area, (ex * wy - ey * wx) / area
            least = min(1.0 - second - third, min(second, third))
            if least > best:
                best, face[n] = least, m
                weight[n, 0], weight[n, 1], weight[n, 2] = 1.0 - second - third, second, third
    return face, weight


class BorderCurve:
    """The border of a mesh as a cubic Hermite curve through its nodes, with kinks at the corners of the outline and
    where the sheet is folded."""

    def __init__(self, layout: Layout, values: Floats) -> None:
        structure = layout.structure
        self._outline = structure.outline
        self._place = np.array([structure.vertices[key].place for key in structure.border])
        self._values = values[border_nodes(layout)]
        corners = self._outline.starts[:-1]
        is_corner = np.abs(corners - self._place[:, None]).min(axis=1) < 1e-12
        folded = {key for edge in structure.creases for key in edge}
        is_folded = np.array([key in folded for key in structure.border])
        self._is_kink = is_corner | is_folded | (turns(self._values[:, :3]) > KINK)

    def at(self, places: Floats) -> Floats:
        """Positions and velocities at places (n,) of the border [m], (n, 6)."""
        count = len(self._place)
        first = np.searchsorted(self._place, places, side="right") - 1
        around = (first[:, None] + np.arange(-1, 3)) % count
        half = 0.5 * self._outline.length
        t = ((self._place[around] - places[:, None] + half) % (2.0 * half) - half)[..., None]
        p, is_kink = self._values[around], self._is_kink[around][..., None]
        span = t[:, 2] - t[:, 1]
        straight = (p[:, 2] - p[:, 1]) / span
        start = np.where(is_kink[:, 1], straight, (p[:, 2] - p[:, 0]) / (t[:, 2] - t[:, 0]))
        end = np.where(is_kink[:, 2], straight, (p[:, 3] - p[:, 1]) / (t[:, 3] - t[:, 1]))
        s = -t[:, 1] / span
        found = (
            (1 + 2 * s) * (1 - s) ** 2 * p[:, 1]
            + s * (1 - s) ** 2 * span * start
            + s**2 * (3 - 2 * s) * p[:, 2]
            + s**2 * (s - 1) * span * end
        )
        found[:, 3:] = (1 - s) * p[:, 1, 3:] + s * p[:, 2, 3:]
        return np.asarray(found)


def turns(loop: Floats) -> Floats:
    """By how much a closed polygon (n, 3) turns at each corner, (n,) [rad]."""
    way = np.roll(loop, -1, axis=0) - loop
    before = np.roll(way, 1, axis=0)
    across = np.linalg.norm(np.cross(before, way), axis=1)
    return np.asarray(np.arctan2(across, np.sum(before * way, axis=1)))
