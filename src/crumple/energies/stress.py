"""The stress in the plane of a sheet."""

from __future__ import annotations

import numpy as np

from crumple.energies.sheets import make_membranes
from crumple.geometry.metric import tensor_eigen
from crumple.materials.material import Material
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Floats


def membrane_stress(mesh: SheetMesh, materials: tuple[Material, ...], x: Floats, plastic_strain: Floats) -> Floats:
    """Second Piola–Kirchhoff stress of each face on the axes of the pattern as (xx, yy, xy), (face_count, 3) [Pa].

    σ = C : (E − E_p)/t. The strains of sheets that tear like paper are small, where all measures of stress agree.
    0 for materials of the model "baraff-witkin", which have no such measure.
    `x` (node_count, 3) [m];  `plastic_strain` E_p (face_count, 3).
    """
    parts = make_membranes(mesh, materials)
    stress = np.zeros((mesh.face_count, 3))
    for energy, _, faces in parts.by_strain(x, plastic_strain):
        stress[faces] = energy.tension(x, slice(None))
    thickness = np.array([material.thickness for material in materials])[mesh.face_material]
    return on_pattern_axes(stress, parts.grain) / thickness[:, None]


def largest_tension(stress: Floats) -> Floats:
    """The largest principal stress (n,) [Pa] of the stress (n, 3) [Pa], 0 where nothing pulls."""
    return np.maximum(tensor_eigen(stress)[0][:, 0], 0.0)


def on_pattern_axes(tensor: Floats, grain: Floats) -> Floats:
    """Tensors (n, 3) on axes along and across the grain (n,) [rad], on the axes of the pattern."""
    if not grain.any():
        return tensor
    c, s = np.cos(grain), np.sin(grain)
    xx, yy, xy = tensor.T
    first = c * c * xx + s * s * yy - 2.0 * c * s * xy
    second = s * s * xx + c * c * yy + 2.0 * c * s * xy
    return np.stack([first, second, c * s * (xx - yy) + (c * c - s * s) * xy], axis=1)
