"""Barrier energy of one contact pair with exact derivatives, or with a Hessian projected in closed form.

    E = K m P(s),   s = g / D,   g = d − ξ

with d the distance, ξ and D (`dhat`) the pair's touch distance and activation gap, K [J] its stiffness, m the
mollifier of nearly parallel edges (1 for node–face pairs) and P the law of `barrier_law`: the barrier, damped.

**Derivatives of the distance** (minimum principle). d = min_β |r|, r = Σ w_i(β) x_i, n = r/d: ∇d = w ⊗ n. Choose
the parameters β so that t_k = ∂r/∂β_k are orthonormal and write dw_k = ∂w/∂β_k. Then, with p_k = d dw_k ⊗ n + w ⊗ t_k,

    ∇²d = (1/d) [ w wᵀ ⊗ (I − n nᵀ) − Σ_k p_k p_kᵀ ].

**Projection.** ∇²E = E'' (w ⊗ n)(w ⊗ n)ᵀ + |E'|/d [ Σ_k (p_k p_kᵀ − c_k c_kᵀ) − … ], c_k = w ⊗ t_k, where … are the
remaining tangents, negative and dropped. The t_k are turned so that the dw_k are orthogonal as well; then the planes
(a_k, c_k), a_k = dw_k ⊗ n, are orthogonal to each other and the positive part of each is one eigenpair of
[[A, B], [B, 0]], A = d² |a|², B = d |a| |c|: λ = ½ (A + √(A² + 4B²)) with eigenvector (λ, B).
"""

from __future__ import annotations

from math import inf, sqrt

from crumple.contact.barrier_law import damped_slopes, damped_value
from crumple.contact.mollifier import add_cross_square_hessian, cross_square, cross_square_gradient, mollify
from crumple.contact.pair import closest, slides
from crumple.runtime.compiled import device

TERMS = 6
"""Rank-one terms of a pair's Hessian at most."""
TINY = 1e-300


@device
def direction(corner, weight, d, normal):
    """Write n = Σ w_i x_i / d to `normal` (3,)."""
    for k in range(3):
        r = weight[0] * corner[0, k] + weight[1] * corner[1, k]
        normal[k] = (r + weight[2] * corner[2, k] + weight[3] * corner[3, k]) / d


@device
def _slide_basis(is_edges, feature, corner, tangent, rate):
    """Orthonormal t_k in `tangent` (2, 3) and mutually orthogonal dw_k in `rate` (2, 4); returns their number."""
    count, i1, j1, i2, j2 = slides(is_edges, feature)
    rate[:] = 0.0
    if count == 0:
        return 0
    length = 0.0
    for k in range(3):
        tangent[0, k] = corner[i1, k] - corner[j1, k]
        length += tangent[0, k] ** 2
    length = sqrt(length)
    for k in range(3):
        tangent[0, k] /= length
    rate[0, i1], rate[0, j1] = 1.0 / length, -1.0 / length
    if count == 1:
        return 1
    rate[1, i2] += 1.0
    rate[1, j2] -= 1.0
    along = length = 0.0
    for k in range(3):
        tangent[1, k] = corner[i2, k] - corner[j2, k]
        along += tangent[1, k] * tangent[0, k]
    for k in range(3):
        tangent[1, k] -= along * tangent[0, k]
        length += tangent[1, k] ** 2
    length = sqrt(length)
    for k in range(3):
        tangent[1, k] /= length
    for i in range(4):
        rate[1, i] = (rate[1, i] - along * rate[0, i]) / length
    _turn(tangent, rate)
    return 2


@device
def _turn(tangent, rate):
    """Turn both pairs by the Jacobi angle that makes rate[0] and rate[1] orthogonal."""
    aa = ab = bb = 0.0
    for i in range(4):
        aa += rate[0, i] * rate[0, i]
        ab += rate[0, i] * rate[1, i]
        bb += rate[1, i] * rate[1, i]
    if ab == 0.0:
        return
    ratio = (bb - aa) / (2.0 * ab)
    tan = 1.0 / (abs(ratio) + sqrt(ratio * ratio + 1.0))
    if ratio < 0.0:
        tan = -tan
    c = 1.0 / sqrt(1.0 + tan * tan)
    s = tan * c
    for i in range(4):
        a, b = rate[0, i], rate[1, i]
        rate[0, i], rate[1, i] = c * a - s * b, s * a + c * b
    for k in range(3):
        a, b = tangent[0, k], tangent[1, k]
        tangent[0, k], tangent[1, k] = c * a - s * b, s * a + c * b


@device
def _set_term(term, factor, k, value, alpha, rate, normal, beta, weight, tangent):
    """Rank-one term k: factor `value`, vector alpha rate ⊗ normal + beta weight ⊗ tangent."""
    factor[k] = value
    for i in range(4):
        a, b = alpha * rate[i], beta * weight[i]
        for j in range(3):
            term[k, 3 * i + j] = a * normal[j] + b * tangent[j]


@device
def _distance_terms(count, slope, curvature, d, weight, normal, tangent, rate, project, term, factor):
    """Rank-one terms of ∇²E for E' = `slope` (< 0) and E'' = `curvature`; returns how many."""
    push = -slope / d
    _set_term(term, factor, 0, curvature, 0.0, weight, normal, 1.0, weight, normal)
    n = 1
    w2 = weight[0] ** 2 + weight[1] ** 2 + weight[2] ** 2 + weight[3] ** 2
    for k in range(count):
        if not project:
            _set_term(term, factor, n, push, d, rate[k], normal, 1.0, weight, tangent[k])
        else:
            a2 = rate[k, 0] ** 2 + rate[k, 1] ** 2 + rate[k, 2] ** 2 + rate[k, 3] ** 2
            first, cross = d * d * a2, d * sqrt(a2 * w2)
            root = 0.5 * (first + sqrt(first * first + 4.0 * cross * cross))
            norm2 = root * root + cross * cross
            along, across = root / sqrt(a2), cross / sqrt(w2)
            _set_term(term, factor, n, push * root / norm2, along, rate[k], normal, across, weight, tangent[k])
        n += 1
    return n


@device
def _add_terms(n, term, factor, scale, hessian):
    """Add scale Σ factor v vᵀ to the ten upper blocks `hessian` (10, 3, 3)."""
    for k in range(n):
        block = 0
        for i in range(4):
            for j in range(i, 4):
                for a in range(3):
                    left = scale * factor[k] * term[k, 3 * i + a]
                    for b in range(3):
                        hessian[block, a, b] += left * term[k, 3 * j + b]
                block += 1


@device
def _subtract_tangential(factor, weight, normal, hessian):
    """Subtract factor w wᵀ ⊗ (I − n nᵀ) from the blocks."""
    block = 0
    for i in range(4):
        for j in range(i, 4):
            w = factor * weight[i] * weight[j]
            for a in range(3):
                hessian[block, a, a] -= w
                for b in range(3):
                    hessian[block, a, b] += w * normal[a] * normal[b]
            block += 1


@device
def _mollify_gradient(energy, m, dm, corner, gradient, cross_gradient):
    """gradient ← m gradient + E m' ∇c; ∇c is left in `cross_gradient` (12,)."""
    cross_square_gradient(corner, cross_gradient)
    for i in range(12):
        gradient[i // 3, i % 3] = m * gradient[i // 3, i % 3] + energy * dm * cross_gradient[i]


@device
def _mollify_hessian(energy, slope, dm, ddm, corner, weight, normal, cross_gradient, project, term, factor, hessian):
    """Add E m' ∇²c + E m'' ∇c∇cᵀ + m' (∇c hᵀ + h ∇cᵀ), h = E' w ⊗ n; if `project`, positive parts only."""
    add_cross_square_hessian(corner, energy * dm, project, hessian)
    g2 = h2 = 0.0
    for i in range(12):
        h = slope * weight[i // 3] * normal[i % 3]
        term[1, i] = h
        g2 += cross_gradient[i] ** 2
        h2 += h * h
    if g2 <= TINY or h2 <= TINY:
        return
    # ∇c hᵀ + h ∇cᵀ = ½ |g| |h| (s sᵀ − t tᵀ) with s, t = g/|g| ± h/|h|: a positive and a negative term.
    g1, h1 = 1.0 / sqrt(g2), 1.0 / sqrt(h2)
    for i in range(12):
        g, h = cross_gradient[i], term[1, i]
        term[0, i], term[1, i], term[2, i] = g * g1 + h * h1, g * g1 - h * h1, g
    factor[0], factor[1], factor[2] = 0.5 * dm / (g1 * h1), -0.5 * dm / (g1 * h1), energy * ddm
    _add_terms(1 if project else 3, term, factor, 1.0, hessian)


@device
def pair_value(is_edges, corner, weight, thickness, dhat, stiffness, limit, start, damping):
    """Energy [J] of a pair at `corner` (4, 3); infinite when its gap is closed. `weight` (4,) is overwritten."""
    d2, _ = closest(is_edges, corner, weight)
    value = stiffness * damped_value((sqrt(d2) - thickness) / dhat, start, damping)
    if is_edges and 0.0 < value < inf:
        c = cross_square(corner)
        if c < limit:
            m, _, _ = mollify(c, limit)
            value *= m
    return value


@device
def pair_derivatives(
    is_edges, corner, thickness, dhat, stiffness, limit, start, damping, level, project, scratch, gradient, hessian
):  # fmt: skip
    """Write the gradient (4, 3) [N] and, if `level` is 2, the Hessian blocks (10, 3, 3) [N/m] of a pair.

    `start` and `damping` are s₀ and ρ of the damping. Outside the range everything is zero; a closed gap gives NaN.
    """
    weight, normal, tangent, rate, term, factor, cross_gradient = scratch
    gradient[:] = 0.0
    if level == 2:
        hessian[:] = 0.0
    d2, feature = closest(is_edges, corner, weight)
    d = sqrt(d2)
    s = (d - thickness) / dhat
    if s >= 1.0:
        return
    db, ddb = damped_slopes(s, start, damping)
    if db == 0.0:
        return
    slope, curvature = stiffness * db / dhat, stiffness * ddb / (dhat * dhat)
    direction(corner, weight, d, normal)
    for i in range(4):
        for k in range(3):
            gradient[i, k] = slope * weight[i] * normal[k]
    m, dm, ddm = 1.0, 0.0, 0.0
    if is_edges:
        m, dm, ddm = mollify(cross_square(corner), limit)
    energy = stiffness * damped_value(s, start, damping)
    if dm > 0.0:
        _mollify_gradient(energy, m, dm, corner, gradient, cross_gradient)
    if level < 2:
        return
    count = _slide_basis(is_edges, feature, corner, tangent, rate)
    n = _distance_terms(count, slope, curvature, d, weight, normal, tangent, rate, project, term, factor)
    _add_terms(n, term, factor, m, hessian)
    if not project:
        _subtract_tangential(-m * slope / d, weight, normal, hessian)
    if dm > 0.0:
        _mollify_hessian(
            energy, slope, dm, ddm, corner, weight, normal, cross_gradient, project, term, factor, hessian
        )  # fmt: skip
