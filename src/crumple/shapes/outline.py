"""A sheet of any outline, with holes: a constrained triangulation refined through the edit gate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numba import njit

from crumple.mesh.buffers import Buffers, compact, grow, open_buffers
from crumple.mesh.edits import collapse_edge, flip_edge, plan_collapse, split_edge
from crumple.mesh.limits import limit_faces, require_positive
from crumple.mesh.refusal import NO_CAPACITY, OK
from crumple.mesh.rings import Links, corner_vertex, following, is_thin, preceding, triangle_area
from crumple.mesh.sheet_mesh import SheetMesh, make_sheet_mesh
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints

if TYPE_CHECKING:
    import shapely

LONG, SHORT = 4.0 / 3.0, 0.6
"""Edges longer / shorter than this times the size are split / collapsed."""
THINNEST = 1e-9
"""Area of a face over its longest edge squared, below which edits refuse it (`rings.is_thin`)."""
MOST_OVER = 8.0
"""Faces while refining, over those expected, beyond which an outline is refused."""
ROUNDS = 12
"""Rounds of splitting, collapsing, flipping and smoothing; the mesh settles after about eight."""


def outline(
    points: Sequence[Sequence[float]] | Floats,
    holes: Sequence[Sequence[Sequence[float]] | Floats] = (),
    size: float = 0.01,
) -> tuple[SheetMesh, Floats]:
    """A flat sheet bounded by the polygon `points` (n, 2) without the polygons `holes`, edges about `size` [m].

    Constrained Delaunay triangulation of the corners, then our own refinement: long edges are split, short ones
    collapsed, edges flipped to Delaunay, inner vertices moved to the centre of their neighbours. The sides are split
    first: triangles that reach from end to end of a narrow strip would be split into countless needles.
    Raises InputError for outlines that cannot be filled with faces of that size.
    """
    require_positive("outline", size=size)
    polygon = _polygon(points, holes)
    expected = outline_faces(polygon.area, polygon.length, size)
    limit_faces("outline.size", expected, size)
    u, faces = triangulate_polygon(polygon)
    mesh = refine_faces(make_sheet_mesh(u, faces), size, expected, "outline")
    flat = make_sheet_mesh(mesh.u, mesh.faces, vertex_node=mesh.vertex_node)
    return flat, flat.node_rest.copy()


def refine_faces(mesh: SheetMesh, size: float, expected: float, place: str) -> SheetMesh:
    """A flat mesh without seams made of edges about `size` [m] long, of about `expected` faces.

    Its outline, labelled edges and the borders between its groups stay where they are. `place` is named in errors.
    """
    _check_needles(mesh.u, mesh.faces, size, place)
    buf = open_buffers(mesh, spare=4.0)
    most = int(MOST_OVER * max(expected, mesh.face_count))
    buf = _split_all(buf, LONG * size, most, size, place, border=True)
    for _ in range(ROUNDS):
        buf = _split_all(buf, LONG * size, most, size, place)
        _collapse_short(buf, SHORT * size, LONG * size)
        _flip_to_delaunay(buf)
        for _ in range(3):
            _smooth(buf)
            _flip_to_delaunay(buf)
    return compact(buf)[0]


def outline_faces(area: float, length: float, size: float) -> float:
    """About how many faces fill an outline of `area` [m²] and boundary `length` [m] with edges of `size` [m]."""
    return 2.3 * area / size**2 + 2.0 * length / size


def _polygon(points: object, holes: Sequence[object]) -> shapely.Polygon:
    """The polygon, checked."""
    import shapely  # seldom needed

    rings = []
    for place, ring in [
        ("outline.points", points),
        *((f"outline.holes[{i}]", h) for i, h in enumerate(holes)),
    ]:
        try:
            array = np.asarray(ring, np.float64)
        except (TypeError, ValueError):
            raise InputError(place, "must be a list of (x, y) pairs, in m", ring) from None
        if array.ndim != 2 or array.shape[1] != 2 or len(array) < 3 or not np.isfinite(array).all():
            raise InputError(place, "must be at least three finite (x, y) pairs, in m")
        rings.append(array)
    polygon = shapely.Polygon(rings[0], rings[1:])
    if not polygon.is_valid or polygon.area <= 0.0:
        raise InputError("outline.points", f"is no simple polygon: {shapely.is_valid_reason(polygon)}")
    return polygon


def triangulate_polygon(polygon: shapely.Polygon) -> tuple[Floats, Ints]:
    """Counter-clockwise triangles between the polygon's corners."""
    import shapely

    try:
        parts = shapely.get_parts(shapely.constrained_delaunay_triangles(polygon))
    except shapely.errors.GEOSException as error:  # corners that rounding cannot tell from straight lines
        reason = " ".join(str(error).split())
        raise InputError("outline.points", f"cannot be cut into triangles, sides are too close: {reason}") from None
    corners = np.array([shapely.get_coordinates(part)[:3] for part in parts])
    u, index = np.unique(corners.reshape(-1, 2), axis=0, return_inverse=True)
    faces = index.reshape(-1, 3)
    e, f = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    clockwise = e[:, 0] * f[:, 1] < e[:, 1] * f[:, 0]
    faces[clockwise] = faces[clockwise][:, ::-1]
    return u, faces.astype(np.int32)


def _check_needles(u: Floats, faces: Ints, size: float, place: str) -> None:
    """Raise InputError when the outline comes so close to itself that a face there would have no shape."""
    p = u[faces]
    e, f = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    area = 0.5 * np.abs(e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0])
    longest = np.linalg.norm(p - np.roll(p, -1, axis=1), axis=2).max(axis=1)
    thin = np.flatnonzero(~(area > THINNEST * longest**2))
    if len(thin):
        x, y = p[thin[0]].mean(axis=0)
        remedy = f"is too narrow for faces near ({x:.4g}, {y:.4g}) m; cut off the sharp corner or enlarge the size"
        raise InputError(f"{place}.points", f"{remedy} ({size:g} m)")


@njit(cache=True)
def _length(links: Links, edge: int) -> float:
    a, b = corner_vertex(links, edge), corner_vertex(links, following(edge))
    return np.hypot(links.u[b, 0] - links.u[a, 0], links.u[b, 1] - links.u[a, 1])


def _split_all(buf: Buffers, limit: float, most: int, size: float, place: str, *, border: bool = False) -> Buffers:
    """Split and flip in turn until no edge (of the border) is longer than `limit` [m]; InputError beyond `most` faces.

    All long edges of the border are halved once before any is halved again, so that flips have little to mend.
    """
    while True:
        count = _split_border(buf, limit) if border else _split_long(buf, limit)
        if buf.counters.faces > most:
            remedy = f"needs more than {most} faces: corners too sharp or sides too close; enlarge the size"
            raise InputError(f"{place}.size", remedy, size)
        if count < 0:
            buf = grow(buf)
        if count == 0:
            return buf
        _flip_to_delaunay(buf)


@njit(cache=True)
def _split_border(buf: Buffers, limit: float) -> int:
    """Halve each fixed edge that is longer than `limit` [m]; how many, -1 = no capacity."""
    count = 0
    for edge in range(3 * buf.counters.faces):
        if buf.links.faces[edge // 3, 0] >= 0 and _is_fixed(buf, edge) and _length(buf.links, edge) > limit:
            code = split_edge(buf, edge, 0.5)
            if code == NO_CAPACITY:
                return -1
            if code == OK:
                count += 1
    return count


@njit(cache=True)
def _is_fixed(buf: Buffers, edge: int) -> bool:
    """Whether an edge stays where it is: on the border, labelled, or between groups."""
    other = buf.links.twin[edge]
    if other < 0 or buf.edge_label[edge] != 0:
        return True
    return buf.face_material[edge // 3] != buf.face_material[other // 3]


@njit(cache=True)
def _split_long(buf: Buffers, limit: float) -> int:
    """Halve the longest edge of each face that has one longer than `limit` [m]; how many, -1 = no capacity."""
    count = 0
    for face in range(buf.counters.faces):
        edge = 3 * face
        for k in range(1, 3):
            if _length(buf.links, 3 * face + k) > _length(buf.links, edge):
                edge = 3 * face + k
        if buf.links.faces[face, 0] >= 0 and _length(buf.links, edge) > limit:
            code = split_edge(buf, edge, 0.5)
            if code == NO_CAPACITY:
                return -1
            if code == OK:
                count += 1
    return count


@njit(cache=True)
def _collapse_short(buf: Buffers, limit: float, longest: float) -> None:
    """Collapse edges shorter than `limit` unless that makes one longer than `longest` [m]."""
    for edge in range(3 * buf.counters.faces):
        if buf.links.faces[edge // 3, 0] >= 0 and _length(buf.links, edge) < limit:
            for side in range(2):
                code = plan_collapse(buf, edge, side == 1, 1e-9)
                if code == OK and _longest_after(buf) <= longest:
                    collapse_edge(buf, edge, side == 1, 1e-9)
                    break


@njit(cache=True)
def _longest_after(buf: Buffers) -> float:
    """Length of the longest edge that the planned collapse would make [m]."""
    u, longest = buf.links.u, 0.0
    for i in range(buf.counters.ring):
        q = buf.ring_vertex[i]
        for corner in (following(buf.ring[i]), preceding(buf.ring[i])):
            z = corner_vertex(buf.links, corner)
            longest = max(longest, np.hypot(u[z, 0] - u[q, 0], u[z, 1] - u[q, 1]))
    return longest


@njit(cache=True)
def _cotangent(links: Links, edge: int) -> float:
    """Cotangent of the angle opposite to a half-edge."""
    a, b = corner_vertex(links, edge), corner_vertex(links, following(edge))
    c, u = corner_vertex(links, preceding(edge)), links.u
    dot = (u[a, 0] - u[c, 0]) * (u[b, 0] - u[c, 0]) + (u[a, 1] - u[c, 1]) * (u[b, 1] - u[c, 1])
    return dot / (2.0 * triangle_area(links, a, b, c))


@njit(cache=True)
def _flip_to_delaunay(buf: Buffers) -> None:
    """Flip edges whose opposite angles add up to more than π, until there are none (or it cycles by rounding)."""
    for _ in range(60):
        count = 0
        for edge in range(3 * buf.counters.faces):
            other = buf.links.twin[edge]
            if buf.links.faces[edge // 3, 0] < 0 or other < 0:
                continue
            here, there = _cotangent(buf.links, edge), _cotangent(buf.links, other)
            # relative to their size, which is large where faces are needles: rounding would flip them to and fro
            if here + there < -1e-9 * max(1.0, abs(here), abs(there)) and flip_edge(buf, edge) == OK:
                count += 1
        if count == 0:
            return


@njit(cache=True)
def _smooth(buf: Buffers) -> None:
    """Move each vertex without fixed edges to the mean of the faces around it, weighted by area, if none inverts."""
    links = buf.links
    for vertex in range(buf.counters.vertices):
        node = links.vertex_node[vertex]
        if node < 0 or links.twin[links.node_corner[node]] < 0:
            continue
        total, x, y = 0.0, 0.0, 0.0
        first = links.node_corner[node]
        corner, fixed = first, False
        while True:
            fixed = fixed or _is_fixed(buf, corner)
            b, c = corner_vertex(links, following(corner)), corner_vertex(links, preceding(corner))
            area = triangle_area(links, vertex, b, c)
            total += area
            x += area * (links.u[vertex, 0] + links.u[b, 0] + links.u[c, 0]) / 3.0
            y += area * (links.u[vertex, 1] + links.u[b, 1] + links.u[c, 1]) / 3.0
            corner = following(links.twin[corner])
            if corner == first:
                break
        if not fixed:
            _move_if_valid(links, vertex, first, x / total, y / total)


@njit(cache=True)
def _move_if_valid(links: Links, vertex: int, first: int, x: float, y: float) -> None:
    """Move an inner vertex to (x, y) unless a face around it would lose its shape."""
    old_x, old_y = links.u[vertex, 0], links.u[vertex, 1]
    links.u[vertex, 0], links.u[vertex, 1] = x, y
    corner = first
    while True:
        b, c = corner_vertex(links, following(corner)), corner_vertex(links, preceding(corner))
        if is_thin(links, vertex, b, c):
            links.u[vertex, 0], links.u[vertex, 1] = old_x, old_y
            return
        corner = following(links.twin[corner])
        if corner == first:
            return
