"""Slits and tears: narrow notches of the outline, so that their lips are border like any other.

A cut goes from a vertex of the border, or from the tip of another cut, straight to a new tip inside. Its lips are apart
by a kerf in the pattern: contact tells them apart by it, and every walk along the border, every line across the sheet
and every triangle knows the cut without being told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from crumple.developable.outline import Outline
from crumple.developable.structure import BOUNDARY, Curve, Draft, Edge, Refused, Vertex
from crumple.developable.tuning import TUNING
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats

KERF = TUNING.cut_width.value
SAME = 1e-12
"""Places and points that are nearer are the same [m]."""


def with_slits(outline: Outline, slits: Sequence[Floats], spacing: float) -> Outline:
    """An outline with slits, polylines (n, 2) [m] that begin on the border; `InputError` for others."""
    for number, slit in enumerate(slits):
        line = np.asarray(slit, float)
        name = f"slits[{number}]"
        if line.ndim != 2 or len(line) < 2 or line.shape[1] != 2:
            raise InputError(name, "must be at least two points of the pattern, in m", slit)
        place, far = outline.place(line[0])
        if not far < 1e-6 * outline.length:
            raise InputError(name, "must begin on the border of the sheet, in m", tuple(line[0]))
        for tip in line[1:]:
            if not outline.contains(tip) or outline.place(tip)[1] < 2.0 * KERF * spacing:
                raise InputError(name, "must go on inside the sheet, away from its border, in m", tuple(tip))
            outline, _ = cut_outline(outline, place, tip, KERF * spacing)
            place = float(outline.tip_places[-1])
    return outline


def cut_outline(outline: Outline, place: float, tip: Floats, kerf: float) -> tuple[Outline, Callable[[float], float]]:
    """The outline that is cut from a place [m] to a tip (2,) [m], and where its old places are on it; the new tip is
    the last of its tips. `kerf` [m]: how far apart the lips are where the cut begins."""
    starts, count = outline.starts, len(outline.corners)
    corner = int(np.abs(starts[:-1] - place).argmin())
    is_corner = abs(starts[corner] - place) < SAME
    side = int(np.searchsorted(starts, place, side="right")) - 1
    before = corner if is_corner else side + 1
    behind = before + 1 if is_corner else before
    lips = _lips(outline, place, tip, kerf, is_tip=is_corner and corner in outline.tips)
    corners = np.concatenate([outline.corners[:before], [lips[0], tip, lips[1]], outline.corners[behind:]])
    more = len(corners) - count
    tips = [k if k < before else k + more for k in outline.tips if not (is_corner and k == corner)]
    cut = Outline(corners, (*tips, before + 1))

    def moved(old: float) -> float:
        k = min(int(np.searchsorted(starts, old, side="right")) - 1, count - 1)
        begin, end = starts[k], starts[k + 1]
        is_behind = k >= before if is_corner else k > side or (k == side and old > place)
        new = k + more if is_behind else k
        size = cut.starts[new + 1] - cut.starts[new]
        if not is_corner and k == side:  # nothing but the middle of this side has moved
            far = max(size - (end - old), 0.0) if is_behind else min(old - begin, size)
        else:
            far = size * (old - begin) / (end - begin)
        found = float(cut.starts[new] + far) % cut.length
        near = cut.starts[:-1][np.abs(cut.starts[:-1] - found) < SAME]
        return float(near[0]) if len(near) else found

    return cut, moved


def _lips(outline: Outline, place: float, tip: Floats, kerf: float, *, is_tip: bool) -> tuple[Floats, Floats]:
    """Where the lips of a cut begin, the left one first (2,) [m]: on the border, or on both sides of an old tip."""
    if not is_tip:
        return outline.point(place - 0.5 * kerf), outline.point(place + 0.5 * kerf)
    origin = outline.point(place)
    ahead = (tip - origin) / np.linalg.norm(tip - origin) + heading(outline, place)
    left = np.array([-ahead[1], ahead[0]]) / np.linalg.norm(ahead)
    return np.asarray(origin + 0.5 * kerf * left), np.asarray(origin - 0.5 * kerf * left)


def heading(outline: Outline, place: float) -> Floats:
    """The direction (2,) in which the cut goes on that ends at a place."""
    corner = int(np.abs(outline.starts[:-1] - place).argmin())
    around = outline.corners[[corner - 1, (corner + 1) % len(outline.corners)]].mean(axis=0)
    ahead = outline.corners[corner] - around
    return np.asarray(ahead / np.linalg.norm(ahead))


def cut_open(draft: Draft, key: int, tip: Floats) -> None:
    """Cut a draft from a vertex of the border to a tip (2,) [m] inside; rulings in the way go. `Refused` when the
    vertex is held, or a crease begins there or is in the way."""
    vertex = draft.vertices[key]
    if vertex.kind != BOUNDARY or vertex.is_held or any(key in edge for edge in draft.creases):
        raise Refused("no place for a cut")
    if any(_is_cut(draft, edge, key, tip) for edge in draft.creases):
        raise Refused("a cut across a crease")
    place, origin = vertex.place, np.array(vertex.u)
    outline, moved = cut_outline(draft.outline, place, tip, KERF * draft.spacing)
    _drop_rulings(draft, key, tip)
    for other, old in list(draft.vertices.items()):
        if old.kind == BOUNDARY and other != key:
            draft.vertices[other] = _moved(outline, old, moved(old.place))
    del draft.vertices[key]
    draft.outline = outline
    number = outline.tips[-1]
    left, middle, right = (draft.border(float(outline.starts[k]), is_held=True) for k in range(number - 1, number + 2))
    for name in (left, middle, right):
        draft.vertices[name] = draft.vertices[name]._replace(is_held=False)
    for name, curve in list(draft.curves.items()):
        draft.curves[name] = _reattached(draft, curve, key, origin, tip, (left, right))


def _moved(outline: Outline, vertex: Vertex, place: float) -> Vertex:
    """A vertex at its place on another outline; where that is the same point, it keeps its bits."""
    u = outline.point(place)
    if np.abs(u - np.array(vertex.u)).max() < SAME:
        return vertex._replace(place=place)
    return vertex._replace(place=place, u=(float(u[0]), float(u[1])))


def _drop_rulings(draft: Draft, key: int, tip: Floats) -> None:
    """Take out the rulings that a cut crosses; what is left of their curves on either side stays."""
    for name, curve in list(draft.curves.items()):
        parts: list[list[Edge]] = [[]]
        for ruling in curve.rulings:
            if _is_cut(draft, ruling, key, tip):
                parts.append([])
            else:
                parts[-1].append(ruling)
        if len(parts) > 1:
            del draft.curves[name]
            for part in parts:
                if len(part) >= 2:
                    draft.curve(part, curve.apex)


def _is_cut(draft: Draft, edge: Edge, key: int, tip: Floats) -> bool:
    """Whether a cut from a vertex to a tip crosses an edge, or comes near its end."""
    if key in edge:
        return False
    origin = np.array(draft.vertices[key].u)
    a, b = (np.array(draft.vertices[end].u) for end in edge)
    beyond = tip + (tip - origin) * (0.3 * draft.spacing / np.linalg.norm(tip - origin))
    one = _turn(origin, beyond, a) * _turn(origin, beyond, b)
    two = _turn(a, b, origin) * _turn(a, b, beyond)
    return one <= 0.0 and two <= 0.0


def _turn(a: Floats, b: Floats, c: Floats) -> float:
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def _reattached(draft: Draft, curve: Curve, key: int, origin: Floats, tip: Floats, lips: tuple[int, int]) -> Curve:
    """A curve with the rulings that ended where the cut begins at its left lip or its right one."""

    def end(one: int, other: int) -> int:
        if one != key:
            return one
        return lips[0] if _turn(origin, tip, np.array(draft.vertices[other].u)) > 0.0 else lips[1]

    return curve._replace(rulings=tuple((end(a, b), end(b, a)) for a, b in curve.rulings))
