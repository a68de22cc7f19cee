"""The signed dihedral angle of a hinge with its exact first and second derivatives.

A hinge is (i, j, a, b): the edge i→j as face A runs it, a opposite in A, b opposite in B.

    θ = atan2( ê·(n_A × n_B), n_A·n_B ),   n_A = (x_j−x_i)×(x_a−x_i),   n_B = (x_i−x_j)×(x_b−x_j)

θ is 0 when flat, positive when B's normal is turned counter-clockwise about ê from A's, and jumps at ±π.

Derivatives. Each face contributes on its own. In face A let h be the height of a over the edge, L the edge
length, s the fraction of the edge where a projects (0 at i, 1 at j), n̂ the normal, t̂ the unit vector in
the face from the edge towards a, and for its nodes (i, j, a)

    c = (s−1, −s, 1),   d = (−1, 1, 0).   Then
    ∂θ/∂x_p       = −c_p n̂/h
    ∂²θ/∂x_p∂x_q  = (c_p c_q + d_p d_q h²/(2L²)) (n̂t̂ᵀ + t̂n̂ᵀ)/h² + (c_p d_q ên̂ᵀ + d_p c_q n̂êᵀ)/(L h)

and the same in face B with b in place of a (the parts that are not symmetric cancel between the faces).
This is the closed form of [Tamstorf & Grinspun 2013], derived anew in the frame of each face.
"""

from __future__ import annotations

from math import atan2, sqrt

import numpy as np
from numba import njit

from crumple.geometry.tuning import TUNING
from crumple.runtime.typing import Floats, Ints

SMALLEST_SQUARE = TUNING.smallest_square.value


@njit(cache=True)
def dihedral_angle(x, i, j, a, b):
    """Signed dihedral angle θ of a hinge [rad], in [−π, π]."""
    ex, ey, ez = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    ax, ay, az = x[a, 0] - x[i, 0], x[a, 1] - x[i, 1], x[a, 2] - x[i, 2]
    bx, by, bz = x[b, 0] - x[i, 0], x[b, 1] - x[i, 1], x[b, 2] - x[i, 2]
    px, py, pz = ey * az - ez * ay, ez * ax - ex * az, ex * ay - ey * ax
    qx, qy, qz = ez * by - ey * bz, ex * bz - ez * bx, ey * bx - ex * by
    sx, sy, sz = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx
    length = sqrt(max(ex * ex + ey * ey + ez * ez, SMALLEST_SQUARE))
    return atan2((ex * sx + ey * sy + ez * sz) / length, px * qx + py * qy + pz * qz)


@njit(cache=True)
def dihedral_gradient(x, i, j, a, b, out):
    """Signed dihedral angle θ [rad]; writes ∂θ/∂x of the nodes i, j, a, b [1/m] into `out` (4, 3)."""
    ex, ey, ez = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    ax, ay, az = x[a, 0] - x[i, 0], x[a, 1] - x[i, 1], x[a, 2] - x[i, 2]
    bx, by, bz = x[b, 0] - x[i, 0], x[b, 1] - x[i, 1], x[b, 2] - x[i, 2]
    px, py, pz = ey * az - ez * ay, ez * ax - ex * az, ex * ay - ey * ax
    qx, qy, qz = ez * by - ey * bz, ex * bz - ez * bx, ey * bx - ex * by
    sx, sy, sz = py * qz - pz * qy, pz * qx - px * qz, px * qy - py * qx
    square = max(ex * ex + ey * ey + ez * ez, SMALLEST_SQUARE)
    length = sqrt(square)
    s = (ax * ex + ay * ey + az * ez) / square
    r = (bx * ex + by * ey + bz * ez) / square
    m = -length / max(px * px + py * py + pz * pz, SMALLEST_SQUARE)
    n = -length / max(qx * qx + qy * qy + qz * qz, SMALLEST_SQUARE)
    out[2, 0], out[2, 1], out[2, 2] = m * px, m * py, m * pz
    out[3, 0], out[3, 1], out[3, 2] = n * qx, n * qy, n * qz
    for c in range(3):
        out[0, c] = (s - 1.0) * out[2, c] + (r - 1.0) * out[3, c]
        out[1, c] = -s * out[2, c] - r * out[3, c]
    return atan2((ex * sx + ey * sy + ez * sz) / length, px * qx + py * qy + pz * qz)


@njit(cache=True)
def add_dihedral_hessian(x, i, j, a, b, scale, out):
    """Adds `scale` ∂²θ/∂x² to the ten upper node blocks `out` (10, 3, 3) in the order of the energy contract."""
    add_face_part(x, i, j, a, 1.0, scale, out[0], out[1], out[2], out[4], out[5], out[7])
    add_face_part(x, i, j, b, -1.0, scale, out[0], out[1], out[3], out[4], out[6], out[9])


@njit(cache=True)
def add_face_part(x, i, j, a, side, scale, ii, ij, ia, jj, ja, aa):
    """Adds one face's share of `scale` ∂²θ/∂x² to its six blocks; `side` is 1 in face A and −1 in face B."""
    ex, ey, ez = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    ax, ay, az = x[a, 0] - x[i, 0], x[a, 1] - x[i, 1], x[a, 2] - x[i, 2]
    square = max(ex * ex + ey * ey + ez * ez, SMALLEST_SQUARE)
    length = sqrt(square)
    s = (ax * ex + ay * ey + az * ez) / square
    ex, ey, ez = ex / length, ey / length, ez / length
    nx, ny, nz = side * (ey * az - ez * ay), side * (ez * ax - ex * az), side * (ex * ay - ey * ax)
    height = sqrt(max(nx * nx + ny * ny + nz * nz, SMALLEST_SQUARE))
    nx, ny, nz = nx / height, ny / height, nz / height
    tx, ty, tz = side * (ny * ez - nz * ey), side * (nz * ex - nx * ez), side * (nx * ey - ny * ex)
    m = scale / (height * height)
    q = scale / (length * height)
    w = 0.5 * height * height / square
    c = s - 1.0
    add_block(ii, m * (c * c + w), -q * c, -q * c, nx, ny, nz, tx, ty, tz, ex, ey, ez)
    add_block(ij, m * (-c * s - w), q * c, q * s, nx, ny, nz, tx, ty, tz, ex, ey, ez)
    add_block(ia, m * c, 0.0, -q, nx, ny, nz, tx, ty, tz, ex, ey, ez)
    add_block(jj, m * (s * s + w), -q * s, -q * s, nx, ny, nz, tx, ty, tz, ex, ey, ez)
    add_block(ja, -m * s, 0.0, q, nx, ny, nz, tx, ty, tz, ex, ey, ez)
    add_block(aa, m, 0.0, 0.0, nx, ny, nz, tx, ty, tz, ex, ey, ez)


@njit(cache=True)
def add_block(out, m, p, q, nx, ny, nz, tx, ty, tz, ex, ey, ez):
    """Adds m (n̂t̂ᵀ + t̂n̂ᵀ) + p ên̂ᵀ + q n̂êᵀ to `out` (3, 3)."""
    out[0, 0] += 2.0 * m * nx * tx + (p + q) * nx * ex
    out[0, 1] += m * (nx * ty + tx * ny) + p * ex * ny + q * nx * ey
    out[0, 2] += m * (nx * tz + tx * nz) + p * ex * nz + q * nx * ez
    out[1, 0] += m * (ny * tx + ty * nx) + p * ey * nx + q * ny * ex
    out[1, 1] += 2.0 * m * ny * ty + (p + q) * ny * ey
    out[1, 2] += m * (ny * tz + ty * nz) + p * ey * nz + q * ny * ez
    out[2, 0] += m * (nz * tx + tz * nx) + p * ez * nx + q * nz * ex
    out[2, 1] += m * (nz * ty + tz * ny) + p * ez * ny + q * nz * ey
    out[2, 2] += 2.0 * m * nz * tz + (p + q) * nz * ez


@njit(cache=True)
def _dihedral_angles(x, hinge_nodes, out):
    for h in range(len(hinge_nodes)):
        i, j, a, b = hinge_nodes[h, 0], hinge_nodes[h, 1], hinge_nodes[h, 2], hinge_nodes[h, 3]
        out[h] = dihedral_angle(x, i, j, a, b)


def dihedral_angles(x: Floats, hinge_nodes: Ints) -> Floats:
    """Signed dihedral angles of hinges (n, 4) [rad], (n,)."""
    out = np.empty(len(hinge_nodes))
    _dihedral_angles(x, hinge_nodes, out)
    return out
