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

from crumple.developable.paper import Paper, commit, edit_region
from crumple.developable.singular import ruling_angles
from crumple.developable.structure import BOUNDARY, NOBODY, Draft, Edge, Refused, Structure
from crumple.developable.tuning import TUNING
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
    """The paper with the rulings of each curved region on cones, as far as one frame allows."""
    for key in list(paper.structure.curves):
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
    wanted, far = np.empty((len(rulings), 2)), 0.0
    for number, ruling in enumerate(rulings):
        wanted[number], moved = turn_ruling(structure, ruling, targets[number])
        far = max(far, moved)
    draft = Draft(structure)
    sliding = draft.sliding()
    ends = [_in_order(draft, sliding, [ruling[k] for ruling in rulings], wanted[:, k]) for k in (0, 1)]
    return np.stack(ends, axis=1), far


def _in_order(draft: Draft, sliding: set[int], keys: list[int], wanted: Floats) -> Floats:
    """Places (n,) [m] nearest to those `wanted` at which vertices of the border, the `sliding` ones of `keys`, keep
    their order and some distance.

    Distances from the first one are made to increase by the regression that pools neighbours out of order, after what
    they have to be apart was taken off; vertices that cannot slide weigh most.
    """
    outline, fixed = draft.outline, np.array([key not in sliding for key in keys])
    now = np.array([draft.vertices[key].place for key in keys])
    steps = np.array([outline.way(a, b) for a, b in itertools.pairwise(now)])
    sign = np.sign(steps.sum())
    if np.any(sign * steps < 0.0):
        raise Refused("rulings out of order")
    least = np.concatenate([[0.0], np.cumsum(np.minimum(ROOM * draft.spacing, np.abs(steps)))])
    goal = sign * np.array([outline.way(now[0], place) for place in np.where(fixed, now, wanted)]) - least
    places = now[0] + sign * (_pooled(goal, np.where(fixed, 1e9, 1.0)) + least)
    others = draft.needed() - (sliding & set(keys))
    walls = np.array([draft.vertices[key].place for key in others if draft.vertices[key].kind == BOUNDARY])
    return np.where(fixed, now, [_kept_off(draft, walls, *pair) for pair in zip(now, places, strict=True)])


def _kept_off(draft: Draft, walls: Floats, now: float, place: float) -> float:
    """The place [m], or the one nearest to it that can be reached from `now` with some room to the `walls`."""
    room, away = ROOM * draft.spacing, np.array([draft.outline.way(now, wall) for wall in walls])
    low = min(np.max(away[away < 0.0], initial=-0.5 * draft.outline.length) + room, 0.0)
    high = max(np.min(away[away > 0.0], initial=0.5 * draft.outline.length) - room, 0.0)
    return float(now + np.clip(draft.outline.way(now, place), low, high))


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


def turn_ruling(structure: Structure, ruling: Edge, apex: Floats) -> tuple[tuple[float, float], float]:
    """The places of the ends of a ruling after it has turned about its middle towards the apex (3,), and how far the
    ends then are from where they were [m]."""
    if any(structure.vertices[key].kind != BOUNDARY for key in ruling):
        raise Refused("a ruling that does not cross the sheet")
    p, q = (structure.u(key) for key in ruling)
    middle, way = 0.5 * (p + q), (q - p) / np.linalg.norm(q - p)
    to = apex[:2] - apex[2] * middle
    to = to / np.linalg.norm(to) * np.sign(to @ way or 1.0)
    angle = float(np.clip(np.arctan2(way[0] * to[1] - way[1] * to[0], way @ to), -STEP, STEP))
    half = 0.5 * float(np.linalg.norm(q - p))
    turned = np.array(
        [np.cos(angle) * way[0] - np.sin(angle) * way[1], np.sin(angle) * way[0] + np.cos(angle) * way[1]]
    )
    ends = tuple(_border_near(structure, key, middle, sign * turned) for key, sign in zip(ruling, (-1, 1), strict=True))
    return (ends[0], ends[1]), half * abs(np.tan(angle))


def _border_near(structure: Structure, key: int, middle: Floats, way: Floats) -> float:
    """The place where a line from the middle of the sheet meets the side of the outline that a vertex is on [m]."""
    outline, place = structure.outline, structure.vertices[key].place
    for side, (start, end) in enumerate(zip(outline.starts[:-1], outline.starts[1:], strict=True)):
        if not start <= place <= end:
            continue
        a = outline.corners[side]
        along = (outline.corners[(side + 1) % len(outline.corners)] - a) / (end - start)
        turn = way[0] * along[1] - way[1] * along[0]
        if abs(turn) < 1e-9:
            continue
        to = a - middle
        return float(np.clip(start + (to[0] * way[1] - to[1] * way[0]) / turn, start, end))
    return place
