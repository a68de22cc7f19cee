"""Cholesky factorisation and solution of a small sparse matrix, front by front [Duff1983], compiled.

A front is a dense matrix whose first rows are eliminated; what that does to the unknowns that it only meets waits on a
stack for its parent. All numbers of a row lie side by side and inner loops begin at zero, which makes them vectors:
otherwise they take twice as long. Products may be fused with sums, so bits depend on the processor, as everywhere.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from crumple.runtime.compiled import ZERO, device, fused, kernel

NOT_DONE = np.zeros((0, 2), np.int64)
"""The subtrees that are factorised already where none are."""


@fused
def _eliminate(panel, own, width):
    """Factorise the `own` rows of a front in place, each by the rows before it; False when a pivot is not positive.
    What lies below the diagonal is overwritten with anything."""
    a = ZERO
    while a + 4 <= own:
        if not _eliminate_four(panel, a, width):
            return False
        a += 4
    while a < own:
        if not _eliminate_one(panel, a, width):
            return False
        a += 1
    return True


@fused
def _eliminate_four(panel, a, width):
    """Factorise the rows a to a + 3, of which a multiple of four are before: as one, so that there are few loops, which
    are short."""
    w, at = width - a, a * width + a
    r0, r1 = panel[at : at + w], panel[at + width : at + width + w]
    r2, r3 = panel[at + 2 * width : at + 2 * width + w], panel[at + 3 * width : at + 3 * width + w]
    for q in range(a, at, 4 * width):
        p0, p1 = panel[q : q + w], panel[q + width : q + width + w]
        p2, p3 = panel[q + 2 * width : q + 2 * width + w], panel[q + 3 * width : q + 3 * width + w]
        a0, a1, a2, a3 = p0[0], p1[0], p2[0], p3[0]
        b0, b1, b2, b3 = p0[1], p1[1], p2[1], p3[1]
        c0, c1, c2, c3 = p0[2], p1[2], p2[2], p3[2]
        d0, d1, d2, d3 = p0[3], p1[3], p2[3], p3[3]
        for i in range(w):
            x0, x1, x2, x3 = p0[i], p1[i], p2[i], p3[i]
            r0[i] -= a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3
            r1[i] -= b0 * x0 + b1 * x1 + b2 * x2 + b3 * x3
            r2[i] -= c0 * x0 + c1 * x1 + c2 * x2 + c3 * x3
            r3[i] -= d0 * x0 + d1 * x1 + d2 * x2 + d3 * x3
    pivot0 = r0[0]
    s0 = 1.0 / sqrt(pivot0)
    k1, k2, k3 = r0[1] * s0, r0[2] * s0, r0[3] * s0
    pivot1 = r1[1] - k1 * k1
    s1 = 1.0 / sqrt(pivot1)
    m2, m3 = (r1[2] - k1 * k2) * s1, (r1[3] - k1 * k3) * s1
    pivot2 = r2[2] - k2 * k2 - m2 * m2
    s2 = 1.0 / sqrt(pivot2)
    n3 = (r2[3] - k2 * k3 - m2 * m3) * s2
    pivot3 = r3[3] - k3 * k3 - m3 * m3 - n3 * n3
    s3 = 1.0 / sqrt(pivot3)
    if not (pivot0 > 0.0 and pivot1 > 0.0 and pivot2 > 0.0 and pivot3 > 0.0):
        return False
    for i in range(w):
        x0 = r0[i] * s0
        x1 = (r1[i] - k1 * x0) * s1
        x2 = (r2[i] - k2 * x0 - m2 * x1) * s2
        r0[i], r1[i], r2[i], r3[i] = x0, x1, x2, (r3[i] - k3 * x0 - m3 * x1 - n3 * x2) * s3
    return True


@fused
def _eliminate_one(panel, a, width):
    """Factorise row a."""
    w = width - a
    row = panel[a * width + a : a * width + width]
    k = 0
    while k + 4 <= a:
        q = k * width + a
        p0, p1 = panel[q : q + w], panel[q + width : q + width + w]
        p2, p3 = panel[q + 2 * width : q + 2 * width + w], panel[q + 3 * width : q + 3 * width + w]
        c0, c1, c2, c3 = p0[0], p1[0], p2[0], p3[0]
        for i in range(w):
            row[i] -= c0 * p0[i] + c1 * p1[i] + c2 * p2[i] + c3 * p3[i]
        k += 4
    while k < a:
        p0 = panel[k * width + a : k * width + width]
        c0 = p0[0]
        for i in range(w):
            row[i] -= c0 * p0[i]
        k += 1
    pivot = row[0]
    if not pivot > 0.0:
        return False
    pivot = 1.0 / sqrt(pivot)
    for i in range(w):
        row[i] *= pivot
    return True


@fused
def _update(panel, own, width, rest):
    """Subtract the products of the eliminated rows from `rest`, the square of what the front only meets: four rows at
    a time."""
    met = width - own
    j = 0
    while j + 4 <= met:
        w = met - j
        t0, t1 = rest[j * met + j : j * met + met], rest[(j + 1) * met + j : (j + 2) * met]
        t2, t3 = rest[(j + 2) * met + j : (j + 3) * met], rest[(j + 3) * met + j : (j + 4) * met]
        k = 0
        while k + 3 <= own:
            q = k * width + own + j
            p0, p1 = panel[q : q + w], panel[q + width : q + width + w]
            p2 = panel[q + 2 * width : q + 2 * width + w]
            a0, a1, a2 = p0[0], p1[0], p2[0]
            b0, b1, b2 = p0[1], p1[1], p2[1]
            c0, c1, c2 = p0[2], p1[2], p2[2]
            d0, d1, d2 = p0[3], p1[3], p2[3]
            for i in range(w):
                x0, x1, x2 = p0[i], p1[i], p2[i]
                t0[i] -= a0 * x0 + a1 * x1 + a2 * x2
                t1[i] -= b0 * x0 + b1 * x1 + b2 * x2
                t2[i] -= c0 * x0 + c1 * x1 + c2 * x2
                t3[i] -= d0 * x0 + d1 * x1 + d2 * x2
            k += 3
        while k < own:
            q = k * width + own + j
            p0 = panel[q : q + w]
            a0, b0, c0, d0 = p0[0], p0[1], p0[2], p0[3]
            for i in range(w):
                x0 = p0[i]
                t0[i] -= a0 * x0
                t1[i] -= b0 * x0
                t2[i] -= c0 * x0
                t3[i] -= d0 * x0
            k += 1
        j += 4
    while j < met:
        w = met - j
        t0 = rest[j * met + j : j * met + met]
        for k in range(own):
            p0 = panel[k * width + own + j : k * width + width]
            a0 = p0[0]
            for i in range(w):
                t0[i] -= a0 * p0[i]
        j += 1


@device
def _receive(part, place, panel, own, width, rest):
    """Add to a front what a child has left for it: `part` (met²,) at the places (met,). Unsigned places are not looked
    at for being counted from the end."""
    met, left = place.shape[0], width - own
    for i in range(met):
        p = place[i]
        if p < own:
            at = np.uint64(p * width)
            for j in range(i, met):
                panel[at + np.uint64(place[j])] += part[np.uint64(i * met + j)]
        else:
            at = np.uint64((p - own) * left - own)
            for j in range(i, met):
                rest[at + np.uint64(place[j])] += part[np.uint64(i * met + j)]


@device
def _factorise(begin, end, bottom, done, first, width, panel, place, place_start, children, values, stack, rest, start):
    """Factorise the fronts from `begin` to `end`, but for those that are `done`; see `factorise_fronts`. What waits
    lies in the stack from `bottom` on, that of front f from `start[f]`."""
    waiting, floor = np.empty(end - begin, np.int64), np.empty(end - begin, np.int64)
    depth, top, known, f = 0, bottom, 0, begin
    while f < end:
        if known < done.shape[0] and done[known, 0] == f:
            f, known = done[known, 1], known + 1
            if place_start[f + 1] > place_start[f]:
                waiting[depth], floor[depth] = f, top
                depth += 1
            f += 1
            continue
        own = first[f + 1] - first[f]
        met = width[f] - own
        rows, square = values[panel[f] : panel[f + 1]], rest[: met * met]
        square[:] = 0.0
        for _ in range(children[f]):
            depth -= 1
            child, top = waiting[depth], floor[depth]
            at, at_end = place_start[child], place_start[child + 1]
            part = stack[start[child] : start[child] + (at_end - at) * (at_end - at)]
            _receive(part, place[at:at_end], rows, own, width[f], square)
        if not _eliminate(rows, own, width[f]):
            return False
        if met > 0:
            _update(rows, own, width[f], square)
            kept = stack[top : top + met * met]
            for i in range(met * met):
                kept[i] = square[i]
            start[f], waiting[depth], floor[depth] = top, f, top
            depth, top = depth + 1, top + met * met
        f += 1
    return True


@kernel
def factorise_fronts(done, first, width, panel, place, place_start, children, values, stack, rest, start):
    """Factorise the assembled fronts in `values` in place; False when the matrix is not positive definite.

    `done` (·, 2): the first and the last front of subtrees that are factorised already, in order. The next arguments
    are those of `Fronts`;  `stack`, `rest`: room for what waits, and for one front;  `start` (f,): where in the stack
    each front has left what waits.
    """
    return _factorise(
        ZERO, width.shape[0], ZERO, done, first, width, panel, place, place_start, children, values, stack, rest, start
    )


@kernel
def factorise_subtrees(
    share, step, shares, bottom, subtrees, first, width, panel, place, place_start, children, values, stack, rest,
    start, is_definite,
):  # fmt: skip
    """The same for those subtrees (t, 2) whose number in `shares` (t,) is `share`, or a multiple of `step` more: each
    in a part of the stack of its own from `bottom` (t,) on. `rest` (shares, ·): room for one front of each share;
    `is_definite` (t,) is written."""
    nothing = subtrees[:0]
    for s in range(share, rest.shape[0], step):
        for t in range(subtrees.shape[0]):
            if shares[t] == s:
                is_definite[t] = _factorise(
                    subtrees[t, 0], subtrees[t, 1] + 1, bottom[t], nothing, first, width, panel, place, place_start,
                    children, values, stack, rest[s], start,
                )  # fmt: skip


@fused
def _forward(panel, own, width, local):
    """Solve with the eliminated rows of a front, and take its part from what it only meets; `local` (width,)."""
    for k in range(own):
        row, rest = panel[k * width + k : (k + 1) * width], local[k:width]
        x = rest[0] / row[0]
        for i in range(width - k):
            rest[i] -= x * row[i]
        rest[0] = x


@fused
def _backward(panel, own, width, local):
    """Solve with the transposed rows of a front, where what it only meets is known; `local` (width,)."""
    for k in range(own - 1, -1, -1):
        row, rest = panel[k * width + k + 1 : (k + 1) * width], local[k + 1 : width]
        total = 0.0
        for i in range(width - k - 1):
            total += row[i] * rest[i]
        local[k] = (local[k] - total) / panel[k * width + k]


@kernel
def solve_fronts(first, width, panel, row, row_start, values, position, x):
    """Solve in place for x (size,) with the factorised `values`;  `position` (size,): the places of the unknowns in the
    elimination."""
    count, size = width.shape[0], x.shape[0]
    local, b = np.empty(size), np.empty(size)
    for i in range(size):
        b[position[i]] = x[i]
    for f in range(count):
        own, rows = first[f + 1] - first[f], row[row_start[f] : row_start[f + 1]]
        for i in range(own):
            local[i] = b[first[f] + i]
        local[own : width[f]] = 0.0
        _forward(values[panel[f] : panel[f + 1]], own, width[f], local)
        for i in range(own):
            b[first[f] + i] = local[i]
        for i in range(own, width[f]):
            b[rows[i]] += local[i]
    for f in range(count - 1, -1, -1):
        own, rows = first[f + 1] - first[f], row[row_start[f] : row_start[f + 1]]
        for i in range(width[f]):
            local[i] = b[rows[i]]
        _backward(values[panel[f] : panel[f + 1]], own, width[f], local)
        for i in range(own):
            b[first[f] + i] = local[i]
    for i in range(size):
        x[i] = b[position[i]]
