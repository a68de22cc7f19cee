"""In-plane elasticity of a thin sheet: Saint Venant–Kirchhoff on the Green strain.

    W(E) = A [ ½ (C11 D00² + 2 C12 D00 D11 + C22 D11²) + C33 D01² ],   D = E − E_rest,   E = ½ (FᵀF − I)

per face of material area A, with the coefficients in N/m. The membrane stress is S00 = C11 D00 + C12 D11,
S11 = C12 D00 + C22 D11, **S01 = C33 D01** (tensor shear, so C33 is twice the engineering shear stiffness):
the convention of the measured tables of [Wang2011]. An isotropic sheet has, with Y = E h,

    C11 = C22 = Y/(1−ν²),   C12 = νY/(1−ν²),   C33 = Y/(1+ν).

Projection clamps the compressive principal stresses in the geometric stiffness; the material part is
semi-definite as it stands when C is (Material checks it). Clamped stress is as good as an exact
eigenvalue projection in practice and needs no eigenvectors of a 9×9 matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numba import njit, prange

from crumple.contract.energy import Example, Projection, projection_mask, register
from crumple.contract.ready import ReadyEnergy
from crumple.energies.definite import clamp_negative
from crumple.energies.elastic_energy import ElasticEnergy
from crumple.energies.examples import PATCH, patch_poses
from crumple.energies.predicted_stress import add_predicted
from crumple.geometry.triangle import deformation, green_strain, shape_gradients, strain
from crumple.linalg.block_matrix import sum_vectors
from crumple.runtime.compiled import TWO, ZERO, kernel, spread
from crumple.runtime.typing import Floats, Ints


@dataclass(frozen=True)
class MembraneStvk(ElasticEnergy):
    """Saint Venant–Kirchhoff membrane with coefficients per face.

    `stencil` (n, 3) nodes;  `gradients` (n, 3, 2) shape gradients in the pattern [1/m];  `area` (n,) [m²];
    `coefficients` (n, 4) C11, C12, C22, C33 [N/m];  `rest_strain` (n, 3) Green strain xx, yy, xy without stress.
    """

    keeps_stress: ClassVar[bool] = True

    stencil: Ints
    gradients: Floats
    area: Floats
    coefficients: Floats
    rest_strain: Floats

    def deformation(self, x: Floats) -> Floats:
        """Green strain (xx, yy, xy) of each face, (n, 3)."""
        return green_strain(x, self.stencil, self.gradients)

    def tension(self, x: Floats, among: Ints | slice) -> Floats:
        """S (xx, yy, xy) of the faces `among` them on the axes of the coefficients, (n, 3) [N/m]."""
        beyond = green_strain(x, self.stencil[among], self.gradients[among]) - self.rest_strain[among]
        xx, yy, xy = beyond.T
        c11, c12, c22, c33 = self.coefficients[among].T
        return np.stack([c11 * xx + c12 * yy, c12 * xx + c22 * yy, c33 * xy], axis=1)

    def modulus(self, among: Ints | slice) -> Floats:
        """E t of the faces `among` them, the geometric mean of both axes, (n,) [N/m]."""
        c11, c12, c22, _ = self.coefficients[among].T
        return np.asarray((c11 * c22 - c12**2) / np.sqrt(c11 * c22))

    def damped(self, before: Floats, ratio: Floats) -> Sequence[MembraneStvk]:
        column = np.reshape(ratio, (-1, 1))
        rest_strain = (self.rest_strain + column * before) / (1.0 + column)
        return [replace(self, coefficients=self.coefficients * (1.0 + column), rest_strain=rest_strain)]

    def dissipation(self, before: Floats, ratio: Floats) -> MembraneStvk:
        return replace(self, coefficients=self.coefficients * np.reshape(ratio, (-1, 1)), rest_strain=before)

    def evaluate(
        self, x: Floats, order: int, project: Projection, value: Floats, gradient: Floats, hessian: Floats
    ) -> None:
        mask = projection_mask(project, len(self.stencil))
        _membrane(
            x,
            self.stencil,
            self.gradients,
            self.area,
            self.coefficients,
            self.rest_strain,
            order,
            mask,
            value,
            gradient,
            hessian,
        )

    def predict(self, x: Floats, before: Floats, project: bool, blocks: Floats) -> None:
        fields = self.stencil, self.gradients, self.area, self.coefficients, self.rest_strain
        add_predicted(x, before, *fields, project, blocks)

    def ready(self) -> ReadyEnergy:
        return ReadyMembrane(self)


class ReadyMembrane(ReadyEnergy):
    """The membrane in one thread."""

    def __init__(self, energy: MembraneStvk) -> None:
        n = len(energy.stencil)
        self.stencil, self.turns, self._energy = energy.stencil, energy.turns, energy
        self.mixed, self.own = np.empty((n, 3, 0, 3)), np.empty((n, 0))
        self._fields = (
            energy.stencil, energy.gradients, energy.area, energy.coefficients, energy.rest_strain,
        )  # fmt: skip
        self.blocks = np.empty((n, 6, 3, 3))
        self._room = np.empty(n, np.bool_), np.empty(n), np.empty((n, 3, 3)), self.blocks

    def value(self, x: Floats, half_turn: Floats) -> float:
        return float(_membrane_total(x, *self._fields, *self._room))

    def expand(self, x: Floats, half_turn: Floats, project: bool, gradient: Floats, moments: Floats) -> None:
        _membrane_sum(x, *self._fields, *self._room, project, gradient)

    def predict(self, x: Floats, before: Floats, project: bool) -> None:
        self._energy.predict(x, before, project, self.blocks)


def make_membrane_stvk(corners: Floats, nodes: Ints, coefficients: Floats) -> MembraneStvk:
    """The membrane energy of faces with the pattern corners (n, 3, 2) [m] and nodes (n, 3), free of stress there.

    `coefficients` (4,) or (n, 4): C11, C12, C22, C33 [N/m].
    """
    e, f = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return MembraneStvk(
        stencil=np.ascontiguousarray(nodes, np.int32),
        gradients=shape_gradients(corners),
        area=0.5 * np.abs(e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0]),
        coefficients=np.array(np.broadcast_to(coefficients, (len(nodes), 4)), np.float64, order="C"),  # never read-only
        rest_strain=np.zeros((len(nodes), 3)),
    )


@spread(1)
def _membrane(x, stencil, gradients, area, coefficients, rest_strain, order, mask, value, gradient, hessian):
    for f in prange(len(stencil)):
        ux, uy, uz, vx, vy, vz = deformation(x, stencil[f, 0], stencil[f, 1], stencil[f, 2], gradients, f)
        d00, d11, d01 = strain(ux, uy, uz, vx, vy, vz)
        d00, d11, d01 = d00 - rest_strain[f, 0], d11 - rest_strain[f, 1], d01 - rest_strain[f, 2]
        a = area[f]
        c11, c12, c22, c33 = (
            a * coefficients[f, 0],
            a * coefficients[f, 1],
            a * coefficients[f, 2],
            a * coefficients[f, 3],
        )
        s00, s11, s01 = c11 * d00 + c12 * d11, c12 * d00 + c22 * d11, c33 * d01
        value[f] = 0.5 * (s00 * d00 + s11 * d11) + s01 * d01
        if order == 0:
            continue
        for p in range(3):
            g, h = gradients[f, p, 0], gradients[f, p, 1]
            s, t = s00 * g + s01 * h, s01 * g + s11 * h
            gradient[f, p, 0] = s * ux + t * vx
            gradient[f, p, 1] = s * uy + t * vy
            gradient[f, p, 2] = s * uz + t * vz
        if order == 1:
            continue
        if mask[f]:
            s00, s11, s01 = clamp_negative(s00, s11, s01)
        c33 *= 0.5
        block = 0
        for p in range(3):
            g, h = gradients[f, p, 0], gradients[f, p, 1]
            for q in range(p, 3):
                k, m = gradients[f, q, 0], gradients[f, q, 1]
                uu = c11 * g * k + c33 * h * m
                uv = c12 * g * m + c33 * h * k
                vu = c12 * h * k + c33 * g * m
                vv = c22 * h * m + c33 * g * k
                stress = g * (s00 * k + s01 * m) + h * (s01 * k + s11 * m)
                write_block(hessian[f, block], uu, uv, vu, vv, stress, ux, uy, uz, vx, vy, vz)
                block += 1


_membrane_alone = _membrane.alone  # type: ignore[attr-defined]


@kernel
def _membrane_total(x, stencil, gradients, area, coefficients, rest_strain, mask, value, vectors, blocks):
    """The energy of all faces [J]."""
    _membrane_alone(x, stencil, gradients, area, coefficients, rest_strain, ZERO, mask, value, vectors, blocks)
    return value.sum()


@kernel
def _membrane_sum(
    x, stencil, gradients, area, coefficients, rest_strain, mask, value, vectors, blocks, project, gradient
):  # fmt: skip
    """Fill all derivatives and add the first ones to the gradient."""
    mask[:] = project
    _membrane_alone(x, stencil, gradients, area, coefficients, rest_strain, TWO, mask, value, vectors, blocks)
    sum_vectors(stencil, vectors, gradient)


@njit(cache=True)
def write_block(out, uu, uv, vu, vv, diagonal, ux, uy, uz, vx, vy, vz):
    """`out` (3, 3) = uu f_u f_uᵀ + uv f_u f_vᵀ + vu f_v f_uᵀ + vv f_v f_vᵀ + diagonal I."""
    px, py, pz = uu * ux + vu * vx, uu * uy + vu * vy, uu * uz + vu * vz
    qx, qy, qz = uv * ux + vv * vx, uv * uy + vv * vy, uv * uz + vv * vz
    out[0, 0] = px * ux + qx * vx + diagonal
    out[0, 1] = px * uy + qx * vy
    out[0, 2] = px * uz + qx * vz
    out[1, 0] = py * ux + qy * vx
    out[1, 1] = py * uy + qy * vy + diagonal
    out[1, 2] = py * uz + qy * vz
    out[2, 0] = pz * ux + qz * vx
    out[2, 1] = pz * uy + qz * vy
    out[2, 2] = pz * uz + qz * vz + diagonal


@register("membrane_stvk_stretched")
def example_stretched(rng: np.random.Generator) -> Example:
    """A membrane that has flowed: without stress when stretched along one diagonal."""
    stretch = np.array([[1.1, 0.07], [0.07, 1.03]])
    e = 0.5 * (stretch.T @ stretch - np.eye(2))
    energy = make_membrane_stvk(PATCH.u[PATCH.faces], PATCH.face_nodes, np.array([1e3, 3e2, 5e2, 4e2]))
    energy.rest_strain[:] = e[0, 0], e[1, 1], e[0, 1]
    poses = patch_poses(rng)
    poses["flowed"] = poses["flat"].copy()
    poses["flowed"][:, :2] @= stretch
    return Example(energy, poses, rest=poses["flowed"], invariant=True, convex=("flowed",))


@register("membrane_stvk")
def example(rng: np.random.Generator) -> Example:
    """An orthotropic membrane on the sample patch."""
    coefficients = np.stack([rng.uniform(1, 2, 4) * [1e3, 3e2, 5e2, 4e2] for _ in PATCH.faces])
    energy = make_membrane_stvk(PATCH.u[PATCH.faces], PATCH.face_nodes, coefficients)
    poses = patch_poses(rng)
    return Example(energy, poses, rest=poses["flat"], invariant=True, convex=("flat", "stretched"))
