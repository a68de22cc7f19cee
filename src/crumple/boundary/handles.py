"""Handles hold nodes to moving targets; selection functions choose the nodes.

Which nodes a handle holds, and where, is in the State (`pins`), as remeshing changes it; a `Handle` says how.
A selection function takes the mesh and/or the positions and returns ascending node indices, (m,) int32.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from crumple.boundary.motions import Motion
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Bools, Floats, Ints

ROUNDING = 1e-9
"""Distance over the size of the sheets up to which a node is on the border of a box."""
SIDES = ("left", "right", "bottom", "top")


@dataclass(frozen=True)
class Handle:
    """Springs of `stiffness` [N/m] from nodes to targets from `start` to `end` [s], then fading for `fade` [s].

    `grips`: takes the nodes where they are at `start` instead of pulling them to a place given beforehand;
    `largest`: the force [N] that all its springs together never exceed, each an equal part of it.
    """

    name: str
    motion: Motion | None = None
    start: float = 0.0
    end: float = inf
    fade: float = 0.0
    stiffness: float = 1e3
    grips: bool = True
    largest: float = inf

    def strength(self, t: float) -> float:
        """Factor of the stiffness at time `t` [s]: 1 while held, falling linearly to 0 over `fade`."""
        return fading_strength(t, self.start, self.end, self.fade)

    def target(self, t: float, anchor: Floats) -> Floats:
        """Where the handle wants the nodes at time `t` [s], (m, 3) [m]; `anchor`: their place in its frame."""
        return anchor if self.motion is None else self.motion.apply(t, anchor)

    def force(self, t: float, x: Floats, anchor: Floats) -> Floats:
        """The force on each of all the nodes that it holds, at `x` (m, 3) [m] at time `t` [s], (m, 3) [N]."""
        stretch = self.target(t, anchor) - x
        strength = self.strength(t)
        force = self.stiffness * strength * stretch
        if np.isinf(self.largest) or not len(x):
            return force
        size = np.linalg.norm(force, axis=1, keepdims=True)
        most = strength * self.largest / len(x)
        return np.asarray(force * np.minimum(1.0, most / np.maximum(size, np.finfo(float).tiny)))

    def anchor(self, t: float, x: Floats) -> Floats:
        """The anchors that make the targets equal `x` (m, 3) at time `t` [s]: how a handle grips nodes."""
        return x.copy() if self.motion is None else self.motion.unapply(t, x)


def fading_strength(t: float, start: float, end: float, fade: float) -> float:
    """1 from `start` to `end` [s], then falling linearly to 0 over `fade` [s]; 0 otherwise."""
    if t < start:
        return 0.0
    if t <= end:
        return 1.0
    return max(0.0, 1.0 - (t - end) / fade) if fade > 0 else 0.0


def select_indices(indices: Sequence[int] | Ints, node_count: int) -> Ints:
    """The given nodes; raises InputError for one that does not exist."""
    chosen = np.unique(np.asarray(indices, np.int64).ravel())
    if len(chosen) and (chosen[0] < 0 or chosen[-1] >= node_count):
        wrong = int(chosen[0] if chosen[0] < 0 else chosen[-1])
        raise InputError("node index", f"must be within 0…{node_count - 1}", wrong)
    return chosen.astype(np.int32)


def select_label(mesh: SheetMesh, label: int) -> Ints:
    """Nodes that carry the label or lie on an edge that carries it."""
    chosen = mesh.node_label == label
    tail, head = mesh.face_nodes, np.roll(mesh.face_nodes, -1, axis=1)
    marked = mesh.edge_label == label
    chosen[tail[marked]] = True
    chosen[head[marked]] = True
    return _indices(chosen)


def select_box(x: Floats, low: Sequence[float] | Floats, high: Sequence[float] | Floats) -> Ints:
    """Nodes within the world box between two opposite corners [m], borders included, up to rounding."""
    corners = np.array([low, high], np.float64)
    near = ROUNDING * float(np.ptp(x, axis=0).max(initial=0.0))
    return _indices(np.all((x >= corners.min(axis=0) - near) & (x <= corners.max(axis=0) + near), axis=1))


def select_ball(x: Floats, center: Sequence[float] | Floats, radius: float) -> Ints:
    """Nodes within `radius` [m] of `center` [m] in the world."""
    return _indices(np.linalg.norm(x - np.asarray(center, np.float64), axis=1) <= radius)


def select_nearest(x: Floats, point: Sequence[float] | Floats, candidates: Ints | None = None) -> Ints:
    """The node nearest to a world point [m] (the lowest index among equals), (1,)."""
    if candidates is None:
        candidates = np.arange(len(x), dtype=np.int32)
    if not len(candidates):
        return np.zeros(0, np.int32)
    distance = np.linalg.norm(x[candidates] - np.asarray(point, np.float64), axis=1)
    return candidates[[int(np.argmin(distance))]].astype(np.int32)


def select_boundary(mesh: SheetMesh) -> Ints:
    """All nodes on a free edge."""
    return _indices(mesh.boundary_nodes)


def select_side(mesh: SheetMesh, side: str, sheet: int | None = None) -> Ints:
    """Nodes at the left, right (first pattern coordinate), bottom or top (second) extreme of the pattern."""
    if side not in SIDES:
        raise InputError("side", f"must be one of {', '.join(SIDES)}", side)
    vertices = np.unique(mesh.faces if sheet is None else mesh.faces[mesh.face_sheet == sheet])
    along = mesh.u[vertices, 0 if side in ("left", "right") else 1]
    extent = float(np.ptp(along))
    border = along.min() if side in ("left", "bottom") else along.max()
    close = np.abs(along - border) <= 1e-6 * extent  # generators place a side exactly; files round to 6 digits
    return np.unique(mesh.vertex_node[vertices[close]]).astype(np.int32)


def select_sheet(mesh: SheetMesh, sheet: int) -> Ints:
    """All nodes of one sheet."""
    return _indices(mesh.node_sheet == sheet)


def circle_anchors(
    mesh: SheetMesh,
    nodes: Ints,
    *,
    center: Sequence[float],
    axis0: Sequence[float],
    axis1: Sequence[float],
    direction: Sequence[float],
    circumference: float,
) -> Floats:
    """Anchors that wrap a pattern line around a circle, (m, 3) [m].

    a = center + r (cos φ axis0 + sin φ axis1), r = circumference / 2π, φ = (u · direction) / r.
    Across a seam any of the node's vertices serves: they differ by a whole turn.
    """
    vertex = np.zeros(mesh.node_count, np.int32)
    vertex[mesh.vertex_node] = np.arange(mesh.vertex_count, dtype=np.int32)
    radius = circumference / (2 * np.pi)
    angle = mesh.u[vertex[nodes]] @ np.asarray(direction, np.float64) / radius
    wrapped = np.outer(np.cos(angle), axis0) + np.outer(np.sin(angle), axis1)
    return np.asarray(center, np.float64) + radius * wrapped


def _indices(chosen: Bools) -> Ints:
    return np.flatnonzero(chosen).astype(np.int32)
