"""Whether an edit keeps its distance from everything else (compiled).

An edit is described by the faces, edges and node that it makes, those that it takes away, and the tetrahedra that it
sweeps. It is safe when

- no new edge crosses a face and no new face is crossed by an edge of the surroundings;
- no node lies in a swept tetrahedron (so nothing changes sides);
- every pair of a new primitive keeps a relative gap ρ = (d − s ξ)/(s dhat), the argument of its barrier, above half
  of the least ρ that the primitives taken away had, and above half of the least one at the start of the remeshing.
  s is the factor of near neighbours on one sheet (`contact.surface`), taken for the new primitives.

The middle of an edge changes no geometry: there only the new pair constants matter, and ρ ≥ `SPLIT_GAP` is enough.

Nodes of sheets are numbers ≥ 0, obstacle node n is −1 − n.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit

from crumple.contact.intersection import orientation, segment_hits_triangle
from crumple.contact.pair import LEAST_REST, NEAR_REST, least_rest
from crumple.geometry.bvh import tree_grow, tree_query
from crumple.geometry.distance import edge_edge, point_triangle
from crumple.mesh.rings import INNER
from crumple.remeshing.arrays import STEP
from crumple.remeshing.tuning import TUNING

SPLIT_GAP = TUNING.split_gap.value

NEW_FACES, NEW_EDGES, OLD_FACES, OLD_EDGES, TETRAHEDRA = 0, 1, 2, 3, 4
"""The lists of primitives in `CHANGE`."""


@njit(**INNER)
def clear_change(change):
    """Nothing is made or taken away."""
    for k in range(5):
        change.count[k] = 0
    change.point, change.gone, change.moves = -1, -1, True


@njit(**STEP)
def push(change, kind, a, b, c, d):
    """Append a primitive to one of the lists of the change."""
    n, parts = change.count[kind], change.parts
    parts[kind, n, 0], parts[kind, n, 1], parts[kind, n, 2], parts[kind, n, 3] = a, b, c, d
    change.count[kind] = n + 1


@njit(**INNER)
def push_edge_once(change, kind, a, b):
    """Append an edge unless it is there."""
    for n in range(change.count[kind]):
        if change.parts[kind, n, 0] == a and change.parts[kind, n, 1] == b:
            return
    push(change, kind, a, b, 0, 0)


@njit(**INNER)
def is_safe(guard, links, face_sheet, x, rest, mark, edit, limits):
    """Whether the change in the guard is safe; `mark` (faces,) is `edit` for the faces taken away."""
    count = _find_near(guard, links, x, limits.reach)
    if count < 0:
        return False
    part = guard.sheet_part[face_sheet[links.node_corner[guard.change.parts[OLD_FACES, 0, 0]] // 3]]
    moves = guard.change.moves
    rho, before = 1.0, 1.0
    for sweep in range(2):
        for n in range(count):
            face = guard.near[n]
            if face >= 0:
                ids, owner = _sheet_face(links, face)
                other = guard.sheet_part[face_sheet[face]]
                is_old = mark[face] == edit
            else:
                ids, owner = _obstacle_face(guard.obstacle, -1 - face)
                other = guard.obstacle[-1 - face, 9]
                is_old = False
            xi = 0.5 * (guard.thickness[part] + guard.thickness[other])
            near_reach = xi + limits.dhat if face >= 0 and other == part else 0.0
            found = _scan_face(
                guard.change, guard.obstacle_x, x, rest, ids, owner, is_old, sweep == 1,
                xi, near_reach, limits,
            )  # fmt: skip
            if found < 0.0:
                return False
            if sweep == 0:
                rho = min(rho, found)
            else:
                before = min(before, found)
        if sweep == 0 and rho >= 1.0:
            return True
    wanted = 0.5 * before
    if not moves:
        wanted = min(wanted, SPLIT_GAP)
    elif wanted < limits.gap:
        wanted = limits.gap
    return rho > 0.0 and rho >= wanted


@njit(**INNER)
def _find_near(guard, links, x, reach):
    """Number of faces near the change, written to `near`: sheet faces as f, obstacle faces as −1 − f; −1 = too many."""
    change = guard.change
    i = change.parts[NEW_FACES, 0, 0]
    ax, ay, az = x[i, 0], x[i, 1], x[i, 2]
    bx, by, bz = ax, ay, az
    for kind in (NEW_FACES, OLD_FACES):
        for n in range(change.count[kind]):
            for k in range(3):
                i = change.parts[kind, n, k]
                ax, ay, az = min(ax, x[i, 0]), min(ay, x[i, 1]), min(az, x[i, 2])
                bx, by, bz = max(bx, x[i, 0]), max(by, x[i, 1]), max(bz, x[i, 2])
    box = (ax - reach, ay - reach, az - reach, bx + reach, by + reach, bz + reach)
    count = 0
    items = tree_query(guard.tree, box, guard.found, guard.stack)
    if items > len(guard.found):
        return -1
    for n in range(items):
        face = guard.first[guard.found[n]]
        while face >= 0:
            if links.faces[face, 0] >= 0 and _face_meets(links, x, face, box):
                if count >= len(guard.near):
                    return -1
                guard.near[count] = face
                count += 1
            face = guard.after[face]
    if len(guard.obstacle) > 0:
        items = tree_query(guard.obstacle_tree, box, guard.found, guard.stack)
        if items > len(guard.found) or count + items > len(guard.near):
            return -1
        for n in range(items):
            guard.near[count] = -1 - guard.found[n]
            count += 1
    return count


@njit(**INNER)
def _face_meets(links, x, face, box):
    """Whether the bounds of a face overlap the box."""
    i = links.vertex_node[links.faces[face, 0]]
    j = links.vertex_node[links.faces[face, 1]]
    k = links.vertex_node[links.faces[face, 2]]
    for c in range(3):
        if min(x[i, c], x[j, c], x[k, c]) > box[3 + c] or max(x[i, c], x[j, c], x[k, c]) < box[c]:
            return False
    return True


@njit(**INNER)
def _sheet_face(links, face):
    """Nodes of a sheet face, and for each corner whether it stands for its node, then for its edge."""
    i = links.vertex_node[links.faces[face, 0]]
    j = links.vertex_node[links.faces[face, 1]]
    k = links.vertex_node[links.faces[face, 2]]
    a, b, c = links.twin[3 * face], links.twin[3 * face + 1], links.twin[3 * face + 2]
    owner = (
        links.node_corner[i] // 3 == face,
        links.node_corner[j] // 3 == face,
        links.node_corner[k] // 3 == face,
        a < 0 or 3 * face < a,
        b < 0 or 3 * face + 1 < b,
        c < 0 or 3 * face + 2 < c,
    )
    return (i, j, k), owner


@njit(**INNER)
def _obstacle_face(table, face):
    """The same for an obstacle face."""
    ids = (np.int64(-1 - table[face, 0]), np.int64(-1 - table[face, 1]), np.int64(-1 - table[face, 2]))
    owner = (
        table[face, 3] != 0,
        table[face, 4] != 0,
        table[face, 5] != 0,
        table[face, 6] != 0,
        table[face, 7] != 0,
        table[face, 8] != 0,
    )
    return ids, owner


@njit(**INNER)
def _scan_face(change, other_x, x, rest, ids, owner, is_old, before, xi, near_reach, limits):
    """Least ρ (at most 1) of the new (or old, `before`) primitives and a face with what it stands for; −1 = hit.

    `xi` [m] thickness of the pairs; `near_reach` > 0: both are of one part.
    """
    rho = 1.0
    if before or not is_old:
        rho = _scan_as_face(
            change, other_x, x, rest, ids[0], ids[1], ids[2], before, xi, near_reach, limits
        )  # fmt: skip
    for c in range(3):
        a, b = ids[c], ids[(c + 1) % 3]
        if rho >= 0.0 and owner[c] and (before or a != change.gone):
            rho = min(rho, _scan_as_node(change, other_x, x, rest, a, before, xi, near_reach, limits))
        if rho >= 0.0 and owner[3 + c] and (before or not _is_old_edge(change, a, b)):
            rho = min(rho, _scan_as_edge(change, other_x, x, rest, a, b, before, xi, near_reach, limits))
    return rho


@njit(**INNER)
def _is_old_edge(change, a, b):
    """Whether an edge is taken away."""
    for n in range(change.count[OLD_EDGES]):
        p, q = change.parts[OLD_EDGES, n, 0], change.parts[OLD_EDGES, n, 1]
        if (p == a and q == b) or (p == b and q == a):
            return True
    return False


@njit(**STEP)
def _scan_as_face(change, other_x, x, rest, i, j, k, before, xi, near_reach, limits):
    """The face ijk against the new node (or the one taken away) and, if the geometry changes, the new edges."""
    rho = 1.0
    p = change.gone if before else change.point
    if p >= 0 and p != i and p != j and p != k:
        rho = _point_face_gap(x, other_x, rest, p, i, j, k, xi, near_reach, limits)
    if change.moves and not before:
        for n in range(change.count[NEW_EDGES]):
            a, b = change.parts[NEW_EDGES, n, 0], change.parts[NEW_EDGES, n, 1]
            if a in (i, j, k) or b in (i, j, k):
                continue
            if _hits(x, other_x, a, b, i, j, k):
                return -1.0
    return rho


@njit(**STEP)
def _scan_as_node(change, other_x, x, rest, a, before, xi, near_reach, limits):
    """The node a against the new (or old) faces and, if the geometry changes, the swept tetrahedra."""
    kind = OLD_FACES if before else NEW_FACES
    rho = 1.0
    for n in range(change.count[kind]):
        i, j, k = change.parts[kind, n, 0], change.parts[kind, n, 1], change.parts[kind, n, 2]
        if a != i and a != j and a != k:
            rho = min(rho, _point_face_gap(x, other_x, rest, a, i, j, k, xi, near_reach, limits))
    if change.moves and not before:
        for n in range(change.count[TETRAHEDRA]):
            i, j = change.parts[TETRAHEDRA, n, 0], change.parts[TETRAHEDRA, n, 1]
            k, m = change.parts[TETRAHEDRA, n, 2], change.parts[TETRAHEDRA, n, 3]
            if a != i and a != j and a != k and a != m and _is_inside(x, other_x, a, i, j, k, m):
                return -1.0
    return rho


@njit(**STEP)
def _scan_as_edge(change, other_x, x, rest, a, b, before, xi, near_reach, limits):
    """The edge ab against the new (or old) edges and, if the geometry changes, the new faces."""
    kind = OLD_EDGES if before else NEW_EDGES
    rho = 1.0
    for n in range(change.count[kind]):
        c, d = change.parts[kind, n, 0], change.parts[kind, n, 1]
        if a != c and a != d and b != c and b != d:
            rho = min(rho, _edge_gap(x, other_x, rest, a, b, c, d, xi, near_reach, limits))
    if change.moves and not before:
        for n in range(change.count[NEW_FACES]):
            i, j, k = change.parts[NEW_FACES, n, 0], change.parts[NEW_FACES, n, 1], change.parts[NEW_FACES, n, 2]
            if a in (i, j, k) or b in (i, j, k):
                continue
            if _hits(x, other_x, a, b, i, j, k):
                return -1.0
    return rho


@njit(**INNER)
def _at(x, other_x, i):
    """Position of a node of a sheet (≥ 0) or an obstacle (< 0)."""
    if i >= 0:
        return x[i, 0], x[i, 1], x[i, 2]
    return other_x[-1 - i, 0], other_x[-1 - i, 1], other_x[-1 - i, 2]


@njit(**INNER)
def _relative_gap(distance, scale, xi, dhat):
    """ρ, from 0 to 1, of a pair at `distance` [m]; `scale` < 1 for near neighbours."""
    if scale <= 0.0:
        return 1.0 if distance > 0.0 else 0.0
    return min(1.0, max(0.0, distance / scale - xi) / dhat)


@njit(**INNER)
def _point_face_gap(x, other_x, rest, p, i, j, k, xi, near_reach, limits):
    """ρ of a node and a face; `near_reach` > 0: they are of one part."""
    d2 = _point_face(x, other_x, p, i, j, k, limits.reach)
    if d2 >= limits.reach**2:
        return 1.0
    scale = 1.0
    if near_reach > 0.0:
        far = near_reach / NEAR_REST
        apart = sqrt(_point_face(rest, rest, p, i, j, k, far))
        if apart < LEAST_REST:
            apart = max(apart, least_rest(max(_length2(rest, i, j), _length2(rest, j, k), _length2(rest, k, i))))
        scale = min(1.0, apart / far)
    return _relative_gap(sqrt(d2), scale, xi, limits.dhat)


@njit(**INNER)
def _edge_gap(x, other_x, rest, a, b, c, d, xi, near_reach, limits):
    """ρ of two edges; `near_reach` > 0: they are of one part."""
    d2 = _edges(x, other_x, a, b, c, d, limits.reach)
    if d2 >= limits.reach**2:
        return 1.0
    scale = 1.0
    if near_reach > 0.0:
        far = near_reach / NEAR_REST
        apart = sqrt(_edges(rest, rest, a, b, c, d, far))
        if apart < LEAST_REST:
            apart = max(apart, least_rest(max(_length2(rest, a, b), _length2(rest, c, d))))
        scale = min(1.0, apart / far)
    return _relative_gap(sqrt(d2), scale, xi, limits.dhat)


@njit(**INNER)
def _length2(rest, i, j):
    """Squared distance of two nodes of a sheet at rest [m²]."""
    return (rest[i, 0] - rest[j, 0]) ** 2 + (rest[i, 1] - rest[j, 1]) ** 2 + (rest[i, 2] - rest[j, 2]) ** 2


@njit(**INNER)
def _point_face(x, other_x, p, i, j, k, reach):
    """Squared distance [m²] or reach² when it is surely larger; relative to the point, to keep the digits."""
    ox, oy, oz = _at(x, other_x, p)
    ax, ay, az = _at(x, other_x, i)
    bx, by, bz = _at(x, other_x, j)
    cx, cy, cz = _at(x, other_x, k)
    apart = max(min(ax, bx, cx) - ox, ox - max(ax, bx, cx), min(ay, by, cy) - oy, oy - max(ay, by, cy))
    if max(apart, min(az, bz, cz) - oz, oz - max(az, bz, cz)) >= reach:
        return reach * reach
    d2, _, _, _ = point_triangle(
        0.0, 0.0, 0.0, ax - ox, ay - oy, az - oz, bx - ox, by - oy, bz - oz, cx - ox, cy - oy, cz - oz
    )  # fmt: skip
    return d2


@njit(**INNER)
def _edges(x, other_x, a, b, c, d, reach):
    """Squared distance of two edges [m²], or reach² when it is surely larger."""
    ax, ay, az = _at(x, other_x, a)
    bx, by, bz = _at(x, other_x, b)
    cx, cy, cz = _at(x, other_x, c)
    dx, dy, dz = _at(x, other_x, d)
    apart = max(min(ax, bx) - max(cx, dx), min(cx, dx) - max(ax, bx), min(ay, by) - max(cy, dy))
    if max(apart, min(cy, dy) - max(ay, by), min(az, bz) - max(cz, dz), min(cz, dz) - max(az, bz)) >= reach:
        return reach * reach
    d2, _, _, _ = edge_edge(
        0.0, 0.0, 0.0, bx - ax, by - ay, bz - az, cx - ax, cy - ay, cz - az, dx - ax, dy - ay, dz - az
    )  # fmt: skip
    return d2


@njit(**INNER)
def _hits(x, other_x, a, b, i, j, k):
    """Whether the edge ab meets the face ijk."""
    px, py, pz = _at(x, other_x, a)
    qx, qy, qz = _at(x, other_x, b)
    ax, ay, az = _at(x, other_x, i)
    bx, by, bz = _at(x, other_x, j)
    cx, cy, cz = _at(x, other_x, k)
    if min(px, qx) > max(ax, bx, cx) or min(py, qy) > max(ay, by, cy) or min(pz, qz) > max(az, bz, cz):
        return False
    if max(px, qx) < min(ax, bx, cx) or max(py, qy) < min(ay, by, cy) or max(pz, qz) < min(az, bz, cz):
        return False
    return segment_hits_triangle(px, py, pz, qx, qy, qz, ax, ay, az, bx, by, bz, cx, cy, cz)


@njit(**INNER)
def _side(x, i, j, k, px, py, pz):
    """`orientation` of a point relative to the plane of three nodes of a sheet."""
    return orientation(
        x[i, 0], x[i, 1], x[i, 2], x[j, 0], x[j, 1], x[j, 2], x[k, 0], x[k, 1], x[k, 2], px, py, pz
    )  # fmt: skip


@njit(**INNER)
def _is_inside(x, other_x, a, i, j, k, m):
    """Whether the node a may lie inside the tetrahedron of sheet nodes ijkm; a flat one has no inside."""
    px, py, pz = _at(x, other_x, a)
    if px < min(x[i, 0], x[j, 0], x[k, 0], x[m, 0]) or px > max(x[i, 0], x[j, 0], x[k, 0], x[m, 0]):
        return False
    whole = _side(x, i, j, k, x[m, 0], x[m, 1], x[m, 2])
    if whole == 0:
        return False
    return (
        _side(x, i, j, k, px, py, pz) * whole >= 0
        and _side(x, i, m, j, px, py, pz) * whole >= 0
        and _side(x, j, m, k, px, py, pz) * whole >= 0
        and _side(x, k, m, i, px, py, pz) * whole >= 0
    )


@njit(**INNER)
def follow_faces(guard, links, x, report):
    """Bring the tree up to date with the faces of the last edit; after a split, every second one is new."""
    split = report.new_node_count > 0
    for n in range(report.face_count):
        face = report.faces[n]
        if split and n % 2 == 1:
            item = guard.host[report.faces[n - 1]]
            guard.host[face] = item
            guard.after[face] = guard.first[item]
            guard.first[item] = face
        i = links.vertex_node[links.faces[face, 0]]
        j = links.vertex_node[links.faces[face, 1]]
        k = links.vertex_node[links.faces[face, 2]]
        box = (
            min(x[i, 0], x[j, 0], x[k, 0]),
            min(x[i, 1], x[j, 1], x[k, 1]),
            min(x[i, 2], x[j, 2], x[k, 2]),
            max(x[i, 0], x[j, 0], x[k, 0]),
            max(x[i, 1], x[j, 1], x[k, 1]),
            max(x[i, 2], x[j, 2], x[k, 2]),
        )
        tree_grow(guard.tree, guard.host[face], box)
