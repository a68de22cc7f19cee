"""Bending of faces with directors at the middles of their edges: Morley's element for large rotations [Grinspun2006].

    E = ½ A (S − S_p) : D : (S − S_p) = ½ (ψ − ψ_p)ᵀ K (ψ − ψ_p),   S = Σ_k ψ_k shape_k,   K = A shape D shapeᵀ

per face, with ψ_k the angle from its normal to the director of edge k (`geometry.directors`), S the curvature and D the
plate's stiffness (3×3, on (xx, yy, xy) [N m], see `plate_stiffness`), divided by 1 + γ δ where damaged. Both S of bent
surfaces and the balance of constant moments are exact, so it converges on every mesh, with any Poisson's ratio and
grain. Directors at free edges are free: the moment there vanishes by itself.

An element has three nodes and the three turns φ of its edges; its derivatives are by x and φ at the present shape, the
state is x and the half turns φ½ (see `geometry.directors`). Its Hessian is Jᵀ K J with J = ∂ψ/∂(x, φ) (Gauss–Newton):
semi-definite, exact at rest. Clamping the eigenvalues of the exact one takes ten times the iterations.
For given x the energy is quadratic in φ: `relax_turns` finds its minimum with one linear solve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit, prange
from scipy.sparse.linalg import splu

from crumple.contract.energy import Derivatives, Example, Projection, TurningEnergy, register
from crumple.contract.ready import ReadyEnergy
from crumple.energies.examples import PATCH, patch_poses
from crumple.energies.tuning import TUNING
from crumple.geometry.directors import (
    EdgeLinks,
    curvature_angles,
    curvature_shapes,
    edge_links,
    face_normal,
    half_angle,
    half_turns,
    split_angles,
)
from crumple.geometry.hinge import SMALLEST_SQUARE
from crumple.linalg.block_matrix import sum_vectors
from crumple.linalg.conjugate import solve_rows
from crumple.materials.material import Material
from crumple.materials.stiffness import plate_stiffness
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.compiled import TWO, ZERO, is_few, kernel, rule, spread
from crumple.runtime.errors import SimulationError
from crumple.runtime.typing import Bools, Floats, Ints

RIGID = TUNING.held_face_stiffening.value
TURN_TOLERANCE = TUNING.relaxed_turn_tolerance.value
TURN_ITERATIONS = TUNING.relaxed_turn_iterations.value


@dataclass(frozen=True)
class BendingMidedge(TurningEnergy):
    """Mid-edge bending of n faces; every field has one row per face.

    `stencil` (n, 3) nodes;  `edges` (n, 3) edges of the half-edges k → k + 1;  `side` (n, 3) ∂ψ/∂φ = ±1;
    `beyond` (n, 3) node opposite in the neighbour, −1 = none;
    `shape` (n, 3, 3) curvature per angle [1/m];  `stiffness` (n, 3, 3) K, damage included [N m];
    `rest_angle` (n, 3) ψ_p [rad].
    """

    stencil: Ints
    edges: Ints
    side: Floats
    beyond: Ints
    shape: Floats
    stiffness: Floats
    rest_angle: Floats

    def evaluate_turned(
        self, x: Floats, half_turn: Floats, order: int, project: Projection, value: Floats, out: Derivatives
    ) -> None:
        """As the contract has it, with half turns φ½ (edge_count,) [rad]; the Hessian is semi-definite with and without
        projection."""
        if len(self.stencil):
            _midedge(
                x, half_turn, self.stencil, self.edges, self.side, self.beyond, self.stiffness, self.rest_angle,
                order, value, *out,
            )  # fmt: skip

    def angles(self, x: Floats, half_turn: Floats) -> Floats:
        """ψ of each face [rad], (n, 3)."""
        return split_angles(self._links(len(half_turn)), x, half_turn)

    def curvature(self, x: Floats, half_turn: Floats) -> Floats:
        """S of each face as (xx, yy, xy) [1/m], (n, 3), in the convention of `plastic_curvature`."""
        return curvature_of(self.shape, self.angles(x, half_turn))

    def half_direction(self, x: Floats, direction: Floats, turn: Floats) -> Floats:
        """The change of the half turns (edge_count,) that goes with a direction of Newton's method from the shape x.

        `direction` (node_count, 3) [m], `turn` (edge_count,) [rad]. An edge may turn only if all its faces are here.
        """
        if is_few(self.stencil):
            return np.asarray(_half_direction(x, direction, turn, self.stencil, self.edges, self.side))
        change = np.empty((len(self.stencil), 3))
        _angle_change(x, direction, turn, self.stencil, self.edges, self.side, change)
        return half_turns(self._links(len(turn)), change)

    def rested(self, rest_angle: Floats, stiffness: Floats | None = None) -> BendingMidedge:
        """The same with other rest angles ψ_p (n, 3) (`curvature_angles` of S_p) and, if given, another K."""
        return replace(self, rest_angle=rest_angle, stiffness=self.stiffness if stiffness is None else stiffness)

    def damped(self, start: Floats, ratio: Floats | float) -> BendingMidedge:
        """Elastic energy plus its dissipation over one step, up to a constant per face, as one energy.

        `start` (n, 3) the `angles` ψ₀ at the start of the step;  `ratio` r = β/dt, scalar or (n,). The sum of
        ½ K (ψ−ψ_p)² and r ½ K (ψ−ψ₀)² has the stiffness (1+r) K and the rest angles (ψ_p + r ψ₀)/(1+r).
        """
        r = np.broadcast_to(np.asarray(ratio, np.float64), len(self.stencil))[:, None]
        rest = (self.rest_angle + r * start) / (1.0 + r)
        return replace(self, stiffness=self.stiffness * (1.0 + r)[..., None], rest_angle=rest)

    def dissipation(self, start: Floats, ratio: Floats | float) -> BendingMidedge:
        """The dissipation of `damped` alone."""
        r = np.broadcast_to(np.asarray(ratio, np.float64), len(self.stencil))[:, None, None]
        return replace(self, stiffness=self.stiffness * r, rest_angle=start)

    def restricted(self, free: Bools, number: Ints, edge_number: Ints) -> BendingMidedge:
        """The faces with a free node, or beside one, nodes and edges renamed; `free`, `number` (node_count,),
        `edge_number` (edge_count,). Neighbours count because their angles depend on the node.
        """
        across = (self.beyond >= 0) & free[self.beyond]
        rows = self._rows(free[self.stencil].any(axis=1) | across.any(axis=1))
        rows["stencil"] = number[rows["stencil"]]
        rows["beyond"] = np.where(rows["beyond"] < 0, -1, number[rows["beyond"]]).astype(np.int32)
        rows["edges"] = edge_number[rows["edges"]]
        return replace(self, **rows)

    def _links(self, edge_count: int) -> EdgeLinks:
        return EdgeLinks(self.edges, self.side, self.beyond, self.stencil, edge_count)

    def ready(self) -> ReadyEnergy:
        return ReadyMidedge(self)


class ReadyMidedge(ReadyEnergy):
    """Mid-edge bending in one thread."""

    def __init__(self, energy: BendingMidedge) -> None:
        n = len(energy.stencil)
        self.stencil, self.turns = energy.stencil, energy.edges
        self._fields = (
            energy.stencil, energy.edges, energy.side, energy.beyond, energy.stiffness, energy.rest_angle,
        )  # fmt: skip
        self.blocks, self.mixed, self.own = np.empty((n, 6, 3, 3)), np.empty((n, 3, 3, 3)), np.empty((n, 6))
        self._room = np.empty(n), np.empty((n, 3, 3)), np.empty((n, 3)), self.blocks, self.mixed, self.own

    def value(self, x: Floats, half_turn: Floats) -> float:
        return float(_midedge_total(x, half_turn, *self._fields, *self._room))

    def expand(self, x: Floats, half_turn: Floats, project: bool, gradient: Floats, moments: Floats) -> None:
        _midedge_sum(x, half_turn, *self._fields, *self._room, gradient, moments)


def make_bending_midedge(
    mesh: SheetMesh, links: EdgeLinks, stiffness: Floats, *, plastic_curvature: Floats | None = None
) -> BendingMidedge:
    """The bending energy of all faces of `mesh`.

    `stiffness` (3, 3) or (face_count, 3, 3) D, damage included [N m];  `plastic_curvature` (face_count, 3) S_p [1/m].
    """
    shape = curvature_shapes(mesh)
    plastic = np.zeros((mesh.face_count, 3)) if plastic_curvature is None else plastic_curvature
    return BendingMidedge(
        stencil=links.face_nodes,
        edges=links.face_edge,
        side=links.side,
        beyond=links.beyond,
        shape=shape,
        stiffness=angle_stiffness(mesh, shape, stiffness),
        rest_angle=curvature_angles(mesh, plastic),
    )


def angle_stiffness(mesh: SheetMesh, shape: Floats, stiffness: Floats) -> Floats:
    """K = A shape D shapeᵀ [N m], (face_count, 3, 3), of the plate's stiffness D (3, 3) or (face_count, 3, 3)."""
    plate = np.broadcast_to(stiffness, (mesh.face_count, 3, 3))
    product = np.einsum("fka,fab,flb->fkl", shape, plate, shape, optimize=_order_of_products(mesh.face_count))
    return np.ascontiguousarray(np.abs(mesh.face_area)[:, None, None] * product)


@cache
def _order_of_products(faces: int) -> Any:
    """In which order the three factors of K are multiplied: to find it takes longer than to do it."""
    shape = np.empty((faces, 3, 3))
    return np.einsum_path("fka,fab,flb->fkl", shape, shape, shape, optimize=True)[0]


def loosened(stiffness: Floats, loose: Bools) -> Floats:
    """K (n, 3, 3) of faces whose `loose` corners (n, 3) bear no moment: their angles are condensed out.

    A crease that is free to fold, or whose moment comes from something else, ends the bending of the faces beside it.
    """
    stiffness = stiffness.copy()
    for corner in range(3):
        faces = np.flatnonzero(loose[:, corner])
        row = stiffness[faces, corner]
        pivot = np.maximum(row[:, corner], np.finfo(float).tiny)
        stiffness[faces] -= row[:, :, None] * row[:, None, :] / pivot[:, None, None]
        stiffness[faces, corner, :] = stiffness[faces, :, corner] = 0.0
    return stiffness


def unloaded_angles(stiffness: Floats, loose: Bools, angle: Floats, rest: Floats) -> Floats:
    """The angles ψ (n, 3) [rad] with those at `loose` corners (n, 3) where they bear no moment.

    `stiffness` K (n, 3, 3) before it was loosened;  `rest` ψ_p (n, 3) [rad].
    """
    offset = angle - rest
    faces = np.flatnonzero(loose.any(axis=1))
    freed = loose[faces]
    own = np.where(freed[:, :, None] & freed[:, None, :], stiffness[faces], np.eye(3) * ~freed[:, None, :])
    right = -np.einsum("fkl,fl->fk", stiffness[faces], np.where(freed, 0.0, offset[faces]))
    found = np.linalg.solve(own, np.where(freed, right, 0.0)[..., None])[..., 0]
    angle = angle.copy()
    angle[faces] = np.where(freed, rest[faces] + found, angle[faces])
    return angle


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


def bent_stiffness(plate: Floats, curvature: Floats) -> Floats:
    """B of faces with D `plate` (n, 3, 3) [N m] against the bend S (n, 3) [1/m] that they have: S:D:S/‖S‖², (n,)
    [N m]."""
    norm = curvature[:, 0] ** 2 + curvature[:, 1] ** 2 + 2.0 * curvature[:, 2] ** 2
    return np.asarray(np.einsum("fa,fab,fb->f", curvature, plate, curvature) / np.where(norm > 0.0, norm, np.inf))


def curvature_of(shape: Floats, angle: Floats) -> Floats:
    """S = Σ_k ψ_k shape_k of each face, (n, 3) [1/m]."""
    return np.einsum("fk,fkq->fq", angle, shape)


def relax_turns(energy: BendingMidedge, x: Floats, half_turn: Floats, *, held: Bools | None = None) -> Floats:
    """The half turns φ½ (edge_count,) [rad] that minimise the energy in the shape x (node_count, 3) [m].

    `held` (edge_count,): edges that keep their `half_turn`. Edges without stiffness keep theirs, too.
    """
    found = energy.derivatives(x, half_turn)
    return half_turn + _balance_turns(energy, found.own, found.moments, len(half_turn), held)


def relaxed_rates(energy: BendingMidedge, x: Floats, v: Floats, half_turn: Floats) -> Floats:
    """The rates of the half turns (edge_count,) [rad/s] that keep relaxed directors relaxed while the nodes move with
    the velocities v (node_count, 3) [m/s]."""
    found = energy.derivatives(x, half_turn)
    moments = np.einsum("faei,fai->fe", found.mixed, v[energy.stencil])
    turn = _balance_turns(energy, found.own, moments, len(half_turn), None)
    return energy.half_direction(x, np.ascontiguousarray(v), turn)


def _balance_turns(energy: BendingMidedge, own: Floats, moments: Floats, edge_count: int, held: Bools | None) -> Floats:
    """The turns (edge_count,) [rad] that balance `moments` (n, 3) [N m] of the elements; 0 where there is no stiffness
    and where `held` (edge_count,)."""
    turn = np.zeros(edge_count)
    right = -np.bincount(energy.edges.ravel(), moments.ravel(), edge_count).astype(np.float64)
    matrix = turn_matrix(energy, own, edge_count)
    diagonal = matrix.diagonal()
    free = diagonal > 1e-12 * diagonal.max(initial=0.0)
    if held is not None:
        free &= ~held
    chosen = np.flatnonzero(free)
    if len(chosen):
        turn[chosen] = _solve_turns(matrix[chosen][:, chosen], diagonal[chosen], right[chosen])
    return turn


def _solve_turns(matrix: sp.csr_matrix, diagonal: Floats, right: Floats) -> Floats:
    """The solution of a system of turns: by conjugate gradients, or a factorisation where these take long."""
    found, is_found = solve_rows(
        matrix.indptr, matrix.indices, matrix.data, diagonal, right, TURN_TOLERANCE, TURN_ITERATIONS
    )
    if is_found:
        return np.asarray(found)
    try:
        factor = splu(matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
                      options={"SymmetricMode": True})  # fmt: skip
    except RuntimeError as error:
        raise SimulationError(f"the directors of the sheet could not be relaxed: {error}") from None
    return np.asarray(factor.solve(right))


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


def sheet_curvature(mesh: SheetMesh, links: EdgeLinks, x: Floats, half_turn: Floats) -> Floats:
    """S of each face as (xx, yy, xy) [1/m], (face_count, 3), in the shape x with the half turns φ½ (edge_count,)."""
    return curvature_of(curvature_shapes(mesh), split_angles(links, x, half_turn))


@spread(3)
def _angle_change(x, direction, turn, stencil, edges, side, out):
    """dψ of every corner for a direction and turns."""
    for f in prange(len(stencil)):
        nx, ny, nz, double_area = face_normal(x, stencil[f, 0], stencil[f, 1], stencil[f, 2])
        for c in range(3):
            i, j, k = stencil[f, c], stencil[f, (c + 1) % 3], stencil[f, (c + 2) % 3]
            at_i, at_j, at_k = edge_slopes(x, i, j, k, double_area)
            along_i = nx * direction[i, 0] + ny * direction[i, 1] + nz * direction[i, 2]
            along_j = nx * direction[j, 0] + ny * direction[j, 1] + nz * direction[j, 2]
            along_k = nx * direction[k, 0] + ny * direction[k, 1] + nz * direction[k, 2]
            out[f, c] = side[f, c] * turn[edges[f, c]] + (at_i * along_i + at_j * along_j + at_k * along_k)


@spread(2)
def _midedge(
    x, half_turn, stencil, edges, side, beyond, stiffness, rest_angle,
    order, value, vectors, moments, blocks, mixed, own,
):  # fmt: skip
    for f in prange(len(stencil)):  # no arrays are made in here: that would take longer than the rest
        i, j, k = stencil[f, 0], stencil[f, 1], stencil[f, 2]
        nx, ny, nz, double_area = face_normal(x, i, j, k)
        psi0 = half_angle(x, i, j, beyond[f, 0], nx, ny, nz) + side[f, 0] * half_turn[edges[f, 0]] - rest_angle[f, 0]
        psi1 = half_angle(x, j, k, beyond[f, 1], nx, ny, nz) + side[f, 1] * half_turn[edges[f, 1]] - rest_angle[f, 1]
        psi2 = half_angle(x, k, i, beyond[f, 2], nx, ny, nz) + side[f, 2] * half_turn[edges[f, 2]] - rest_angle[f, 2]
        m0 = stiffness[f, 0, 0] * psi0 + stiffness[f, 0, 1] * psi1 + stiffness[f, 0, 2] * psi2
        m1 = stiffness[f, 1, 0] * psi0 + stiffness[f, 1, 1] * psi1 + stiffness[f, 1, 2] * psi2
        m2 = stiffness[f, 2, 0] * psi0 + stiffness[f, 2, 1] * psi1 + stiffness[f, 2, 2] * psi2
        value[f] = 0.5 * m0 * psi0 + 0.5 * m1 * psi1 + 0.5 * m2 * psi2
        if order == 0:
            continue
        a0, a1, a2 = edge_slopes(x, i, j, k, double_area)  # ∂ψ_0/∂x of nodes 0, 1, 2, along n̂
        b1, b2, b0 = edge_slopes(x, j, k, i, double_area)  # ∂ψ_1
        c2, c0, c1 = edge_slopes(x, k, i, j, double_area)  # ∂ψ_2
        moments[f, 0], moments[f, 1], moments[f, 2] = side[f, 0] * m0, side[f, 1] * m1, side[f, 2] * m2
        _write_vector(vectors, f, 0, m0 * a0 + m1 * b0 + m2 * c0, nx, ny, nz)
        _write_vector(vectors, f, 1, m0 * a1 + m1 * b1 + m2 * c1, nx, ny, nz)
        _write_vector(vectors, f, 2, m0 * a2 + m1 * b2 + m2 * c2, nx, ny, nz)
        if order == 1:
            continue
        block = 0
        for c in range(3):
            for d in range(c, 3):
                own[f, block] = side[f, c] * side[f, d] * stiffness[f, c, d]
                block += 1
        # Σ_c K_dc ∂ψ_c of nodes 0, 1, 2, for d = 0, 1, 2
        p0, p1, p2 = _push(stiffness, side, f, 0, a0, a1, a2, b0, b1, b2, c0, c1, c2, nx, ny, nz, mixed)
        q0, q1, q2 = _push(stiffness, side, f, 1, a0, a1, a2, b0, b1, b2, c0, c1, c2, nx, ny, nz, mixed)
        r0, r1, r2 = _push(stiffness, side, f, 2, a0, a1, a2, b0, b1, b2, c0, c1, c2, nx, ny, nz, mixed)
        _write_block(blocks, f, 0, p0 * a0 + q0 * b0 + r0 * c0, nx, ny, nz)
        _write_block(blocks, f, 1, p0 * a1 + q0 * b1 + r0 * c1, nx, ny, nz)
        _write_block(blocks, f, 2, p0 * a2 + q0 * b2 + r0 * c2, nx, ny, nz)
        _write_block(blocks, f, 3, p1 * a1 + q1 * b1 + r1 * c1, nx, ny, nz)
        _write_block(blocks, f, 4, p1 * a2 + q1 * b2 + r1 * c2, nx, ny, nz)
        _write_block(blocks, f, 5, p2 * a2 + q2 * b2 + r2 * c2, nx, ny, nz)


@rule
def _push(stiffness, side, f, d, a0, a1, a2, b0, b1, b2, c0, c1, c2, nx, ny, nz, mixed):
    """Row d of K times ∂ψ of nodes 0, 1, 2; what it gives by x and φ_d is written to `mixed`."""
    ka, kb, kc = stiffness[f, d, 0], stiffness[f, d, 1], stiffness[f, d, 2]
    at0, at1, at2 = ka * a0 + kb * b0 + kc * c0, ka * a1 + kb * b1 + kc * c1, ka * a2 + kb * b2 + kc * c2
    k = at0 * side[f, d]
    mixed[f, 0, d, 0], mixed[f, 0, d, 1], mixed[f, 0, d, 2] = k * nx, k * ny, k * nz
    k = at1 * side[f, d]
    mixed[f, 1, d, 0], mixed[f, 1, d, 1], mixed[f, 1, d, 2] = k * nx, k * ny, k * nz
    k = at2 * side[f, d]
    mixed[f, 2, d, 0], mixed[f, 2, d, 1], mixed[f, 2, d, 2] = k * nx, k * ny, k * nz
    return at0, at1, at2


@rule
def _write_vector(out, f, a, k, nx, ny, nz):
    """k n̂."""
    out[f, a, 0], out[f, a, 1], out[f, a, 2] = k * nx, k * ny, k * nz


@rule
def _write_block(out, f, block, k, nx, ny, nz):
    """k n̂ n̂ᵀ."""
    xy, xz, yz = k * nx * ny, k * nx * nz, k * ny * nz
    out[f, block, 0, 0], out[f, block, 0, 1], out[f, block, 0, 2] = k * nx * nx, xy, xz
    out[f, block, 1, 0], out[f, block, 1, 1], out[f, block, 1, 2] = xy, k * ny * ny, yz
    out[f, block, 2, 0], out[f, block, 2, 1], out[f, block, 2, 2] = xz, yz, k * nz * nz


_midedge_alone, _angle_change_alone = _midedge.alone, _angle_change.alone  # type: ignore[attr-defined]


@kernel
def _midedge_total(
    x, half_turn, stencil, edges, side, beyond, stiffness, rest_angle, value, vectors, moments, blocks, mixed, own,
):  # fmt: skip
    """The energy of all faces [J]."""
    _midedge_alone(
        x, half_turn, stencil, edges, side, beyond, stiffness, rest_angle,
        ZERO, value, vectors, moments, blocks, mixed, own,
    )  # fmt: skip
    return value.sum()


@kernel
def _midedge_sum(
    x, half_turn, stencil, edges, side, beyond, stiffness, rest_angle,
    value, vectors, moments, blocks, mixed, own, gradient, turning,
):  # fmt: skip
    """Fill all derivatives, and add the first ones to the gradient and to what turns the edges."""
    _midedge_alone(
        x, half_turn, stencil, edges, side, beyond, stiffness, rest_angle,
        TWO, value, vectors, moments, blocks, mixed, own,
    )  # fmt: skip
    sum_vectors(stencil, vectors, gradient)
    for f in range(edges.shape[0]):
        for c in range(3):
            if edges[f, c] < turning.shape[0]:
                turning[edges[f, c]] += moments[f, c]


@kernel
def _half_direction(x, direction, turn, stencil, edges, side):
    """`half_direction` in one thread."""
    change, faces = np.empty((stencil.shape[0], 3)), np.zeros(turn.shape[0])
    _angle_change_alone(x, direction, turn, stencil, edges, side, change)
    total = np.zeros(turn.shape[0])
    for f in range(edges.shape[0]):
        for c in range(3):
            total[edges[f, c]] += side[f, c] * change[f, c]
            faces[edges[f, c]] += 1.0
    for e in range(turn.shape[0]):
        total[e] /= max(faces[e], 1.0)
    return total


@njit(cache=True)
def edge_slopes(x, tail, head, opposite, double_area):
    """−c_p/h of the half-edge tail → head: what ∂ψ/∂x_p is along the normal, at its tail, its head and the opposite
    node [1/m]."""
    ex, ey, ez = x[head, 0] - x[tail, 0], x[head, 1] - x[tail, 1], x[head, 2] - x[tail, 2]
    ax, ay, az = x[opposite, 0] - x[tail, 0], x[opposite, 1] - x[tail, 1], x[opposite, 2] - x[tail, 2]
    square = max(ex * ex + ey * ey + ez * ez, SMALLEST_SQUARE)
    s = (ax * ex + ay * ey + az * ez) / square
    m = -sqrt(square) / double_area
    return (s - 1.0) * m, -s * m, m


_UPPER = [(a, b) for a in range(3) for b in range(a, 3)]


@register("bending_midedge")
def _example(rng: np.random.Generator) -> Example:
    """Faces of the sample patch with a grain, flat at rest, their directors turned at random."""
    links = edge_links(PATCH)
    grain = 1e-3 * np.array([[2.0, 0.4, 0.0], [0.4, 1.0, 0.0], [0.0, 0.0, 1.1]])
    energy = make_bending_midedge(PATCH, links, grain)
    poses = patch_poses(rng)
    return Example(
        energy,
        poses,
        rest=poses["flat"],
        invariant=True,
        convex=tuple(poses),
        half_turn=rng.uniform(-0.5, 0.5, links.edge_count),
        is_exact=False,
    )
