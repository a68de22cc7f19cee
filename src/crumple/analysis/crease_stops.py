"""What stops creases short of their angles: the thickness of the sheet, other layers, or the facets beside them.

Two layers ξ thick that lie on each other are ξ + g apart, with a gap g between 0 and the activation distance d̂ of
contact. Faces beside a crease that are h high can close only until they are that far from each other at their apexes,
h sin(π − θ) = ξ + g, so that flat folds end between π − asin((ξ + d̂)/h) and π − asin(ξ/h).
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from crumple.boundary.creases import closing_limits
from crumple.contact import active_pairs, find_candidates
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.model.derived import contact_surface
from crumple.model.model import Model
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.state import State

THICKNESS, LAYERS, FACETS = "thickness", "layers", "facets"


def flat_limits(model: Model, mesh: SheetMesh) -> Floats:
    """The fold angle (hinge_count,) [rad] at which the layers beside each hinge begin to press on each other; π where
    there is no contact."""
    if not model.contact.enabled:
        return np.full(len(mesh.hinges.nodes), np.pi)
    thickness = np.array([*model.contact.sheet_thickness, 0.0])[mesh.face_sheet[mesh.hinges.faces[:, 0]]]
    return closing_limits(mesh, thickness + model.contact.activation)


def labelled_facets(mesh: SheetMesh) -> Ints:
    """The facet of each face, (face_count,): faces that hang together without crossing a labelled edge."""
    half = np.flatnonzero((mesh.twin >= 0) & (mesh.edge_label.ravel() == 0))
    graph = coo_matrix((np.ones(len(half)), (half // 3, mesh.twin[half] // 3)), shape=(mesh.face_count,) * 2)
    return np.asarray(connected_components(graph, directed=False)[1], np.int32)


def touched_facets(model: Model, state: State) -> Bools:
    """Which facets touch another layer or an obstacle, (facet_count,), numbered as in `labelled_facets`.

    A pair counts for the facets that have a node of it which no other facet has: what is around a vertex of the pattern
    is near each other in any case.
    """
    mesh, facet = state.mesh, labelled_facets(state.mesh)
    touched = np.zeros(int(facet.max(initial=-1)) + 1, bool)
    if not model.contact.enabled:
        return touched
    surface = contact_surface(model, state, state.time)
    x = np.ascontiguousarray(np.concatenate([state.x, state.obstacle_x]))
    pairs = active_pairs(surface, find_candidates(surface, x, x, surface.reach), x, model.contact.stiffness)
    nodes, own = mesh.face_nodes.ravel(), np.repeat(facet, 3)
    first, last = np.full(mesh.node_count, len(touched), np.int32), np.full(mesh.node_count, -1, np.int32)
    np.minimum.at(first, nodes, own)
    np.maximum.at(last, nodes, own)
    found = np.unique(pairs.stencil)
    found = found[found < mesh.node_count]
    touched[first[found[first[found] == last[found]]]] = True
    return touched


def hinge_stops(model: Model, state: State) -> Bools:
    """Hinges with a facet beside them that touches another layer or an obstacle, (hinge_count,)."""
    touched, facet = touched_facets(model, state), labelled_facets(state.mesh)
    return np.asarray(touched[facet[state.mesh.hinges.faces]].any(axis=1))
