"""Generalised cones through rulings: step (f) of [Schreck2015], fig. 16 and §6.2.

All tangent planes n·x = w of a cone go through its apex a. In homogeneous coordinates, and centred on the mean c of the
rulings, that is m·(a, a₀) = 0 with m = (n, −n·(p − c)/L): the apex is the eigenvector of Σ m mᵀ with the smallest
eigenvalue, at infinity (a₀ = 0) for a cylinder, which the paper's Σ (n·a + w)² cannot have. Rulings that are on no cone
turn to where the normal does not change along them.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from crumple.developable.paper import REST, Paper, commit, edit_region
from crumple.developable.singular import ruling_angles
from crumple.developable.structure import BOUNDARY, NOBODY, Draft, Edge, Refused, Structure
from crumple.developable.tuning import TUNING
from crumple.runtime.compiled import device, kernel
from crumple.runtime.typing import Floats

CLEAR, ROOM = TUNING.clear_turn.value, TUNING.fit_room.value
WIDE = TUNING.fit_wide.value
CLOSE, FAR = TUNING.fit_close.value, TUNING.fit_far.value
FEWEST = TUNING.fit_fewest.value
TURN, STEP, LEAST = TUNING.fit_turn.value, TUNING.fit_step.value, TUNING.fit_least.value


class Cone(NamedTuple):
    """`apex` (4,) homogeneous and of unit length: the point apex[:3]/apex[3] [m], or a direction;
    `error` (ruling_count,) [m]: how far the rulings' ends are from lines through it."""

    apex: Floats
    error: Floats


def fit_cone(p: Floats, q: Floats, size: float) -> Cone:
    """The cone nearest to the rulings from p to q (n, 3) [m], n ≥ 5;  `size` of the sheet [m]."""
    middle = 0.5 * (p + q)
    centre = middle.mean(axis=0)
    normal = ruling_normals(p, q)
    rows = np.concatenate([normal, -np.sum(normal * (middle[1:-1] - centre), axis=1)[:, None] / size], axis=1)
    a = np.linalg.eigh(rows.T @ rows)[1][:, 0]
    direction = q - p
    half = 0.5 * np.linalg.norm(direction, axis=1)
    to = _unit(a[:3] * size - a[3] * (middle - centre))
    error = half * np.linalg.norm(np.cross(_unit(direction), to), axis=1)
    point = np.concatenate([a[:3] * size + a[3] * centre, a[3:]])
    return Cone(point / np.linalg.norm(point), error)


def ruling_normals(p: Floats, q: Floats) -> Floats:
    """The unit normals (n − 2, 3) along the inner ones of the rulings from p to q (n, 3) [m]: between those of the
    strips beside them."""
    strips = _unit(np.cross(q[1:] - p[:-1], p[1:] - q[:-1]))
    return _unit(strips[:-1] + strips[1:])


def split_cones(p: Floats, q: Floats, size: float, tolerance: float) -> list[tuple[int, int, Cone]]:
    """Runs (first, last + 1) of rulings with a cone each, which misses none by more than `tolerance` [m]: from the run
    the worse end is taken off until it fits, then what is left before and behind is split in the same way."""
    first, last = 0, len(p)
    while last - first >= FEWEST:
        cone = fit_cone(p[first:last], q[first:last], size)
        if float(cone.error.max()) <= tolerance:
            before = split_cones(p[:first], q[:first], size, tolerance)
            behind = split_cones(p[last:], q[last:], size, tolerance)
            moved = [(a + last, b + last, c) for a, b, c in behind]
            return [*before, (first, last, cone), *moved]
        if cone.error[0] >= cone.error[-1]:
            first += 1
        else:
            last -= 1
    return []


def fit_curves(paper: Paper) -> Paper:
    """The paper with the rulings of each curved region on cones, as far as one frame allows. Regions take turns: they
    rest as long after an edit as this takes."""
    for key in list(paper.structure.curves):
        if (paper.state.frame + key) % (REST + 1) == 0:
            paper = edit_region(paper, key, refit)
    return paper


def refit(paper: Paper, key: int) -> Paper:
    """The paper with the rulings of one region turned towards those of its cones; the same object when they are there,
    or when it has too few, or is too flat to know."""
    structure = paper.structure
    rulings, apex = structure.curves[key]
    if apex != NOBODY or len(rulings) < FEWEST or float(ruling_angles(paper, key).sum()) < TURN:
        return paper
    p, q = (np.array([paper.x(edge[end]) for edge in rulings]) for end in (0, 1))
    size = float(np.ptp(structure.outline.corners, axis=0).max())
    targets = torsal_directions(structure, rulings, p, q)
    for first, last, cone in split_cones(p, q, size, paper.options.cone_error):
        best = first + int(cone.error.argmin())
        targets[first:last] = pattern_apex(structure, rulings[best], p[best], q[best], cone)
    ends, far = turned_places(structure, rulings, targets)
    draft = Draft(structure)
    if far >= LEAST * structure.spacing:
        draft.slide(dict(zip(np.ravel(rulings).tolist(), ends.ravel().tolist(), strict=True)))
    draft.replace_curve(key, evenly(draft, rulings))
    if far < LEAST * structure.spacing and draft.curves[key].rulings == rulings:
        return paper
    return commit(paper, draft.build())


def evenly(draft: Draft, rulings: tuple[Edge, ...]) -> list[Edge]:
    """The rulings without one that is close to its neighbours at both ends, and with one more where two are far apart;
    the first such place is changed, the others wait."""
    outline, kept = draft.outline, list(rulings)
    gaps = np.array(
        [[abs(outline.way(draft.vertices[a[k]].place, draft.vertices[b[k]].place)) for k in (0, 1)]
         for a, b in itertools.pairwise(rulings)]
    )  # fmt: skip
    around = np.maximum(gaps[:-1], gaps[1:]).max(axis=1) if len(gaps) > FEWEST else np.zeros(0)
    close = np.flatnonzero(around < CLOSE * draft.spacing)
    far = np.flatnonzero(gaps.max(axis=1) > FAR * draft.spacing)
    if len(close):
        del kept[1 + int(close[0])]
    elif len(far):
        number = int(far[0])
        kept.insert(number + 1, _between(draft, rulings[number], rulings[number + 1]))
    return kept


def _between(draft: Draft, first: Edge, second: Edge) -> Edge:
    """A ruling half-way between two."""
    ends = []
    for a, b in zip(first, second, strict=True):
        place = draft.vertices[a].place
        ends.append(a if a == b else draft.border(place + 0.5 * draft.outline.way(place, draft.vertices[b].place)))
    return ends[0], ends[1]


def turned_places(structure: Structure, rulings: tuple[Edge, ...], targets: Floats) -> tuple[Floats, float]:
    """The places (n, 2) [m] of the ends of rulings that turn towards their `targets` (n, 3), as far as their neighbours
    let them, and how far the one goes that would go farthest [m]."""
    wanted, far = turn_rulings(structure, rulings, targets)
    draft = Draft(structure)
    sliding, needed = draft.sliding(), draft.needed()
    ends = [_in_order(draft, sliding, needed, [ruling[k] for ruling in rulings], wanted[:, k]) for k in (0, 1)]
    return np.stack(ends, axis=1), float(np.max(far, initial=0.0))


def _in_order(draft: Draft, sliding: set[int], needed: set[int], keys: list[int], wanted: Floats) -> Floats:
    """Places (n,) [m] nearest to those `wanted` at which vertices of the border, the `sliding` ones of `keys`, keep
    their order and some distance, to others that are `needed` as well.

    Distances from the first one are made to increase by the regression that pools neighbours out of order, after what
    they have to be apart was taken off; vertices that cannot slide weigh most.
    """
    outline, fixed = draft.outline, np.array([key not in sliding for key in keys])
    now = np.array([draft.vertices[key].place for key in keys])
    steps = outline.way(now[:-1], now[1:])
    sign = np.sign(steps.sum())
    if np.any(sign * steps < 0.0):
        raise Refused("rulings out of order")
    least = np.concatenate([[0.0], np.cumsum(np.minimum(ROOM * draft.spacing, np.abs(steps)))])
    goal = sign * outline.way(now[0], np.where(fixed, now, wanted)) - least
    places = now[0] + sign * (_pooled(goal, np.where(fixed, 1e9, 1.0)) + least)
    others = needed - (sliding & set(keys))
    walls = np.array([draft.vertices[key].place for key in others if draft.vertices[key].kind == BOUNDARY])
    return np.where(fixed, now, _kept_off(draft, walls, now, places))


def _kept_off(draft: Draft, walls: Floats, now: Floats, places: Floats) -> Floats:
    """The places (n,) [m], or those nearest to them that can be reached from `now` (n,) with some room to the `walls`
    (m,)."""
    room, half = ROOM * draft.spacing, 0.5 * draft.outline.length
    away = draft.outline.way(now[:, None], walls)
    low = np.minimum(np.max(np.where(away < 0.0, away, -half), axis=1, initial=-half) + room, 0.0)
    high = np.maximum(np.min(np.where(away > 0.0, away, half), axis=1, initial=half) - room, 0.0)
    return np.asarray(now + np.clip(draft.outline.way(now, places), low, high))


def _pooled(values: Floats, weights: Floats) -> Floats:
    """The increasing sequence (n,) that is nearest to `values` with `weights`."""
    blocks: list[tuple[float, float, int]] = []
    for value, weight in zip(values.tolist(), weights.tolist(), strict=True):
        mean, mass, count = value, weight, 1
        while blocks and blocks[-1][0] > mean:
            before, other, number = blocks.pop()
            mean, mass, count = (mean * mass + before * other) / (mass + other), mass + other, count + number
        blocks.append((mean, mass, count))
    return np.concatenate([np.full(count, mean) for mean, _, count in blocks])


def torsal_directions(structure: Structure, rulings: tuple[Edge, ...], p: Floats, q: Floats) -> Floats:
    """The directions in the pattern, (n, 3) homogeneous with 0 last, in which normals do not turn.

    Beside a ruling e₂ of the width w and the length l, let the normal turn by κ w across it, and by τ l along it. On
    a developable surface it then does not turn along e₂ − (τ/κ) e₁, with the τ/κ that fits the rulings around
    best, those that bend more the more. Where κ w is too small to tell, the ruling stays.
    """
    u, v = (np.array([structure.u(edge[end]) for edge in rulings]) for end in (0, 1))
    middle, way = 0.5 * (p + q), (q - p) / np.linalg.norm(q - p, axis=1)[:, None]
    across = np.gradient(middle, axis=0)
    across -= np.sum(across * way, axis=1)[:, None] * way
    width = np.linalg.norm(across, axis=1)
    across = _unit(across)
    first, second = (_unit(np.cross(np.gradient(end, axis=0), way)) for end in (p, q))
    mean = _unit(first + second)
    along = np.sum((second - first) * across, axis=1) / np.linalg.norm(q - p, axis=1)
    bend = np.sum(np.gradient(mean, axis=0) * across, axis=1)
    number = np.arange(len(p))
    near = np.exp(-0.5 * ((number[:, None] - number) / WIDE) ** 2)
    known, turned = near @ bend**2, near @ (along * width * bend)
    slant = np.where(known > CLEAR**2, turned / np.maximum(known, CLEAR**2), 0.0)
    line = _unit(v - u)
    beside = np.gradient(0.5 * (u + v), axis=0)
    beside = _unit(beside - np.sum(beside * line, axis=1)[:, None] * line)
    return np.concatenate([line - slant[:, None] * beside, np.zeros((len(u), 1))], axis=1)


def _unit(vectors: Floats) -> Floats:
    """The vectors (n, k) with the length 1, or 0 where they are."""
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1), 1e-300)[:, None])


def pattern_apex(structure: Structure, ruling: Edge, p: Floats, q: Floats, cone: Cone) -> Floats:
    """The apex on a ruling, carried to the pattern, (3,) homogeneous: the ruling keeps its own coordinate."""
    u, v = (structure.u(key) for key in ruling)
    length = float(np.linalg.norm(q - p))
    way = (q - p) / length
    along = float(cone.apex[:3] @ way - cone.apex[3] * (p @ way))
    unit = (v - u) / np.linalg.norm(v - u)
    return np.append(cone.apex[3] * u + along * unit, cone.apex[3])


def turn_rulings(structure: Structure, rulings: tuple[Edge, ...], targets: Floats) -> tuple[Floats, Floats]:
    """The places (n, 2) [m] of the ends of rulings after each has turned about its middle towards its target (n, 3),
    and how far the ends then are from where they were (n,) [m]."""
    ends = [[structure.vertices[key] for key in ruling] for ruling in rulings]
    if any(end.kind != BOUNDARY for pair in ends for end in pair):
        raise Refused("a ruling that does not cross the sheet")
    outline = structure.outline
    points = np.array([[end.u for end in pair] for pair in ends])
    wanted, far = np.empty((len(rulings), 2)), np.empty(len(rulings))
    place = np.array([[end.place for end in pair] for pair in ends])
    _turn_all(points, place, np.ascontiguousarray(targets), outline.starts, outline.corners, STEP, wanted, far)
    return wanted, far


@kernel
def _turn_all(points, place, targets, starts, corners, most, wanted, far):
    """Fill `wanted` and `far` of `turn_rulings`; `most` [rad] by which rulings turn at once."""
    for n in range(len(points)):
        dx, dy = points[n, 1, 0] - points[n, 0, 0], points[n, 1, 1] - points[n, 0, 1]
        mx, my = 0.5 * (points[n, 0, 0] + points[n, 1, 0]), 0.5 * (points[n, 0, 1] + points[n, 1, 1])
        length = np.sqrt(dx * dx + dy * dy)
        dx, dy = dx / length, dy / length
        tx, ty = targets[n, 0] - targets[n, 2] * mx, targets[n, 1] - targets[n, 2] * my
        sign = -1.0 if tx * dx + ty * dy < 0.0 else 1.0
        angle = np.arctan2(sign * (dx * ty - dy * tx), sign * (dx * tx + dy * ty))
        angle = min(max(angle, -most), most)
        c, s = np.cos(angle), np.sin(angle)
        far[n] = 0.5 * length * abs(np.tan(angle))
        for k in range(2):
            way = -1.0 if k == 0 else 1.0
            wx, wy = way * (c * dx - s * dy), way * (s * dx + c * dy)
            wanted[n, k] = _border_near(place[n, k], mx, my, wx, wy, starts, corners)


@device
def _border_near(place, mx, my, wx, wy, starts, corners):
    """The place where a line from the middle of the sheet meets the side of the outline that a place is on [m]."""
    for side in range(len(corners)):
        start, end = starts[side], starts[side + 1]
        if not start <= place <= end:
            continue
        after, size = (side + 1) % len(corners), end - start
        ax, ay = (corners[after, 0] - corners[side, 0]) / size, (corners[after, 1] - corners[side, 1]) / size
        turn = wx * ay - wy * ax
        if abs(turn) < 1e-9:
            continue
        tx, ty = corners[side, 0] - mx, corners[side, 1] - my
        return min(max(start + (tx * wy - ty * wx) / turn, start), end)
    return place
