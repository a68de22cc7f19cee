"""The separation strength of a vertex: how hard the stress around it pulls its two sides apart ([Jiang2016] eq. 7–8).

A line through the vertex cuts the unit circle around it into two halves, on which the sheet pulls with

    q = ∫ B σ⁺ n̂ dφ = Σ_faces B_f σ_f⁺ (t(φ_end) − t(φ_begin)),     t(φ) = (sin φ, −cos φ)

σ⁺ is the stress without its negative eigenvalues, B what creases make of it. Then, over all lines,

    s = max min(q₁·q̂, −q₂·q̂),     q̂ = (q₁ − q₂)/|q₁ − q₂|      [Pa]

A uniform tension σ gives s = 2σ. What is printed in the paper differs in places that must be misprints: the first
factor stands before a bracket, q̂ has the opposite sign, and "minimum" is written for the plane that its text calls that
of the largest strength.

B = I + d D Dᵀ, as printed, is `jiang_pull`. In uniaxial tension it never turns a crack onto a crease, whatever d is,
because it acts on the pull, not on the line; (I + C)^½ σ⁺ (I + C)^½ with the crease tensor C, `creased_pull`, does.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, cos, pi, sin, sqrt

import numpy as np
from numba import njit

from crumple.geometry.metric import tensor_eigen, tensor_from_eigen, tensor_matrix
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Floats
from crumple.tearing.resistance import main_direction_tensor


@dataclass(frozen=True)
class Separation:
    """`strength` (vertex_count,) s [Pa];  `direction` (vertex_count, 2) unit vector along the line that gives it."""

    strength: Floats
    direction: Floats


def separation_strength(mesh: SheetMesh, pull: Floats, *, planes: int = 36) -> Separation:
    """The separation strength of every vertex, over `planes` lines at equal angles.

    `pull` (face_count, 2, 2) or (face_count, 3) B σ⁺ [Pa], see `positive_stress`, `jiang_pull`, `creased_pull`. On the
    outline, what is not sheet does not pull: only lines that leave sheet on both sides count.
    """
    matrix = tensor_matrix(pull) if pull.ndim == 2 else pull
    strength, direction = np.zeros(mesh.vertex_count), np.zeros((mesh.vertex_count, 2))
    corner = np.argsort(mesh.faces.ravel(), kind="stable")
    first = np.searchsorted(mesh.faces.ravel()[corner], np.arange(mesh.vertex_count + 1))
    _separate(mesh.u, mesh.faces, corner, first, np.ascontiguousarray(matrix, np.float64), planes, strength, direction)
    return Separation(strength, direction)


def positive_stress(stress: Floats) -> Floats:
    """σ⁺ (n, 3): the stress (n, 3) [Pa] with negative eigenvalues 0, so that pressure tears nothing."""
    values, axis = tensor_eigen(stress)
    return tensor_from_eigen(np.maximum(values, 0.0), axis)


def jiang_pull(stress: Floats, damage: Floats, plastic_curvature: Floats) -> Floats:
    """(I + d D Dᵀ) σ⁺ (n, 2, 2) [Pa] of faces with the `damage` d (n,) and S_p (n, 3), [Jiang2016] eq. 7."""
    factor = np.eye(2) + tensor_matrix(damage[:, None] * main_direction_tensor(plastic_curvature))
    return factor @ tensor_matrix(positive_stress(stress))


def creased_pull(stress: Floats, crease: Floats) -> Floats:
    """(I + C)^½ σ⁺ (I + C)^½ (n, 2, 2) [Pa] of faces with the crease tensor C (n, 3)."""
    values, axis = tensor_eigen(crease)
    root = tensor_matrix(tensor_from_eigen(np.sqrt(1.0 + np.maximum(values, 0.0)), axis))
    return root @ tensor_matrix(positive_stress(stress)) @ root


@njit(cache=True)
def _separate(u, faces, corner, first, pull, planes, strength, direction):
    """Over all vertices; corner[first[v] : first[v + 1]] are the corners of faces at vertex v."""
    for v in range(len(first) - 1):
        for k in range(planes):
            angle = pi * k / planes
            ax, ay, bx, by = 0.0, 0.0, 0.0, 0.0
            for i in range(first[v], first[v + 1]):
                f, c = corner[i] // 3, corner[i] % 3
                p, q = faces[f, (c + 1) % 3], faces[f, (c + 2) % 3]
                begin = atan2(u[p, 1] - u[v, 1], u[p, 0] - u[v, 0]) - angle
                end = atan2(u[q, 1] - u[v, 1], u[q, 0] - u[v, 0]) - angle
                begin -= 2.0 * pi * np.floor(begin / (2.0 * pi))
                end -= 2.0 * pi * np.floor(end / (2.0 * pi))
                if end < begin:
                    end += 2.0 * pi
                # the halves are [0, π) and [π, 2π), and again one turn on for a face across 0
                for half in range(4):
                    low, high = max(begin, half * pi), min(end, (half + 1) * pi)
                    if high <= low:
                        continue
                    nx = sin(high + angle) - sin(low + angle)
                    ny = cos(low + angle) - cos(high + angle)
                    qx = pull[f, 0, 0] * nx + pull[f, 0, 1] * ny
                    qy = pull[f, 1, 0] * nx + pull[f, 1, 1] * ny
                    if half % 2 == 0:
                        ax, ay = ax + qx, ay + qy
                    else:
                        bx, by = bx + qx, by + qy
            dx, dy = ax - bx, ay - by
            size = sqrt(dx * dx + dy * dy)
            if size == 0.0:
                continue
            apart = min(ax * dx + ay * dy, -(bx * dx + by * dy)) / size
            if apart > strength[v]:
                strength[v] = apart
                direction[v, 0], direction[v, 1] = cos(angle), sin(angle)
