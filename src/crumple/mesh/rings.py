"""Walking around a node, corner by corner (compiled; shared by all edits).

The walk does not rely on a consistent orientation, so it crosses the seam of a Möbius strip: it carries the
corner it is in and the half-edge through which it will leave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numba import njit

if TYPE_CHECKING:
    from crumple.mesh.buffers import Buffers


@njit(cache=True)
def following(corner: int) -> int:
    """The half-edge after `corner` in its face."""
    return corner - 2 if corner % 3 == 2 else corner + 1


@njit(cache=True)
def preceding(corner: int) -> int:
    """The half-edge before `corner` in its face; its tail is opposite to `corner`."""
    return corner + 2 if corner % 3 == 0 else corner - 1


@njit(cache=True)
def corner_vertex(buf: Buffers, corner: int) -> int:
    """The vertex at the tail of a half-edge."""
    return buf.faces[corner // 3, corner % 3]


@njit(cache=True)
def corner_node(buf: Buffers, corner: int) -> int:
    """The node at the tail of a half-edge."""
    return buf.vertex_node[buf.faces[corner // 3, corner % 3]]


@njit(cache=True)
def enter(buf: Buffers, node: int, through: int) -> tuple[int, int]:
    """Corner at `node` in the face entered by half-edge `through`, and the half-edge at `node` to leave by."""
    if corner_node(buf, through) == node:
        return through, preceding(through)
    corner = following(through)
    return corner, corner


@njit(cache=True)
def ring_start(buf: Buffers, node: int) -> tuple[int, int]:
    """Corner and leaving half-edge from which one walk around `node` meets every face."""
    corner = buf.node_corner[node]
    if buf.twin[corner] >= 0 and buf.twin[preceding(corner)] < 0:
        return corner, corner
    return corner, preceding(corner)


@njit(cache=True)
def are_adjacent(buf: Buffers, node: int, other: int) -> bool:
    """Whether an edge joins the two nodes."""
    first, leave = ring_start(buf, node)
    corner = first
    while True:
        if corner_node(buf, following(corner)) == other or corner_node(buf, preceding(corner)) == other:
            return True
        through = buf.twin[leave]
        if through < 0:
            return False
        corner, leave = enter(buf, node, through)
        if corner == first:
            return False


@njit(cache=True)
def refresh_node_corner(buf: Buffers, node: int, corner: int) -> None:
    """Set `node_corner` of `node` from any of its corners: one beside the boundary if there is any."""
    here, leave = corner, corner
    while True:
        through = buf.twin[leave]
        if through < 0:
            buf.node_corner[node] = here
            return
        here, leave = enter(buf, node, through)
        if here == corner:
            buf.node_corner[node] = corner
            return


@njit(cache=True)
def triangle_area(buf: Buffers, a: int, b: int, c: int) -> float:
    """Signed material area of three vertices [m²]."""
    u = buf.u
    return 0.5 * (
        (u[b, 0] - u[a, 0]) * (u[c, 1] - u[a, 1]) - (u[b, 1] - u[a, 1]) * (u[c, 0] - u[a, 0])
    )


@njit(cache=True)
def is_thin(buf: Buffers, a: int, b: int, c: int) -> bool:
    """Whether three vertices are inverted or so nearly in line that no face should be made of them."""
    u = buf.u
    longest = 0.0
    for p, q in ((a, b), (b, c), (c, a)):
        length2 = (u[q, 0] - u[p, 0]) ** 2 + (u[q, 1] - u[p, 1]) ** 2
        longest = max(longest, length2)
    return not triangle_area(buf, a, b, c) > 1e-9 * longest
