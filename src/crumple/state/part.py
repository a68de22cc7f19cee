"""A part of a state: some of its faces, with all that lies on them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, identity

from crumple.mesh.sheet_mesh import SheetMesh
from crumple.state.change import Change
from crumple.state.ragged import no_bonds, no_pins
from crumple.state.state import State
from crumple.state.transfer import transfer
from crumple.typing import Bools


def part_of(state: State, faces: Bools) -> State:
    """The state of the marked faces (face_count,) alone, held by no handle and joined to nothing."""
    free = state.replaced(pins=no_pins(), bonds=no_bonds())
    if faces.all():
        return free
    change = _selection(state.mesh, np.asarray(faces, bool))
    kept = state.plastic_curvature[faces]  # exactly: faces that stay have bent as they have
    return transfer(free, change, custom={"plastic_curvature": lambda *_: kept})


def _selection(mesh: SheetMesh, faces: Bools) -> Change:
    """The change that leaves only the marked faces of a mesh."""
    vertices = np.unique(mesh.faces[faces])
    nodes = np.unique(mesh.vertex_node[vertices])
    new_vertex = np.full(mesh.vertex_count, -1, np.int32)
    new_vertex[vertices] = np.arange(len(vertices), dtype=np.int32)
    new_node = np.full(mesh.node_count, -1, np.int32)
    new_node[nodes] = np.arange(len(nodes), dtype=np.int32)
    left = SheetMesh(
        u=np.ascontiguousarray(mesh.u[vertices]),
        vertex_node=new_node[mesh.vertex_node[vertices]],
        faces=np.ascontiguousarray(new_vertex[mesh.faces[faces]]),
        face_material=mesh.face_material[faces],
        face_sheet=mesh.face_sheet[faces],
        edge_label=np.ascontiguousarray(mesh.edge_label[faces]),
        node_label=mesh.node_label[nodes],
        node_rest=np.ascontiguousarray(mesh.node_rest[nodes]),
    )
    return Change(mesh, left, _rows(mesh.node_count, nodes), _rows(mesh.vertex_count, vertices))


def _rows(count: int, chosen: np.ndarray) -> csr_matrix:
    """The chosen rows of the identity."""
    return identity(count, format="csr")[chosen]
