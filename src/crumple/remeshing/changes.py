"""Where remeshing has changed a mesh."""

from __future__ import annotations

import numpy as np

from crumple.remeshing.remesh import RemeshResult
from crumple.remeshing.transfer import face_keys
from crumple.typing import Bools


def changed_nodes(result: RemeshResult) -> Bools:
    """The nodes of faces that the old mesh did not have, (node_count,)."""
    count = result.mesh.node_count
    old = result.node_map[result.old_mesh.face_nodes]
    old = old[(old >= 0).all(axis=1)]
    fresh = ~np.isin(face_keys(result.mesh.face_nodes, count), face_keys(old, count))
    changed = np.zeros(count, bool)
    changed[result.mesh.face_nodes[fresh]] = True
    return changed
