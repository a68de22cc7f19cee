"""The plastic embedding y: the shape that a sheet would take if it were as close to its plastic rest state as can be.

    y = argmin  Σ_hinges ½ l²/(A1+A2) (θ(y) - θ_0)²  +  Σ_faces ½ w ‖E(y) - E_p‖²

the internal energy over B, with rest angles θ_0 from S_p and the in-plane stiffness weighted down ([Narain2013] §3):
one Newton step with line search per time step. Damage is left out: it makes hinges softer, not their rest angle less
certain. w is a plain number: with E the Green strain of a face (Y_eff = w B/A), unit strain of a face costs what w
radians² of a hinge do, on coarse and fine elements alike. Real sheets have Y A/B ~ 10²…10⁵ instead.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.contract.energy import Energy, block_pairs
from crumple.energies.bending_hinge import BendingHinge, hinge_stiffness
from crumple.energies.membrane_stvk import make_membrane_stvk
from crumple.geometry.curvature import CurvatureStencil, curvature_stencil, rest_angle
from crumple.linalg import CholeskySolver, add_vectors, inner, make_solver
from crumple.linalg.mixed_matrix import MixedBlocks
from crumple.materials.material import isotropic_membrane
from crumple.mesh import SheetMesh, surroundings
from crumple.plasticity.tuning import TUNING
from crumple.runtime.remembered import Equal, Remembered
from crumple.runtime.timing import PhaseTimer
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.solving.system import NewtonSystem
from crumple.solving.tuning import TUNING as SOLVING

MEMBRANE_WEIGHT = TUNING.embedding_membrane_weight.value
LARGEST_ANGLE = TUNING.embedding_largest_angle.value
GAUGE = TUNING.embedding_gauge.value
STIFFER_GAUGE = TUNING.embedding_stiffer_gauge.value
HOLD = TUNING.embedding_hold.value
HOLD_TRIALS = TUNING.embedding_hold_trials.value
ARMIJO = SOLVING.armijo.value
BACKTRACKS = TUNING.embedding_backtracks.value
SETTLED = TUNING.embedding_settled.value
STILL = TUNING.embedding_still.value
RINGS = TUNING.moved_rings.value
WHOLE = TUNING.embedding_whole.value
SMALL = TUNING.small_mesh_nodes.value
CALM = TUNING.embedding_calm.value


_ADVANCED: Remembered[tuple[Floats, bool]] = Remembered(2)
"""Steps on small meshes: one that is settled is so in the next frame, too, unless a face yields."""


class Embedding:
    """What the Newton steps on one mesh share, and where they have come to; make it anew when the mesh has changed."""

    def __init__(
        self,
        mesh: SheetMesh,
        *,
        membrane_weight: float = MEMBRANE_WEIGHT,
        stencil: CurvatureStencil | None = None,
        solver: CholeskySolver | None = None,
    ) -> None:
        self._mesh, self._weight, self._node_count = mesh, membrane_weight, mesh.node_count
        self._stencil = curvature_stencil(mesh) if stencil is None else stencil
        area = np.abs(mesh.face_area)
        stiffness = membrane_weight * isotropic_membrane(1.0, 0.0) / area[:, None]
        self._membrane = make_membrane_stvk(mesh.u[mesh.faces], mesh.face_nodes, stiffness)
        hinges = mesh.hinges
        self._hinge_nodes: Ints = hinges.nodes
        length = mesh.corner_length[hinges.corners].mean(axis=1)
        self._hinge_stiffness = hinge_stiffness(np.ones(len(length)), length, area[hinges.faces].sum(axis=1))
        self._solver = make_solver() if solver is None else solver
        self._settled: tuple[Floats, Floats, Floats | None] | None = None

    def is_settled(self, y: Floats, plastic_curvature: Floats, plastic_strain: Floats | None = None) -> bool:
        """Whether a step has found last that nothing is worth moving for with these very arrays.

        It stays so until S_p or E_p changes, so steps in which no face yields need not move it again.
        """
        settled = self._settled
        given = y, plastic_curvature, plastic_strain
        return settled is not None and all(one is other for one, other in zip(settled, given, strict=True))

    def advance(
        self,
        y: Floats,
        plastic_curvature: Floats,
        plastic_strain: Floats | None = None,
        *,
        before: Floats | None = None,
    ) -> Floats:
        """The embedding after one Newton step from y (node_count, 3) [m] towards the rest state S_p (face_count, 3).

        y itself when it is settled, or when no step descends. `plastic_strain` E_p (face_count, 3), none by default.
        `before`: S_p of the last step. When it has hardly changed, only nodes move that would gain by moving alone, and
        those around them: in a calm frame, where a handful of faces is new or has yielded, that costs little.
        """
        if self._node_count > SMALL:
            moved, is_settled = self._advance(y, plastic_curvature, plastic_strain, before)
        else:
            known = self._mesh, y, plastic_curvature, plastic_strain, Equal(self._weight)
            moved, is_settled = _ADVANCED.find(known, lambda: self._advance(y, plastic_curvature, plastic_strain, None))
        if is_settled:
            self._settled = y, plastic_curvature, plastic_strain
        return moved

    def _advance(
        self, y: Floats, plastic_curvature: Floats, plastic_strain: Floats | None, before: Floats | None
    ) -> tuple[Floats, bool]:
        """The same, and whether nothing was worth moving for."""
        energies = self._energies(plastic_curvature, plastic_strain)
        gradient, terms = self._expand(energies, y)
        still = STILL if before is not None and self.is_calm(before, plastic_curvature) else 0.0
        moving = surroundings(self._membrane.stencil, _own_decrease(gradient, terms) >= still, RINGS, WHOLE)
        if not moving.any():
            return y, True
        decrement = np.inf
        system, matrix = self._restrict(moving, terms)
        blocks = matrix.blocks
        diagonal = system.pattern.row_start[:-1]
        scale = float(np.mean(np.trace(blocks[diagonal], axis1=1, axis2=2))) / 3.0
        blocks[diagonal] += GAUGE * scale * np.eye(3)
        for _ in range(HOLD_TRIALS):
            if not system.factorise(matrix):
                blocks[diagonal] += STIFFER_GAUGE * scale * np.eye(3)
                continue
            direction = np.zeros_like(y)
            direction[moving] = system.solve_forces(-gradient[moving])
            decrease = -inner(gradient, direction)
            if not np.isfinite(decrease):
                return y, decrement < SETTLED
            decrement = min(decrement, 0.5 * decrease)
            if decrement < SETTLED:
                return y, True
            found, trial = self._search(energies, y, direction, decrease)
            if found:
                return trial, False
            jumping = self._jumping_nodes(energies[1], y, trial)
            blocks[diagonal[jumping[moving]]] += HOLD * scale * np.eye(3)
        return y, False

    def settle(
        self, y: Floats, plastic_curvature: Floats, max_steps: int = 100, *, plastic_strain: Floats | None = None
    ) -> Floats:
        """The embedding after as many steps as are needed: for creases that are there from the start."""
        for _ in range(max_steps):
            moved = self.advance(y, plastic_curvature, plastic_strain)
            if moved is y:
                break
            y = moved
        return y

    def energy(self, y: Floats, plastic_curvature: Floats) -> tuple[float, float]:
        """The membrane and the bending part of what is minimised [rad²]."""
        membrane, bending = (float(np.sum(e.value(y))) for e in self._energies(plastic_curvature))
        return membrane, bending

    def _energies(self, plastic_curvature: Floats, plastic_strain: Floats | None = None) -> tuple[Energy, Energy]:
        angle = np.clip(rest_angle(self._stencil, plastic_curvature), -LARGEST_ANGLE, LARGEST_ANGLE)
        membrane = self._membrane if plastic_strain is None else replace(self._membrane, rest_strain=plastic_strain)
        return membrane, BendingHinge(self._hinge_nodes, self._hinge_stiffness, angle)

    def _expand(self, energies: tuple[Energy, ...], y: Floats) -> tuple[Floats, list[tuple[Ints, Floats]]]:
        gradient, terms = np.zeros((self._node_count, 3)), []
        for energy in energies:
            vectors, blocks = energy.gradient_hessian(y, True)
            add_vectors(energy.stencil, vectors, 1.0, gradient)
            terms.append((energy.stencil, blocks))
        return gradient, terms

    def _search(
        self, energies: tuple[Energy, ...], y: Floats, direction: Floats, decrease: float
    ) -> tuple[bool, Floats]:
        """Backtracking: whether a step descends, and where it leads (else where the shortest one led)."""
        start, step, trial = _value(energies, y), 1.0, y
        for _ in range(BACKTRACKS):
            trial = y + step * direction
            if _value(energies, trial) <= start - ARMIJO * step * decrease:
                return True, trial
            step *= 0.5
        return False, trial

    def _jumping_nodes(self, bending: Energy, y: Floats, trial: Floats) -> Bools:
        """Nodes of the hinges that cost most at `trial`: their angle jumps, or a face of theirs collapses."""
        rise = bending.value(trial) - bending.value(y)
        jumping = np.zeros(self._node_count, bool)
        jumping[self._hinge_nodes[rise >= 0.1 * rise.max()]] = True
        return jumping

    def is_calm(self, before: Floats, after: Floats) -> bool:
        """Whether the mesh is large, and the rest angles that belong to S_p (face_count, 3) have hardly changed."""
        if self._node_count <= SMALL:
            return False
        change = rest_angle(self._stencil, after - before)
        return float(np.sqrt(np.mean(change**2))) <= CALM

    def _restrict(self, moving: Bools, terms: list[tuple[Ints, Floats]]) -> tuple[NewtonSystem, MixedBlocks]:
        """The system of the moving nodes, in their order, and its matrix."""
        count = int(np.count_nonzero(moving))
        number = np.full(self._node_count, count, np.int32)
        number[moving] = np.arange(count, dtype=np.int32)
        nodes = np.arange(count, dtype=np.int32).reshape(-1, 1)
        local = terms
        if count < self._node_count:
            kept = [moving[stencil].any(axis=1) for stencil, _ in terms]
            local = [(number[stencil[rows]], blocks[rows]) for (stencil, blocks), rows in zip(terms, kept, strict=True)]
        system = NewtonSystem(count, [nodes, *(stencil for stencil, _ in local)], self._solver, PhaseTimer())
        return system, system.assemble(local)


def _own_decrease(gradient: Floats, terms: list[tuple[Ints, Floats]]) -> Floats:
    """About what the energy would fall by if one node moved alone, for each, (node_count,) [rad²]."""
    stiffness = np.zeros(len(gradient))
    for stencil, blocks in terms:
        own = [row for row, (a, b) in enumerate(block_pairs(stencil.shape[1])) if a == b]
        trace = np.trace(blocks[:, own], axis1=2, axis2=3)
        stiffness += np.bincount(stencil.ravel(), trace.ravel(), len(gradient)) / 3.0
    return 0.5 * np.einsum("ni,ni->n", gradient, gradient) / np.maximum(stiffness, np.finfo(float).tiny)


def _value(energies: tuple[Energy, ...], y: Floats) -> float:
    total = sum(float(np.sum(energy.value(y))) for energy in energies)
    return total if np.isfinite(total) else np.inf
