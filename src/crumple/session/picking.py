"""Places on sheets: where a ray meets them, and where a point of their pattern is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.state import State

OUTSIDE = 1e-6
"""Of the size of a face: how far beyond the border of the pattern a point may lie."""


@dataclass(frozen=True)
class Place:
    """A point of a sheet: `sheet` and `face` by number, `u` (2,) on the pattern [m], `position` (3,) in the world [m],
    `distance` [m] along the ray that met it."""

    sheet: int
    face: int
    u: Floats
    position: Floats
    distance: float = 0.0


def pick(state: State, origin: Floats, direction: Floats) -> Place | None:
    """Where a ray from `origin` (3,) [m] along `direction` (3,) first meets a sheet; None where it meets none.

    Möller and Trumbore: o + t d = a + β (b − a) + γ (c − a) for all faces at once.
    """
    mesh = state.mesh
    a, b, c = (state.x[mesh.face_nodes[:, k]] for k in range(3))
    d = direction / np.linalg.norm(direction)
    across = np.cross(d, c - a)
    size = np.einsum("ij,ij->i", b - a, across)
    with np.errstate(divide="ignore", invalid="ignore"):
        beta = np.einsum("ij,ij->i", origin - a, across) / size
        beyond = np.cross(origin - a, b - a)
        gamma = beyond @ d / size
        distance = np.einsum("ij,ij->i", c - a, beyond) / size
        hit = (beta >= 0) & (gamma >= 0) & (beta + gamma <= 1) & (distance > 0) & np.isfinite(distance)
    if not hit.any():
        return None
    face = int(np.flatnonzero(hit)[np.argmin(distance[hit])])
    weights = np.array([1.0 - beta[face] - gamma[face], beta[face], gamma[face]])
    return _place(state, face, weights, float(distance[face]))


def place_at(state: State, u: Floats, sheet: int) -> Place:
    """The place of the point `u` (2,) [m] of the pattern of a sheet; `InputError` where the sheet is not."""
    weights = barycentric(state.mesh, u)
    own = state.mesh.face_sheet == sheet
    if not own.any():
        raise InputError("grab: sheet", f"there are sheets 0 to {int(state.mesh.face_sheet.max())}", sheet)
    inside = np.where(own, weights.min(axis=1), -np.inf)
    face = int(np.argmax(inside))
    if not inside[face] >= -OUTSIDE:
        low, high = (find(state.mesh.u[state.mesh.faces[own]].reshape(-1, 2), axis=0) for find in (np.min, np.max))
        raise InputError("grab: u", f"is not on the sheet, which lies within {low} and {high} m", list(map(float, u)))
    return _place(state, face, weights[face])


def barycentric(mesh: SheetMesh, u: Floats) -> Floats:
    """The barycentric coordinates of the point `u` (2,) of a pattern in every face, (face_count, 3)."""
    a, b, c = (mesh.u[mesh.faces[:, k]] for k in range(3))
    e, f, g = b - a, c - a, u - a
    area = e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0]
    beta = (g[:, 0] * f[:, 1] - g[:, 1] * f[:, 0]) / area
    gamma = (e[:, 0] * g[:, 1] - e[:, 1] * g[:, 0]) / area
    return np.stack([1.0 - beta - gamma, beta, gamma], axis=1)


def _place(state: State, face: int, weights: Floats, distance: float = 0.0) -> Place:
    mesh = state.mesh
    u, position = weights @ mesh.u[mesh.faces[face]], weights @ state.x[mesh.face_nodes[face]]
    return Place(int(mesh.face_sheet[face]), face, u, position, distance)
