"""What cracks ask of the mesh: fine around their tips, and where the sheet may begin to tear ([Jiang2016] §3).

Both criteria have the form of the user's own. Edges at tips have the length ℓ (`tip_size`):

    M_tip = I/max(ℓ, r/3)²            M_frac = (λ/(2 f σ_t ℓ))² I

with r the distance on the pattern to the nearest tip of the same sheet, λ the largest tension of a face and σ_t the
tensile strength: edges have the length ℓ where the tension reaches 2 f σ_t. f = ½ is the paper's (2 λ/(τ x_min))² with
its strength τ = 2 σ_t.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.energies.stress import largest_tension, membrane_stress
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.model.model import Model
from crumple.options.remeshing import Criterion
from crumple.remeshing.demands import Demands
from crumple.runtime.typing import Floats, Ints
from crumple.state import State
from crumple.tearing.tip_load import tip_size
from crumple.tearing.tuning import TUNING

GROWTH = TUNING.size_growth.value


def crack_demands(model: Model) -> Demands:
    """What cracks ask of a remeshing. Tips stay where they are even if nothing tears any more."""
    return Demands(crack_criteria(model), (crack_nodes,), may_rest=model.tearing is None)


def crack_criteria(model: Model) -> tuple[Criterion, ...]:
    """How fine the mesh is to be for cracks; none where nothing tears."""
    options = model.tearing
    if options is None:
        return ()
    if options.initiation or options.criterion == "strength":
        return TipDistance(model), FractureTension(model, options.refine_fracture)
    return (TipDistance(model),)


@dataclass(frozen=True)
class TipDistance:
    """The longest edge max(ℓ, r/3) that each face may have near the tips of cracks."""

    model: Model

    def __call__(self, state: State) -> Floats:
        """The longest edges of the faces (face_count,) [m]."""
        if not len(state.tips.node):
            return np.full(state.mesh.face_count, np.inf)
        return length_near(state.mesh, state.tips.node, tip_size(self.model, state))


def length_near(mesh: SheetMesh, nodes: Ints, size: float) -> Floats:
    """The longest edge (face_count,) [m] that each face may have near tips at the `nodes` (k,); `size` ℓ [m]."""
    middle = mesh.u[mesh.faces].mean(axis=1)
    longest = np.full(mesh.face_count, np.inf)
    for node in nodes.tolist():
        vertex = int(np.flatnonzero(mesh.vertex_node == node)[0])
        away = np.linalg.norm(middle - mesh.u[vertex], axis=1)
        away[mesh.face_sheet != mesh.node_sheet[node]] = np.inf
        longest = np.minimum(longest, np.maximum(size, away / GROWTH))
    return longest


@dataclass(frozen=True)
class FractureTension:
    """The longest edge 2 f σ_t ℓ/λ, at least ℓ; `refine_fracture` f."""

    model: Model
    refine_fracture: float

    def __call__(self, state: State) -> Floats:
        """The longest edges of the faces (face_count,) [m]."""
        mesh, materials = state.mesh, self.model.materials
        strength = np.array([material.tensile_strength for material in materials])[mesh.face_material]
        tension = largest_tension(membrane_stress(mesh, materials, state.x, state.plastic_strain))
        return length_under(tension, strength, self.refine_fracture, tip_size(self.model, state))


def length_under(tension: Floats, strength: Floats, share: float, size: float) -> Floats:
    """The longest edge 2 f σ_t ℓ/λ (face_count,) [m], infinite where nothing pulls or the sheet cannot tear.

    `tension` λ (face_count,) ≥ 0 [Pa];  `strength` σ_t (face_count,) [Pa], inf = never;  `share` f;  `size` ℓ [m].
    """
    pulled = tension > 0.0
    longest = np.full(len(tension), np.inf)
    longest[pulled] = np.maximum(2.0 * share * strength[pulled] / tension[pulled], 1.0) * size
    return longest


def crack_nodes(state: State) -> Ints:
    """The tips of cracks, and the nodes of both lips at the last vertex of their paths, from where they glide, (n,)."""
    tips, mesh = state.tips, state.mesh
    found = [tips.node]
    for last, node in zip(tips.last, tips.node, strict=True):
        there = np.flatnonzero(np.linalg.norm(mesh.u - last, axis=1) < 1e-9 * float(np.ptp(mesh.u, axis=0).max()))
        behind = mesh.vertex_node[there]
        found.append(behind[mesh.node_sheet[behind] == mesh.node_sheet[node]])
    return np.concatenate(found).astype(np.int32)
