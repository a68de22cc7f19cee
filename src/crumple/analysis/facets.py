"""Cuts a sheet into facets, the nearly flat regions between ridges, by a watershed of its curvature.

Faces bent less than the ridge curvature form the cores of the facets, where they are connected and large enough. All
other faces are flooded from the cores in the order of curvature, so that facets meet on the crests, as in the
segmentations of measured sheets [Andresen2007]. Neighbours whose common border is on average not clearly more bent
than the cores may be are one facet, so that an evenly curved sheet is in one piece.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from crumple.analysis.shape import SheetShape
from crumple.runtime.typing import Bools, Floats, Ints

RIDGE_FACTOR = 1.0
"""A ridge is bent more than this times the mean over the sheet …"""
CREST_FACTOR = 1.25
"""… on its crest by this factor more …"""
FLAT_RADIUS = 1000.0
"""… and with a radius of less than this [thickness]: nothing on a flat sheet is a ridge."""
SMALLEST_CORE = 3.0
"""Cores are larger than so many faces of median area …"""
SMALLEST_FRACTION = 1e-4
"""… and than this fraction of the sheets."""
NO_FACET = -1


def ridge_curvature(shape: SheetShape) -> float:
    """The |tr S| from which a face belongs to a ridge, unless the user says otherwise [1/m]."""
    mean = float(shape.area @ shape.mean_curvature / shape.area.sum())
    return max(RIDGE_FACTOR * mean, 1.0 / (FLAT_RADIUS * shape.mean_thickness))


def find_facets(shape: SheetShape, threshold: float) -> Ints:
    """The facet of each face, numbered from 0, (face_count,); NO_FACET for pieces without a core."""
    pairs = shape.mesh.hinges.faces
    curvature = shape.mean_curvature
    flat = curvature <= threshold
    label = _cores(shape, pairs, flat)
    height = np.maximum(curvature[pairs[:, 0]], curvature[pairs[:, 1]])
    # The two faces along a crest are equally bent: the fold between them tells that it is the crest.
    own = np.abs(shape.angle) * shape.hinge_length / (shape.area[pairs[:, 0]] + shape.area[pairs[:, 1]])
    label = _flood(label, pairs, np.argsort(height + own, kind="stable"))
    return _joined(label, pairs, height, shape.hinge_length, threshold)


def group(count: int, first: Ints, second: Ints) -> Ints:
    """Component of each of `count` items that are linked in pairs, (count,)."""
    links = coo_matrix((np.ones(len(first), np.int8), (first, second)), shape=(count, count))
    return np.asarray(connected_components(links, directed=False)[1], np.int32)


def _cores(shape: SheetShape, pairs: Ints, flat: Bools) -> Ints:
    """Core of each face, numbered from 0; NO_FACET elsewhere."""
    inside = flat[pairs[:, 0]] & flat[pairs[:, 1]]
    part = group(len(flat), pairs[inside, 0], pairs[inside, 1])
    area = np.bincount(part, weights=np.where(flat, shape.area, 0.0))
    smallest = max(SMALLEST_CORE * float(np.median(shape.area)), SMALLEST_FRACTION * float(shape.area.sum()))
    return _renumbered(np.where(flat & (area[part] >= smallest), part, NO_FACET))


def _joined(label: Ints, pairs: Ints, height: Floats, length: Floats, threshold: float) -> Ints:
    """Facets after joining those whose common border is not a ridge on average (weighted by length)."""
    count = int(label.max(initial=NO_FACET)) + 1
    sides = np.sort(label[pairs], axis=1)
    border = (sides[:, 0] != sides[:, 1]) & (sides[:, 0] >= 0)
    if not border.any():
        return label
    key, place = np.unique(sides[border, 0].astype(np.int64) * count + sides[border, 1], return_inverse=True)
    mean = np.bincount(place, height[border] * length[border]) / np.bincount(place, length[border])
    low = key[mean < CREST_FACTOR * threshold]
    merged = group(count, (low // count).astype(np.int32), (low % count).astype(np.int32))
    return np.where(label >= 0, merged[label], NO_FACET).astype(np.int32)


def _renumbered(label: Ints) -> Ints:
    """Labels as 0, 1, 2 … in the order of their numbers; NO_FACET stays."""
    known = np.unique(label[label >= 0])
    return np.where(label >= 0, np.searchsorted(known, label), NO_FACET).astype(np.int32)


@njit(cache=True)
def _flood(label, pairs, order):
    """Labels after growing along `pairs` (n, 2) in the given order; regions that both have a label stay apart."""
    count = len(label)
    parent = np.arange(count)
    name = label.copy()
    for h in order:
        a, b = pairs[h, 0], pairs[h, 1]
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            parent[b] = parent[parent[b]]
            b = parent[b]
        if a == b or (name[a] >= 0 and name[b] >= 0):
            continue
        if name[a] < 0:
            name[a] = name[b]
        parent[b] = a
    out = np.empty_like(label)
    for f in range(count):
        a = f
        while parent[a] != a:
            a = parent[a]
        out[f] = name[a]
    return out
