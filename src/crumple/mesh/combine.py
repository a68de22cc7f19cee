"""Several sheets in one mesh."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crumple.mesh.sheet_mesh import SheetMesh
from crumple.typing import Ints


def concatenate(meshes: Sequence[SheetMesh]) -> tuple[SheetMesh, Ints]:
    """All meshes side by side, and where the nodes of each start, (len(meshes) + 1,).

    Sheets are renumbered: those of a mesh come after all of the meshes before it. Labels and material groups
    keep their numbers.
    """
    if not meshes:
        raise ValueError("concatenate needs at least one mesh")
    nodes = np.cumsum([0, *(m.node_count for m in meshes)]).astype(np.int32)
    vertices = np.cumsum([0, *(m.vertex_count for m in meshes)]).astype(np.int32)
    sheets = np.cumsum([0, *(int(m.face_sheet.max(initial=-1)) + 1 for m in meshes)]).astype(np.int32)
    merged = SheetMesh(
        u=np.concatenate([m.u for m in meshes]),
        vertex_node=np.concatenate([m.vertex_node + n for m, n in zip(meshes, nodes, strict=False)]),
        faces=np.concatenate([m.faces + v for m, v in zip(meshes, vertices, strict=False)]),
        face_material=np.concatenate([m.face_material for m in meshes]),
        face_sheet=np.concatenate([m.face_sheet + s for m, s in zip(meshes, sheets, strict=False)]),
        edge_label=np.concatenate([m.edge_label for m in meshes]),
        node_label=np.concatenate([m.node_label for m in meshes]),
        node_rest=np.concatenate([m.node_rest for m in meshes]),
    )
    return merged, nodes
