"""Meshes, changes of them, and states with every kind of field."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_matrix, identity

import crumple.mesh as cm
import crumple.shapes as cs
from crumple.mesh import Refusal, SheetMesh, make_sheet_mesh
from crumple.state import Change, State, close_change, initial_state
from crumple.state.following import element_count

RULES = {
    "node": ("interpolate", "copy", "discard"),
    "vertex": ("interpolate", "copy", "discard"),
    "edge": ("copy", "discard"),
    "hinge": ("copy", "discard"),
    "face": ("conserve", "copy", "discard"),
}
"""All rules that a field of one's own can have."""


def jittered(columns: int = 5, rows: int = 4, seed: int = 0) -> SheetMesh:
    """A flat square whose inner nodes are moved at random, so that no three of its nodes are in line by chance."""
    mesh, _ = cs.rectangle(1.0, 1.0, kind="right", divisions=(columns, rows))
    u = mesh.u.copy()
    inner = ~mesh.boundary_nodes[mesh.vertex_node]
    u[inner] += np.random.default_rng(seed).uniform(-0.05, 0.05, (np.count_nonzero(inner), 2))
    return make_sheet_mesh(u, mesh.faces)


def every_field(mesh: SheetMesh, seed: int = 0) -> State:
    """A state with random values, and fields of one's own of every kind: "node_copy", "face_conserve" …

    What is copied are the numbers of the elements, counted from 1, so that 0 stands for none.
    """
    rng = np.random.default_rng(seed)
    state = initial_state(mesh, mesh.node_rest, v=rng.normal(size=(mesh.node_count, 3)))
    state = state.replaced(
        plastic_curvature=rng.normal(size=(mesh.face_count, 3)),
        damage=rng.random(mesh.face_count),
        plastic_strain=rng.normal(size=(mesh.face_count, 3)),
    )
    for where, rules in RULES.items():
        count = element_count(mesh, where)
        for rule in rules:
            values = rng.random((count, 2)) if rule in ("interpolate", "conserve") else np.arange(1, count + 1)
            state = state.with_field(f"{where}_{rule}", values, where=where, rule=rule)
    return state.with_field("rest", mesh.node_rest, where="node", rule="interpolate").with_field(
        "pattern", mesh.u, where="vertex", rule="interpolate"
    )


def edited(mesh: SheetMesh, rng: np.random.Generator, count: int, *, cuts: bool = True) -> Change:
    """The change by random splits, flips, collapses and, if `cuts`, cuts."""
    buf = cm.open_buffers(mesh, spare=1.0)
    for _ in range(count):
        kind = rng.integers(0, 4 if cuts else 3)
        used = int(np.flatnonzero(buf.links.faces[:, 0] >= 0)[-1]) + 1
        edge = int(rng.integers(0, 3 * used))
        t, head = float(rng.uniform(0.2, 0.8)), bool(rng.integers(0, 2))
        path = rng.integers(0, 3 * used, int(rng.integers(1, 4)))
        code = Refusal.NO_CAPACITY
        while code == Refusal.NO_CAPACITY:
            if kind == 0:
                code = cm.split_edge(buf, edge, t)
            elif kind == 1:
                code = cm.flip_edge(buf, edge)
            elif kind == 2:
                code = cm.collapse_edge(buf, edge, head, 1e-9)
            else:
                code = cm.cut_edges(buf, path, len(path))
            if code == Refusal.NO_CAPACITY:
                buf = cm.grow(buf)
    return close_change(mesh, buf)[0]


def glided(mesh: SheetMesh, rng: np.random.Generator, count: int = 3) -> Change:
    """The change that moves some inner vertices into a face around them, as crease tips glide."""
    u = mesh.u.copy()
    rows: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    alone = np.bincount(mesh.vertex_node, minlength=mesh.node_count) == 1
    rim = _pattern_rim(mesh)
    free = np.flatnonzero((~mesh.boundary_nodes & alone)[mesh.vertex_node] & ~rim)
    moved_faces = np.zeros(mesh.face_count, bool)
    for vertex in rng.permutation(free)[:count].tolist():
        around = np.flatnonzero((mesh.faces == vertex).any(axis=1))
        face = int(rng.choice(around))
        group = mesh.face_material[around]
        if moved_faces[around].any() or (group != group[0]).any():
            continue
        corners = mesh.faces[face]
        weight = np.where(corners == vertex, 0.8, 0.1)
        trial = u.copy()
        trial[vertex] = weight @ mesh.u[corners]
        e, f = (trial[mesh.faces[around, k]] - trial[mesh.faces[around, 0]] for k in (1, 2))
        if np.all(e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0] > 0.1 * mesh.face_area[around]):
            u, rows[vertex] = trial, (corners, weight)
            moved_faces[around] = True
    vertex_operator = _with_rows(mesh.vertex_count, rows)
    nodes = mesh.vertex_node
    node_operator = _with_rows(mesh.node_count, {int(nodes[v]): (nodes[c], w) for v, (c, w) in rows.items()})
    moved = replace(mesh, u=u, node_rest=np.ascontiguousarray(node_operator @ mesh.node_rest))
    return Change(mesh, moved, node_operator, vertex_operator)


def _pattern_rim(mesh: SheetMesh) -> np.ndarray:
    """Vertices on the outline of the pattern, where it is not continued on the other side, (vertex_count,)."""
    tail, head = mesh.faces.ravel().astype(np.int64), np.roll(mesh.faces, -1, axis=1).ravel()
    outer = ~np.isin(tail * mesh.vertex_count + head, head * np.int64(mesh.vertex_count) + tail)
    rim = np.zeros(mesh.vertex_count, bool)
    rim[tail[outer]] = rim[head[outer]] = True
    return rim


def _with_rows(count: int, rows: dict[int, tuple[np.ndarray, np.ndarray]]) -> csr_matrix:
    """The identity with some rows replaced: row → (columns, weights)."""
    operator = identity(count, format="lil")
    for row, (columns, weights) in rows.items():
        operator[row, row] = 0.0
        for column, weight in zip(columns.tolist(), weights.tolist(), strict=True):
            operator[row, column] = weight
    return operator.tocsr()
