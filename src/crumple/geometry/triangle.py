"""One triangle: gradients of its shape functions in the pattern, deformation, Green strain, normal."""

from __future__ import annotations

import numpy as np
from numba import njit

from crumple.runtime.typing import Floats, Ints


def shape_gradients(corners: Floats) -> Floats:
    """Gradients of the linear shape functions in the pattern [1/m], (n, 3, 2).

    Row `a` is ∇N_a, so that F = Σ_a x_a ∇N_aᵀ; the three rows add up to zero.
    `corners` (n, 3, 2): pattern positions of the corners [m].
    """
    e, f = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    twice_area = e[:, 0] * f[:, 1] - e[:, 1] * f[:, 0]
    gradients = np.empty((len(corners), 3, 2))
    gradients[:, 1, 0], gradients[:, 1, 1] = f[:, 1] / twice_area, -f[:, 0] / twice_area
    gradients[:, 2, 0], gradients[:, 2, 1] = -e[:, 1] / twice_area, e[:, 0] / twice_area
    gradients[:, 0] = -gradients[:, 1] - gradients[:, 2]
    return gradients


def face_normals(x: Floats, face_nodes: Ints) -> Floats:
    """Unit normals, counter-clockwise faces, (n, 3); zero where a face has no area."""
    normal = np.cross(x[face_nodes[:, 1]] - x[face_nodes[:, 0]], x[face_nodes[:, 2]] - x[face_nodes[:, 0]])
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    return normal / np.where(length > 0.0, length, 1.0)


def face_areas(x: Floats, face_nodes: Ints) -> Floats:
    """Areas in world space [m²], (n,)."""
    normal = np.cross(x[face_nodes[:, 1]] - x[face_nodes[:, 0]], x[face_nodes[:, 2]] - x[face_nodes[:, 0]])
    return 0.5 * np.linalg.norm(normal, axis=1)


@njit(cache=True)
def deformation(x, i, j, k, gradients, face):
    """The two columns of the deformation gradient, F = [f_u f_v] (3×2), as six numbers.

    `gradients` (n, 3, 2) as `shape_gradients` gives them; `i, j, k` the nodes of `face`.
    """
    p, q = gradients[face, 1, 0], gradients[face, 2, 0]
    r, s = gradients[face, 1, 1], gradients[face, 2, 1]
    ex, ey, ez = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    fx, fy, fz = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
    return (
        ex * p + fx * q,
        ey * p + fy * q,
        ez * p + fz * q,
        ex * r + fx * s,
        ey * r + fy * s,
        ez * r + fz * s,
    )


@njit(cache=True)
def strain(ux, uy, uz, vx, vy, vz):
    """Green strain ½(FᵀF − I) of F = [f_u f_v] as (xx, yy, xy)."""
    return (
        0.5 * (ux * ux + uy * uy + uz * uz - 1.0),
        0.5 * (vx * vx + vy * vy + vz * vz - 1.0),
        0.5 * (ux * vx + uy * vy + uz * vz),
    )


@njit(cache=True)
def _green_strain(x, face_nodes, gradients, out):
    for f in range(len(face_nodes)):
        ux, uy, uz, vx, vy, vz = deformation(x, face_nodes[f, 0], face_nodes[f, 1], face_nodes[f, 2], gradients, f)
        out[f, 0], out[f, 1], out[f, 2] = strain(ux, uy, uz, vx, vy, vz)


def green_strain(x: Floats, face_nodes: Ints, gradients: Floats) -> Floats:
    """Green strain ½(FᵀF − I) of each face as (xx, yy, xy), (n, 3)."""
    out = np.empty((len(face_nodes), 3))
    _green_strain(x, face_nodes, gradients, out)
    return out
