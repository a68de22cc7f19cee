"""Cholesky factorisation and solution of a small sparse matrix, front by front [Duff1983], compiled.

A front is a dense matrix whose first rows are eliminated; what that does to the unknowns that it only meets waits on a
stack for its parent. All numbers of a row lie side by side and inner loops begin at zero, which makes them vectors:
otherwise they take twice as long. Products may be fused with sums, so bits depend on the processor, as everywhere.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from crumple.runtime.compiled import device, fused, kernel


@fused
def _eliminate(panel, own, width):
    """Factorise the `own` rows of a front in place, each by the rows before it, four at a time; False when a pivot is
    not positive."""
    for a in range(own):
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
            q = k * width + a
            p0 = panel[q : q + w]
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
def _receive(part, place, run, panel, own, width, rest):
    """Add to a front what a child has left for it: `part` (met²,) at the places (met,)."""
    met, left = place.shape[0], width - own
    for i in range(met):
        p = place[i]
        j = i
        while j < met:
            w = run[j] - j
            given = part[i * met + j : i * met + j + w]
            if p < own:
                taken = panel[p * width + place[j] : p * width + place[j] + w]
            else:
                at = (p - own) * left - own + place[j]
                taken = rest[at : at + w]
            for q in range(w):
                taken[q] += given[q]
            j += w


@kernel
def factorise_fronts(
    first, width, panel, place, run, place_start, children, values, stack, rest
):  # fmt: skip
    """Factorise the assembled fronts in `values` in place; False when the matrix is not positive definite.

    The first arguments are those of `Fronts`;  `stack`, `rest`: room for what waits, and for one front.
    """
    count = width.shape[0]
    start, waiting = np.empty(count, np.int64), np.empty(count, np.int64)
    depth, top = 0, 0
    for f in range(count):
        own = first[f + 1] - first[f]
        met = width[f] - own
        rows, square = values[panel[f] : panel[f + 1]], rest[: met * met]
        square[:] = 0.0
        for _ in range(children[f]):
            depth -= 1
            child = waiting[depth]
            begin, end = place_start[child], place_start[child + 1]
            top = start[child]
            part = stack[top : top + (end - begin) * (end - begin)]
            _receive(part, place[begin:end], run[begin:end], rows, own, width[f], square)
        if not _eliminate(rows, own, width[f]):
            return False
        if met > 0:
            _update(rows, own, width[f], square)
            kept = stack[top : top + met * met]
            for i in range(met * met):
                kept[i] = square[i]
            start[f], waiting[depth] = top, f
            depth += 1
            top += met * met
    return True


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
