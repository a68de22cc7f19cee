"""Generalised cones through rulings: step (f) of [Schreck2015], fig. 16 and §6.2.

All tangent planes n·x = w of a cone go through its apex a. In homogeneous coordinates, and centred on the mean c of the
rulings, that is m·(a, a₀) = 0 with m = (n, −n·(p − c)/L): the apex is the eigenvector of Σ m mᵀ with the smallest
eigenvalue, at infinity (a₀ = 0) for a cylinder, which the paper's Σ (n·a + w)² cannot have. Rulings that are on no cone
turn to where the normal does not change along them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crumple.developable.paper import Paper, commit, edit_region
from crumple.developable.singular import ruling_angles
from crumple.developable.structure import BOUNDARY, NOBODY, Draft, Edge, Refused, Structure
from crumple.developable.tuning import TUNING
from crumple.runtime.typing import Floats

CLEAR = TUNING.clear_turn.value
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
    draft, far = Draft(structure), 0.0
    for number in range(1, len(rulings) - 1):
        ends, moved = turn_ruling(structure, rulings[number], targets[number])
        far = max(far, moved)
        for key, place in zip(rulings[number], ends, strict=True):
            draft.slide(key, place)
    if far < LEAST * structure.spacing:
        return paper
    return commit(paper, draft.build())


def torsal_directions(structure: Structure, rulings: tuple[Edge, ...], p: Floats, q: Floats) -> Floats:
    """The directions in the pattern, (n, 3) homogeneous with 0 last, in which normals do not turn.

    Beside a ruling e₂ of the width w and the length l, let the normal turn by κ w across it, and by τ l along it. On
    a developable surface it then does not turn along e₂ − (τ/κ) e₁. Where κ w is too small to tell, the ruling stays.
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
    slant = np.where(np.abs(bend) > CLEAR, along * width / np.where(bend == 0.0, 1.0, bend), 0.0)
    slant = np.convolve(np.pad(slant, 1, mode="edge"), (0.25, 0.5, 0.25), mode="valid")
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
