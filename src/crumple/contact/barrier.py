"""The barrier over all contacts: which pairs act, their energy, gradient and Hessian."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from crumple.contact.barrier_law import damped_value
from crumple.contact.candidates import Candidates
from crumple.contact.mollifier import cross_square, mollify
from crumple.contact.pair import (
    box_distance2,
    closest,
    edge_pair_area,
    face_pair_area,
    load,
    parallel_limit,
    rest_scale,
)
from crumple.contact.pair_energy import TERMS, pair_derivatives, pair_value
from crumple.contact.surface import Surface
from crumple.contact.tuning import TUNING
from crumple.contract.energy import Energy, Example, Projection, projection_mask, register
from crumple.contract.ready import NO_TURNS, ReadyEnergy
from crumple.linalg.block_matrix import sum_vectors
from crumple.runtime.compiled import ONE, TWO, ZERO, kernel, run_chunks
from crumple.runtime.typing import Bools, Floats, Ints

CHUNK = TUNING.contacts_per_chunk.value


class Approach(NamedTuple):
    """What the damping of contact counts from: the positions at the start of a stage (node_count, 3) [m], and by how
    much gaps can open in it before contact stops to push, the rebound speed times its length [m]."""

    before: Floats
    opening: float


@kernel
def _measure(
    first, step, surface, point_face, edge_edge, x, before, per_opening, gap, scales, areas, starts, total
):  # fmt: skip
    """Gap (inf out of range), scale, area and relative gap at the start of every candidate; energy per κ [m³] of every
    chunk. `per_opening` [1/m]: 1 over the opening of `Approach`, 0 without damping."""
    # The fields of the surface are taken out once: see `compiled`.
    faces, edges, rest = surface.faces, surface.edges, surface.node_rest
    part, part_thickness, sheet = surface.node_part, surface.part_thickness, surface.sheet_count
    node_weight, edge_weight, face_weight = surface.node_weight, surface.edge_weight, surface.face_weight
    corner, weight = np.empty((4, 3)), np.empty(4)
    n = point_face.shape[0]
    for c in range(first, total.shape[0], step):
        energy = 0.0
        for k in range(c * CHUNK, min(gap.shape[0], (c + 1) * CHUNK)):
            gap[k] = inf
            is_edges = k >= n
            if is_edges:
                one, two = edge_edge[k - n, 0], edge_edge[k - n, 1]
                i0, i1, i2, i3 = edges[one, 0], edges[one, 1], edges[two, 0], edges[two, 1]
            else:
                one, two = point_face[k, 0], point_face[k, 1]
                i0, i1, i2, i3 = one, faces[two, 0], faces[two, 1], faces[two, 2]
            load(x, i0, i1, i2, i3, corner)
            thickness = 0.5 * (part_thickness[part[i0]] + part_thickness[part[i2]])
            reach = thickness + surface.dhat
            if box_distance2(is_edges, corner) >= reach * reach:
                continue
            d2, _ = closest(is_edges, corner, weight)
            if d2 >= reach * reach:
                continue
            cross = 0.0
            if is_edges:
                cross = cross_square(corner)
                area = edge_pair_area(edge_weight[one], edge_weight[two], i0 < sheet, i2 < sheet)
            else:
                area = face_pair_area(node_weight[one], face_weight[two], i0 < sheet, i2 < sheet)
            scale = 1.0
            if part[i0] == part[i2]:
                scale = rest_scale(rest, is_edges, i0, i1, i2, i3, reach, corner, weight)
            dhat = scale * surface.dhat
            distance = sqrt(d2) - scale * thickness
            if distance < dhat:
                start, fade = 1.0, 1.0
                if is_edges:
                    fade, _, _ = mollify(cross, parallel_limit(rest, i0, i1, i2, i3, scale, dhat))
                if per_opening > 0.0:
                    load(before, i0, i1, i2, i3, corner)
                    d2, _ = closest(is_edges, corner, weight)
                    start = min((sqrt(d2) - scale * thickness) / dhat, 1.0)
                gap[k], scales[k], areas[k], starts[k] = distance, scale, area, start
                law = damped_value(distance / dhat, start, dhat * per_opening)
                energy += inf if distance <= 0.0 else fade * area * dhat * law
        total[c] = energy


@kernel
def _evaluate(
    first, step, x, stencil, is_edges, thickness, dhat, stiffness, limit, start, damping,
    level, project, value, gradient, hessian,
):  # fmt: skip
    """Value (level 0), gradient (1) or gradient and Hessian (2) of every pair, projected where `project` says so."""
    corner, weight = np.empty((4, 3)), np.empty(4)
    normal, tangent, rate, cross = np.empty(3), np.empty((2, 3)), np.empty((2, 4)), np.empty(12)
    term, factor = np.empty((TERMS, 12)), np.empty(TERMS)
    scratch = (weight, normal, tangent, rate, term, factor, cross)
    n = stencil.shape[0]
    for chunk in range(first * CHUNK, n, step * CHUNK):
        for k in range(chunk, min(n, chunk + CHUNK)):
            load(x, stencil[k, 0], stencil[k, 1], stencil[k, 2], stencil[k, 3], corner)
            if level == 0:
                value[k] = pair_value(
                    is_edges[k], corner, weight, thickness[k], dhat[k], stiffness[k], limit[k], start[k], damping[k]
                )
            else:
                pair_derivatives(
                    is_edges[k], corner, thickness[k], dhat[k], stiffness[k], limit[k], start[k], damping[k],
                    level, project[k], scratch, gradient[k], hessian[k if level == 2 else 0],
                )  # fmt: skip


@kernel
def measure_pairs(surface, point_face, edge_edge, x, before, per_opening):
    """Gap, scale, area and relative gap at the start of every candidate as in `_measure`, (4, n) in one array because
    every array that Python is given takes time, and the energy of all per κ [m³]; for one thread."""
    count = point_face.shape[0] + edge_edge.shape[0]
    found, total = np.empty((4, count)), np.empty((count + CHUNK - 1) // CHUNK)
    _measure(
        ZERO, ONE, surface, point_face, edge_edge, x, before, per_opening,
        found[0], found[1], found[2], found[3], total,
    )  # fmt: skip
    return found, np.sum(total)


@kernel
def gather_pairs(surface, point_face, edge_edge, found, kappa, per_opening):
    """The fields of the `Barrier` of those candidates that are in range, as `measure_pairs` found them: the first two,
    and all others (7, n) in one array; for one thread."""
    gap, scales, areas, starts = found[0], found[1], found[2], found[3]
    part, part_thickness, table, rest = surface.node_part, surface.part_thickness, surface.friction, surface.node_rest
    faces, edges, n = surface.faces, surface.edges, point_face.shape[0]
    count = 0
    for k in range(gap.shape[0]):
        count += gap[k] < inf
    stencil, is_edges = np.empty((count, 4), np.int32), np.empty(count, np.bool_)
    numbers = np.zeros((7, count))
    thickness, dhat, stiffness = numbers[0], numbers[1], numbers[2]
    parallel, friction, start, damping = numbers[3], numbers[4], numbers[5], numbers[6]
    q = 0
    for k in range(gap.shape[0]):
        if not gap[k] < inf:
            continue
        is_edges[q] = k >= n
        if k >= n:
            one, two = edge_edge[k - n, 0], edge_edge[k - n, 1]
            stencil[q, 0], stencil[q, 1], stencil[q, 2], stencil[q, 3] = (
                edges[one, 0], edges[one, 1], edges[two, 0], edges[two, 1]
            )  # fmt: skip
            parallel[q] = parallel_limit(
                rest, stencil[q, 0], stencil[q, 1], stencil[q, 2], stencil[q, 3], scales[k], scales[k] * surface.dhat
            )
        else:
            two = point_face[k, 1]
            stencil[q, 0], stencil[q, 1], stencil[q, 2], stencil[q, 3] = (
                point_face[k, 0], faces[two, 0], faces[two, 1], faces[two, 2]
            )  # fmt: skip
        one, two = part[stencil[q, 0]], part[stencil[q, 2]]
        thickness[q] = scales[k] * 0.5 * (part_thickness[one] + part_thickness[two])
        dhat[q] = scales[k] * surface.dhat
        stiffness[q] = kappa * areas[k] * dhat[q]
        friction[q] = table[one, two]
        start[q], damping[q] = starts[k], dhat[q] * per_opening
        q += 1
    return stencil, is_edges, numbers


@dataclass(frozen=True)
class Barrier(Energy):
    """The pairs in contact at some pose, as an energy; make it with `active_pairs`.

    `stencil` (n, 4): pairs (node, a, b, c) of node and face, or (a, b, c, d) of edges where `is_edges` (n,);
    `thickness`, `dhat` (n,) touch distance and activation gap of each pair [m];  `stiffness` (n,) κ area dhat [J];
    `parallel` (n,) mollifier limit ε [m⁴], 0 for node–face pairs;  `friction` (n,) coefficient;
    `start`, `damping` (n,) gap at the start of the stage over `dhat`, at most 1, and ρ of the damping, 0 for none.
    The set is fixed: pairs that leave the range give 0, pairs that enter it are missed (see `barrier_energy`).
    """

    stencil: Ints
    is_edges: Bools
    thickness: Floats
    dhat: Floats
    stiffness: Floats
    parallel: Floats
    friction: Floats
    start: Floats
    damping: Floats

    def undamped(self) -> Barrier:
        """The same pairs without damping: what is stored in them."""
        return replace(self, damping=np.zeros(self.count))

    @property
    def count(self) -> int:
        """Number of pairs."""
        return len(self.stencil)

    @property
    def face_count(self) -> int:
        """Number of pairs of node and face."""
        return self.count - int(np.count_nonzero(self.is_edges))

    def evaluate(
        self, x: Floats, order: int, project: Projection, value: Floats, gradient: Floats, hessian: Floats
    ) -> None:
        if self.count:
            run_chunks(
                _evaluate, -(-self.count // CHUNK),
                x, self.stencil, self.is_edges, self.thickness, self.dhat, self.stiffness, self.parallel,
                self.start, self.damping, order, projection_mask(project, self.count), value, gradient, hessian,
            )  # fmt: skip

    def ready(self) -> ReadyEnergy:
        return ReadyBarrier(self)


class ReadyBarrier(ReadyEnergy):
    """A barrier in one thread."""

    def __init__(self, barrier: Barrier) -> None:
        self.stencil, self.turns = barrier.stencil, NO_TURNS
        self._fields = (
            barrier.stencil, barrier.is_edges, barrier.thickness, barrier.dhat, barrier.stiffness, barrier.parallel,
            barrier.start, barrier.damping,
        )  # fmt: skip

    def value(self, x: Floats, half_turn: Floats) -> float:
        return float(_total(x, *self._fields))

    def expand(self, x: Floats, half_turn: Floats, project: bool, gradient: Floats, moments: Floats) -> None:
        self.blocks = _sum(x, *self._fields, project, gradient)

    def add_forces(self, x: Floats, v: Floats, gradient: Floats) -> tuple[float, float, float]:
        """Add the derivative by nodes to `gradient` (node_count, 3) [N]; returns the sizes of what the pairs would push
        with undamped and of what damping adds to it, each summed over all numbers [N], and the power that damping takes
        with the velocities v (node_count, 3) [W]."""
        undamped, extra, power = _sum_forces(x, v, *self._fields, gradient)
        return undamped, extra, power


@kernel
def _sum_forces(x, v, stencil, is_edges, thickness, dhat, stiffness, limit, start, damping, gradient):
    """See `ReadyBarrier.add_forces`."""
    n = stencil.shape[0]
    damped, elastic = np.empty((n, 4, 3)), np.empty((n, 4, 3))
    mask, value, none = np.zeros(n, np.bool_), np.empty(0), np.empty((1, 10, 3, 3))
    _evaluate(
        ZERO, ONE, x, stencil, is_edges, thickness, dhat, stiffness, limit, start, damping,
        ONE, mask, value, damped, none,
    )  # fmt: skip
    _evaluate(
        ZERO, ONE, x, stencil, is_edges, thickness, dhat, stiffness, limit, start, np.zeros(n),
        ONE, mask, value, elastic, none,
    )  # fmt: skip
    size = extra = power = 0.0
    for e in range(n):
        for i in range(4):
            for k in range(3):
                more = damped[e, i, k] - elastic[e, i, k]
                size += abs(elastic[e, i, k])
                extra += abs(more)
                power += more * v[stencil[e, i], k]
    sum_vectors(stencil, damped, gradient)
    return size, extra, power


@kernel
def _total(x, stencil, is_edges, thickness, dhat, stiffness, limit, start, damping):
    """The energy of all pairs [J]."""
    value, none = np.empty(stencil.shape[0]), np.empty((0, 4, 3))
    project = np.empty(0, np.bool_)
    _evaluate(
        ZERO, ONE, x, stencil, is_edges, thickness, dhat, stiffness, limit, start, damping,
        ZERO, project, value, none, np.empty((1, 10, 3, 3)),
    )  # fmt: skip
    return value.sum()


@kernel
def _sum(x, stencil, is_edges, thickness, dhat, stiffness, limit, start, damping, project, gradient):
    """The Hessian blocks of all pairs (n, 10, 3, 3); their gradients are added to `gradient`."""
    n = stencil.shape[0]
    vectors, blocks = np.empty((n, 4, 3)), np.empty((n, 10, 3, 3))
    mask, value = np.full(n, project), np.empty(0)
    _evaluate(
        ZERO, ONE, x, stencil, is_edges, thickness, dhat, stiffness, limit, start, damping,
        TWO, mask, value, vectors, blocks,
    )  # fmt: skip
    sum_vectors(stencil, vectors, gradient)
    return blocks


class Scan(NamedTuple):
    """Of each candidate its `gap` [m], inf out of range, and if in range its `scale`, `area` [m²] and gap at the start
    over the activation gap; the energy per κ [m³] of each chunk."""

    gap: Floats
    scale: Floats
    area: Floats
    start: Floats
    energy: Floats


def scan_pairs(surface: Surface, candidates: Candidates, x: Floats, approach: Approach | None = None) -> Scan:
    """All candidates at x, damped from the `approach` on."""
    count = candidates.pair_count
    gap, scale, area, start = (np.empty(count) for _ in range(4))
    total = np.empty(-(-count // CHUNK))
    before, opening = (x, inf) if approach is None else approach
    if count:
        run_chunks(
            _measure, len(total), surface.arrays, candidates.point_face, candidates.edge_edge,
            x, before, 1.0 / opening, gap, scale, area, start, total,
        )  # fmt: skip
    return Scan(gap, scale, area, start, total)


def active_pairs(
    surface: Surface, candidates: Candidates, x: Floats, kappa: float, approach: Approach | None = None
) -> Barrier:
    """The candidates in range at x (node_count, 3) [m] as a `Barrier` of stiffness `kappa` [Pa], damped from the
    `approach` on if there is one."""
    return gather_active(surface, candidates, scan_pairs(surface, candidates, x, approach), kappa, approach)


def gather_active(
    surface: Surface, candidates: Candidates, scan: Scan, kappa: float, approach: Approach | None
) -> Barrier:
    """The same where the candidates have been looked at already, with the same `approach`."""
    active = np.flatnonzero(scan.gap < inf)
    faces = int(np.searchsorted(active, len(candidates.point_face)))
    node, face = candidates.point_face[active[:faces]].T
    first, second = candidates.edge_edge[active[faces:] - len(candidates.point_face)].T
    stencil = np.empty((len(active), 4), np.int32)
    stencil[:faces, 0], stencil[:faces, 1:] = node, surface.faces[face]
    stencil[faces:, :2], stencil[faces:, 2:] = surface.edges[first], surface.edges[second]
    part, other = surface.node_part[stencil[:, 0]], surface.node_part[stencil[:, 2]]
    scale = scan.scale[active]
    dhat = scale * surface.dhat
    return Barrier(
        stencil=stencil,
        is_edges=np.arange(len(active)) >= faces,
        thickness=scale * 0.5 * (surface.part_thickness[part] + surface.part_thickness[other]),
        dhat=dhat,
        stiffness=kappa * scan.area[active] * dhat,
        parallel=_parallel_limits(surface.node_rest, stencil, faces, scale, dhat),
        friction=surface.friction[part, other],
        start=scan.start[active],
        damping=dhat / (inf if approach is None else approach.opening),
    )


def _parallel_limits(rest: Floats, stencil: Ints, faces: int, scale: Floats, dhat: Floats) -> Floats:
    """ε of each pair [m⁴] as by `parallel_limit`: 0 for the first `faces`, which are node–face pairs."""
    limit = np.zeros(len(stencil))
    _fill_limits(rest, stencil, faces, scale, dhat, limit)
    return limit


@kernel
def _fill_limits(rest, stencil, faces, scale, dhat, limit):
    for q in range(faces, stencil.shape[0]):
        limit[q] = parallel_limit(
            rest, stencil[q, 0], stencil[q, 1], stencil[q, 2], stencil[q, 3], scale[q], dhat[q]
        )  # fmt: skip


def barrier_energy(
    surface: Surface, candidates: Candidates, x: Floats, kappa: float, approach: Approach | None = None
) -> float:
    """Total barrier energy [J] of all candidates at x; inf when a gap is closed. For line searches."""
    return kappa * float(np.sum(scan_pairs(surface, candidates, x, approach).energy))


def min_gap(surface: Surface, candidates: Candidates, x: Floats) -> tuple[float, int]:
    """Smallest gap [m] of the candidates in range at x and its candidate index; (inf, −1) when none is in range.

    Candidates are counted through the node–face pairs and then the edge pairs; negative gaps mean overlap.
    """
    gap = scan_pairs(surface, candidates, x).gap
    k = int(np.argmin(gap)) if len(gap) else -1
    return (float(gap[k]), k) if k >= 0 and gap[k] < inf else (inf, -1)


def least_relative_gap(surface: Surface, candidates: Candidates, x: Floats) -> float:
    """Smallest gap of the candidates at x over the gap at which their barrier starts; 1 when none is in range."""
    scan = scan_pairs(surface, candidates, x)
    active = scan.gap < inf
    return float(np.min(scan.gap[active] / (scan.scale[active] * surface.dhat), initial=1.0))


def example_pairs(rng: np.random.Generator) -> tuple[Barrier, dict[str, Floats]]:
    """Nodes above faces and crossing edges, each pair with nodes of its own, and poses of them by name."""
    count, size = 6, 0.05
    node = np.array([[0.2, 0.3, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    edge = np.array([[-1.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.0, -1.0, 0.0], [0.1, 1.0, 0.0]])
    apart = (
        np.array([[0, 0, 1.0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]),
        np.array([[0, 0, 1.0], [0, 0, 1], [0, 0, 0], [0, 0, 0]]),
    )
    flat = np.concatenate([np.tile(node, (count, 1, 1)), np.tile(edge, (count, 1, 1))])
    up = np.concatenate([np.tile(apart[0], (count, 1, 1)), np.tile(apart[1], (count, 1, 1))])
    rest = size * (flat + 0.02 * rng.standard_normal(flat.shape))
    stencil = np.arange(8 * count, dtype=np.int32).reshape(-1, 4)
    one = np.ones(2 * count)
    barrier = Barrier(
        stencil=stencil,
        is_edges=np.arange(2 * count) >= count,
        thickness=0.1 * size * one,
        dhat=0.6 * size * one,
        stiffness=rng.uniform(1.0, 2.0, 2 * count),
        parallel=_parallel_limits(np.ascontiguousarray(rest.reshape(-1, 3)), stencil, count, one, one),
        friction=0.3 * one,
        start=one,
        damping=0.0 * one,
    )
    beside = size * np.where(up > 0.0, np.array([0.0, -0.5, 0.0]), 0.0)
    gap = size * rng.uniform(0.3, 0.6, (2 * count, 1, 1))
    poses = {"random": rest + gap * up, "beside": rest + beside + gap * up, "near": rest + 0.25 * size * up,
             "far": rest + size * up}  # fmt: skip
    return barrier, {name: np.ascontiguousarray(x.reshape(-1, 3)) for name, x in poses.items()}


@register("barrier")
def example(rng: np.random.Generator) -> Example:
    """Pairs within and out of range; those that are out of it feel nothing."""
    barrier, poses = example_pairs(rng)
    return Example(barrier, poses, rest=poses["far"], invariant=True)


@register("damped barrier")
def damped_example(rng: np.random.Generator) -> Example:
    """The same pairs while they approach, part slowly, and part too fast to feel anything."""
    barrier, poses = example_pairs(rng)
    count = barrier.count
    damped = replace(barrier, start=rng.uniform(0.2, 1.0, count), damping=rng.uniform(0.5, 20.0, count))
    return Example(damped, poses, rest=poses["far"], invariant=True)
