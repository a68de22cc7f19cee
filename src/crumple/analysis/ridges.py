"""The ridge network: where facets meet, as lines between vertices, and the facets themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.analysis.facets import find_facets, group, ridge_curvature
from crumple.analysis.shape import SMALLEST_LENGTH, SheetShape
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Bools, Floats, Ints

SMOOTHING = 4
"""Passes that straighten a ridge drawn along the zigzag of edges before its length is taken."""
OPEN_SLENDERNESS, OPEN_FACES = 2.0, 4.0
"""A ridge inside a facet is at least so many times as long as wide, and as so many faces."""


@dataclass(frozen=True)
class RidgeNetwork:
    """Ridges and facets of a shape.

    `threshold` |tr S| of ridges [1/m];  `face_facet` (face_count,) facet of each face, −1 for none;
    `edge_hinge` (edge_count,) hinges on ridges and `edge_ridge` the ridge of each;
    `length` (ridge_count,) of the ridges between facets [m], in the material, straightened;
    `open_length` (open_count,) of ridges that begin and end inside a facet [m];
    `vertex_node` (vertex_count,) nodes where ridges meet or end;  `facet_area` (facet_count,) [m²], empty when the
    sheet is in one piece without ridges.
    """

    threshold: float
    face_facet: Ints
    edge_hinge: Ints
    edge_ridge: Ints
    length: Floats
    open_length: Floats
    vertex_node: Ints
    facet_area: Floats

    @property
    def all_lengths(self) -> Floats:
        """Lengths of all ridges [m]."""
        return np.concatenate([self.length, self.open_length])


def find_ridges(shape: SheetShape, threshold: float | None = None) -> RidgeNetwork:
    """The ridge network with the given ridge curvature |tr S| [1/m], or with that of `ridge_curvature`."""
    if threshold is None:
        threshold = ridge_curvature(shape)
    elif not (np.isfinite(threshold) and threshold > 0.0):
        raise InputError("analysis: ridge curvature", "must be > 0 and finite, in 1/m", threshold)
    facet = find_facets(shape, threshold)
    pairs = shape.mesh.hinges.faces
    edge = np.flatnonzero(facet[pairs[:, 0]] != facet[pairs[:, 1]]).astype(np.int32)
    vertex, ridge = _chains(shape, edge)
    length = _straightened_lengths(shape, edge, vertex, ridge)
    open_length = _open_lengths(shape, threshold, facet, edge)
    area = np.zeros(0)
    if len(edge):
        area = np.bincount(facet[facet >= 0], weights=shape.area[facet >= 0]).astype(np.float64)
    return RidgeNetwork(
        threshold=threshold,
        face_facet=facet,
        edge_hinge=edge,
        edge_ridge=ridge,
        length=length,
        open_length=open_length,
        vertex_node=np.flatnonzero(vertex).astype(np.int32),
        facet_area=area[area > 0.0],
    )


def _chains(shape: SheetShape, edge: Ints) -> tuple[Bools, Ints]:
    """Which nodes are vertices of the network (node_count,), and the chain of each edge (edge_count,).

    A vertex is a node with one or more than two edges, or on the border of the sheet; a chain runs between vertices.
    """
    ends = shape.mesh.hinges.nodes[edge, :2]
    degree = np.bincount(ends.ravel(), minlength=shape.mesh.node_count)
    vertex = (degree > 0) & ((degree != 2) | shape.mesh.boundary_nodes)
    order = np.argsort(ends.ravel(), kind="stable")
    passing = (degree == 2) & ~vertex
    linked = order[passing[ends.ravel()[order]]].reshape(-1, 2) // 2  # both edges of each node that is passed
    return vertex, group(len(edge), linked[:, 0], linked[:, 1]) if len(edge) else np.zeros(0, np.int32)


def _straightened_lengths(shape: SheetShape, edge: Ints, vertex: Bools, ridge: Ints) -> Floats:
    """Material length of each chain, with zigzags of the size of an edge taken out (vertices stay), [m]."""
    if not len(edge):
        return np.zeros(0)
    a, b = shape.mesh.hinges.nodes[edge, 0], shape.mesh.hinges.nodes[edge, 1]
    place = shape.mesh.node_rest.copy()
    before = np.linalg.norm(place[b] - place[a], axis=1)
    count = len(place)
    moving = (np.bincount(a, minlength=count) + np.bincount(b, minlength=count) == 2) & ~vertex
    for _ in range(SMOOTHING):
        around = np.stack(
            [np.bincount(a, place[b, k], count) + np.bincount(b, place[a, k], count) for k in range(3)], axis=1
        )
        place[moving] = 0.5 * place[moving] + 0.25 * around[moving]
    after = np.linalg.norm(place[b] - place[a], axis=1)
    total = np.bincount(ridge, shape.hinge_length[edge])
    return total * np.bincount(ridge, after) / np.maximum(np.bincount(ridge, before), SMALLEST_LENGTH)


def _open_lengths(shape: SheetShape, threshold: float, facet: Ints, edge: Ints) -> Floats:
    """Lengths of bands of sharply bent faces that lie inside a facet and touch no ridge between facets [m].

    A band of length L that is filled evenly has the variance L²/12 along it.
    """
    sharp = np.flatnonzero(shape.mean_curvature > threshold).astype(np.int32)
    band = _bands(shape, sharp, facet)
    touching = np.zeros(len(sharp) + 1, bool)
    at_ridge = np.zeros(shape.mesh.node_count, bool)
    at_ridge[shape.mesh.hinges.nodes[edge, :2]] = True
    touching[band[at_ridge[shape.mesh.face_nodes[sharp]].any(axis=1)]] = True
    used = sharp[~touching[band]]
    if not len(used):
        return np.zeros(0)
    name = np.unique(band[~touching[band]], return_inverse=True)[1]
    weight, center = shape.area[used], shape.mesh.u[shape.mesh.faces[used]].mean(axis=1)
    total = np.bincount(name, weight)
    offset = (
        center - (np.stack([np.bincount(name, weight * center[:, k]) for k in (0, 1)], axis=1) / total[:, None])[name]
    )
    xx, yy, xy = (np.bincount(name, weight * offset[:, i] * offset[:, j]) / total for i, j in ((0, 0), (1, 1), (0, 1)))
    radius = np.hypot(0.5 * (xx - yy), xy)
    length = np.sqrt(12.0 * (0.5 * (xx + yy) + radius))
    width = np.sqrt(12.0 * np.maximum(0.5 * (xx + yy) - radius, 0.0))
    shortest = OPEN_FACES * np.sqrt(float(np.median(shape.area)))
    return length[(length > OPEN_SLENDERNESS * width) & (length > shortest)]


def _bands(shape: SheetShape, sharp: Ints, facet: Ints) -> Ints:
    """Component of each of the faces `sharp` that share nodes within a facet, (len(sharp),).

    Sharing edges is not enough: in a row of triangles along a crest every other one only touches it with a corner.
    """
    corner = (
        shape.mesh.face_nodes[sharp].astype(np.int64) + np.maximum(facet[sharp], 0)[:, None] * shape.mesh.node_count
    )
    places, place = np.unique(corner.ravel(), return_inverse=True)
    face = np.repeat(np.arange(len(sharp), dtype=np.int32), 3)
    return group(len(sharp) + len(places), face, (place.ravel() + len(sharp)).astype(np.int32))[: len(sharp)]
