"""The mesh around the tips of cracks: as fine as they need it, growing with the distance.

    M_tip = I/max(ℓ, r/3)²

with r the distance on the pattern to the nearest tip of the same sheet.
"""

from __future__ import annotations

import numpy as np

from crumple.mesh.sheet_mesh import SheetMesh
from crumple.typing import Floats, Ints

GROWTH = 3.0
"""Distance from a tip over the edge length allowed there."""


def sizing_tips(mesh: SheetMesh, nodes: Ints, size: float) -> Floats:
    """The longest edge (face_count,) [m] that each face may have near tips at the `nodes` (k,); `size` ℓ [m]."""
    middle = mesh.u[mesh.faces].mean(axis=1)
    longest = np.full(mesh.face_count, np.inf)
    for node in nodes.tolist():
        vertex = int(np.flatnonzero(mesh.vertex_node == node)[0])
        away = np.linalg.norm(middle - mesh.u[vertex], axis=1)
        away[mesh.face_sheet != mesh.node_sheet[node]] = np.inf
        longest = np.minimum(longest, np.maximum(size, away / GROWTH))
    return longest
