"""Faces stretched beyond a yield strain keep a part of it (off unless a material has a `yield_strain`).

The same return as in bending, on the Green strain E = ½(FᵀF - I) of a face and its plastic part E_p:

    E_p ← E_p + (1 - ε_y/‖E - E_p‖) (E - E_p)      when ‖E - E_p‖ > ε_y.

E_p is the `rest_strain` of the membrane energy, of the plastic embedding too; remeshing resamples it by area.
The return scales E - E_p down, so the membrane energy falls whatever the stiffness is. Real paper and foil hardly flow
in plane before they tear; this is for lead, clay or plastic film. It leaves the damage alone, which is about bending.
"""

from __future__ import annotations

import numpy as np

from crumple.geometry.metric import tensor_eigen
from crumple.geometry.triangle import green_strain, shape_gradients
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.plasticity.tuning import TUNING
from crumple.plasticity.yielding import return_map
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats

SMALLEST_STRAIN = TUNING.smallest_plastic_strain.value


def total_strain(mesh: SheetMesh, x: Floats) -> Floats:
    """Green strain of each face in the shape x (node_count, 3) [m], (face_count, 3)."""
    return green_strain(x, mesh.face_nodes, shape_gradients(mesh.u[mesh.faces]))


def yield_strain(total: Floats, plastic_strain: Floats, limit: float | Floats) -> Floats:
    """The plastic strain (n, 3) after faces have been stretched to `total` (n, 3); `limit` ε_y > 0, scalar or (n,)."""
    count = len(total)
    bound = np.array(np.broadcast_to(limit, count), np.float64)
    if not np.all(bound > 0.0):
        raise InputError("yield_strain.limit", "must be > 0, or inf", float(bound.min()))
    plastic = plastic_strain.copy()
    none = np.zeros(count)
    return_map(
        total, plastic, np.zeros(count), bound, none, np.full(count, np.inf), none, none, np.zeros((count, 3, 2))
    )
    lost = (tensor_eigen(plastic)[0][:, 1] < SMALLEST_STRAIN) & (bound < np.inf)
    plastic[lost] = plastic_strain[lost]
    return plastic
