"""Lines on the pattern: which edges lie on a polyline, and how to get edges there when there are none.

`insert_polyline` first moves free vertices near the line onto it, so that no slivers arise, then puts nodes on the
corners of the line, then splits every edge that a segment crosses. A split point and its neighbour on the line
share a face, so that the second split of that face leaves an edge along the line: no flips are needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_matrix, identity

from crumple.geometry.triangle import shape_gradients
from crumple.mesh import Buffers, Refusal, SheetMesh, grow, open_buffers, split_edge
from crumple.plasticity.tuning import TUNING
from crumple.runtime.errors import InputError, SimulationError
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.state.change import Change, close_change

ON_LINE = TUNING.on_line.value
SNAP = TUNING.snap_to_line.value
LEAST_AREA = TUNING.least_kept_area.value
MOST_ROUNDS = TUNING.line_rounds.value
STRAIGHT = TUNING.straight_outline.value


@dataclass(frozen=True)
class InsertedLine:
    """A `mesh` with edges along a polyline, a mask of the `hinges` on it, and the `change` that made it.

    The mesh is that of the change, but for the label of the line.
    """

    mesh: SheetMesh
    hinges: Bools
    change: Change


def edges_on_polyline(mesh: SheetMesh, polyline: Floats, *, sheet: int = 0, tolerance: float | None = None) -> Bools:
    """Hinges whose edge lies on the polyline (n, 2) [m] in the pattern of `sheet`, mask (hinge_count,).

    `tolerance`: distance allowed [m], by default 0.1 % of the mean edge. At a seam either side may be on the line.
    """
    polyline = check_polyline(polyline)
    tolerance = _line_tolerance(mesh, sheet) if tolerance is None else tolerance
    found = np.zeros(len(mesh.hinges.nodes), bool)
    for side in range(2):
        face, k = mesh.hinges.corners[:, side] // 3, mesh.hinges.corners[:, side] % 3
        a, b = mesh.u[mesh.faces[face, k]], mesh.u[mesh.faces[face, (k + 1) % 3]]
        for p, q in pairwise(polyline):
            near = (_distance(a, p, q) <= tolerance) & (_distance(b, p, q) <= tolerance)
            found |= near & (mesh.face_sheet[face] == sheet)
    return found


def insert_polyline(
    mesh: SheetMesh,
    polyline: Floats,
    *,
    sheet: int = 0,
    label: int = 0,
    movable: Bools | None = None,
    slides: bool = False,
) -> InsertedLine:
    """The mesh with nodes and edges along the polyline (n, 2) [m] in the pattern of `sheet`.

    Ends inside the sheet become nodes; parts outside are left out. The edges on the line get `label` unless it is 0; a
    labelled line is kept by remeshing. A closed line repeats its first point.
    `movable` (node_count,): nodes that may move onto the line, by default all inside the sheet; where none may, edges
    are split where they are, and a bent sheet keeps its shape exactly. `slides`: nodes on straight parts of the outline
    may move along it.
    """
    polyline = check_polyline(polyline)
    tolerance = _line_tolerance(mesh, sheet)
    free = _movable(mesh) if movable is None else _movable(mesh) & movable[mesh.vertex_node]
    along = _straight_outline(mesh) if slides else np.zeros_like(mesh.u)
    snapped, node_moves, vertex_moves = _snap_vertices(mesh, polyline, sheet, free, along)
    buf = open_buffers(snapped, spare=1.0)
    for point in polyline:
        buf = _insert_point(buf, point, sheet, is_exact=movable is not None and not movable.any())
    for p, q in pairwise(polyline):
        buf = _split_crossed(buf, p, q, sheet, tolerance)
    split, _ = close_change(snapped, buf)
    change = Change(mesh, split.mesh, split.node_operator @ node_moves, split.vertex_operator @ vertex_moves)
    hinges = edges_on_polyline(change.mesh, polyline, sheet=sheet, tolerance=1.5 * tolerance)
    return InsertedLine(label_hinges(change.mesh, hinges, label) if label else change.mesh, hinges, change)


def label_hinges(mesh: SheetMesh, hinges: Bools, label: int) -> SheetMesh:
    """The mesh with `label` on the marked hinges (hinge_count,)."""
    labels = mesh.edge_label.copy()
    labels.ravel()[mesh.hinges.corners[hinges].ravel()] = label
    return replace(mesh, edge_label=labels)


def check_polyline(polyline: Floats) -> Floats:
    """The polyline (n ≥ 2, 2) as floats, without points that repeat the one before."""
    line = np.asarray(polyline, np.float64)
    if line.ndim != 2 or line.shape[1] != 2 or not np.isfinite(line).all():
        raise InputError("crease.points", "must be a list of finite points (u, v), in m", line.shape)
    line = line[np.append(True, np.any(line[1:] != line[:-1], axis=1))]
    if len(line) < 2:
        raise InputError("crease.points", "must have two different points at least", len(line))
    return line


def _line_tolerance(mesh: SheetMesh, sheet: int) -> float:
    """How near to a line a point must be to be on it [m]."""
    lengths = mesh.corner_length.reshape(-1, 3)[mesh.face_sheet == sheet]
    if len(lengths) == 0:
        raise InputError("crease.sheet", "the mesh has no such sheet", sheet)
    return ON_LINE * float(lengths.mean())


def _closest(points: Floats, p: Floats, q: Floats) -> Floats:
    """The point of the segment pq that is nearest to each of the points (n, 2)."""
    along = np.clip((points - p) @ (q - p) / ((q - p) @ (q - p)), 0.0, 1.0)
    return p + along[:, None] * (q - p)


def _distance(points: Floats, p: Floats, q: Floats) -> Floats:
    """Distance of points (n, 2) to the segment pq."""
    return np.linalg.norm(points - _closest(points, p, q), axis=1)


def _snap_vertices(
    mesh: SheetMesh, polyline: Floats, sheet: int, movable: Bools, along: Floats
) -> tuple[SheetMesh, csr_matrix, csr_matrix]:
    """The mesh with `movable` vertices (vertex_count,) near the line moved onto it; operators by which data of nodes
    and vertices follow. Others move in the direction `along` (vertex_count, 2), not at all where it is 0.

    Corners of the line take the nearest vertex first.
    """
    used = np.unique(mesh.faces[mesh.face_sheet == sheet])
    shortest = np.full(mesh.vertex_count, np.inf)
    np.minimum.at(shortest, mesh.faces, mesh.corner_length.reshape(-1, 3))
    np.minimum.at(shortest, np.roll(mesh.faces, -1, axis=1), mesh.corner_length.reshape(-1, 3))
    free = np.zeros(mesh.vertex_count, bool)
    slides = np.abs(along).sum(axis=1) > 0.0
    free[used] = (movable | slides)[used]
    target = mesh.u.copy()
    best = SNAP * shortest
    for p, q in pairwise(polyline):
        closest = np.where(slides[:, None], _met(mesh.u, along, p, q), _closest(mesh.u, p, q))
        distance = np.linalg.norm(mesh.u - closest, axis=1)
        nearer = free & (distance < best)
        target[nearer], best[nearer] = closest[nearer], distance[nearer]
    for point in polyline:
        distance = np.where(free & movable, np.linalg.norm(mesh.u - point, axis=1), np.inf)
        vertex = int(np.argmin(distance))
        if distance[vertex] < SNAP * shortest[vertex]:
            target[vertex] = point
    return _move_vertices(mesh, target)


def _met(points: Floats, along: Floats, p: Floats, q: Floats) -> Floats:
    """Where points (n, 2) that move `along` (n, 2) meet the segment pq; infinitely far where they do not."""
    turn = _cross(along, q - p)
    way = _cross(p - points, q - p) / np.where(turn == 0.0, np.nan, turn)
    met = points + way[:, None] * along
    fraction = (met - p) @ (q - p) / ((q - p) @ (q - p))
    is_there = (fraction > -ON_LINE) & (fraction < 1.0 + ON_LINE)
    return np.where(is_there[:, None], met, np.inf)


def _straight_outline(mesh: SheetMesh) -> Floats:
    """Directions (vertex_count, 2) of the outline at vertices where it goes straight on, 0 at all others."""
    edge = mesh.u[np.roll(mesh.faces, -1, axis=1)] - mesh.u[mesh.faces]
    is_border = (mesh.twin < 0).reshape(-1, 3)
    into, out = np.zeros_like(mesh.u), np.zeros_like(mesh.u)
    into[np.roll(mesh.faces, -1, axis=1)[is_border]] = edge[is_border]
    out[mesh.faces[is_border]] = edge[is_border]
    size = np.linalg.norm(into, axis=1) * np.linalg.norm(out, axis=1)
    is_straight = (np.abs(_cross(into, out)) <= STRAIGHT * size) & (np.einsum("ni,ni->n", into, out) > 0.0)
    is_marked = (mesh.node_label != 0) | (np.bincount(mesh.vertex_node, minlength=mesh.node_count) > 1)
    labelled = mesh.edge_label.reshape(-1, 3) != 0
    for ends in (mesh.face_nodes, np.roll(mesh.face_nodes, -1, axis=1)):
        is_marked[ends[labelled]] = True
    return np.where((is_straight & ~is_marked[mesh.vertex_node])[:, None], into, 0.0)


def _movable(mesh: SheetMesh) -> Bools:
    """Vertices inside one material group, away from outline, seams and labelled edges, (vertex_count,)."""
    node_fixed = mesh.boundary_nodes | (mesh.node_label != 0)
    node_fixed |= np.bincount(mesh.vertex_node, minlength=mesh.node_count) > 1
    group = mesh.face_material[mesh.hinges.faces]
    border = (group[:, 0] != group[:, 1]) | (mesh.edge_label.ravel()[mesh.hinges.corners[:, 0]] != 0)
    node_fixed[mesh.hinges.nodes[border, :2]] = True
    return ~node_fixed[mesh.vertex_node]


def _move_vertices(mesh: SheetMesh, target: Floats) -> tuple[SheetMesh, csr_matrix, csr_matrix]:
    """The mesh with its vertices at `target` in the pattern, except where faces would lose too much area, and the
    operators by which data of nodes and of vertices follow."""
    target = target.copy()
    while True:
        e = target[mesh.faces[:, 1]] - target[mesh.faces[:, 0]]
        f = target[mesh.faces[:, 2]] - target[mesh.faces[:, 0]]
        area = 0.5 * (e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0])
        bad = mesh.faces[area < LEAST_AREA * mesh.face_area].ravel()
        if np.array_equal(target[bad], mesh.u[bad]):
            break
        target[bad] = mesh.u[bad]
    shift = target - mesh.u
    nodes = np.zeros((mesh.node_count, 2))
    nodes[mesh.vertex_node] = shift  # movable nodes have one vertex
    node_moves, vertex_moves = _shift_operator(mesh, mesh.face_nodes, nodes), _shift_operator(mesh, mesh.faces, shift)
    moved = replace(mesh, u=np.ascontiguousarray(target), node_rest=node_moves @ mesh.node_rest)
    return moved, node_moves, vertex_moves


def _shift_operator(mesh: SheetMesh, corners: Ints, shift: Floats) -> csr_matrix:
    """The operator q → q + ∇q Δu of data at the corners (face_count, 3) of the faces, moved by `shift` (n, 2) [m].

    ∇q is the mean over the faces around, weighted by area.
    """
    count = len(shift)
    around = np.bincount(corners.ravel(), np.repeat(mesh.face_area, 3), count)
    weight = mesh.face_area[:, None, None] * shape_gradients(mesh.u[mesh.faces])
    fraction = np.einsum("fbd,fad->fab", weight, shift[corners]) / around[corners][:, :, None]
    row, column = np.repeat(corners, 3, axis=1).ravel(), np.tile(corners, (1, 3)).ravel()
    there = fraction.ravel() != 0.0
    moves = csr_matrix((fraction.ravel()[there], (row[there], column[there])), shape=(count, count))
    return (identity(count, format="csr") + moves).tocsr()


def _insert_point(buf: Buffers, point: Floats, sheet: int, *, is_exact: bool) -> Buffers:
    """A node at `point` when it is inside the sheet: on an edge by one split, inside a face by two.

    Unless it is to be exact, a node beside an edge is taken from that edge, which bends it.
    """
    faces, active = _active_faces(buf, sheet)
    corner = buf.links.u[faces]
    a, b, c = corner[:, 0], corner[:, 1], corner[:, 2]
    weight = np.stack([_cross(c - b, point - b), _cross(a - c, point - c), _cross(b - a, point - a)], axis=1)
    weight /= _cross(b - a, c - a)[:, None]
    inside = np.flatnonzero(weight.min(axis=1) >= -ON_LINE)
    if len(inside) == 0:
        return buf
    chosen = inside[np.argmax(weight[inside].min(axis=1))]
    fraction = np.maximum(weight[chosen], 0.0)
    fraction /= fraction.sum()
    face = int(active[chosen])
    if fraction.max() > 1.0 - ON_LINE:
        return buf
    low = int(np.argmin(fraction))
    i, j = (low + 1) % 3, (low + 2) % 3  # the edge that the point is nearest to
    on_edge = fraction[low] < ON_LINE
    if on_edge or (not is_exact and _may_leave_edge(buf, 3 * face + i, point, fraction[low])):
        corners = [int(buf.links.faces[face, k]) for k in range(3)]
        buf = _split(buf, 3 * face + i, fraction[j] / (fraction[i] + fraction[j]))
        return buf if on_edge else _place_vertex(buf, int(buf.report.new_vertex_a), corners, fraction)
    top = int(np.argmax(fraction))
    i, j = (top + 1) % 3, (top + 2) % 3
    apex = int(buf.links.faces[face, top])
    buf = _split(buf, 3 * face + i, fraction[j] / (fraction[i] + fraction[j]))
    return _split(buf, *_edge_between(buf, int(buf.report.new_vertex_a), apex, fraction[top]))


def _may_leave_edge(buf: Buffers, edge: int, point: Floats, fraction: float) -> bool:
    """Whether a node put on the edge may be moved to a point beside it: no outline, seam or label, no inverted face."""
    twin = int(buf.links.twin[edge])
    if fraction > SNAP or twin < 0 or buf.edge_label[edge] != 0:
        return False
    if buf.face_material[edge // 3] != buf.face_material[twin // 3] or bool(
        _is_seam(buf, np.array(edge), np.array(twin))
    ):
        return False
    corner = buf.links.u[buf.links.faces[twin // 3, [(twin + k) % 3 for k in range(3)]]]
    whole = _cross(corner[1] - corner[0], corner[2] - corner[0])
    first = _cross(point - corner[0], corner[2] - corner[0])
    second = _cross(corner[1] - point, corner[2] - point)
    return bool(min(first, second) > 0.05 * whole)


def _place_vertex(buf: Buffers, vertex: int, corners: list[int], fraction: Floats) -> Buffers:
    """Move a new vertex and its node to the point with the barycentric coordinates `fraction` in a face."""
    node = buf.links.vertex_node
    buf.links.u[vertex] = fraction @ buf.links.u[corners]
    buf.vertex_parent[vertex], buf.vertex_weight[vertex] = corners, fraction
    buf.node_rest[node[vertex]] = fraction @ buf.node_rest[node[corners]]
    buf.node_parent[node[vertex]], buf.node_weight[node[vertex]] = node[corners], fraction
    return buf


def _edge_between(buf: Buffers, tail: int, head: int, t: float) -> tuple[int, float]:
    """The half-edge between two vertices, and the parameter on it that is t from `tail` to `head`."""
    faces = buf.links.faces[: buf.counters.faces]
    there = np.flatnonzero((faces == tail) & (np.roll(faces, -1, axis=1) == head))
    if len(there):
        return int(there[0]), t
    back = np.flatnonzero((faces == head) & (np.roll(faces, -1, axis=1) == tail))
    return int(back[0]), 1.0 - t


def _split_crossed(buf: Buffers, p: Floats, q: Floats, sheet: int, tolerance: float) -> Buffers:
    """Split every edge that the segment pq crosses; in rounds, because a split renumbers the edges of its faces."""
    for _ in range(MOST_ROUNDS):
        edges, parameters = _crossed_edges(buf, p, q, sheet, tolerance)
        if len(edges) == 0:
            return buf
        touched: set[int] = set()
        for edge, t in zip(edges.tolist(), parameters.tolist(), strict=True):
            around = {edge // 3, int(buf.links.twin[edge]) // 3}
            if touched.isdisjoint(around):
                touched |= around
                buf = _split(buf, edge, t)
    raise SimulationError(f"crease.points: the segment {p.tolist()} {q.tolist()} could not be inserted into the mesh")


def _crossed_edges(buf: Buffers, p: Floats, q: Floats, sheet: int, tolerance: float) -> tuple[Ints, Floats]:
    """Half-edges, one per edge, that the segment crosses between their ends, and where (0 to 1)."""
    faces, active = _active_faces(buf, sheet)
    tail, head = buf.links.u[faces], buf.links.u[np.roll(faces, -1, axis=1)]
    direction = (q - p) / np.linalg.norm(q - p)
    side_a, side_b = _cross(direction, tail - p), _cross(direction, head - p)
    apart = (side_a * side_b < 0.0) & (np.minimum(np.abs(side_a), np.abs(side_b)) > tolerance)
    t = side_a / np.where(apart, side_a - side_b, 1.0)
    along = ((tail + t[..., None] * (head - tail)) - p) @ direction
    crossed = apart & (along > -tolerance) & (along < np.linalg.norm(q - p) + tolerance)
    corner = 3 * active[:, None] + np.arange(3)
    twin = buf.links.twin[corner]
    crossed &= (twin < 0) | (corner < twin) | (buf.face_sheet[twin // 3] != sheet) | _is_seam(buf, corner, twin)
    return corner[crossed].astype(np.int32), t[crossed]


def _is_seam(buf: Buffers, corner: np.ndarray, twin: np.ndarray) -> Bools:
    """Whether the two sides of an edge have different vertices, in which case a line may cross either."""
    faces = buf.links.faces.ravel()
    after = 3 * (twin // 3) + (twin + 1) % 3
    return (twin >= 0) & (faces[corner] != faces[after]) & (faces[corner] != faces[twin])


def _active_faces(buf: Buffers, sheet: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and slots (n,) of the living faces of a sheet."""
    count = int(buf.counters.faces)
    alive = (buf.links.faces[:count, 0] >= 0) & (buf.face_sheet[:count] == sheet)
    active = np.flatnonzero(alive)
    return buf.links.faces[active], active


def _split(buf: Buffers, edge: int, t: float) -> Buffers:
    """Split an edge, with more room when it is needed."""
    while (code := split_edge(buf, edge, t)) == Refusal.NO_CAPACITY:
        buf = grow(buf)
    if code != Refusal.OK:
        raise SimulationError(f"crease.points: the mesh refuses a node on the line ({Refusal(code).name})")
    return buf


def _cross(a: Floats, b: Floats) -> Floats:
    """z component of the cross product of plane vectors."""
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
