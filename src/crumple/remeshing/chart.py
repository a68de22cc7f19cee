"""Local isometric charts of a surface in space (compiled).

A surface in space has no pattern of its own. Before each edit the faces concerned are laid flat, their positions
written to u and their tensors to the first three columns of the vertex data, so that the edits and the Delaunay test
are those of a 2-D pattern. Two faces unfold exactly; the faces around an inner node are laid flat with their true
lengths and with angles scaled to a full turn.
"""

from __future__ import annotations

from math import acos, cos, pi, sin, sqrt

from numba import njit

from crumple.mesh.rings import INNER, corner_node, corner_vertex, enter, following, preceding, ring_start


@njit(**INNER)
def load_hinge(links, tensor, rest, edge):
    """Unfold the one or two faces of an edge: its tail at the origin, its head on the first axis."""
    a, b = corner_vertex(links, edge), corner_vertex(links, following(edge))
    weight = 1.0 if links.twin[edge] < 0 else 0.5
    u = links.u
    for v in (a, b):
        for c in range(3):
            tensor[v, c] = 0.0
    half, side = edge, 1.0
    for _ in range(2):
        if half >= 0:
            k = corner_vertex(links, preceding(half))
            length, along, height = _apex(links, rest, a, b, k)
            u[a, 0], u[a, 1], u[b, 0], u[b, 1], u[k, 0], u[k, 1] = 0.0, 0.0, length, 0.0, along, side * height
            for c in range(3):
                tensor[k, c] = 0.0
            for v in (a, b, k):
                _add_tensor(links, tensor, rest, a, b, k, v, side, 1.0 if v == k else weight)
        half, side = links.twin[edge], -1.0


@njit(**INNER)
def load_fan(links, rest, node):
    """Lay the faces around a node flat: the node at the origin, edges to it with their true lengths."""
    total, closed = 0.0, True
    first, leave = ring_start(links, node)
    corner = first
    while True:
        total += _angle(links, rest, corner)
        through = links.twin[leave]
        if through < 0:
            closed = False
            break
        corner, leave = enter(links, node, through)
        if corner == first:
            break
    scale = 2.0 * pi / total if closed and total > 0.0 else 1.0
    corner, leave = ring_start(links, node)
    # Counter-clockwise when the walk leaves by the edge before the corner (faces are counter-clockwise).
    turn = scale if leave != corner else -scale
    u = links.u
    centre = corner_vertex(links, corner)
    u[centre, 0], u[centre, 1] = 0.0, 0.0
    angle = 0.0
    _place(
        links, rest, centre, corner_vertex(links, following(corner) if leave != corner else preceding(corner)), angle
    )
    while True:
        angle += turn * _angle(links, rest, corner)
        far = corner_vertex(links, preceding(corner) if leave != corner else following(corner))
        through = links.twin[leave]
        if through < 0:
            _place(links, rest, centre, far, angle)
            return
        corner, leave = enter(links, node, through)
        if corner == first:
            return
        _place(links, rest, centre, far, angle)


@njit(**INNER)
def _place(links, rest, centre, vertex, angle):
    """Put a vertex at its true distance from the centre of the fan."""
    node, u = links.vertex_node, links.u
    i, j = node[centre], node[vertex]
    d = sqrt((rest[j, 0] - rest[i, 0]) ** 2 + (rest[j, 1] - rest[i, 1]) ** 2 + (rest[j, 2] - rest[i, 2]) ** 2)
    u[vertex, 0], u[vertex, 1] = d * cos(angle), d * sin(angle)


@njit(**INNER)
def _angle(links, rest, corner):
    """Angle of a face at a corner in `node_rest` [rad]."""
    i = corner_node(links, corner)
    j, k = corner_node(links, following(corner)), corner_node(links, preceding(corner))
    ee = ff = ef = 0.0
    for c in range(3):
        e, f = rest[j, c] - rest[i, c], rest[k, c] - rest[i, c]
        ee += e * e
        ff += f * f
        ef += e * f
    return acos(min(1.0, max(-1.0, ef / sqrt(ee * ff)))) if ee * ff > 0.0 else 0.0


@njit(**INNER)
def _apex(links, rest, a, b, k):
    """Length of the edge ab, and how far along it and above it k lies [m]."""
    node = links.vertex_node
    i, j, n = node[a], node[b], node[k]
    ee = ff = ef = 0.0
    for c in range(3):
        e, f = rest[j, c] - rest[i, c], rest[n, c] - rest[i, c]
        ee += e * e
        ff += f * f
        ef += e * f
    length = sqrt(ee)
    along = ef / length if length > 0.0 else 0.0
    return length, along, sqrt(max(ff - along * along, 0.0))


@njit(**INNER)
def _add_tensor(links, tensor, rest, a, b, k, v, side, weight):
    """Add `weight` times the tensor of v in the frame (edge ab, `side` times towards k) of the face abk."""
    node, m = links.vertex_node, tensor
    i, j, n = node[a], node[b], node[k]
    length, along, height = _apex(links, rest, a, b, k)
    if length <= 0.0 or height <= 0.0:
        return
    ex, ey, ez = (
        (rest[j, 0] - rest[i, 0]) / length,
        (rest[j, 1] - rest[i, 1]) / length,
        (rest[j, 2] - rest[i, 2]) / length,
    )
    s = side / height
    tx = s * (rest[n, 0] - rest[i, 0] - along * ex)
    ty = s * (rest[n, 1] - rest[i, 1] - along * ey)
    tz = s * (rest[n, 2] - rest[i, 2] - along * ez)
    px = m[v, 3] * ex + m[v, 8] * ey + m[v, 7] * ez
    py = m[v, 8] * ex + m[v, 4] * ey + m[v, 6] * ez
    pz = m[v, 7] * ex + m[v, 6] * ey + m[v, 5] * ez
    qx = m[v, 3] * tx + m[v, 8] * ty + m[v, 7] * tz
    qy = m[v, 8] * tx + m[v, 4] * ty + m[v, 6] * tz
    qz = m[v, 7] * tx + m[v, 6] * ty + m[v, 5] * tz
    m[v, 0] += weight * (ex * px + ey * py + ez * pz)
    m[v, 1] += weight * (tx * qx + ty * qy + tz * qz)
    m[v, 2] += weight * (ex * qx + ey * qy + ez * qz)
