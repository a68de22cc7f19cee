"""A part of a state: some of its faces, with all that lies on them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, identity

from crumple.mesh.combine import part_of_mesh
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Bools
from crumple.state.change import Change
from crumple.state.ragged import no_bonds, no_pins
from crumple.state.state import State
from crumple.state.transfer import transfer


def part_of(state: State, faces: Bools) -> State:
    """The state of the marked faces (face_count,) alone, held by no handle and joined to nothing."""
    free = state.replaced(pins=no_pins(), bonds=no_bonds())
    if faces.all():
        return free
    change = _selection(state.mesh, np.asarray(faces, bool))
    kept = state.plastic_curvature[faces]  # exactly: faces that stay have bent as they have
    return transfer(free, change, custom={"plastic_curvature": lambda *_: {"plastic_curvature": kept}})


def _selection(mesh: SheetMesh, faces: Bools) -> Change:
    """The change that leaves only the marked faces of a mesh."""
    left, vertices, nodes = part_of_mesh(mesh, faces)
    return Change(mesh, left, _rows(mesh.node_count, nodes), _rows(mesh.vertex_count, vertices))


def _rows(count: int, chosen: np.ndarray) -> csr_matrix:
    """The chosen rows of the identity."""
    return identity(count, format="csr")[chosen]
