"""Rigid folding: do the facets around each inner vertex still meet, and where do all facets go.

Crossing a crease with fold angle θ turns the next facet by R(d, θ) about the crease. Once around an inner vertex, with
creases in the directions d_1 … d_n of the pattern, counter-clockwise, the turns must cancel [Kawasaki, belcastro–Hull]:

    R(d_1, -θ_1) R(d_2, -θ_2) … R(d_n, -θ_n) = I
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, identity
from scipy.sparse.linalg import splu

from crumple.patterns.pattern import FLAT, MOUNTAIN, VALLEY, CreasePattern
from crumple.runtime.typing import Bools, Floats, Ints

CLOSED = 1e-7
"""Facets around a vertex meet when they miss each other by less than this [rad]."""
MOST_STEPS, LARGE_STEPS = 60, 15
"""Newton steps towards angles at which the facets meet, and in large patterns; five or six are usual."""
DAMPED, DRAWN = 1e-3, np.radians(0.3)
"""ε with which angles are sought where none fit exactly, and by how much facets may miss each other there [rad], which
real paper bends: Miura-ori of 20 mm cells with random errors of 0.1 mm (3 × 3 cells) and 0.01 mm (8 × 8) pass."""
LONGEST_STEP = 0.3
"""Largest change of an angle in a step [rad]."""
PATIENCE, LARGE_PATIENCE = 12, 3
"""Steps without progress after which the search ends, and in large patterns, where each step takes long."""
LARGE = 1000
"""Conditions around vertices, three each, from which on a pattern is large."""
REGULARISED = 1e-10
"""ε of the smallest step, over the mean diagonal."""
SYMMETRIC: dict[str, Any] = {
    "permc_spec": "MMD_AT_PLUS_A",
    "diag_pivot_thresh": 0.0,
    "options": {"SymmetricMode": True},
}
"""How SuperLU takes a matrix that is symmetric and positive definite."""
SECTOR_ERROR = np.radians(0.1)
"""Error of sums of sectors that is put down to drawing [rad]."""
SHARPEST_CURVE = np.radians(30.0)
"""A crease that turns by less at a vertex without other creases is a curved one; it folds as its facets bend [rad]."""
KEPT, KEPT_DRAWN = 0.02, 0.3
"""Share of its wanted angle that every mountain and valley keeps, and where facets nearly meet: unfolded paper always
fits, nearly unfolded paper nearly, and neither is what was asked for. Straight creases of a Miura-ori with α = 88° keep
3.5 %."""
CLOSED_FLAT, NEARLY_FLAT = np.radians(179.9), np.radians(170.0)
"""Creases beyond the first are folded flat, which often fits, too; only those wanted beyond the second may be [rad]."""
PATH_STEP = 0.05
"""Share of the target angles between two places on the way of folding."""


@dataclass(frozen=True)
class Fans:
    """Inner vertices with the same number of creases: `vertex` (n,), their `edges` (n, degree) counter-clockwise, and
    the `direction` (n, degree) [rad] of each from the vertex."""

    vertex: Ints
    edges: Ints
    direction: Floats

    @cached_property
    def sectors(self) -> Floats:
        """The angles between each crease and the next, (n, degree) [rad]."""
        return np.mod(np.roll(self.direction, -1, axis=1) - self.direction, 2.0 * np.pi)

    @cached_property
    def is_curved(self) -> Bools:
        """Vertices at which a single crease turns a little, (n,)."""
        turn = np.abs(self.sectors[:, 0] - np.pi)
        return (turn > SECTOR_ERROR) & (turn < SHARPEST_CURVE) & (self.edges.shape[1] == 2)

    def straightened(self) -> Fans:
        """The vertices without curved ones; a single crease that turns by no more than drawing errors is straight."""
        kept = ~self.is_curved
        direction = self.direction[kept]
        if direction.shape[1] == 2:
            turn = np.abs(self.sectors[kept, 0] - np.pi)
            direction[:, 1] = np.where(turn <= SECTOR_ERROR, direction[:, 0] + np.pi, direction[:, 1])
        return Fans(self.vertex[kept], self.edges[kept], direction)


def vertex_fans(pattern: CreasePattern) -> list[Fans]:
    """The inner vertices and the creases around them, by number of creases; vertices with one crease are left out."""
    crease = np.flatnonzero(pattern.creases)
    tail = np.concatenate([pattern.edges[crease, 0], pattern.edges[crease, 1]])
    head = np.concatenate([pattern.edges[crease, 1], pattern.edges[crease, 0]])
    edge = np.concatenate([crease, crease])
    inner = pattern.inner_vertices[tail]
    tail, head, edge = tail[inner], head[inner], edge[inner]
    way = pattern.vertices[head] - pattern.vertices[tail]
    direction = np.arctan2(way[:, 1], way[:, 0])
    order = np.lexsort((direction, tail))
    tail, edge, direction = tail[order], edge[order], direction[order]
    vertex, start, degree = np.unique(tail, return_index=True, return_counts=True)
    fans = []
    for count in np.unique(degree[degree > 1]):
        chosen = degree == count
        at = start[chosen][:, None] + np.arange(count)
        fans.append(Fans(vertex[chosen].astype(np.int32), edge[at].astype(np.int32), direction[at]))
    return fans


def closure(fans: Fans, angle: Floats) -> tuple[Floats, Floats]:
    """The turn that is left once around each vertex, as a rotation vector (n, 3) [rad], and its derivatives
    (n, degree, 3) by the fold angles."""
    axis = np.stack([np.cos(fans.direction), np.sin(fans.direction), np.zeros_like(fans.direction)], axis=-1)
    total = np.broadcast_to(np.eye(3), (len(fans.vertex), 3, 3))
    derivative = np.empty((*fans.edges.shape, 3))
    ordered = axis.transpose(1, 0, 2).reshape(-1, 3)
    turns = turn(ordered, -angle[fans.edges].T.ravel()).reshape(fans.edges.shape[1], len(fans.vertex), 3, 3)
    for k in range(fans.edges.shape[1]):
        derivative[:, k] = -np.einsum("nij,nj->ni", total, axis[:, k])
        total = total @ turns[k]
    return rotation_vector(total), derivative


def turn(axis: Floats, angle: Floats) -> Floats:
    """Rotation matrices (n, 3, 3) about unit vectors (n, 3) by angles (n,) [rad]."""
    x, y, z = axis.T
    zero = np.zeros_like(x)
    skew = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=1).reshape(-1, 3, 3)
    sine, cosine = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    return np.eye(3) + sine * skew + (1.0 - cosine) * (skew @ skew)


def rotation_vector(matrix: Floats) -> Floats:
    """Axis times angle [rad] of rotation matrices (n, 3, 3); of half turns, about any of the two axes, (n, 3)."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(matrix).as_rotvec() if len(matrix) else np.zeros((0, 3))


def fit_angles(
    pattern: CreasePattern, angle: Floats, *, nearly: bool = False, guess: Floats | None = None
) -> Floats | None:
    """Fold angles (edge_count,) [rad] near the given ones at which facets stay flat and meet around every vertex.

    Newton's method with the least change of angles, from a `guess` if there is one. Mountains stay mountains and
    valleys valleys, flat creases flat. Beside curved creases facets bend, so these may have any angle. None when there
    are no such angles near by, or only such at which creases are unfolded or folded flat. `nearly`: facets may miss
    each other by as much as is put down to drawing.
    """
    fans = [fan.straightened() for fan in vertex_fans(pattern) if not fan.is_curved.all()]
    if not fans:
        return angle
    free = pattern.creases & (pattern.assignment != FLAT)
    drawn = DRAWN * min(1.0, float(np.abs(angle).max()) / (0.5 * np.pi))  # nearly unfolded facets always nearly meet
    damping, tolerance, kept = (DAMPED, drawn, KEPT_DRAWN) if nearly else (REGULARISED, CLOSED, KEPT)
    found = _closed(fans, angle if guess is None else guess, free, damping, tolerance)
    return found if found is not None and _is_near(pattern, found, angle, kept) else None


def _closed(fans: list[Fans], angle: Floats, free: Bools, damping: float, tolerance: float) -> Floats | None:
    """Angles (edge_count,) [rad] at which facets around no vertex miss each other by more than `tolerance` [rad]; None
    when they are not found."""
    best, since = np.inf, 0
    for _ in range(MOST_STEPS if 3 * sum(len(fan.vertex) for fan in fans) < LARGE else LARGE_STEPS):
        residual, jacobian = _linearised(fans, angle, free)
        worst = float(np.abs(residual).max())
        best, since = (worst, 0) if worst < 0.9 * best else (best, since + 1)
        if worst < CLOSED or since > (PATIENCE if len(residual) < LARGE else LARGE_PATIENCE):
            break
        step = _least_change(jacobian, residual, damping)
        if not np.isfinite(step).all():
            return None
        step *= min(1.0, LONGEST_STEP / max(float(np.abs(step).max()), 1e-300))
        angle = np.clip(angle + step, -np.pi, np.pi)
    return angle if np.abs(_linearised(fans, angle, free)[0]).max() < tolerance else None


def _is_near(pattern: CreasePattern, angle: Floats, wanted: Floats, kept: float) -> bool:
    """Whether mountains and valleys have still a fraction `kept` of what was wanted, and are not folded flat
    instead."""
    signs = (pattern.assignment == MOUNTAIN).astype(float) - (pattern.assignment == VALLEY)
    least = np.where(pattern.creases, kept * signs * wanted, 0.0) - CLOSED
    collapsed = pattern.creases & (np.abs(angle) > CLOSED_FLAT) & (np.abs(wanted) < NEARLY_FLAT)
    return not (np.any(signs * angle < least) or np.any(collapsed))


def _least_change(jacobian: csr_matrix, residual: Floats, damping: float) -> Floats:
    """The smallest step δ with J δ = -r, as Jᵀ (J Jᵀ + ε)⁻¹ (-r): conditions around several vertices may repeat.

    With a larger ε, of a relative `damping`, conditions that contradict each other a little are met as well as can be.
    """
    normal = (jacobian @ jacobian.T).tocsc()
    normal += damping * max(float(normal.diagonal().mean()), 1e-12) * identity(len(residual), format="csc")
    return np.asarray(jacobian.T @ splu(normal, **SYMMETRIC).solve(-residual))


def fold_angles(pattern: CreasePattern, fold: float) -> Floats | None:
    """Fold angles (edge_count,) [rad] near `fold` (0…1) times the target at which facets stay flat; None if not found.

    Where Newton's method does not lead there at once, it follows the motion of folding from half way. Where facets
    never quite meet, they may miss each other by what is put down to drawing.
    """
    targets = pattern.targets(fold)
    angle = fit_angles(pattern, targets)
    angle = _followed(pattern, fold) if angle is None else angle
    return fit_angles(pattern, targets, nearly=True) if angle is None else angle


def _followed(pattern: CreasePattern, fold: float) -> Floats | None:
    """The same along the motion of folding from half way; None if there is none."""
    if fold in (0.0, 0.5) or is_large(pattern):
        return None  # of a large pattern each of the many attempts takes long
    angle = fit_angles(pattern, pattern.targets(0.5))
    path = np.linspace(0.5, fold, 2 + int(abs(fold - 0.5) / PATH_STEP))
    for before, after in pairwise(path.tolist()):
        angle = None if angle is None else fit_angles(pattern, np.clip(angle * (after / before), -np.pi, np.pi))
    return angle


def folding_angles(pattern: CreasePattern, folds: Floats) -> list[Floats | None]:
    """`fold_angles` at each of `folds` (n,), the largest first; where none are found there, others are not looked for.

    A large pattern folds in many ways: from the targets of neighbouring folds Newton's method finds now this one, now
    that one (of a Miura-ori of 20 × 20 cells angles differ by up to 63° from one sample of a drive to the next). There
    each fold follows from the next larger one, in proportion.
    """
    found: list[Floats | None] = [None] * len(folds)
    last: tuple[float, Floats] | None = None
    for k in np.argsort(-folds, kind="stable").tolist():
        fold = float(folds[k])
        if last is not None and last[0] > 0.0 and is_large(pattern):
            found[k] = fit_angles(pattern, pattern.targets(fold), guess=last[1] * (fold / last[0]))
        if found[k] is None:
            found[k] = fold_angles(pattern, fold)
        if (angle := found[k]) is not None:
            last = fold, angle
        elif last is None:
            break
    return found


def is_large(pattern: CreasePattern) -> bool:
    """Whether each attempt to fold a pattern takes so long that only few are made."""
    return 3 * int(np.unique(pattern.edges[pattern.creases]).size) >= LARGE


def _linearised(fans: list[Fans], angle: Floats, free: np.ndarray) -> tuple[Floats, csr_matrix]:
    """The turns left around all vertices (3 n,) and their derivatives by the free angles (3 n, edge_count)."""
    residuals, values, rows, columns, start = [], [], [], [], 0
    for fan in fans:
        left, derivative = closure(fan, angle)
        row = start + 3 * np.arange(len(fan.vertex))[:, None, None] + np.arange(3)
        residuals.append(left.ravel())
        values.append((derivative * free[fan.edges][..., None]).ravel())
        rows.append(np.broadcast_to(row, derivative.shape).ravel())
        columns.append(np.broadcast_to(fan.edges[..., None], derivative.shape).ravel())
        start += 3 * len(fan.vertex)
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return np.concatenate(residuals), csr_matrix(entries, shape=(start, len(angle)))


@dataclass(frozen=True)
class FoldedFacets:
    """Facet k is at `turn[k]` (3, 3) times its pattern points plus `shift[k]` (3,) [m].

    `gap`: the longest distance by which facets beside a crease miss each other [m].
    """

    turn: Floats
    shift: Floats
    gap: float

    def place(self, points: Floats, facet: Ints) -> Floats:
        """World positions (n, 3) [m] of pattern points (n, 2) on facets (n,)."""
        return np.einsum("nij,nj->ni", self.turn[facet, :, :2], points) + self.shift[facet]


def fold_facets(pattern: CreasePattern, angle: Floats) -> FoldedFacets:
    """All facets folded about the creases by `angle` (edge_count,) [rad]; the first of each piece stays in z = 0."""
    count = len(pattern.facets.rings)
    across: list[list[tuple[int, int, float]]] = [[] for _ in range(count)]
    creases = np.flatnonzero((pattern.facets.edge_faces >= 0).all(axis=1) & ~np.isin(pattern.assignment, ("C", "B")))
    for edge in creases.tolist():
        left, right = pattern.facets.edge_faces[edge].tolist()
        across[left].append((right, edge, 1.0))
        across[right].append((left, edge, -1.0))
    start = np.concatenate([pattern.vertices[pattern.edges[:, 0]], np.zeros((len(pattern.edges), 1))], axis=1)
    way = np.zeros_like(start)
    way[:, :2] = pattern.vertices[pattern.edges[:, 1]] - start[:, :2]
    length = np.linalg.norm(way, axis=1, keepdims=True)
    forth = turn(way / np.where(length > 0.0, length, 1.0), angle)
    turns, shifts = np.tile(np.eye(3), (count, 1, 1)), np.zeros((count, 3))
    seen = np.zeros(count, bool)
    for first in range(count):
        waiting = deque([] if seen[first] else [first])
        seen[first] = True
        while waiting:
            facet = waiting.popleft()
            for other, edge, sign in across[facet]:
                if not seen[other]:
                    seen[other] = True
                    own = forth[edge] if sign > 0 else forth[edge].T
                    turns[other] = turns[facet] @ own
                    shifts[other] = shifts[facet] + turns[facet] @ (start[edge] - own @ start[edge])
                    waiting.append(other)
    folded = FoldedFacets(turns, shifts, 0.0)
    gap = 0.0
    for end in range(2):
        at = pattern.vertices[pattern.edges[creases, end]]
        left, right = (folded.place(at, pattern.facets.edge_faces[creases, side]) for side in range(2))
        gap = max(gap, float(np.linalg.norm(left - right, axis=1).max(initial=0.0)))
    return FoldedFacets(turns, shifts, gap)
