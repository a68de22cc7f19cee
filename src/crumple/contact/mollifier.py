"""The factor that fades out nearly parallel edges, m(c) = (2 − c/ε) c/ε for c = |e1 × e2|² < ε, else 1.

The distance of two edges has a kink where they are parallel; m makes the energy C¹ there [Li2020, §5].
With u = e1 × e2 and J = ∂u/∂(e1, e2):  ∂c/∂e1 = 2 |e2|² e1 − 2 (e1·e2) e2,

    ∇²c = 2 JᵀJ + M,   M = 2 [[0, S], [Sᵀ, 0]],  S = e1 e2ᵀ − e2 e1ᵀ.

S is skew with S Sᵀ = |u|² P, P = I − ûûᵀ, so |M| = 2 |u| diag(P, P) and ∇²c ≤ 2 JᵀJ + ½ (M + |M|), which is
positive semi-definite. That is the projected form.
"""

from __future__ import annotations

from math import sqrt

from crumple.runtime.compiled import device


@device
def edge_vectors(corner):
    """The six components of e1 = b − a and e2 = d − c for `corner` = (a, b, c, d)."""
    return (
        corner[1, 0] - corner[0, 0],
        corner[1, 1] - corner[0, 1],
        corner[1, 2] - corner[0, 2],
        corner[3, 0] - corner[2, 0],
        corner[3, 1] - corner[2, 1],
        corner[3, 2] - corner[2, 2],
    )


@device
def cross_square(corner):
    """c = |e1 × e2|² [m⁴]."""
    ex, ey, ez, fx, fy, fz = edge_vectors(corner)
    return (ey * fz - ez * fy) ** 2 + (ez * fx - ex * fz) ** 2 + (ex * fy - ey * fx) ** 2


@device
def mollify(c, limit):
    """(m, m', m'') at c for ε = `limit`; (1, 0, 0) where the edges are not nearly parallel."""
    if c >= limit:
        return 1.0, 0.0, 0.0
    z = c / limit
    return (2.0 - z) * z, 2.0 * (1.0 - z) / limit, -2.0 / (limit * limit)


@device
def cross_square_gradient(corner, out):
    """∇c [m³] for the four corners, written to `out` (12,)."""
    ex, ey, ez, fx, fy, fz = edge_vectors(corner)
    e2, f2, ef = ex * ex + ey * ey + ez * ez, fx * fx + fy * fy + fz * fz, ex * fx + ey * fy + ez * fz
    e, f = (ex, ey, ez), (fx, fy, fz)
    for k in range(3):
        first, second = 2.0 * (f2 * e[k] - ef * f[k]), 2.0 * (e2 * f[k] - ef * e[k])
        out[k], out[3 + k], out[6 + k], out[9 + k] = -first, first, -second, second


@device
def add_cross_square_hessian(corner, factor, project, out):
    """Add factor ∇²c [m²] (its positive upper bound if `project`) to the ten upper 3×3 blocks `out` (10, 3, 3)."""
    ex, ey, ez, fx, fy, fz = edge_vectors(corner)
    e, f = (ex, ey, ez), (fx, fy, fz)
    u = (ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx)
    e2, f2, ef = ex * ex + ey * ey + ez * ez, fx * fx + fy * fy + fz * fz, ex * fx + ey * fy + ez * fz
    area = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
    skew, extra = 2.0, 0.0
    if project and area > 0.0:
        skew, extra = 1.0, area
    for a in range(3):
        for b in range(3):
            same = 1.0 if a == b else 0.0
            round_ = extra * (same - u[a] * u[b] / (area * area)) if extra > 0.0 else 0.0
            h11 = factor * (2.0 * (f2 * same - f[a] * f[b]) + round_)
            h22 = factor * (2.0 * (e2 * same - e[a] * e[b]) + round_)
            h12 = factor * (2.0 * (e[a] * f[b] - ef * same) + skew * (e[a] * f[b] - f[a] * e[b]))
            out[0, a, b] += h11
            out[1, a, b] -= h11
            out[2, a, b] += h12
            out[3, a, b] -= h12
            out[4, a, b] += h11
            out[5, a, b] -= h12
            out[6, a, b] += h12
            out[7, a, b] += h22
            out[8, a, b] -= h22
            out[9, a, b] += h22
