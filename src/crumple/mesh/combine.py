"""Several sheets in one mesh, and a part of a mesh as one of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Bools, Ints


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


def part_of_mesh(mesh: SheetMesh, faces: Bools) -> tuple[SheetMesh, Ints, Ints]:
    """The marked faces (face_count,) as a mesh, and the vertices and nodes of the whole that it has, in their order."""
    vertices, corners = np.unique(mesh.faces[faces], return_inverse=True)
    nodes, vertex_node = np.unique(mesh.vertex_node[vertices], return_inverse=True)
    part = SheetMesh(
        u=np.ascontiguousarray(mesh.u[vertices]),
        vertex_node=vertex_node.astype(np.int32),
        faces=np.ascontiguousarray(corners.reshape(-1, 3).astype(np.int32)),
        face_material=mesh.face_material[faces],
        face_sheet=mesh.face_sheet[faces],
        edge_label=np.ascontiguousarray(mesh.edge_label[faces]),
        node_label=mesh.node_label[nodes],
        node_rest=np.ascontiguousarray(mesh.node_rest[nodes]),
    )
    return part, vertices, nodes
