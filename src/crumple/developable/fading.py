"""From the map u → x of an old structure to that of a new one: the difference between them fades away.

Where the sheet was bent along other lines than it is now, the new mesh has no nodes; so for as long as the old map is
seen the view is cut finer. In between the two maps, both isometric, it is strained a little.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.developable.refinement import refine
from crumple.developable.tuning import TUNING
from crumple.developable.view import Lens, SmoothView
from crumple.mesh.sheet_mesh import make_sheet_mesh
from crumple.runtime.compiled import device, kernel
from crumple.runtime.typing import Bools, Floats, Ints

FADE, FINE, COARSE = TUNING.view_fade.value, TUNING.view_fine.value, TUNING.view_coarse.value
BENT = TUNING.view_bent.value
GRID = TUNING.view_grid.value
INWARDS = 1e-3
"""How far from a vertex towards the middle of a face it is asked on which side of a fold it lies, over the way."""


class Fade:
    """The view of a new structure, begun where the old one was seen.

    `old`: what was seen last;  `new`: what would be seen now;  `time` [s] of the change.
    """

    def __init__(self, old: SmoothView, new: SmoothView, lens: Lens, time: float) -> None:
        self._since, spacing = time, lens.plan.layout.structure.spacing
        mesh, corner, node = new.mesh, new.corner, new.node
        self._cut = cut = refine(
            mesh.face_nodes, corner, mesh.edge_label, mesh.u[node], lambda a, b: _is_bent(old, a, b, spacing)
        )
        self._u = cut.at_nodes(mesh.u)
        marks = _padded(mesh.node_label, len(self._u))
        self._mesh = make_sheet_mesh(self._u, cut.face_nodes, edge_label=cut.label, node_label=marks)
        self._node = np.empty(int(cut.faces.max()) + 1, np.int32)
        self._node[cut.faces.ravel()] = cut.face_nodes.ravel()
        self._overlay = replace(new.overlay, region=new.overlay.region[cut.parent])
        self._offset = sample(old, old.x[old.mesh.face_nodes], self._u) - cut.at_nodes(new.x)
        self._normal = sample(old, old.normal, self._inner_points())

    def share(self, time: float) -> float:
        """What is left of the difference: from 1 to 0, smoothly."""
        s = min(max((time - self._since) / FADE, 0.0), 1.0)
        return 1.0 - s * s * (3.0 - 2.0 * s)

    def show(self, new: SmoothView, share: float) -> SmoothView:
        """The view with a share of the difference to the old map."""
        cut = self._cut
        normal = (1.0 - share) * cut.at_vertices(new.vertex_normal) + share * self._normal
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), np.finfo(float).tiny)
        x = cut.at_nodes(new.x) + share * self._offset
        return SmoothView(self._mesh, x, cut.faces, self._node, normal, self._overlay)

    def _inner_points(self) -> Floats:
        """Of each vertex a point of the pattern next to it in one of its faces, (vertex_count, 2) [m]."""
        cut = self._cut
        middle = self._u[cut.face_nodes].mean(axis=1)
        towards = np.empty((len(self._node), 2))
        towards[cut.faces.ravel()] = np.repeat(middle, 3, axis=0)
        here = self._u[self._node]
        return here + INWARDS * (towards - here)


def _padded(label: Ints, count: int) -> Ints:
    return np.append(label, np.zeros(count - len(label), np.int32)).astype(np.int32)


def _is_bent(view: SmoothView, a: Floats, b: Floats, spacing: float) -> Bools:
    """Whether a view is bent between points of the pattern (n, 2) [m] by more than is seen."""
    first, last, middle = (sample(view, view.x[view.mesh.face_nodes], u) for u in (a, b, 0.5 * (a + b)))
    far = np.linalg.norm(b - a, axis=1)
    is_off = np.linalg.norm(middle - 0.5 * (first + last), axis=1) > BENT * spacing
    return np.asarray((is_off & (far > FINE * spacing)) | (far > COARSE * spacing))


def sample(view: SmoothView, values: Floats, points: Floats) -> Floats:
    """Values (face_count, 3, k) at the corners of a view, at `points` (n, 2) [m] of the pattern, (n, k)."""
    face, weight = np.empty(len(points), np.int32), np.empty((len(points), 3))
    _locate(np.ascontiguousarray(view.mesh.u[view.mesh.faces]), np.ascontiguousarray(points), face, weight)
    return np.asarray(np.einsum("nc,nck->nk", weight, values[face]))


@device
def _search(corners, point, among, face, weight):
    """The best of some faces for a point; returns its least barycentric coordinate."""
    best = -np.inf
    for m in among:
        ax, ay = corners[m, 0, 0], corners[m, 0, 1]
        ex, ey = corners[m, 1, 0] - ax, corners[m, 1, 1] - ay
        fx, fy = corners[m, 2, 0] - ax, corners[m, 2, 1] - ay
        wx, wy = point[0] - ax, point[1] - ay
        area = ex * fy - ey * fx
        second, third = (wx * fy - wy * fx) / area, (ex * wy - ey * wx) / area
        first = 1.0 - second - third
        least = min(first, min(second, third))
        if least > best:
            best, face[0] = least, m
            weight[0], weight[1], weight[2] = first, second, third
            if best >= 0.0:
                break
    return best


@kernel
def _locate(corners, points, face, weight):
    """The face in which each point lies, the least outside where it lies in none, and its barycentric coordinates.

    Faces are looked for in the cells of a grid over the pattern; where none contains the point, everywhere.
    """
    low, high = np.full(2, np.inf), np.full(2, -np.inf)
    for m in range(len(corners)):
        for k in range(3):
            for d in range(2):
                low[d], high[d] = min(low[d], corners[m, k, d]), max(high[d], corners[m, k, d])
    step = np.maximum(high - low, 1e-300) / GRID
    box = np.empty((len(corners), 4), np.int64)
    begin = np.zeros(GRID * GRID + 1, np.int64)
    for m in range(len(corners)):
        for d in range(2):
            near = min(corners[m, 0, d], corners[m, 1, d], corners[m, 2, d])
            far = max(corners[m, 0, d], corners[m, 1, d], corners[m, 2, d])
            box[m, d] = min(max(int((near - low[d]) / step[d]), 0), GRID - 1)
            box[m, 2 + d] = min(max(int((far - low[d]) / step[d]), 0), GRID - 1)
        for i in range(box[m, 0], box[m, 2] + 1):
            for j in range(box[m, 1], box[m, 3] + 1):
                begin[GRID * i + j + 1] += 1
    begin = np.cumsum(begin)
    listed, filled = np.empty(begin[-1], np.int64), begin[:-1].copy()
    for m in range(len(corners)):
        for i in range(box[m, 0], box[m, 2] + 1):
            for j in range(box[m, 1], box[m, 3] + 1):
                listed[filled[GRID * i + j]] = m
                filled[GRID * i + j] += 1
    everywhere = np.arange(len(corners))
    for n in range(len(points)):
        i = min(max(int((points[n, 0] - low[0]) / step[0]), 0), GRID - 1)
        j = min(max(int((points[n, 1] - low[1]) / step[1]), 0), GRID - 1)
        cell = GRID * i + j
        if _search(corners, points[n], listed[begin[cell] : begin[cell + 1]], face[n : n + 1], weight[n]) < 0.0:
            _search(corners, points[n], everywhere, face[n : n + 1], weight[n])
