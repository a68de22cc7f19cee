"""Combination of the criteria of a face into one tensor ([Narain2013] §4.2).

A tensor a I + b diag(1, -1) + c offdiag(1, 1) is a disk of radius a around (b, c); it is positive semidefinite
when the disk contains the origin, and M₁ ⪰ M₂ exactly when disk 1 encloses disk 2. The smallest tensor (in trace)
that dominates all criteria is the smallest disk that encloses all of theirs.

The paper's algorithm 2 is Welzl's recursion, which is proven for points; for disks of different radii its exchange
step does not hold in general [Fischer & Gärtner 2003, The smallest enclosing ball of balls]. The pivoting rule of
LP-type problems is as short and always right: keep a basis of at most three disks, take the disk that sticks out
furthest, and find the smallest disk around these (at most four) among those supported by the newcomer alone, with
one, or with two of the basis. The radius grows with every pivot, so it ends.

A disk supported by three is Apollonius' problem. Its candidates are compared by how far they really have
to reach, so that a badly conditioned or spurious solution loses instead of doing harm. The radius finally
returned is what the centre needs to reach all disks: the result dominates its inputs to rounding whatever happened.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from crumple.geometry.metric import disk_of, scalar_positive_part
from crumple.remeshing.tuning import TUNING
from crumple.runtime.typing import Floats

PIVOT_LIMIT = TUNING.combining_pivots.value
REACH_TOLERANCE = 4e-16
"""A disk sticks out if it exceeds the current one by more than this fraction of its radius: two roundings."""


def combine_disk(terms: Floats) -> Floats:
    """The smallest tensor that dominates all terms: (term_count, n, 3) → (n, 3).

    Terms that are not positive semidefinite count with their positive part; without terms the result is 0.
    """
    terms = np.ascontiguousarray(terms, np.float64)
    out = np.empty(terms.shape[1:])
    _combine(terms, out)
    return out


def combine_sum(terms: Floats) -> Floats:
    """The plain sum of the terms, for comparison: (term_count, n, 3) → (n, 3). Up to term_count times too large."""
    return np.ascontiguousarray(terms.sum(axis=0))


@njit(cache=True)
def _combine(terms, out):
    """`combine_disk` for every face (not parallel: a quarter of a microsecond per face, and it compiles faster)."""
    disk = np.empty((terms.shape[0], 3))
    member = np.empty(4, np.int64)
    for f in range(terms.shape[1]):
        count = 0
        for t in range(terms.shape[0]):
            xx, yy, xy = scalar_positive_part(terms[t, f, 0], terms[t, f, 1], terms[t, f, 2])
            a, b, c, r = disk_of(xx, yy, xy)
            if a > 0.0:
                disk[count, 0], disk[count, 1], disk[count, 2] = b, c, max(a, r)
                count += 1
        b, c, a = _enclose(disk, count, member)
        out[f, 0], out[f, 1], out[f, 2] = a + b, a - b, c


@njit(cache=True)
def _enclose(disk, count, member):
    """Smallest disk (b, c, a) around disk[:count], rows (b, c, a); `member` (4,) is scratch.

    member[1:size + 1] is the basis, member[0] the newcomer.
    """
    if count == 0:
        return 0.0, 0.0, 0.0
    largest = 0
    for i in range(1, count):
        if disk[i, 2] > disk[largest, 2]:
            largest = i
    b, c, a = disk[largest, 0], disk[largest, 1], disk[largest, 2]
    member[1], size = largest, 1
    for _ in range(PIVOT_LIMIT):
        newcomer, reach = -1, a * (1.0 + REACH_TOLERANCE)
        for i in range(count):
            needed = _reach(disk, i, b, c)
            if needed > reach:
                newcomer, reach = i, needed
        if newcomer < 0:
            return b, c, a
        member[0] = newcomer
        new_b, new_c, new_a, first, second = _pivot(disk, member, size)
        if new_a <= a:  # only rounding is left
            return b, c, reach
        b, c, a = new_b, new_c, new_a
        # the new support: the newcomer and up to two of the old basis
        kept_1 = member[first] if first > 0 else newcomer
        kept_2 = member[second] if second > 0 else newcomer
        member[1], size = newcomer, 1
        if first > 0:
            member[2], size = kept_1, 2
        if second > 0:
            member[3], size = kept_2, 3
    for i in range(count):
        a = max(a, _reach(disk, i, b, c))
    return b, c, a


@njit(cache=True)
def _reach(disk, i, b, c):
    """Radius that a disk around (b, c) needs to enclose disk i."""
    db, dc = disk[i, 0] - b, disk[i, 1] - c
    return math.sqrt(db * db + dc * dc) + disk[i, 2]


@njit(cache=True)
def _reach_all(disk, member, size, b, c):
    """Radius that a disk around (b, c) needs to enclose the newcomer and the basis; infinite if (b, c) is NaN."""
    reach = 0.0
    for m in range(size + 1):
        needed = _reach(disk, member[m], b, c)
        if math.isnan(needed):  # `max` would overlook it
            return math.inf
        reach = max(reach, needed)
    return reach


@njit(cache=True)
def _pivot(disk, member, size):
    """Smallest disk around the newcomer and the basis: (b, c, a) and the places in `member` of its other supports."""
    new = member[0]
    best_b, best_c = disk[new, 0], disk[new, 1]
    best_a = _reach_all(disk, member, size, best_b, best_c)
    first, second = 0, 0
    for m in range(1, size + 1):
        b, c = _touch_two(disk, new, member[m])
        a = _reach_all(disk, member, size, b, c)
        if a < best_a:
            best_b, best_c, best_a, first, second = b, c, a, m, 0
    for m in range(1, size + 1):
        for n in range(m + 1, size + 1):
            b, c, other_b, other_c = _touch_three(disk, new, member[m], member[n])
            a = _reach_all(disk, member, size, b, c)
            if a < best_a:
                best_b, best_c, best_a, first, second = b, c, a, m, n
            a = _reach_all(disk, member, size, other_b, other_c)
            if a < best_a:
                best_b, best_c, best_a, first, second = other_b, other_c, a, m, n
    return best_b, best_c, best_a, first, second


@njit(cache=True)
def _touch_two(disk, i, j):
    """Centre of the smallest disk around two disks; that of the larger one if it encloses the other."""
    db, dc = disk[j, 0] - disk[i, 0], disk[j, 1] - disk[i, 1]
    distance = math.sqrt(db * db + dc * dc)
    # share of the way from i to j
    share = 0.0
    if distance > 0.0:
        share = min(max(0.5 * (1.0 + (disk[j, 2] - disk[i, 2]) / distance), 0.0), 1.0)
    elif disk[j, 2] > disk[i, 2]:
        share = 1.0
    return disk[i, 0] + share * db, disk[i, 1] + share * dc


@njit(cache=True)
def _touch_three(disk, i, j, k):
    """The two centres of circles that three disks touch from inside (Apollonius); NaN where there is none.

    Relative to the smallest disk, shrunk to a point at the origin: |z| = ρ, |z - p_m| = ρ - s_m for m = 1, 2.
    Differences give 2 p_m·z = |p_m|² - s_m² + 2 s_m ρ, hence z = α + β ρ and (β² - 1) ρ² + 2 α·β ρ + α² = 0.
    """
    if disk[j, 2] < disk[i, 2]:
        i, j = j, i
    if disk[k, 2] < disk[i, 2]:
        i, k = k, i
    p_b, p_c, p_s = disk[j, 0] - disk[i, 0], disk[j, 1] - disk[i, 1], disk[j, 2] - disk[i, 2]
    q_b, q_c, q_s = disk[k, 0] - disk[i, 0], disk[k, 1] - disk[i, 1], disk[k, 2] - disk[i, 2]
    determinant = p_b * q_c - p_c * q_b
    if determinant == 0.0:
        return math.nan, math.nan, math.nan, math.nan
    p = 0.5 * (p_b * p_b + p_c * p_c - p_s * p_s)
    q = 0.5 * (q_b * q_b + q_c * q_c - q_s * q_s)
    alpha_b, alpha_c = (p * q_c - q * p_c) / determinant, (q * p_b - p * q_b) / determinant
    beta_b, beta_c = (p_s * q_c - q_s * p_c) / determinant, (q_s * p_b - p_s * q_b) / determinant
    square = beta_b * beta_b + beta_c * beta_c - 1.0
    half = alpha_b * beta_b + alpha_c * beta_c
    constant = alpha_b * alpha_b + alpha_c * alpha_c
    root = math.sqrt(max(half * half - square * constant, 0.0))
    sum_ = -(half + math.copysign(root, half))
    rho = sum_ / square if square != 0.0 else math.nan
    other = constant / sum_ if sum_ != 0.0 else math.nan
    b, c = disk[i, 0], disk[i, 1]
    return (
        b + alpha_b + beta_b * rho,
        c + alpha_c + beta_c * rho,
        b + alpha_b + beta_b * other,
        c + alpha_c + beta_c * other,
    )
