"""What a new mesh of the same pattern takes over from the old one: positions and velocities.

Nodes that stay where they were in the pattern keep everything. On the border the others lie on the cubic through the
old nodes around them, side by side of the outline; inside they lie in the old faces. [Schreck2015] §6.2.
"""

from __future__ import annotations

import numpy as np

from crumple.developable.enrich import Layout, border_nodes
from crumple.developable.structure import BOUNDARY
from crumple.developable.tuning import TUNING
from crumple.runtime.typing import Floats

SAME = 1e-9
"""Over the spacing: nodes that are nearer in the pattern are the same."""
KINK = TUNING.kink.value


def transfer(old: Layout, new: Layout, x: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Positions and velocities (node_count, 3) on the new mesh."""
    values = np.concatenate([x, v], axis=1)
    u = new.mesh.u
    far = np.linalg.norm(u[:, None] - old.mesh.u[None], axis=2)
    nearest = far.argmin(axis=1)
    taken = values[nearest].copy()
    moved = np.flatnonzero(far[np.arange(len(u)), nearest] > SAME * old.structure.spacing)
    keys = list(new.structure.vertices)
    on_border = [n < new.ghost and new.structure.vertices[keys[n]].kind == BOUNDARY for n in moved]
    curve = BorderCurve(old, values)
    for node, is_border in zip(moved, on_border, strict=True):
        if is_border:
            taken[node] = curve.at(new.structure.vertices[keys[node]].place)
    inside = moved[~np.array(on_border, bool)] if len(moved) else moved
    if len(inside):
        taken[inside] = in_faces(old.mesh.u[old.mesh.faces], values[old.mesh.face_nodes], u[inside])
    return np.ascontiguousarray(taken[:, :3]), np.ascontiguousarray(taken[:, 3:])


def in_faces(corners: Floats, values: Floats, points: Floats) -> Floats:
    """Values (n, k) at `points` (n, 2) of a triangulation with `corners` (m, 3, 2) and `values` (m, 3, k) there."""
    a, e, f = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0]
    w = points[:, None] - a[None]
    second = (w[..., 0] * f[:, 1] - w[..., 1] * f[:, 0]) / area
    third = (e[:, 0] * w[..., 1] - e[:, 1] * w[..., 0]) / area
    weight = np.stack([1.0 - second - third, second, third], axis=2)
    face = weight.min(axis=2).argmax(axis=1)
    chosen = weight[np.arange(len(points)), face]
    return np.asarray(np.einsum("nc,nck->nk", chosen, values[face]))


class BorderCurve:
    """The border of a mesh as a cubic Hermite curve through its nodes, with kinks at the corners of the outline and
    where the sheet is folded."""

    def __init__(self, layout: Layout, values: Floats) -> None:
        structure = layout.structure
        self._outline = structure.outline
        self._place = np.array([structure.vertices[key].place for key in structure.border])
        self._values = values[border_nodes(layout)]
        corners = self._outline.starts[:-1]
        is_corner = np.array([np.min(np.abs(corners - place)) < 1e-12 for place in self._place])
        self._is_kink = is_corner | (turns(self._values[:, :3]) > KINK)

    def at(self, place: float) -> Floats:
        """Position and velocity at a place of the border, (6,)."""
        count = len(self._place)
        first = (int(np.searchsorted(self._place, place, side="right")) - 1) % count
        around = [(first + k) % count for k in (-1, 0, 1, 2)]
        t = np.array([self._outline.way(place, self._place[k]) for k in around])
        p, span = self._values[around], t[2] - t[1]
        straight = (p[2] - p[1]) / span
        start = straight if self._is_kink[around[1]] else (p[2] - p[0]) / (t[2] - t[0])
        end = straight if self._is_kink[around[2]] else (p[3] - p[1]) / (t[3] - t[1])
        s = -t[1] / span
        found = (
            (1 + 2 * s) * (1 - s) ** 2 * p[1]
            + s * (1 - s) ** 2 * span * start
            + s**2 * (3 - 2 * s) * p[2]
            + s**2 * (s - 1) * span * end
        )
        found[3:] = (1 - s) * p[1, 3:] + s * p[2, 3:]
        return np.asarray(found)


def turns(loop: Floats) -> Floats:
    """By how much a closed polygon (n, 3) turns at each corner, (n,) [rad]."""
    way = np.roll(loop, -1, axis=0) - loop
    before = np.roll(way, 1, axis=0)
    across = np.linalg.norm(np.cross(before, way), axis=1)
    return np.asarray(np.arctan2(across, np.sum(before * way, axis=1)))
