"""What a sheet remembers: creases, and folds at singular points, which do not open again.

The rest angle of a ruling is the sum of θ_i = π/(8 N_i) over its singular ends, which N_i rulings meet in, with the
sign that the fold had when it appeared ([Schreck2015] §4). Beyond it, what bends a fold more sharply than κ_y stays:
|θ_rest| = max(Σ θ_i, |θ| − κ_y h) with the width h of the faces at the fold. A crease begins with its own rest angle.
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
from crumple.runtime.typing import Floats
from crumple.state import State

FIELD = "fold_memory"
"""Name of the field of the state with the rest angle of every hinge [rad]."""
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


def memory_term(material: Material) -> EnergyTerm:
    """A second spring at every fold with a memory, as stiff as the sheet and with twice the rest angle: both together
    are at rest at the remembered one."""
    stiffness = float(np.mean(material.bending))

    def make(state: State) -> BendingHinge:
        mesh = state.mesh
        rest = state.field(FIELD) if FIELD in state.own else np.zeros(len(mesh.hinges.nodes))
        chosen = np.flatnonzero(rest)
        nodes = mesh.hinges.nodes[chosen]
        length = np.linalg.norm(mesh.u[nodes[:, 1]] - mesh.u[nodes[:, 0]], axis=1)
        area = mesh.face_area[mesh.hinges.faces[chosen]].sum(axis=1)
        return BendingHinge(nodes, hinge_stiffness(np.full(len(chosen), stiffness), length, area), 2.0 * rest[chosen])

    return EnergyTerm("fold memory", make)
