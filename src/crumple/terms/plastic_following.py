"""How the plastic curvature S_p follows a change of the mesh, by the elements that bend."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from crumple.energies.bending_midedge import make_bending_midedge, relax_turns, sheet_curvature
from crumple.geometry.curvature import bending_strain, curvature_stencil, rest_angle
from crumple.geometry.directors import edge_links, held_faces
from crumple.geometry.hinge import dihedral_angles
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.plasticity.crease_marks import SHARP_ANGLE
from crumple.runtime.typing import Bools, Floats
from crumple.state import Change, State
from crumple.state.change import NEW
from crumple.state.embedded import hand_over


def follow_relaxed(state: State, y: Floats, change: Change) -> Mapping[str, Floats]:
    """S_p, δ and C on the new mesh: as `state.embedded` does it, with directors in equilibrium.

    The directors of the embedding are those that show S_p best, on the old mesh and, with what is expected of S_p, on
    the new one: that of sharp creases stays beside their edges, the rest is the mean over the old faces. So what the
    embedding shows of a bend is its true curvature, on any mesh. Faces that a handle holds are rigid and have not taken
    part in the bends beside them: theirs is the mean of the old faces.
    """
    if not np.any(state.plastic_curvature):
        return hand_over(state, np.zeros((change.mesh.face_count, 3)), change)
    before = _shown(state.mesh, state.y, state.plastic_curvature)
    mean = change.face_operator @ state.plastic_curvature
    guess = mean + sharp_curvature(change.mesh, y) - change.face_operator @ sharp_curvature(state.mesh, state.y)
    residual = change.face_operator @ (state.plastic_curvature - before)
    shown = np.where(_pinned_faces(state, change)[:, None], mean, _shown(change.mesh, y, guess) + residual)
    return hand_over(state, shown, change)


def _pinned_faces(state: State, change: Change) -> Bools:
    """Faces of the new mesh all of whose nodes one handle holds, (face_count,)."""
    pins = state.pins.follow(change)
    node_handle = np.full(change.mesh.node_count, -1, np.int32)
    node_handle[pins.node] = pins.handle
    return held_faces(change.mesh.face_nodes, node_handle)


def sharp_curvature(mesh: SheetMesh, y: Floats) -> Floats:
    """The curvature (face_count, 3) [1/m] that the sharp creases of the shape y have, in halves on either side."""
    angle = dihedral_angles(y, mesh.hinges.nodes)
    return bending_strain(curvature_stencil(mesh), np.where(np.abs(angle) > SHARP_ANGLE, angle, 0.0))


def _shown(mesh: SheetMesh, y: Floats, plastic_curvature: Floats) -> Floats:
    """The curvature of the shape y with the directors that bring it nearest to S_p, (face_count, 3) [1/m]."""
    links = edge_links(mesh)
    energy = make_bending_midedge(mesh, links, np.diag([1.0, 1.0, 2.0]), plastic_curvature=plastic_curvature)
    return sheet_curvature(mesh, links, y, relax_turns(energy, y, np.zeros(links.edge_count)))


def follow_cut(state: State, y: Floats, change: Change) -> Mapping[str, Floats]:
    """S_p (face_count, 3) [1/m] on a mesh that was cut: that of the faces below, by area."""
    return {"plastic_curvature": np.asarray(change.face_operator @ state.plastic_curvature, np.float64)}


def follow_cut_hinges(state: State, y: Floats, change: Change) -> Mapping[str, Floats]:
    """The same where hinges bend: what the rest angles of cut hinges have put into it goes with them."""
    before, after = curvature_stencil(state.mesh), curvature_stencil(change.mesh)
    angle = rest_angle(before, state.plastic_curvature)
    beyond = state.plastic_curvature - bending_strain(before, angle)
    source = change.hinge_source
    left = np.where(source == NEW, 0.0, angle[source])
    return {"plastic_curvature": np.asarray(bending_strain(after, left) + change.face_operator @ beyond, np.float64)}
