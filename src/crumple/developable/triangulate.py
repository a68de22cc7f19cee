"""A polygon with points inside, as triangles: ears clipped, points inserted, edges flipped to Delaunay (compiled)."""

from __future__ import annotations

import numpy as np

from crumple.runtime.compiled import device, kernel

NONE = -1
ON_EDGE = 1e-9
"""Over the area of a face: a point that makes a smaller one with an edge lies on it."""


@device
def _turn(p, a, b, c):
    """Twice the area of the triangle abc of the points p."""
    return (p[b, 0] - p[a, 0]) * (p[c, 1] - p[a, 1]) - (p[b, 1] - p[a, 1]) * (p[c, 0] - p[a, 0])


@device
def _quality(p, a, b, c):
    """Twice the area over the square of the longest side: small for slivers, negative when turned over."""
    longest = 0.0
    for i, j in ((a, b), (b, c), (c, a)):
        longest = max(longest, (p[i, 0] - p[j, 0]) ** 2 + (p[i, 1] - p[j, 1]) ** 2)
    return _turn(p, a, b, c) / longest


@device
def _is_ear(p, loop, n, k):
    """Whether no other vertex of the loop is in the triangle at its vertex k."""
    a, b, c = loop[(k - 1) % n], loop[k], loop[(k + 1) % n]
    for m in range(n):
        d = loop[m]
        if d in (a, b, c):
            continue
        if _turn(p, a, b, d) >= 0.0 and _turn(p, b, c, d) >= 0.0 and _turn(p, c, a, d) >= 0.0:
            return False
    return True


@device
def _clip_ears(p, count, faces, beside):
    """Triangles of the loop 0 … count − 1, the best ear first; how many."""
    loop, n, made = np.arange(count), count, 0
    while n > 3:
        best, which = 0.0, NONE
        for k in range(n):
            quality = _quality(p, loop[(k - 1) % n], loop[k], loop[(k + 1) % n])
            if quality > best and _is_ear(p, loop, n, k):
                best, which = quality, k
        if which == NONE:
            return NONE
        _put(faces, beside, made, loop[(which - 1) % n], loop[which], loop[(which + 1) % n])
        made += 1
        for m in range(which, n - 1):
            loop[m] = loop[m + 1]
        n -= 1
    if _turn(p, loop[0], loop[1], loop[2]) <= 0.0:
        return NONE
    _put(faces, beside, made, loop[0], loop[1], loop[2])
    return made + 1


@device
def _put(faces, beside, f, a, b, c):
    """Make abc the face f."""
    faces[f, 0], faces[f, 1], faces[f, 2] = a, b, c
    beside[a, b] = beside[b, c] = beside[c, a] = f


@device
def _opposite(faces, f, a, b):
    """The corner of the face f that is neither a nor b."""
    for k in range(3):
        if faces[f, k] != a and faces[f, k] != b:
            return faces[f, k]
    return NONE


@device
def _is_outside(p, a, b, c, d):
    """Whether d is outside the circle through the counter-clockwise triangle abc, or nearly on it."""
    ax, ay = p[a, 0] - p[d, 0], p[a, 1] - p[d, 1]
    bx, by = p[b, 0] - p[d, 0], p[b, 1] - p[d, 1]
    cx, cy = p[c, 0] - p[d, 0], p[c, 1] - p[d, 1]
    a2, b2, c2 = ax * ax + ay * ay, bx * bx + by * by, cx * cx + cy * cy
    determinant = a2 * (bx * cy - by * cx) - b2 * (ax * cy - ay * cx) + c2 * (ax * by - ay * bx)
    return determinant <= 1e-10 * max(a2, b2, c2) ** 2


@device
def _flip_all(p, faces, beside, count):
    """Flip edges that are not Delaunay until there are none; those of the loop have one face and stay."""
    for _ in range(4 * count + 16):
        flipped = False
        for f in range(count):
            for k in range(3):
                a, b = faces[f, k], faces[f, (k + 1) % 3]
                g = beside[b, a]
                if g == NONE:
                    continue
                c, d = _opposite(faces, f, a, b), _opposite(faces, g, a, b)
                if _is_outside(p, a, b, c, d) or _turn(p, a, d, c) <= 0.0 or _turn(p, d, b, c) <= 0.0:
                    continue
                beside[a, b] = beside[b, a] = NONE
                _put(faces, beside, f, a, d, c)
                _put(faces, beside, g, d, b, c)
                flipped = True
                break
        if not flipped:
            return


@device
def _insert(p, faces, beside, count, v):
    """Put the point v into the face that it is in, or into both at an edge; the new number of faces, the same when it
    is in none."""
    for f in range(count):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        slack = ON_EDGE * _turn(p, a, b, c)
        if _turn(p, a, b, v) > slack and _turn(p, b, c, v) > slack and _turn(p, c, a, v) > slack:
            _put(faces, beside, f, a, b, v)
            _put(faces, beside, count, b, c, v)
            _put(faces, beside, count + 1, c, a, v)
            return count + 2
    for f in range(count):
        for k in range(3):
            a, b, c = faces[f, k], faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
            g = beside[b, a]
            slack = ON_EDGE * _turn(p, a, b, c)
            if g == NONE or abs(_turn(p, a, b, v)) > slack:
                continue
            if _turn(p, b, c, v) > slack and _turn(p, c, a, v) > slack:
                d = _opposite(faces, g, a, b)
                beside[a, b] = beside[b, a] = NONE
                _put(faces, beside, f, b, c, v)
                _put(faces, beside, count, c, a, v)
                _put(faces, beside, g, a, d, v)
                _put(faces, beside, count + 1, d, b, v)
                return count + 2
    return count


@kernel
def _triangulate(p, count, faces, beside):
    """Fill `faces`; how many, NONE when the loop has no triangulation."""
    made = _clip_ears(p, count, faces, beside)
    if made == NONE:
        return NONE
    _flip_all(p, faces, beside, made)
    for v in range(count, len(p)):
        made = _insert(p, faces, beside, made, v)
        _flip_all(p, faces, beside, made)
    return made


@kernel
def triangulate_cells(points, corners, start, inside, inside_start):
    """The constrained Delaunay triangles (n, 3) of many polygons, the polygon (n,) of each, and whether all have some.

    Of the `points` (m, 2) `corners` from start[c] to start[c + 1] are the loop of the polygon c, counter-clockwise, and
    `inside` in the same way the points within it; one that is not inside is left out.
    """
    cells = len(start) - 1
    faces, count = np.empty((2 * (len(corners) + len(inside)), 3), np.int32), 0
    cell = np.empty(len(faces), np.int32)
    for c in range(cells):
        loop, size = start[c + 1] - start[c], start[c + 1] - start[c] + inside_start[c + 1] - inside_start[c]
        names, p = np.empty(size, np.int32), np.empty((size, 2))
        for k in range(size):
            names[k] = corners[start[c] + k] if k < loop else inside[inside_start[c] + k - loop]
            p[k, 0], p[k, 1] = points[names[k], 0], points[names[k], 1]
        local, beside = np.empty((2 * size, 3), np.int32), np.full((size, size), NONE, np.int32)
        made = _triangulate(p, loop, local, beside)
        if made == NONE:
            return faces[:0], cell[:0], False
        for f in range(made):
            for k in range(3):
                faces[count, k] = names[local[f, k]]
            cell[count] = c
            count += 1
    return faces[:count].copy(), cell[:count].copy(), True
