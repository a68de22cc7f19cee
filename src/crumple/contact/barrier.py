"""The barrier over all contacts: which pairs act, their energy, gradient and Hessian."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from crumple.contact.candidates import Candidates
from crumple.contact.compiled import kernel, run_chunks
from crumple.contact.mollifier import cross_square, mollify
from crumple.contact.pair import (
    PARALLEL_LIMIT,
    box_distance2,
    closest,
    edge_pair_area,
    face_pair_area,
    load,
    parallel_limit,
    rest_scale,
)
from crumple.contact.pair_energy import TERMS, barrier_value, pair_derivatives, pair_value
from crumple.contact.surface import Surface
from crumple.contract.energy import Energy, Projection
from crumple.typing import Floats, Ints

CHUNK = 256
"""Pairs handled together by one thread; sums are formed per chunk, then over chunks in order."""


@kernel
def _measure(first, step, surface, point_face, edge_edge, x, gap, scales, areas, total):
    """Gap (inf out of range), scale and area of every candidate; energy per κ [m³] of every chunk."""
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
            fade = 1.0
            if is_edges:
                fade, _, _ = mollify(cross_square(corner), parallel_limit(rest, i0, i1, i2, i3))
                area = edge_pair_area(edge_weight[one], edge_weight[two], i0 < sheet, i2 < sheet)
            else:
                area = face_pair_area(node_weight[one], face_weight[two], i0 < sheet, i2 < sheet)
            scale = 1.0
            if part[i0] == part[i2]:
                scale = rest_scale(rest, is_edges, i0, i1, i2, i3, reach, corner, weight)
            dhat = scale * surface.dhat
            distance = sqrt(d2) - scale * thickness
            if distance < dhat:
                gap[k], scales[k], areas[k] = distance, scale, area
                energy += inf if distance <= 0.0 else fade * area * dhat * barrier_value(distance / dhat)
        total[c] = energy


@kernel
def _evaluate(
    first, step, x, stencil, faces, thickness, dhat, stiffness, limit, level, project, value, gradient, hessian
):  # fmt: skip
    """Value (level 0), gradient (1) or gradient and Hessian (2) of every pair; the first `faces` are node–face."""
    corner, weight = np.empty((4, 3)), np.empty(4)
    normal, tangent, rate, cross = np.empty(3), np.empty((2, 3)), np.empty((2, 4)), np.empty(12)
    term, factor = np.empty((TERMS, 12)), np.empty(TERMS)
    scratch = (weight, normal, tangent, rate, term, factor, cross)
    n = stencil.shape[0]
    for chunk in range(first * CHUNK, n, step * CHUNK):
        for k in range(chunk, min(n, chunk + CHUNK)):
            load(x, stencil[k, 0], stencil[k, 1], stencil[k, 2], stencil[k, 3], corner)
            is_edges = k >= faces
            if level == 0:
                value[k] = pair_value(is_edges, corner, weight, thickness[k], dhat[k], stiffness[k], limit[k])
            else:
                pair_derivatives(
                    is_edges, corner, thickness[k], dhat[k], stiffness[k], limit[k],
                    level, project, scratch, gradient[k], hessian[k if level == 2 else 0],
                )  # fmt: skip


@dataclass(frozen=True)
class Barrier(Energy):
    """The pairs in contact at some pose, as an energy; make it with `active_pairs`.

    `stencil` (n, 4): first `face_count` pairs (node, a, b, c) of node and face, then pairs (a, b, c, d) of edges;
    `thickness`, `dhat` (n,) touch distance and activation gap of each pair [m];  `stiffness` (n,) κ area dhat [J];
    `parallel` (n,) mollifier limit ε [m⁴], 0 for node–face pairs;  `friction` (n,) coefficient.
    The set is fixed: pairs that leave the range give 0, pairs that enter it are missed (see `barrier_energy`).
    """

    stencil: Ints
    face_count: int
    thickness: Floats
    dhat: Floats
    stiffness: Floats
    parallel: Floats
    friction: Floats

    @property
    def count(self) -> int:
        """Number of pairs."""
        return len(self.stencil)

    def evaluate(
        self, x: Floats, order: int, project: Projection, value: Floats, gradient: Floats, hessian: Floats
    ) -> None:
        if self.count:
            run_chunks(
                _evaluate, -(-self.count // CHUNK),
                x, self.stencil, self.face_count, self.thickness, self.dhat, self.stiffness, self.parallel,
                order, bool(np.all(project)), value, gradient, hessian,
            )  # fmt: skip


def _scan(surface: Surface, candidates: Candidates, x: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Gap of each candidate (inf out of range), its scale and area if in range, and energy per κ of each chunk."""
    count = candidates.pair_count
    gap, scale, area = (np.empty(count) for _ in range(3))
    total = np.empty(-(-count // CHUNK))
    if count:
        run_chunks(
            _measure,
            len(total),
            surface.arrays,
            candidates.point_face,
            candidates.edge_edge,
            x,
            gap,
            scale,
            area,
            total,
        )
    return gap, scale, area, total


def active_pairs(surface: Surface, candidates: Candidates, x: Floats, kappa: float) -> Barrier:
    """The candidates in range at x (node_count, 3) [m] as a `Barrier` of stiffness `kappa` [Pa]."""
    gap, scale, area, _ = _scan(surface, candidates, x)
    active = np.flatnonzero(gap < inf)
    faces = int(np.searchsorted(active, len(candidates.point_face)))
    node, face = candidates.point_face[active[:faces]].T
    first, second = candidates.edge_edge[active[faces:] - len(candidates.point_face)].T
    stencil = np.empty((len(active), 4), np.int32)
    stencil[:faces, 0], stencil[:faces, 1:] = node, surface.faces[face]
    stencil[faces:, :2], stencil[faces:, 2:] = surface.edges[first], surface.edges[second]
    part, other = surface.node_part[stencil[:, 0]], surface.node_part[stencil[:, 2]]
    scale = scale[active]
    dhat = scale * surface.dhat
    return Barrier(
        stencil=stencil,
        face_count=faces,
        thickness=scale * 0.5 * (surface.part_thickness[part] + surface.part_thickness[other]),
        dhat=dhat,
        stiffness=kappa * area[active] * dhat,
        parallel=_parallel_limits(surface.node_rest, stencil, faces),
        friction=surface.friction[part, other],
    )


def _parallel_limits(rest: Floats, stencil: Ints, faces: int) -> Floats:
    """ε of each pair [m⁴]: 0 for the first `faces`, which are node–face pairs."""
    limit = np.zeros(len(stencil))
    corner = rest[stencil[faces:]]
    first, second = corner[:, 1] - corner[:, 0], corner[:, 3] - corner[:, 2]
    limit[faces:] = PARALLEL_LIMIT * np.einsum("ij,ij->i", first, first) * np.einsum("ij,ij->i", second, second)
    return limit


def barrier_energy(surface: Surface, candidates: Candidates, x: Floats, kappa: float) -> float:
    """Total barrier energy [J] of all candidates at x; inf when a gap is closed. For line searches."""
    return kappa * float(np.sum(_scan(surface, candidates, x)[3]))


def min_gap(surface: Surface, candidates: Candidates, x: Floats) -> tuple[float, int]:
    """Smallest gap [m] of the candidates in range at x and its candidate index; (inf, −1) when none is in range.

    Candidates are counted through the node–face pairs and then the edge pairs; negative gaps mean overlap.
    """
    gap = _scan(surface, candidates, x)[0]
    k = int(np.argmin(gap)) if len(gap) else -1
    return (float(gap[k]), k) if k >= 0 and gap[k] < inf else (inf, -1)


def least_relative_gap(surface: Surface, candidates: Candidates, x: Floats) -> float:
    """Smallest gap of the candidates at x over the gap at which their barrier starts; 1 when none is in range."""
    gap, scale, _, _ = _scan(surface, candidates, x)
    active = gap < inf
    return float(np.min(gap[active] / (scale[active] * surface.dhat), initial=1.0))
