"""Bending of faces with directors at the middles of their edges: Morley's element for large rotations [Grinspun2006].

    E = ½ A (S − S_p) : D : (S − S_p) = ½ (ψ − ψ_p)ᵀ K (ψ − ψ_p),   S = Σ_k ψ_k shape_k,   K = A shape D shapeᵀ

per face, with ψ_k the angle from its normal to the director of edge k (`geometry.directors`), S the curvature and D the
plate's stiffness (3×3, on (xx, yy, xy) [N m], see `plate_stiffness`), divided by 1 + γ δ where damaged. Both S of bent
surfaces and the balance of constant moments are exact, so it converges on every mesh, with any Poisson's ratio and
grain. Directors at free edges are free: the moment there vanishes by itself.

An element has three nodes and the three turns φ of its edges. Its Hessian is Jᵀ K J with J = ∂ψ/∂(x, φ) (Gauss–Newton):
semi-definite, exact at rest. Clamping the eigenvalues of the exact one takes ten times the iterations.
For given x the energy is quadratic in φ: `relax_turns` finds its minimum with one linear solve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
import scipy.sparse as sp
from numba import njit, prange
from scipy.sparse.linalg import splu

from crumple.contract.energy import EdgeDerivatives, EdgeEnergy
from crumple.errors import SimulationError
from crumple.geometry.directors import (
    LEAST_COSINE,
    Directors,
    EdgeLinks,
    carried_angle,
    carry_angles,
    curvature_angles,
    curvature_shapes,
    edge_direction,
    face_normal,
    half_turns,
    place_directors,
    split_angles,
    start_directors,
)
from crumple.materials.material import Material
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.typing import Bools, Floats, Ints

LEAST_TWIST = 1e-3
"""Floor of the twisting stiffness 4 D66 over √(D11 D22), for materials whose stiffness at 45° leaves none."""
RIGID = 1e4
"""Factor of the stiffness of faces that a handle holds: their directors follow their normals."""


@dataclass(frozen=True)
class BendingMidedge(EdgeEnergy):
    """Mid-edge bending of n faces; every field has one row per face.

    `stencil` (n, 3) nodes;  `edges` (n, 3) edges of the half-edges k → k + 1;  `side` (n, 3) ∂ψ/∂φ = ±1;
    `tangent`, `director` (n, 3, 3), `angle` (n, 3): see `Directors`;
    `shape` (n, 3, 3) curvature per angle [1/m];  `stiffness` (n, 3, 3) K, damage included [N m];
    `rest_angle` (n, 3) ψ_p [rad].
    """

    stencil: Ints
    edges: Ints
    side: Floats
    tangent: Floats
    director: Floats
    angle: Floats
    shape: Floats
    stiffness: Floats
    rest_angle: Floats

    def value(self, x: Floats, turn: Floats) -> Floats:
        """Energy of each face [J], (n,), for positions x (node_count, 3) [m] and turns φ (edge_count,) [rad]."""
        value = np.empty(len(self.stencil))
        self._evaluate(x, turn, 0, value, _NONE)
        return value

    def gradient(self, x: Floats, turn: Floats) -> tuple[Floats, Floats]:
        """Derivatives of each face's energy by its nodes (n, 3, 3) [N] and by its turns (n, 3) [N m]."""
        n = len(self.stencil)
        out = _NONE._replace(vectors=np.empty((n, 3, 3)), moments=np.empty((n, 3)))
        self._evaluate(x, turn, 1, np.empty(n), out)
        return out.vectors, out.moments

    def gradient_hessian(self, x: Floats, turn: Floats) -> EdgeDerivatives:
        """Gradient and semi-definite Hessian in one pass."""
        n = len(self.stencil)
        out = EdgeDerivatives(
            np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6, 3, 3)), np.empty((n, 3, 3, 3)), np.empty((n, 6))
        )
        self._evaluate(x, turn, 2, np.empty(n), out)
        return out

    def angles(self, x: Floats, turn: Floats) -> Floats:
        """ψ of each face [rad], (n, 3)."""
        start = Directors(self.tangent, self.director, self.angle)
        return carry_angles(x, self.stencil, start) + self.side * turn[self.edges]

    def curvature(self, x: Floats, turn: Floats) -> Floats:
        """S of each face as (xx, yy, xy) [1/m], (n, 3), in the convention of `plastic_curvature`."""
        return curvature_of(self.shape, self.angles(x, turn))

    def started(self, start: Directors) -> BendingMidedge:
        """The same from other directors at the start of a step (`start_directors`), whose turns are 0."""
        return replace(self, tangent=start.tangent, director=start.director, angle=start.angle)

    def rebased(self, x: Floats, turn: Floats) -> tuple[BendingMidedge, Floats]:
        """The same energy with the present directors as references, and the turns from there: all 0.

        No value changes. For steps in which edges turn far: call it where an iterate is accepted.
        """
        return self.started(place_directors(x, self.stencil, self.angles(x, turn))), np.zeros_like(turn)

    def damped(self, ratio: Floats | float) -> BendingMidedge:
        """Elastic energy plus its dissipation over one step, up to a constant per face; call it on a `started` energy.

        `ratio` r = β/dt, scalar or (n,): ½ K (ψ−ψ_p)² + r ½ K (ψ−ψ₀)², as one energy with the stiffness (1+r) K and the
        rest angles (ψ_p + r ψ₀)/(1+r); see `energies.damping`.
        """
        r = np.broadcast_to(np.asarray(ratio, np.float64), len(self.stencil))[:, None]
        rest = (self.rest_angle + r * self.angle) / (1.0 + r)
        return replace(self, stiffness=self.stiffness * (1.0 + r)[..., None], rest_angle=rest)

    def dissipation(self, ratio: Floats | float) -> BendingMidedge:
        """The dissipation alone: r ½ K (ψ−ψ₀)² with ψ₀ the angles at the start of the step."""
        r = np.broadcast_to(np.asarray(ratio, np.float64), len(self.stencil))[:, None, None]
        return replace(self, stiffness=self.stiffness * r, rest_angle=self.angle)

    def restricted_to(self, free: Bools, number: Ints, edge_number: Ints) -> BendingMidedge:
        """The faces with a free node, nodes and edges renamed; `free`, `number` (node_count,), `edge_number`
        (edge_count,)."""
        kept = free[self.stencil].any(axis=1)
        rows = {name: np.ascontiguousarray(value[kept]) for name, value in vars(self).items()}
        rows["stencil"] = number[rows["stencil"]]
        rows["edges"] = edge_number[rows["edges"]]
        return replace(self, **rows)

    def _evaluate(self, x: Floats, turn: Floats, order: int, value: Floats, out: EdgeDerivatives) -> None:
        if len(self.stencil):
            _midedge(
                x, turn, self.stencil, self.edges, self.side, self.tangent, self.director, self.angle,
                self.stiffness, self.rest_angle, order, value, *out,
            )  # fmt: skip


def make_bending_midedge(
    mesh: SheetMesh,
    links: EdgeLinks,
    stiffness: Floats,
    x: Floats,
    half_turn: Floats,
    *,
    plastic_curvature: Floats | None = None,
) -> BendingMidedge:
    """The bending energy of all faces of `mesh` from the shape x (node_count, 3) [m] with the half turns (edge_count,).

    `stiffness` (3, 3) or (face_count, 3, 3) D, damage included [N m];  `plastic_curvature` (face_count, 3) S_p [1/m].
    """
    start = start_directors(mesh, links, x, half_turn)
    shape = curvature_shapes(mesh)
    plastic = np.zeros((mesh.face_count, 3)) if plastic_curvature is None else plastic_curvature
    return BendingMidedge(
        stencil=mesh.face_nodes,
        edges=links.face_edge,
        side=links.side,
        tangent=start.tangent,
        director=start.director,
        angle=start.angle,
        shape=shape,
        stiffness=angle_stiffness(mesh, shape, stiffness),
        rest_angle=curvature_angles(mesh, plastic),
    )


def angle_stiffness(mesh: SheetMesh, shape: Floats, stiffness: Floats) -> Floats:
    """K = A shape D shapeᵀ [N m], (face_count, 3, 3), of the plate's stiffness D (3, 3) or (face_count, 3, 3)."""
    plate = np.broadcast_to(stiffness, (mesh.face_count, 3, 3))
    product = np.einsum("fka,fab,flb->fkl", shape, plate, shape, optimize=True)
    return np.ascontiguousarray(np.abs(mesh.face_area)[:, None, None] * product)


def plate_stiffness(material: Material) -> Floats:
    """D (3, 3) [N m] of a material: moments (xx, yy, xy) per curvature (xx, yy, xy), energy ½ S·D·S per area.

    D11, D22 and D12 + 2 D66 come from `bending`, curved along u, v and 45°; D12 = ν √(D11 D22) with Poisson's ratio
    ν = C12/√(C11 C22) of the membrane. Isotropic: B [[1, ν, 0], [ν, 1, 0], [0, 0, 2 (1−ν)]]. Measured tables of bending
    count with their stiffness at zero curvature, measured membranes with ν at zero strain.
    """
    along_u, diagonal, along_v = (float(b) for b in np.maximum(material.bending.reshape(3, -1)[:, 0], 0.0))
    c11, c12, c22, _ = material.membrane.reshape(-1, 4)[0]
    mean = sqrt(along_u * along_v)
    coupling = 0.5 * (4.0 * diagonal - along_u - along_v)
    across = float(np.clip(c12 / sqrt(c11 * c22), -0.99, 0.99)) * mean
    twist = max(2.0 * (coupling - across), LEAST_TWIST * mean)
    return np.array([[along_u, across, 0.0], [across, along_v, 0.0], [0.0, 0.0, twist]])


def face_stiffness(
    mesh: SheetMesh, materials: tuple[Material, ...], *, damage: Floats | None = None, held: Bools | None = None
) -> Floats:
    """D of each face, (face_count, 3, 3) [N m]: its material's, over 1 + γ δ; `RIGID` times that where `held`."""
    plate = np.stack([plate_stiffness(material) for material in materials])[mesh.face_material]
    if damage is not None:
        weakening = np.array([material.weakening for material in materials])[mesh.face_material]
        plate = plate / (1.0 + weakening * damage)[:, None, None]
    if held is not None:
        plate = np.where(held[:, None, None], RIGID * plate, plate)
    return plate


def curvature_of(shape: Floats, angle: Floats) -> Floats:
    """S = Σ_k ψ_k shape_k of each face, (n, 3) [1/m]."""
    return np.einsum("fk,fkq->fq", angle, shape)


def relax_turns(energy: BendingMidedge, x: Floats, edge_count: int, *, held: Bools | None = None) -> Floats:
    """The turns φ (edge_count,) [rad] that minimise the energy for the positions x (node_count, 3) [m].

    `held` (edge_count,): turns that stay 0. Edges without stiffness do not turn.
    """
    turn = np.zeros(edge_count)
    found = energy.gradient_hessian(x, turn)
    right = -np.bincount(energy.edges.ravel(), found.moments.ravel(), edge_count)
    matrix = turn_matrix(energy, found.own, edge_count)
    diagonal = matrix.diagonal()
    free = diagonal > 1e-12 * diagonal.max(initial=0.0)
    if held is not None:
        free &= ~held
    chosen = np.flatnonzero(free)
    if len(chosen):
        try:
            factor = splu(matrix[chosen][:, chosen].tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
                          options={"SymmetricMode": True})  # fmt: skip
        except RuntimeError as error:
            raise SimulationError(f"the directors of the sheet could not be relaxed: {error}") from None
        turn[chosen] = factor.solve(right[chosen])
    return turn


def turn_matrix(energy: BendingMidedge, own: Floats, edge_count: int) -> sp.csr_matrix:
    """The second derivative by the turns (edge_count, edge_count) [N m] from the element parts (n, 6)."""
    rows, columns, values = [], [], []
    for q, (a, b) in enumerate(_UPPER):
        for i, j in {(a, b), (b, a)}:
            rows.append(energy.edges[:, i])
            columns.append(energy.edges[:, j])
            values.append(own[:, q])
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return sp.csr_matrix(entries, shape=(edge_count, edge_count))


def relaxed_half_turns(
    mesh: SheetMesh,
    links: EdgeLinks,
    stiffness: Floats,
    x: Floats,
    *,
    plastic_curvature: Floats | None = None,
    half_turn: Floats | None = None,
) -> Floats:
    """The half turns φ½ (edge_count,) [rad] of a sheet in the shape x whose directors are in equilibrium.

    `stiffness` as in `make_bending_midedge`. From `half_turn`, or from directors in the middle: it decides nothing but
    the branch of the angles.
    """
    before = np.zeros(links.edge_count) if half_turn is None else half_turn
    energy = make_bending_midedge(mesh, links, stiffness, x, before, plastic_curvature=plastic_curvature)
    return before + relax_turns(energy, x, links.edge_count)


def sheet_curvature(mesh: SheetMesh, links: EdgeLinks, x: Floats, half_turn: Floats) -> Floats:
    """S of each face as (xx, yy, xy) [1/m], (face_count, 3), in the shape x with the half turns φ½ (edge_count,)."""
    return curvature_of(curvature_shapes(mesh), split_angles(mesh, links, x, half_turn))


def finished_half_turns(energy: BendingMidedge, links: EdgeLinks, x: Floats, turn: Floats) -> Floats:
    """The half turns φ½ (edge_count,) [rad] at the end of a step that led to x and the turns φ (edge_count,)."""
    return half_turns(links, energy.angles(x, turn))


@njit(cache=True, parallel=True)
def _midedge(
    x, turn, stencil, edges, side, tangent, director, angle, stiffness, rest_angle,
    order, value, vectors, moments, blocks, mixed, own,
):  # fmt: skip
    for f in prange(len(stencil)):
        i, j, k = stencil[f, 0], stencil[f, 1], stencil[f, 2]
        nx, ny, nz, double_area = face_normal(x, i, j, k)
        offset = np.empty(3)
        slope = np.zeros((3, 3, 3))  # ∂ψ_c/∂x_a as [c, a]
        for c in range(3):
            tail, head = stencil[f, c], stencil[f, (c + 1) % 3]
            tx, ty, tz, length = edge_direction(x, tail, head)
            psi = carried_angle(nx, ny, nz, tx, ty, tz, tangent[f, c], director[f, c], angle[f, c])
            offset[c] = psi + side[f, c] * turn[edges[f, c]] - rest_angle[f, c]
            if order > 0:
                opposite = stencil[f, (c + 2) % 3]
                fill_slope(x, tail, opposite, nx, ny, nz, double_area, tx, ty, tz, length, tangent[f, c], c, slope[c])
        energy = 0.0
        moment = np.empty(3)
        for c in range(3):
            moment[c] = 0.0
            for d in range(3):
                moment[c] += stiffness[f, c, d] * offset[d]
            energy += 0.5 * moment[c] * offset[c]
        value[f] = energy
        if order == 0:
            continue
        for c in range(3):
            moments[f, c] = side[f, c] * moment[c]
        for a in range(3):
            for q in range(3):
                vectors[f, a, q] = moment[0] * slope[0, a, q] + moment[1] * slope[1, a, q] + moment[2] * slope[2, a, q]
        if order == 1:
            continue
        block = 0
        for c in range(3):
            for d in range(c, 3):
                own[f, block] = side[f, c] * side[f, d] * stiffness[f, c, d]
                block += 1
        push = np.empty((3, 3, 3))  # Σ_c K_dc ∂ψ_c/∂x_a as [d, a]
        for d in range(3):
            for a in range(3):
                for q in range(3):
                    push[d, a, q] = (
                        stiffness[f, d, 0] * slope[0, a, q]
                        + stiffness[f, d, 1] * slope[1, a, q]
                        + stiffness[f, d, 2] * slope[2, a, q]
                    )
                    mixed[f, a, d, q] = side[f, d] * push[d, a, q]
        block = 0
        for a in range(3):
            for b in range(a, 3):
                for q in range(3):
                    for r in range(3):
                        blocks[f, block, q, r] = (
                            push[0, a, q] * slope[0, b, r]
                            + push[1, a, q] * slope[1, b, r]
                            + push[2, a, q] * slope[2, b, r]
                        )
                block += 1


@njit(cache=True)
def fill_slope(x, tail, opposite, nx, ny, nz, double_area, tx, ty, tz, length, before, corner, out):
    """Write ∂ψ/∂x of corner `corner` into the rows of its face's nodes, `out` (3, 3) [1/m]."""
    ax, ay, az = x[opposite, 0] - x[tail, 0], x[opposite, 1] - x[tail, 1], x[opposite, 2] - x[tail, 2]
    s = (ax * tx + ay * ty + az * tz) / length
    m = -length / double_area
    cosine = tx * before[0] + ty * before[1] + tz * before[2]
    g = 1.0 / (max(1.0 + cosine, LEAST_COSINE) * length)
    gx = g * (before[1] * tz - before[2] * ty)
    gy = g * (before[2] * tx - before[0] * tz)
    gz = g * (before[0] * ty - before[1] * tx)
    head, top = (corner + 1) % 3, (corner + 2) % 3
    p, q = (s - 1.0) * m, -s * m
    out[corner, 0], out[corner, 1], out[corner, 2] = p * nx + gx, p * ny + gy, p * nz + gz
    out[head, 0], out[head, 1], out[head, 2] = q * nx - gx, q * ny - gy, q * nz - gz
    out[top, 0], out[top, 1], out[top, 2] = m * nx, m * ny, m * nz


_UPPER = [(a, b) for a in range(3) for b in range(a, 3)]
_NONE = EdgeDerivatives(
    np.empty((0, 3, 3)), np.empty((0, 3)), np.empty((0, 6, 3, 3)), np.empty((0, 3, 3, 3)), np.empty((0, 6))
)
