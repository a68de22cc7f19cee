"""Whether an edit keeps its distance from everything else (compiled).

An edit is described by the faces, edges and node that it makes, those that it takes away, and the tetrahedra that it
sweeps. It is safe when

- no new edge crosses a face and no new face is crossed by an edge of the surroundings;
- no node lies in a swept tetrahedron (so nothing changes sides);
- every pair of a new primitive keeps a relative gap ρ = (d − s ξ)/(s dhat), the argument of its barrier, above half
  of the least ρ that the primitives taken away had, and above half of the least one at the start of the remeshing.
  s is the factor of near neighbours on one sheet (`contact.surface`), taken for the new primitives.

The middle of an edge changes no geometry: there only the new pair constants matter, and ρ ≥ `SPLIT_GAP` is enough.
"""

from __future__ import annotations

from math import sqrt

from numba import njit

from crumple.contact.bvh import tree_grow, tree_query
from crumple.contact.distance import edge_edge, point_triangle
from crumple.contact.intersection import orientation, segment_hits_triangle
from crumple.contact.pair import NEAR_REST
from crumple.mesh.buffers import FACE_COUNT, FACE_LIST
from crumple.mesh.rings import INNER, following
from crumple.remeshing.arrays import DHAT, EDITS, FLOOR, REACH

SPLIT_GAP = 0.1
"""Relative gap that pairs which only a split brings into being may have."""

NEW_FACES, NEW_EDGES, OLD_FACES, OLD_EDGES, TETRAHEDRA, POINT = 0, 1, 2, 3, 4, 5
"""Entries of `GuardArrays.size`; the last is the new node, or −1."""


@njit(**INNER)
def clear_change(guard):
    """Nothing is made or taken away."""
    for k in range(5):
        guard.size[k] = 0
    guard.size[POINT] = -1


@njit(**INNER)
def add_row(rows, size, kind, a, b, c, d):
    """Append a primitive to one of the lists of the change."""
    n = size[kind]
    rows[n, 0], rows[n, 1] = a, b
    if rows.shape[1] > 2:
        rows[n, 2] = c
    if rows.shape[1] > 3:
        rows[n, 3] = d
    size[kind] = n + 1


@njit(**INNER)
def is_safe(work, gone, moves):
    """Whether the change in `work.guard` is safe; faces taken away are marked with the number of the edit.

    `gone` is the node taken away or −1; `moves`: whether the geometry changes.
    """
    guard = work.guard
    count = _find_near(work, gone)
    if count < 0:
        return False
    rho = _scan_all(work, count, gone, moves, False)
    if rho < 0.0:
        return False
    if rho >= 1.0:
        return True
    before = _scan_all(work, count, gone, False, True)
    wanted = 0.5 * min(before, 1.0)
    if not moves:
        wanted = min(wanted, SPLIT_GAP)
    elif wanted < work.constant[FLOOR]:
        wanted = work.constant[FLOOR]
    return rho > 0.0 and rho >= wanted and guard.size[NEW_FACES] > 0


@njit(**INNER)
def _box_of_change(work, gone):
    """Bounds of all nodes of the change, enlarged by the reach of contacts."""
    guard, x = work.guard, work.buf.node_data
    i = guard.new_faces[0, 0]
    ax, ay, az = x[i, 0], x[i, 1], x[i, 2]
    bx, by, bz = ax, ay, az
    for n in range(guard.size[NEW_FACES] + guard.size[OLD_FACES]):
        for k in range(3):
            if n < guard.size[NEW_FACES]:
                i = guard.new_faces[n, k]
            else:
                i = guard.old_faces[n - guard.size[NEW_FACES], k]
            ax, ay, az = min(ax, x[i, 0]), min(ay, x[i, 1]), min(az, x[i, 2])
            bx, by, bz = max(bx, x[i, 0]), max(by, x[i, 1]), max(bz, x[i, 2])
    r = work.constant[REACH]
    return ax - r, ay - r, az - r, bx + r, by + r, bz + r


@njit(**INNER)
def _face_meets(x, i, j, k, box):
    """Whether the bounds of three nodes overlap the box."""
    for c in range(3):
        if min(x[i, c], x[j, c], x[k, c]) > box[3 + c] or max(x[i, c], x[j, c], x[k, c]) < box[c]:
            return False
    return True


@njit(**INNER)
def _find_near(work, gone):
    """Number of faces near the change, written to `near`: sheet faces as f, obstacle faces as −1 − f; −1 = too many."""
    guard, links, x = work.guard, work.buf.links, work.buf.node_data
    box = _box_of_change(work, gone)
    count = 0
    items = tree_query(guard.tree, box, guard.found, guard.stack)
    if items > len(guard.found):
        return -1
    for n in range(items):
        face = guard.first[guard.found[n]]
        while face >= 0:
            if links.faces[face, 0] >= 0:
                i, j, k = (
                    links.vertex_node[links.faces[face, 0]],
                    links.vertex_node[links.faces[face, 1]],
                    links.vertex_node[links.faces[face, 2]],
                )
                if _face_meets(x, i, j, k, box):
                    if count >= len(guard.near):
                        return -1
                    guard.near[count] = face
                    count += 1
            face = guard.after[face]
    if len(guard.obstacle_faces) > 0:
        items = tree_query(guard.obstacle_tree, box, guard.found, guard.stack)
        if items > len(guard.found) or count + items > len(guard.near):
            return -1
        for n in range(items):
            guard.near[count] = -1 - guard.found[n]
            count += 1
    return count


@njit(**INNER)
def _scan_all(work, count, gone, moves, before):
    """Least relative gap (at most 1) of the new (or old, `before`) primitives to all near faces; −1 = intersection."""
    guard, links = work.guard, work.buf.links
    rho = 1.0
    for n in range(count):
        face = guard.near[n]
        if face >= 0:
            rho = min(rho, _scan_sheet_face(work, links, face, gone, moves, before))
        else:
            rho = min(rho, _scan_obstacle_face(work, -1 - face, gone, moves, before))
        if rho < 0.0:
            return -1.0
    return rho


@njit(**INNER)
def _scan_sheet_face(work, links, face, gone, moves, before):
    """`_scan_all` for one face of a sheet, with the nodes and edges that it stands for."""
    guard, x = work.guard, work.buf.node_data
    i = links.vertex_node[links.faces[face, 0]]
    j = links.vertex_node[links.faces[face, 1]]
    k = links.vertex_node[links.faces[face, 2]]
    part = guard.sheet_part[work.buf.face_sheet[face]]
    rho = 1.0
    if before or work.face_mark[face] != work.count[EDITS]:
        rho = _scan_as_face(work, x, i, j, k, part, True, gone, moves, before)
        if rho < 0.0:
            return rho
    for c in range(3):
        edge = 3 * face + c
        a = links.vertex_node[links.faces[face, c]]
        if links.node_corner[a] // 3 == face and (before or a != gone):
            rho = min(rho, _scan_as_node(work, x, a, part, True, moves, before))
        if links.twin[edge] < 0 or edge < links.twin[edge]:
            b = links.vertex_node[links.faces[face, following(edge) % 3]]
            if before or not (a == gone or b == gone or _is_old_edge(guard, a, b)):
                rho = min(rho, _scan_as_edge(work, x, a, b, part, True, moves, before))
        if rho < 0.0:
            return rho
    return rho


@njit(**INNER)
def _is_old_edge(guard, a, b):
    """Whether an edge is taken away."""
    for n in range(guard.size[OLD_EDGES]):
        p, q = guard.old_edges[n, 0], guard.old_edges[n, 1]
        if (p == a and q == b) or (p == b and q == a):
            return True
    return False


@njit(**INNER)
def _scan_obstacle_face(work, face, gone, moves, before):
    """`_scan_all` for one face of an obstacle, with the nodes and edges that it stands for."""
    guard = work.guard
    i, j, k = guard.obstacle_faces[face, 0], guard.obstacle_faces[face, 1], guard.obstacle_faces[face, 2]
    part = guard.obstacle_part[i]
    rho = _scan_as_face(work, guard.obstacle_x, i, j, k, part, False, gone, moves, before)
    for c in range(3):
        if rho < 0.0:
            return rho
        a, b = guard.obstacle_faces[face, c], guard.obstacle_faces[face, (c + 1) % 3]
        if guard.obstacle_owner[face, c, 0]:
            rho = min(rho, _scan_as_node(work, guard.obstacle_x, a, part, False, moves, before))
        if guard.obstacle_owner[face, c, 1]:
            rho = min(rho, _scan_as_edge(work, guard.obstacle_x, a, b, part, False, moves, before))
    return rho


@njit(**INNER)
def _part_of_change(work):
    """Part of the sheet that is edited."""
    vertex = work.buf.links.node_corner[work.guard.old_faces[0, 0]]
    return work.guard.sheet_part[work.buf.face_sheet[vertex // 3]]


@njit(**INNER)
def _scan_as_face(work, x, i, j, k, part, own, gone, moves, before):
    """The face ijk against the new node (or the one taken away) and, if the geometry changes, the new edges."""
    guard, y = work.guard, work.buf.node_data
    rho = 1.0
    p = gone if before else guard.size[POINT]
    if p >= 0 and not (own and (p == i or p == j or p == k)):
        rho = _point_face_gap(work, y, p, x, i, j, k, part, own)
    if moves and not before:
        for n in range(guard.size[NEW_EDGES]):
            a, b = guard.new_edges[n, 0], guard.new_edges[n, 1]
            if own and (a == i or a == j or a == k or b == i or b == j or b == k):
                continue
            if _hits(y, a, b, x, i, j, k):
                return -1.0
    return rho


@njit(**INNER)
def _scan_as_node(work, x, a, part, own, moves, before):
    """The node a against the new (or old) faces and, if the geometry changes, the swept tetrahedra."""
    guard, y = work.guard, work.buf.node_data
    rows = guard.old_faces if before else guard.new_faces
    rho = 1.0
    for n in range(guard.size[OLD_FACES] if before else guard.size[NEW_FACES]):
        i, j, k = rows[n, 0], rows[n, 1], rows[n, 2]
        if not (own and (a == i or a == j or a == k)):
            rho = min(rho, _point_face_gap(work, x, a, y, i, j, k, part, own))
    if moves and not before:
        for n in range(guard.size[TETRAHEDRA]):
            i, j, k, m = guard.tetrahedra[n, 0], guard.tetrahedra[n, 1], guard.tetrahedra[n, 2], guard.tetrahedra[n, 3]
            if not (own and (a == i or a == j or a == k or a == m)) and _is_inside(x, a, y, i, j, k, m):
                return -1.0
    return rho


@njit(**INNER)
def _scan_as_edge(work, x, a, b, part, own, moves, before):
    """The edge ab against the new (or old) edges and, if the geometry changes, the new faces."""
    guard, y = work.guard, work.buf.node_data
    rows = guard.old_edges if before else guard.new_edges
    rho = 1.0
    for n in range(guard.size[OLD_EDGES] if before else guard.size[NEW_EDGES]):
        c, d = rows[n, 0], rows[n, 1]
        if not (own and (a == c or a == d or b == c or b == d)):
            rho = min(rho, _edge_gap(work, x, a, b, y, c, d, part, own))
    if moves and not before:
        for n in range(guard.size[NEW_FACES]):
            i, j, k = guard.new_faces[n, 0], guard.new_faces[n, 1], guard.new_faces[n, 2]
            if own and (a == i or a == j or a == k or b == i or b == j or b == k):
                continue
            if _hits(x, a, b, y, i, j, k):
                return -1.0
    return rho


@njit(**INNER)
def _relative_gap(work, distance, part, scale):
    """ρ, at most 1, of a pair at `distance` [m] with a part; `scale` < 1 for near neighbours."""
    guard = work.guard
    if scale <= 0.0:
        return 1.0 if distance > 0.0 else 0.0
    thickness = 0.5 * (guard.thickness[part] + guard.thickness[_part_of_change(work)])
    return min(1.0, max(0.0, distance / scale - thickness) / work.constant[DHAT])


@njit(**INNER)
def _point_face_gap(work, x, p, y, i, j, k, part, own):
    """ρ of node x[p] and face y[i, j, k]."""
    r = work.constant[REACH]
    for c in range(3):
        if x[p, c] - max(y[i, c], y[j, c], y[k, c]) >= r or min(y[i, c], y[j, c], y[k, c]) - x[p, c] >= r:
            return 1.0
    d2 = _point_face(x, p, y, i, j, k)
    if d2 >= r * r:
        return 1.0
    scale = 1.0
    if own and part == _part_of_change(work):
        rest = work.buf.node_rest
        scale = min(1.0, NEAR_REST * sqrt(_point_face(rest, p, rest, i, j, k)) / _pair_reach(work, part))
    return _relative_gap(work, sqrt(d2), part, scale)


@njit(**INNER)
def _edge_gap(work, x, a, b, y, c, d, part, own):
    """ρ of the edges x[a, b] and y[c, d]."""
    r = work.constant[REACH]
    for k in range(3):
        if min(x[a, k], x[b, k]) - max(y[c, k], y[d, k]) >= r or min(y[c, k], y[d, k]) - max(x[a, k], x[b, k]) >= r:
            return 1.0
    d2 = _edges(x, a, b, y, c, d)
    if d2 >= r * r:
        return 1.0
    scale = 1.0
    if own and part == _part_of_change(work):
        rest = work.buf.node_rest
        scale = min(1.0, NEAR_REST * sqrt(_edges(rest, a, b, rest, c, d)) / _pair_reach(work, part))
    return _relative_gap(work, sqrt(d2), part, scale)


@njit(**INNER)
def _pair_reach(work, part):
    """ξ + dhat of two primitives of one part [m]."""
    return work.guard.thickness[part] + work.constant[DHAT]


@njit(**INNER)
def _point_face(x, p, y, i, j, k):
    """Squared distance [m²]; coordinates relative to the point keep the digits of small distances."""
    ox, oy, oz = x[p, 0], x[p, 1], x[p, 2]
    d2, _, _, _ = point_triangle(
        0.0, 0.0, 0.0,
        y[i, 0] - ox, y[i, 1] - oy, y[i, 2] - oz,
        y[j, 0] - ox, y[j, 1] - oy, y[j, 2] - oz,
        y[k, 0] - ox, y[k, 1] - oy, y[k, 2] - oz,
    )  # fmt: skip
    return d2


@njit(**INNER)
def _edges(x, a, b, y, c, d):
    """Squared distance of two edges [m²]."""
    ox, oy, oz = x[a, 0], x[a, 1], x[a, 2]
    d2, _, _, _ = edge_edge(
        0.0, 0.0, 0.0,
        x[b, 0] - ox, x[b, 1] - oy, x[b, 2] - oz,
        y[c, 0] - ox, y[c, 1] - oy, y[c, 2] - oz,
        y[d, 0] - ox, y[d, 1] - oy, y[d, 2] - oz,
    )  # fmt: skip
    return d2


@njit(**INNER)
def _hits(x, a, b, y, i, j, k):
    """Whether the edge x[a, b] meets the face y[i, j, k]."""
    for c in range(3):
        if min(x[a, c], x[b, c]) > max(y[i, c], y[j, c], y[k, c]):
            return False
        if max(x[a, c], x[b, c]) < min(y[i, c], y[j, c], y[k, c]):
            return False
    return segment_hits_triangle(
        x[a, 0], x[a, 1], x[a, 2], x[b, 0], x[b, 1], x[b, 2],
        y[i, 0], y[i, 1], y[i, 2], y[j, 0], y[j, 1], y[j, 2], y[k, 0], y[k, 1], y[k, 2],
    )  # fmt: skip


@njit(**INNER)
def _side(y, i, j, k, x, a):
    """`orientation` of the node x[a] relative to the plane y[i, j, k]."""
    return orientation(
        y[i, 0], y[i, 1], y[i, 2], y[j, 0], y[j, 1], y[j, 2], y[k, 0], y[k, 1], y[k, 2], x[a, 0], x[a, 1], x[a, 2]
    )


@njit(**INNER)
def _is_inside(x, a, y, i, j, k, m):
    """Whether the node x[a] may lie inside the tetrahedron y[i, j, k, m]; a flat one has no inside."""
    whole = _side(y, i, j, k, y, m)
    if whole == 0:
        return False
    return (
        _side(y, i, j, k, x, a) * whole >= 0
        and _side(y, i, m, j, x, a) * whole >= 0
        and _side(y, j, m, k, x, a) * whole >= 0
        and _side(y, k, m, i, x, a) * whole >= 0
    )


@njit(**INNER)
def follow_faces(work, split):
    """Bring the tree up to date with the faces of the last edit; after a split, every second one is new."""
    guard, report, links, x = work.guard, work.buf.report, work.buf.links, work.buf.node_data
    for n in range(report[FACE_COUNT]):
        face = report[FACE_LIST + n]
        if split and n % 2 == 1:
            item = guard.host[report[FACE_LIST + n - 1]]
            guard.host[face] = item
            guard.after[face] = guard.first[item]
            guard.first[item] = face
        i, j, k = (
            links.vertex_node[links.faces[face, 0]],
            links.vertex_node[links.faces[face, 1]],
            links.vertex_node[links.faces[face, 2]],
        )
        box = (
            min(x[i, 0], x[j, 0], x[k, 0]),
            min(x[i, 1], x[j, 1], x[k, 1]),
            min(x[i, 2], x[j, 2], x[k, 2]),
            max(x[i, 0], x[j, 0], x[k, 0]),
            max(x[i, 1], x[j, 1], x[k, 1]),
            max(x[i, 2], x[j, 2], x[k, 2]),
        )
        tree_grow(guard.tree, guard.host[face], box)
