"""What has yielded, across a change of the mesh: old faces hand it over, and the embedding says to whom.

Every old face j hands S_p, damage δ and crease tensor C to the new faces i over it, in the same fractions w:

    A_i S_p,i = Σ_j w_ij A_j S_p,j,   A_i δ_i = Σ_j w_ij A_j δ_j,   A_i C_i = Σ_j w_ij A_j C_j,   Σ_i w_ij = 1

So the integrals are kept, and nothing is invented whatever w is: faces over which nothing has yielded get nothing,
Σ A ‖S_p‖ does not grow, and where ‖S_p‖ ≤ κ_y δ, as eq. 3 of [Narain2013] has it, it stays so. Which of its new faces
an old face means is seen from the plastic embedding y, which keeps bends sharp on any mesh ([Narain2013] §3):

    Ŝ_i  = S(y')_i + Σ_j a_ij (S_p - S(y))_j / Σ_j a_ij               what the embedding shows, and the rest by area
    w_ij ∝ a_ij r_i ⟨S_p,j , Ŝ_i⟩⁺                                     a the overlap areas

with r such that new faces get Ŝ_i as nearly as the old ones can give it (`FITS` rounds of proportional fitting); what
the embedding does not show at all is handed over by area. A crease on a face that is cut up goes to those parts which
lie along the crease, as an angle: narrower faces are bent more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_matrix

from crumple.geometry.curvature import shape_curvature
from crumple.geometry.metric import tensor_norm
from crumple.geometry.overlap import overlap_average
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Floats
from crumple.state.change import Change
from crumple.state.tuning import TUNING

if TYPE_CHECKING:
    from crumple.state.state import State

FITS = TUNING.handing_fits.value
FACTOR = TUNING.handing_factor.value
LEAST = TUNING.handing_least.value


def plastic_residual(mesh: SheetMesh, y: Floats, plastic_curvature: Floats) -> Floats:
    """The plastic strain that the embedding y (node_count, 3) does not show, (face_count, 3) [1/m]."""
    return plastic_curvature - shape_curvature(mesh, y)


def shown_plastic(mesh: SheetMesh, y: Floats, residual: Floats, overlap: csr_matrix) -> Floats:
    """Ŝ (face_count, 3) [1/m] of the new `mesh` with the embedding y: its bending strain, and the `residual`
    (old_face_count, 3) of the old faces by the `overlap` areas (new × old faces)."""
    return shape_curvature(mesh, y) + overlap_average(overlap, residual)


def follow_plastic_curvature(state: State, y: Floats, change: Change) -> Mapping[str, Floats]:
    """S_p, δ and C on the new mesh, whose embedding is y (node_count, 3) [m]; curvatures are those of the hinges."""
    if not np.any(state.plastic_curvature):
        return hand_over(state, np.zeros((change.mesh.face_count, 3)), change)
    residual = plastic_residual(state.mesh, state.y, state.plastic_curvature)
    return hand_over(state, shown_plastic(change.mesh, y, residual, change.face_operator), change)


def hand_over(state: State, shown: Floats, change: Change) -> Mapping[str, Floats]:
    """S_p, δ and C on the new mesh, whose embedding shows the curvature `shown` (face_count, 3) [1/m].

    Where faces are bent at rest and have never been worked, S_p is that of a given shape, and what the embedding shows
    is that shape itself.
    """
    area = np.abs(change.mesh.face_area)
    overlap = change.face_operator.multiply(area[:, None]).tocsr()
    operator = handing_operator(overlap, area, np.abs(state.mesh.face_area), state.plastic_curvature, shown)
    fields = {name: getattr(state, name) for name in ("plastic_curvature", "damage", "crease")}
    handed = {name: np.ascontiguousarray(operator @ values) for name, values in fields.items()}
    bent = overlap @ tensor_norm(state.plastic_curvature)
    is_given = (bent > 0.0) & (overlap @ state.damage == 0.0)
    handed["plastic_curvature"][is_given] = shown[is_given]
    return handed


def handing_operator(
    overlap: csr_matrix, area: Floats, old_area: Floats, plastic_curvature: Floats, shown: Floats
) -> csr_matrix:
    """The matrix w_ij A_j/A_i (new × old faces) which takes plastic values of old faces to the new ones.

    `overlap` areas (new × old faces), `area`, `old_area` of the faces [m²];
    `plastic_curvature` (old_face_count, 3), `shown` (face_count, 3) [1/m].
    """
    pairs = overlap.tocoo()
    new, old = pairs.row, pairs.col
    size, shown_size = tensor_norm(plastic_curvature), tensor_norm(shown)
    along = _inner(plastic_curvature[old], shown[new])
    weight = pairs.data * np.maximum(along, 0.0)
    is_lost = np.bincount(old, weight, len(size)) <= LEAST * old_area * size**2
    weight = np.where(is_lost[old], pairs.data, weight)
    content = along * old_area[old] / np.where(shown_size > 0.0, shown_size, 1.0)[new]
    wanted, scale = area * shown_size, np.ones(len(area))
    for _ in range(FITS):
        part = _fractions(weight * scale[new], old, len(old_area))
        got = np.bincount(new, part * content, len(area))
        fit = np.where((got > 0.0) & (wanted > 0.0), wanted / np.where(got > 0.0, got, 1.0), 1.0)
        scale *= np.clip(fit, 1.0 / FACTOR, FACTOR)
    part = _fractions(weight * scale[new], old, len(old_area))
    return csr_matrix((part * old_area[old] / area[new], (new, old)), shape=overlap.shape)


def _fractions(weight: Floats, old: np.ndarray, count: int) -> Floats:
    """The weights (n,) over the sum of those with the same old face."""
    total = np.bincount(old, weight, count)
    return weight / np.where(total > 0.0, total, 1.0)[old]


def _inner(a: Floats, b: Floats) -> Floats:
    """Products of symmetric tensors (n, 3) each, (n,)."""
    return a[:, 0] * b[:, 0] + a[:, 1] * b[:, 1] + 2.0 * a[:, 2] * b[:, 2]
