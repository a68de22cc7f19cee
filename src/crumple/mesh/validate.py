"""Everything that can be wrong with a sheet, found with array operations."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from crumple.mesh.sheet_mesh import BOUNDARY, SheetMesh, _next
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Bools, Floats, Ints

FLAT_RATIO = 1e-14
"""A face whose area is below this times its longest edge squared has no usable shape matrix."""


def validate_mesh(mesh: SheetMesh, x: Floats | None = None, *, oriented: bool = False) -> list[str]:
    """One line per kind of problem, with the first offender and how many there are; empty when all is well.

    `x` (node_count, 3) are world positions to check as well. Kinds: shapes, index ranges, non-finite numbers,
    repeated corners, non-positive material area, more than two faces on an edge, inconsistent orientation,
    bow-tie nodes, isolated nodes or vertices, labels that differ across an edge, nodes shared by two sheets.
    A Möbius strip is allowed: orientation may turn over, but only across a seam; with `oriented` only where the
    surface has no consistent orientation at all (input files; a Möbius strip torn open is rightly otherwise).
    """
    problems = _shape_problems(mesh, x)
    problems = problems or _range_problems(mesh)
    if problems:
        return problems
    problems = _number_problems(mesh, x) + _face_problems(mesh)
    if problems:
        return problems + _isolation_problems(mesh)
    problems = _edge_problems(mesh)
    if problems:
        return problems + _isolation_problems(mesh)
    return [
        *_orientation_problems(mesh, oriented),
        *_fan_problems(mesh),
        *_isolation_problems(mesh),
        *_label_problems(mesh),
        *_sheet_problems(mesh),
    ]


def check_mesh(mesh: SheetMesh, place: str, x: Floats | None = None) -> None:
    """Raise `InputError` at `place` with the first problem of an input mesh (see `validate_mesh`)."""
    problems = validate_mesh(mesh, x, oriented=True)
    if problems:
        raise InputError(place, problems[0])


def corner_links(mesh: SheetMesh) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of face corners at one node that touch across an interior edge, two (link_count,) arrays.

    Both ends of an edge give a link. Works for edges whose two half-edges run the same way (Möbius strip).
    """
    a = np.flatnonzero(mesh.twin > np.arange(len(mesh.twin)))
    b = mesh.twin[a]
    node = mesh.face_nodes.ravel()
    same_way = node[a] == node[b]
    a_next, b_next = _next(a), _next(b)
    tail = np.where(same_way, b, b_next)
    head = np.where(same_way, b_next, b)
    return np.concatenate([a, a_next]), np.concatenate([tail, head])


def _report(bad: np.ndarray | np.bool_, what: str, kind: str) -> list[str]:
    """`["face 3: has … (5 in all)"]` for the true entries of `bad`, or nothing."""
    found = np.flatnonzero(bad)
    if not len(found):
        return []
    more = f" ({len(found)} in all)" if len(found) > 1 else ""
    return [f"{kind} {found[0]}: {what}{more}"]


def _shape_problems(mesh: SheetMesh, x: Floats | None) -> list[str]:
    faces, nodes, vertices = mesh.face_count, mesh.node_count, mesh.vertex_count
    wanted: list[tuple[str, np.ndarray, tuple[int, ...], str]] = [
        ("u", mesh.u, (vertices, 2), "f"),
        ("vertex_node", mesh.vertex_node, (vertices,), "i"),
        ("faces", mesh.faces, (faces, 3), "i"),
        ("face_material", mesh.face_material, (faces,), "i"),
        ("face_sheet", mesh.face_sheet, (faces,), "i"),
        ("edge_label", mesh.edge_label, (faces, 3), "i"),
        ("node_label", mesh.node_label, (nodes,), "i"),
        ("node_rest", mesh.node_rest, (nodes, 3), "f"),
    ]
    if x is not None:
        wanted.append(("x", x, (nodes, 3), "f"))
    problems = []
    for name, array, shape, kind in wanted:
        if array.shape != shape or array.dtype.kind != kind:
            problems.append(f"{name}: has shape {array.shape} of {array.dtype}, must be {shape} of kind {kind}")
    return problems or ([] if faces else ["mesh has no faces"])


def _range_problems(mesh: SheetMesh) -> list[str]:
    outside_vertex = ((mesh.faces < 0) | (mesh.faces >= mesh.vertex_count)).any(axis=1)
    outside_node = (mesh.vertex_node < 0) | (mesh.vertex_node >= mesh.node_count)
    return [
        *_report(outside_vertex, f"names a vertex outside 0…{mesh.vertex_count - 1}", "face"),
        *_report(outside_node, f"names a node outside 0…{mesh.node_count - 1}", "vertex"),
        *_report(mesh.face_material < 0, "has a negative material group", "face"),
        *_report(mesh.face_sheet < 0, "has a negative sheet", "face"),
    ]


def _number_problems(mesh: SheetMesh, x: Floats | None) -> list[str]:
    problems = [
        *_report(~np.isfinite(mesh.u).all(axis=1), "pattern position is not finite", "vertex"),
        *_report(~np.isfinite(mesh.node_rest).all(axis=1), "reference position is not finite", "node"),
    ]
    if x is not None:
        problems += _report(~np.isfinite(x).all(axis=1), "position is not finite", "node")
    return problems


def _face_problems(mesh: SheetMesh) -> list[str]:
    def repeats(corner: Ints) -> Bools:
        return (corner == np.roll(corner, -1, axis=1)).any(axis=1)

    repeated_vertex, repeated_node = repeats(mesh.faces), repeats(mesh.face_nodes)
    with np.errstate(invalid="ignore", over="ignore"):
        longest = mesh.corner_length.reshape(-1, 3).max(axis=1)
        flat = ~(mesh.face_area > FLAT_RATIO * longest**2)
    inverted = mesh.face_area < 0.0
    return [
        *_report(repeated_vertex, "uses a vertex twice", "face"),
        *_report(repeated_node & ~repeated_vertex, "has two vertices on one node", "face"),
        *_report(inverted, "is inverted in the pattern (negative area)", "face"),
        *_report(flat & ~inverted & ~repeated_vertex, "has no area in the pattern", "face"),
    ]


def _edge_problems(mesh: SheetMesh) -> list[str]:
    tail = mesh.face_nodes.ravel().astype(np.int64)
    head = np.roll(mesh.face_nodes, -1, axis=1).ravel().astype(np.int64)
    key = np.minimum(tail, head) * mesh.node_count + np.maximum(tail, head)
    _, inverse, count = np.unique(key, return_inverse=True, return_counts=True)
    crowded = (count[inverse] > 2).reshape(-1, 3).any(axis=1)
    problems = _report(crowded, "has an edge that belongs to more than two faces", "face")
    paired = np.flatnonzero(mesh.twin != BOUNDARY)
    if not problems and (mesh.twin[mesh.twin[paired]] != paired).any():
        problems.append("twin half-edges do not point at each other")
    return problems


def _orientation_problems(mesh: SheetMesh, oriented: bool) -> list[str]:
    a = np.flatnonzero(mesh.twin > np.arange(len(mesh.twin)))
    b = mesh.twin[a]
    node, vertex = mesh.face_nodes.ravel(), mesh.faces.ravel()
    what = "is oriented against its neighbour (reverse one of them)"
    turned = node[a] == node[b]
    if not turned.any():
        return []
    glued = turned & (vertex[a] == vertex[b]) & (vertex[_next(a)] == vertex[_next(b)])
    bad = np.zeros(mesh.face_count, bool)
    bad[a[glued] // 3] = True
    if not oriented:
        return _report(bad, what, "face")
    # Two copies of every face, one per orientation; where the copies of a face meet, none is consistent.
    n, f, g = mesh.face_count, a // 3, b // 3
    row = np.concatenate([f, f + n])
    column = np.concatenate([np.where(turned, g + n, g), np.where(turned, g, g + n)])
    part = _components(row, column, 2 * n)
    orientable = part[:n] != part[n:]
    bad[f[turned & orientable[f]]] = True
    return _report(bad, what, "face")


def _fan_problems(mesh: SheetMesh) -> list[str]:
    row, column = corner_links(mesh)
    part = _components(row, column, 3 * mesh.face_count)
    pairs = np.unique(np.stack([mesh.face_nodes.ravel(), part], axis=1), axis=0)
    fans = np.bincount(pairs[:, 0], minlength=mesh.node_count)
    return _report(fans > 1, "joins faces that meet in this point only (bow tie)", "node")


def _isolation_problems(mesh: SheetMesh) -> list[str]:
    used_vertex = np.zeros(mesh.vertex_count, bool)
    used_vertex[mesh.faces.ravel()] = True
    used_node = np.zeros(mesh.node_count, bool)
    used_node[mesh.face_nodes.ravel()] = True
    return [
        *_report(~used_node, "is isolated (no face uses it)", "node"),
        *_report(~used_vertex, "is isolated (no face uses it)", "vertex"),
    ]


def _label_problems(mesh: SheetMesh) -> list[str]:
    label = mesh.edge_label.ravel()
    differs = (mesh.twin != BOUNDARY) & (label != label[mesh.twin])
    return _report(differs.reshape(-1, 3).any(axis=1), "has an edge label unlike its neighbour's", "face")


def _sheet_problems(mesh: SheetMesh) -> list[str]:
    mixed = mesh.node_sheet[mesh.face_nodes] != mesh.face_sheet[:, None]
    return _report(mixed.any(axis=1), "shares a node with another sheet", "face")


def _components(row: np.ndarray, column: np.ndarray, count: int) -> Ints:
    """Connected component of each of `count` items linked by the pairs (row, column)."""
    graph = coo_array((np.ones(len(row), np.int8), (row, column)), shape=(count, count))
    return np.asarray(connected_components(graph, directed=False)[1])
