"""Walking around a node, corner by corner (compiled; shared by all edits).

The walk does not rely on a consistent orientation, so it crosses the seam of a Möbius strip: it carries the
corner it is in and the half-edge through which it will leave.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from crumple.runtime.typing import Floats

GATE = {"cache": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": False}
"""Options of kernels that make no arrays: counting references to those they are given would take a third of the time
that they need to compile."""
INNER = {**GATE, "no_cpython_wrapper": True}
"""The same for kernels that only kernels call: without an entry from Python they compile in half the time.

Numba compiles a function once more for every constant that it is called with: pass variables or array entries."""

Indices = np.ndarray
"""int64 indices: the kernels work on one integer type only."""


class Links(NamedTuple):
    """Topology and pattern of a mesh under edit; half-edges are `3 f + k` as in `SheetMesh`.

    `faces` (·, 3) vertices, -1 = removed; `vertex_node` (·,) node of a vertex, -1 = removed;
    `twin` (3 ·,) opposite half-edge, -1 = boundary;
    `node_corner` (·,) a half-edge whose tail is the node, -1 = removed; of a node on the boundary either that
    half-edge or the one before it is a boundary half-edge (the first one, if the sheet is orientable);
    `u` (·, 2) pattern positions [m].
    """

    faces: Indices
    vertex_node: Indices
    twin: Indices
    node_corner: Indices
    u: Floats


@njit(**INNER)
def following(corner: int) -> int:
    """The half-edge after `corner` in its face."""
    return corner - 2 if corner % 3 == 2 else corner + 1


@njit(**INNER)
def preceding(corner: int) -> int:
    """The half-edge before `corner` in its face; its tail is opposite to `corner`."""
    return corner + 2 if corner % 3 == 0 else corner - 1


@njit(**INNER)
def corner_vertex(links: Links, corner: int) -> int:
    """The vertex at the tail of a half-edge."""
    return links.faces[corner // 3, corner % 3]


@njit(**INNER)
def corner_node(links: Links, corner: int) -> int:
    """The node at the tail of a half-edge."""
    return links.vertex_node[links.faces[corner // 3, corner % 3]]


@njit(**INNER)
def enter(links: Links, node: int, through: int) -> tuple[int, int]:
    """Corner at `node` in the face entered by half-edge `through`, and the half-edge at `node` to leave by."""
    if corner_node(links, through) == node:
        return through, preceding(through)
    corner = following(through)
    return corner, corner


@njit(**INNER)
def ring_start(links: Links, node: int) -> tuple[int, int]:
    """Corner and leaving half-edge from which one walk around `node` meets every face."""
    corner = links.node_corner[node]
    if links.twin[corner] >= 0 and links.twin[preceding(corner)] < 0:
        return corner, corner
    return corner, preceding(corner)


@njit(**INNER)
def are_adjacent(links: Links, node: int, other: int) -> bool:
    """Whether an edge joins the two nodes."""
    first, leave = ring_start(links, node)
    corner = first
    while True:
        if corner_node(links, following(corner)) == other or corner_node(links, preceding(corner)) == other:
            return True
        through = links.twin[leave]
        if through < 0:
            return False
        corner, leave = enter(links, node, through)
        if corner == first:
            return False


@njit(**INNER)
def refresh_node_corner(links: Links, node: int, corner: int) -> None:
    """Set `node_corner` of `node` from any of its corners: one beside the boundary if there is any."""
    here, leave = corner, corner
    while True:
        through = links.twin[leave]
        if through < 0:
            links.node_corner[node] = here
            return
        here, leave = enter(links, node, through)
        if here == corner:
            links.node_corner[node] = corner
            return


@njit(**INNER)
def triangle_area(links: Links, a: int, b: int, c: int) -> float:
    """Signed material area of three vertices [m²]."""
    u = links.u
    return 0.5 * ((u[b, 0] - u[a, 0]) * (u[c, 1] - u[a, 1]) - (u[b, 1] - u[a, 1]) * (u[c, 0] - u[a, 0]))


@njit(**INNER)
def is_thin(links: Links, a: int, b: int, c: int) -> bool:
    """Whether three vertices are inverted or so nearly in line that no face should be made of them."""
    u = links.u
    longest = 0.0
    for p, q in ((a, b), (b, c), (c, a)):
        length2 = (u[q, 0] - u[p, 0]) ** 2 + (u[q, 1] - u[p, 1]) ** 2
        longest = max(longest, length2)
    return not triangle_area(links, a, b, c) > 1e-9 * longest
