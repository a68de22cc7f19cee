"""What hinges are like: how stiff, and what they remember: creases, and folds at singular points, which do not open.

The rest angle of a ruling is the sum of θ_i = π/(8 N_i) over its singular ends, which N_i rulings meet in, with the
sign that the fold had when it appeared ([Schreck2015] §4). Beyond it, what bends a fold more sharply than κ_y stays:
|θ_rest| = max(Σ θ_i, |θ| − κ_y h) with the width h of the faces at the fold. A crease begins with its own rest angle.

A strip with a ghost is a flat quadrilateral between rulings. By the areas of its four faces its rulings would be twice
as stiff as the sheet, and to fold it along a diagonal would cost half as much: a cylinder then has a zigzag for its
border. So half of the stiffness is the material's, which is right for such rulings, and the rest is added here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import copysign

import numpy as np

from crumple.contract.term import EnergyTerm
from crumple.developable.enrich import Layout
from crumple.developable.structure import SINGULAR, Edge, Structure
from crumple.developable.tuning import TUNING
from crumple.energies.bending_hinge import BendingHinge, hinge_stiffness
from crumple.materials.material import Material
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.remembered import Remembered
from crumple.runtime.typing import Floats
from crumple.state import State

FIELD, FACTOR = "fold_memory", "hinge_factor"
"""Names of the fields of the state with the rest angle of every hinge [rad], and with its stiffness over that of the
material."""
FOLDS = "developable folds"
"""Name of the term that only sheets of this engine have."""
HALF = 0.5
"""Part of the bending stiffness that the simulated material has itself."""
DIAGONAL = TUNING.diagonal_stiffness.value
SIGNED = TUNING.signed_fold.value


def remember(layout: Layout, angle: Floats, known: Mapping[Edge, float], yield_curvature: float) -> dict[Edge, float]:
    """The rest angles of creases and of the folds at singular points [rad], given those `known` before, and the `angle`
    of every hinge now (hinge_count,) [rad]."""
    structure = layout.structure
    rest = fold_angles(structure)
    rest.update({edge: max(abs(preset), rest.get(edge, 0.0)) for edge, preset in structure.creases.items() if preset})
    found: dict[Edge, float] = {}
    for edge, least in rest.items():
        hinge = layout.hinge_of(edge)
        if hinge is None:
            continue
        before = known.get(edge, structure.creases.get(edge, 0.0))
        now = float(angle[hinge])
        sign = copysign(1.0, before or now) if before or abs(now) > SIGNED else 0.0
        stays = abs(now) - yield_curvature * float(layout.hinge_width[hinge]) if now * sign > 0.0 else 0.0
        found[edge] = sign * max(least, stays, abs(before))
    return found


def fold_angles(structure: Structure) -> dict[Edge, float]:
    """Σ π/(8 N_i) over the singular ends of every ruling that has any [rad]."""
    count = Counter(key for edge in structure.chords for key in edge)
    return {
        edge: sum(np.pi / (8 * count[key]) for key in edge if structure.vertices[key].kind == SINGULAR)
        for edge in sorted(structure.chords)
        if any(structure.vertices[key].kind == SINGULAR for key in edge)
    }


def hinge_memory(layout: Layout, known: Mapping[Edge, float]) -> Floats:
    """The rest angle of every hinge [rad], (hinge_count,)."""
    rest = np.zeros(len(layout.mesh.hinges.nodes))
    for edge, angle in known.items():
        hinge = layout.hinge_of(edge) if all(key in layout.node for key in edge) else None
        if hinge is not None:
            rest[hinge] = angle
    return rest


def hinge_term(material: Material) -> EnergyTerm:
    """What hinges have besides half of the stiffness of a `material`: the other half, or what `FACTOR` says, and at
    folds with a memory twice as much, at rest where it says.

    The half that is there already is at rest when flat, so this one is at rest beyond the remembered angle.
    """
    stiffness = float(np.mean(material.bending))
    known: Remembered[BendingHinge] = Remembered(2)

    def make(state: State) -> BendingHinge:
        count = len(state.mesh.hinges.nodes)
        rest = state.field(FIELD) if FIELD in state.own else np.zeros(count)
        factor = state.field(FACTOR) if FACTOR in state.own else np.ones(count)
        return known.find((state.mesh, rest, factor), lambda: added_hinges(state.mesh, stiffness, rest, factor))

    return EnergyTerm(FOLDS, make)


def added_hinges(mesh: SheetMesh, stiffness: float, rest: Floats, factor: Floats) -> BendingHinge:
    """The springs of `hinge_term` at all hinges of a mesh; `stiffness` [N m] of the sheet, `rest` [rad] and `factor`
    (hinge_count,)."""
    factor = np.where(rest != 0.0, 2.0, factor)
    more = np.maximum(factor - HALF, 0.0)
    nodes = mesh.hinges.nodes
    length = np.linalg.norm(mesh.u[nodes[:, 1]] - mesh.u[nodes[:, 0]], axis=1)
    added = hinge_stiffness(stiffness * more, length, mesh.face_area[mesh.hinges.faces].sum(axis=1))
    beyond = np.divide(factor, more, out=np.zeros_like(more), where=more > 0.0)
    return BendingHinge(nodes, added, beyond * rest)


def hinge_factors(layout: Layout) -> Floats:
    """How stiff each hinge is over what its length and the areas beside it would make it, (hinge_count,)."""
    mesh, strips = layout.mesh, set(layout.structure.strips.values())
    is_quad = [cell in strips and len(corners) == 4 for cell, corners in enumerate(layout.structure.cells)]
    in_cell = np.bincount(layout.face_cell, minlength=len(is_quad)) == 4
    is_cut = (np.array(is_quad) & in_cell)[layout.face_cell]
    faces = mesh.hinges.faces
    area = mesh.face_area[faces]
    within = is_cut[faces[:, 0]] & (layout.face_cell[faces[:, 0]] == layout.face_cell[faces[:, 1]])
    return np.where(within, DIAGONAL, area.sum(axis=1) / np.sum(area * np.where(is_cut[faces], 2.0, 1.0), axis=1))


def with_hinges(state: State, layout: Layout, known: Mapping[Edge, float]) -> State:
    """The state with what its hinges are like."""
    state = state.with_field(FACTOR, hinge_factors(layout), where="hinge", rule="discard")
    return state.with_field(FIELD, hinge_memory(layout, known), where="hinge", rule="discard")
