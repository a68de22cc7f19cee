"""How the plastic curvature S_p follows a change of the mesh, by the elements that bend."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from crumple.energies.bending_midedge import curvature_of, make_bending_midedge, relax_turns, sheet_curvature
from crumple.geometry.curvature import bending_strain, curvature_stencil, rest_angle
from crumple.geometry.directors import curvature_angles, curvature_shapes, edge_links, held_faces
from crumple.geometry.hinge import dihedral_angles
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.plasticity.crease_marks import SHARP_ANGLE
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.state import Change, State
from crumple.state.change import NEW
from crumple.state.embedded import hand_over
from crumple.terms.tuning import TUNING

GIVEN = TUNING.given_shape.value
GLIDED = TUNING.glided_weight.value
PART = TUNING.face_part.value


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


def _shown(mesh: SheetMesh, y: Floats, plastic_curvature: Floats, weight: Floats | None = None) -> Floats:
    """The curvature of the shape y with the directors that bring it nearest to S_p, (face_count, 3) [1/m]; `weight`
    (face_count,) of faces, the same if left out."""
    links, stiffness = edge_links(mesh), np.diag([1.0, 1.0, 2.0])
    if weight is not None:
        stiffness = weight[:, None, None] * stiffness
    energy = make_bending_midedge(mesh, links, stiffness, plastic_curvature=plastic_curvature)
    return sheet_curvature(mesh, links, y, relax_turns(energy, y, np.zeros(links.edge_count)))


def follow_cut(state: State, y: Floats, change: Change) -> Mapping[str, Floats]:
    """S_p (face_count, 3) [1/m] on a mesh that was cut: that of the faces below, by area.

    A bent shape that was given at rest and has not yielded stays the polyhedron that it is: parts of an old face lie in
    its plane, and bend where its edges do. With the S_p of the old face they would be far from rest, and a glass ball
    would take energy to cut instead of setting it free.
    """
    mean = np.asarray(change.face_operator @ state.plastic_curvature, np.float64)
    is_given = state.plastic_curvature.any(axis=1) & (state.damage == 0.0)
    is_new = (change.face_source == NEW) & (change.face_operator @ is_given > GIVEN)
    follows = np.flatnonzero(is_new).astype(np.int32)
    if not len(follows):
        return {"plastic_curvature": mean}
    parent, is_part = _parents(change, follows)
    parts, others = follows[is_part], follows[~is_part]
    mean[parts] = _part_curvature(state, change, parts, parent[is_part])
    if len(others):
        before = _shown(state.mesh, state.y, state.plastic_curvature)
        residual = change.face_operator @ (state.plastic_curvature - before)
        weight = np.ones(change.mesh.face_count)
        weight[others] = GLIDED
        mean[others] = (_shown(change.mesh, y, mean - residual, weight) + residual)[others]
    return {"plastic_curvature": mean}


def _parents(change: Change, faces: Ints) -> tuple[Ints, Bools]:
    """The old face that is below most of each of the new `faces` (n,), and whether it is below all of it."""
    rows = change.face_operator[faces].tocsr()
    parent = np.asarray(rows.argmax(axis=1), np.int32).ravel()
    return parent, np.asarray(rows.max(axis=1).todense()).ravel() > 1.0 - PART


def _part_curvature(state: State, change: Change, faces: Ints, parent: Ints) -> Floats:
    """S_p (n, 3) [1/m] of new `faces` (n,) that are parts of the old faces `parent` (n,): the rest angle of an old edge
    at the edges that lie on it, none at the others."""
    old, new = state.mesh, change.mesh
    corner = new.u[new.faces[faces]]
    middle = 0.5 * (corner + np.roll(corner, -1, axis=1))
    first = old.u[old.faces[parent]]
    edge = np.roll(first, -1, axis=1) - first
    away = middle[:, :, None] - first[:, None]
    height = edge[:, None, :, 0] * away[..., 1] - edge[:, None, :, 1] * away[..., 0]
    lies_on = np.abs(height) < PART * 2.0 * np.abs(old.face_area[parent])[:, None, None]
    angle = np.einsum("nko,no->nk", lies_on, curvature_angles(old, state.plastic_curvature)[parent])
    return np.asarray(curvature_of(curvature_shapes(new)[faces], angle))


def follow_cut_hinges(state: State, y: Floats, change: Change) -> Mapping[str, Floats]:
    """The same where hinges bend: what the rest angles of cut hinges have put into it goes with them."""
    before, after = curvature_stencil(state.mesh), curvature_stencil(change.mesh)
    angle = rest_angle(before, state.plastic_curvature)
    beyond = state.plastic_curvature - bending_strain(before, angle)
    source = change.hinge_source
    left = np.where(source == NEW, 0.0, angle[source])
    return {"plastic_curvature": np.asarray(bending_strain(after, left) + change.face_operator @ beyond, np.float64)}
