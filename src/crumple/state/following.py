"""How the values of a field follow a change of the mesh, by the rule that the field declares.

| where | interpolate | copy | conserve | discard |
|---|---|---|---|---|
| node, vertex | linear between the old ones | that of the nearest old one | | zero where it is new |
| edge, hinge | | that of the old one it is a part of, else zero | | zero where it is new |
| face | | that of the old one with the largest part in it | mean by area: integrals are kept | zero where it is new |
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from crumple.mesh.fields import Field
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Ints
from crumple.state.change import NEW, Change


def follow(field: Field, values: np.ndarray, change: Change) -> np.ndarray:
    """The `values` of a field, one row per element of the old mesh, on the new mesh."""
    if field.where in ("edge", "hinge"):
        source = change.edge_source if field.where == "edge" else change.hinge_source
        return _take(values, source)
    operator = {
        "node": lambda: change.node_operator,
        "vertex": lambda: change.vertex_operator,
        "face": lambda: change.face_operator,
    }[field.where]()
    if field.rule in ("interpolate", "conserve"):
        return np.ascontiguousarray(operator @ values)
    if field.rule == "copy":
        return _take(values, _largest(operator))
    return _take(values, change.face_source if field.where == "face" else _same(operator))


def element_count(mesh: SheetMesh, where: str) -> int:
    """How many elements of a kind a mesh has."""
    if where == "hinge":
        return len(mesh.hinges.nodes)
    return {
        "node": mesh.node_count,
        "vertex": mesh.vertex_count,
        "face": mesh.face_count,
        "edge": len(mesh.edge_corners),
    }[where]


def _take(values: np.ndarray, source: Ints) -> np.ndarray:
    """The rows of `values` that `source` names, zero where it names none."""
    taken = np.zeros((len(source), *values.shape[1:]), values.dtype)
    known = source != NEW
    taken[known] = values[source[known]]
    return taken


def _largest(operator: csr_matrix) -> Ints:
    """The old element with the largest weight in each row, the first among equals."""
    rows = operator.tocsr()
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    order = np.lexsort((rows.indices, -rows.data, row))
    first = np.ones(len(order), bool)
    first[1:] = row[order[1:]] != row[order[:-1]]
    source = np.full(rows.shape[0], NEW, np.int32)
    source[row[order[first]]] = rows.indices[order[first]]
    return source


def _same(operator: csr_matrix) -> Ints:
    """The old element that each new one is, `NEW` where it is made of several."""
    rows = operator.tocsr()
    single = np.flatnonzero(np.diff(rows.indptr) == 1)
    source = np.full(rows.shape[0], NEW, np.int32)
    source[single] = rows.indices[rows.indptr[single]]
    return source
