"""Where remeshing has changed a mesh."""

from __future__ import annotations

import numpy as np

from crumple.remeshing.remesh import RemeshResult
from crumple.typing import Bools, Ints


def changed_nodes(result: RemeshResult) -> Bools:
    """The nodes of faces that the old mesh did not have, (node_count,)."""
    count = result.mesh.node_count
    old = result.node_map[result.old_mesh.face_nodes]
    old = old[(old >= 0).all(axis=1)]
    fresh = ~np.isin(_keys(result.mesh.face_nodes, count), _keys(old, count))
    changed = np.zeros(count, bool)
    changed[result.mesh.face_nodes[fresh]] = True
    return changed


def _keys(faces: Ints, count: int) -> np.ndarray:
    """One number for each set of three nodes (n,), below 2⁶³ up to two million nodes."""
    a, b, c = np.sort(faces.astype(np.int64), axis=1).T
    return (a * count + b) * count + c
