"""Crease patterns by formula: Miura-ori, waterbomb, Kresling, pleats and a folding box. Lengths in m, angles in rad."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from crumple.mesh.limits import require_positive
from crumple.patterns.pattern import MOST_EDGES, CreasePattern
from crumple.patterns.planar import pattern_from_segments
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints

Line = tuple[tuple[float, float], tuple[float, float], float | None, str]
"""Two ends [m], the fold angle [rad] (None = on the boundary), and the name of the group."""
MITRE = 1.1
"""Slot over length of mitred flaps: at 45° they would touch when they are closed."""
RELIEF = 0.03
"""By how much flaps of a box stay away from its corners, over the narrower wall: flaps that began there would push the
walls apart by their thickness when they close."""
INSIDE = 1.05
"""Fold angle of a glue flap over that of the walls."""
SNAP = 1e-6
"""Points of a generated pattern nearer than this fraction of its longest side are the same."""


def miura(columns: int, rows: int, a: float, b: float, alpha: float, angle: float = np.pi) -> CreasePattern:
    """Miura-ori of `columns` × `rows` parallelograms with sides a and b [m] that meet at `alpha` [rad].

    The zigzags (sides b, group "zigzag") fold by ρ_z = `angle`, the straight lines (sides a, group "straight") by ρ_s,
    so that all facets stay flat:  tan(ρ_s/2) = cos α tan(ρ_z/2).
    """
    _require_counts("miura", columns=columns, rows=rows)
    _limit_lines("miura", 2 * columns * rows)
    require_positive("miura", a=a, b=b)
    _require_angle("miura.alpha", alpha, 0.5 * np.pi)
    _require_angle("miura.angle", angle, np.pi)
    straight = 2.0 * np.arctan2(np.cos(alpha) * np.sin(0.5 * angle), np.cos(0.5 * angle))

    def at(i: int, j: int) -> tuple[float, float]:
        return i * a + (j % 2) * b * np.cos(alpha), j * b * np.sin(alpha)

    lines: list[Line] = []
    for i in range(columns + 1):
        sign = 1.0 if i % 2 else -1.0
        inner = 0 < i < columns
        lines += [(at(i, j), at(i, j + 1), sign * angle if inner else None, "zigzag") for j in range(rows)]
    for j in range(rows + 1):
        for i in range(columns):
            sign = (1.0 if i % 2 else -1.0) * (1.0 if j % 2 else -1.0)
            lines.append((at(i, j), at(i + 1, j), sign * straight if 0 < j < rows else None, "straight"))
    return _pattern(lines)


def waterbomb(columns: int, rows: int, cell: float, angle: float = np.pi) -> CreasePattern:
    """Waterbomb tessellation: square cells of side `cell` [m] with diagonals, every other row shifted by half a cell.

    Grid lines are mountains (group "grid"), diagonals valleys (group "diagonal"), all by `angle`; at angles other than
    π the facets bend. One cell is the waterbomb base.
    """
    _require_counts("waterbomb", columns=columns, rows=rows)
    _limit_lines("waterbomb", 8 * columns * rows)
    require_positive("waterbomb", cell=cell)
    _require_angle("waterbomb.angle", angle, np.pi)
    half, width = 0.5 * cell, 2 * columns
    lines: list[Line] = []

    def add(x0: int, y0: int, x1: int, y1: int, fold: float | None, group: str) -> None:
        if min(x0, x1) >= 0 and max(x0, x1) <= width:
            lines.append(((x0 * half, y0 * half), (x1 * half, y1 * half), fold, group))

    for row in range(rows):
        bottom, middle, top = 2 * row, 2 * row + 1, 2 * row + 2
        for x in range(0, width + 1):
            border = x in (0, width)
            add(x, bottom, x, top, None if border else angle, "grid")
            if x % 2 != row % 2:  # the middle of a cell
                for dx in (-1, 1):
                    add(x, middle, x + dx, bottom, -angle, "diagonal")
                    add(x, middle, x + dx, top, -angle, "diagonal")
    for row in range(rows + 1):
        for x in range(width):
            add(x, 2 * row, x + 1, 2 * row, None if row in (0, rows) else angle, "grid")
    return _pattern(lines)


def kresling(sides: int, radius: float, height: float, twist: float, rows: int = 1) -> CreasePattern:
    """The unrolled wall of a Kresling tube: regular polygons with `sides` corners on circles of `radius` [m], each
    `height` [m] above the last and turned by `twist` [rad] against it.

    The fold angles are those of the tube in this state: groups "side", "diagonal" and "ring". Left and right border are
    to be joined.
    """
    _require_counts("kresling", sides=sides, rows=rows)
    _limit_lines("kresling", 3 * sides * rows)
    if sides < 3:
        raise InputError("kresling.sides", "must be at least 3", sides)
    require_positive("kresling", radius=radius, height=height)
    _require_angle("kresling.twist", twist, np.pi - 2.0 * np.pi / sides)
    base, shift, rise = kresling_cell(sides, radius, height, twist)

    def tube(k: int, row: int) -> Floats:
        return kresling_corners(sides, radius, height, twist, np.array([k]), np.array([row]))[0]

    def at(k: int, row: int) -> tuple[float, float]:
        return k * base + row * shift, row * rise

    def fold(edge: tuple[Floats, Floats], left: Floats, right: Floats) -> float:
        return signed_dihedral(edge[0], edge[1], left, right)

    lines: list[Line] = []
    for row in range(rows):
        for k in range(sides + 1):
            a, b = tube(k, row), tube(k, row + 1)
            inner = fold((a, b), tube(k - 1, row), tube(k + 1, row + 1))
            lines.append((at(k, row), at(k, row + 1), inner if 0 < k < sides else None, "side"))
        for k in range(sides):
            a, b = tube(k, row), tube(k + 1, row + 1)
            crossing = fold((a, b), tube(k, row + 1), tube(k + 1, row))
            lines.append((at(k, row), at(k + 1, row + 1), crossing, "diagonal"))
    for row in range(rows + 1):
        for k in range(sides):
            ring = fold((tube(k, row), tube(k + 1, row)), tube(k + 1, row + 1), tube(k, row - 1))
            lines.append((at(k, row), at(k + 1, row), ring if 0 < row < rows else None, "ring"))
    return _pattern(lines)


def kresling_corners(sides: int, radius: float, height: float, twist: float, k: Ints, row: Ints) -> Floats:
    """Where the corners number `k` (n,) of the polygons number `row` (n,) of a Kresling tube are, (n, 3) [m]."""
    around = 2.0 * np.pi * k / sides + row * twist
    return np.stack([radius * np.cos(around), radius * np.sin(around), height * row], axis=1)


def kresling_cell(sides: int, radius: float, height: float, twist: float) -> tuple[float, float, float]:
    """The parallelograms of the unrolled wall of a Kresling tube: their base, by how much the upper one is shifted, and
    their height [m]."""
    corners = kresling_corners(sides, radius, height, twist, np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]))
    base, side, diagonal = (float(np.linalg.norm(corner - corners[0])) for corner in corners[1:])
    # in the triangle of the corners (0, 0), (1, 1), (0, 1) the base is on top
    shift = 0.5 * (diagonal**2 - side**2 - base**2) / base
    return base, shift, float(np.sqrt(side**2 - shift**2))


def pleats(width: float, height: float, count: int, angle: float = np.pi, *, share: float = 0.5) -> CreasePattern:
    """Pleats across a sheet of `width` × `height` [m]: `count` creases along the height, mountains and valleys in turn.

    `share` of two pleats that lies between a mountain and the next valley: 0.5 gives an accordion, less gives knife
    pleats. Groups "mountain" and "valley".
    """
    _require_counts("pleats", count=count)
    require_positive("pleats", width=width, height=height)
    _require_angle("pleats.angle", angle, np.pi)
    if not 0.01 <= share <= 0.99:
        raise InputError("pleats.share", "must lie within 0.01…0.99", share)
    widths = np.where(np.arange(count + 1) % 2 == 1, share, 1.0 - share)
    x = np.concatenate([[0.0], np.cumsum(widths)])
    x *= width / x[-1]
    lines: list[Line] = list(_loop([(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)]))
    for k in range(1, count + 1):
        sign, name = (1.0, "mountain") if k % 2 else (-1.0, "valley")
        lines.append(((x[k], 0.0), (x[k], height), sign * angle, name))
    return _pattern(lines)


def box(
    width: float,
    depth: float,
    height: float,
    *,
    flap: float | None = None,
    glue: float | None = None,
    slot: float | None = None,
    angle: float = 0.5 * np.pi,
    flap_angle: float | None = None,
) -> CreasePattern:
    """The blank of a folding box, seen from outside: four walls side by side, four flaps above and below, a glue flap.

    `flap`: length of the flaps [m]; `glue`: width of the glue flap [m]; `slot`: by which flaps are narrower on a side
    at their end than their wall [m]. Flaps that are mitred (slot ≥ flap, the default) can all fold at once; others
    overlap, and must be folded one after the other. Groups "wall" and "dust" (flaps of the side walls) fold by `angle`,
    "flap" (flaps of front and back) by `flap_angle`, the same if left out; "glue" by a little more, because it lies
    inside.
    """
    require_positive("box", width=width, depth=depth, height=height)
    narrow = min(width, depth)
    flap = 0.4 * narrow if flap is None else flap
    glue = 0.2 * narrow if glue is None else glue
    slot = min(MITRE * flap, 0.45 * narrow) if slot is None else slot
    require_positive("box", flap=flap, glue=glue, slot=slot)
    if 2.0 * slot >= narrow:
        raise InputError("box.slot", f"must be < {0.5 * narrow:.4g}, half the narrower wall, in m", slot)
    taper, relief = min(0.3 * glue, 0.3 * height), min(RELIEF * narrow, 0.5 * slot)
    _require_angle("box.angle", angle, np.pi)
    flap_angle = angle if flap_angle is None else flap_angle
    _require_angle("box.flap_angle", flap_angle, np.pi)
    x = np.concatenate([[0.0], np.cumsum([width, depth, width, depth])]).tolist()
    lines: list[Line] = [((x[0], 0.0), (x[0], height), None, "wall")]
    for k in range(4):
        group, fold = ("flap", flap_angle) if k % 2 == 0 else ("dust", angle)
        left, right = x[k], x[k + 1]
        side = (min(INSIDE * angle, np.pi), "glue") if k == 3 else (angle, "wall")
        lines.append(((right, 0.0), (right, height), *side))
        for low, out in ((0.0, -flap), (height, flap)):
            begin, end = left + relief, right - relief
            lines.append(((begin, low), (end, low), fold, group))
            top = [(left, low), (begin, low), (left + slot, low + out), (right - slot, low + out), (end, low)]
            lines += _chain([*top, (right, low)])
    lines += _chain([(x[4], 0.0), (x[4] + glue, taper), (x[4] + glue, height - taper), (x[4], height)])
    return _pattern(lines)


def signed_dihedral(a: Floats, b: Floats, left: Floats, right: Floats) -> float:
    """The fold angle [rad] at the edge a→b between the points `left` and `right` of it, positive = mountain."""
    way = (b - a) / np.linalg.norm(b - a)
    first, second = np.cross(b - a, left - a), np.cross(right - a, b - a)
    return float(np.arctan2(np.dot(way, np.cross(first, second)), np.dot(first, second)))


"""The generators by name."""


def _pattern(lines: list[Line]) -> CreasePattern:
    """The pattern of lines."""
    names = tuple(sorted({group for _, _, fold, group in lines if fold is not None}))
    segments = np.array([(p, q) for p, q, _, _ in lines])
    letters = ["B" if fold is None else "M" if fold > 0 else "V" if fold < 0 else "F" for _, _, fold, _ in lines]
    angle = np.array([fold or 0.0 for _, _, fold, _ in lines])
    group = np.array([-1 if fold is None else names.index(name) for _, _, fold, name in lines], np.int32)
    snap = SNAP * float(np.ptp(segments.reshape(-1, 2), axis=0).max())
    return pattern_from_segments(segments, letters, angle, snap=snap, group=group, group_names=names)


def _chain(points: list[tuple[float, float]]) -> Iterable[Line]:
    """The boundary along points."""
    return [(p, q, None, "") for p, q in pairwise(points)]


def _loop(points: list[tuple[float, float]]) -> Iterable[Line]:
    """The boundary along points and back to the first."""
    return _chain([*points, points[0]])


def _require_counts(place: str, **counts: int) -> None:
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 1 <= count <= 1000:
            raise InputError(f"{place}.{name}", "must be a whole number within 1…1000", count)


def _limit_lines(place: str, count: int) -> None:
    if count > MOST_EDGES:
        raise InputError(place, f"has about {count} lines; at most {MOST_EDGES} are possible")


def _require_angle(place: str, angle: float, most: float) -> None:
    if not (np.isfinite(angle) and 0.0 < angle <= most * (1 + 1e-12)):
        raise InputError(place, f"must be > 0 and ≤ {most:.4g}, in rad", angle)
