"""What is wrong with a crease pattern: lines that end in the middle, creases that do not fit together.

At an inner vertex that folds flat, alternate sectors add up to 180° [Kawasaki], mountains and valleys differ by two
[Maekawa], and the creases beside a sector smaller than both its neighbours differ. At any other angles the turns around
the vertex must cancel (`rigid.closure`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from crumple.patterns.pattern import BOUNDARY, CUT, FLAT, JOIN, MOUNTAIN, UNASSIGNED, CreasePattern
from crumple.patterns.planar import crossing_edges
from crumple.patterns.rigid import SECTOR_ERROR, Fans, closure, vertex_fans
from crumple.runtime.typing import Bools, Floats

LARGEST_MISFIT = np.radians(1.0)
"""Facets around a vertex that miss each other by more than this are reported [rad]; real paper bends that much."""
FLAT_FOLD = np.radians(179.0)
"""Creases with larger fold angles are folded flat [rad]."""


@dataclass(frozen=True)
class Finding:
    """A problem of a pattern: its `kind` ("pieces", "dangling", "slit", "crossing", "facet", "kawasaki", "maekawa",
    "sector", "fit", "curve"), the `vertex`, `edges` or `facet` that it is about (-1, (), -1 if none), and one line of
    `text`."""

    kind: str
    text: str
    vertex: int = -1
    edges: tuple[int, ...] = ()
    facet: int = -1


def check_pattern(pattern: CreasePattern, angle: Floats | None = None) -> list[Finding]:
    """All problems of a pattern whose creases fold by `angle` (edge_count,) [rad], by default by their targets."""
    targets = pattern.targets()
    angle = targets if angle is None else angle
    found = _pieces(pattern) + _drawing(pattern)
    for fan in vertex_fans(pattern):
        misfit = np.linalg.norm(closure(fan, angle)[0], axis=1)
        curved = fan.is_curved & (misfit > LARGEST_MISFIT)
        found += _curves(pattern, fan, curved)
        for k in np.flatnonzero(~curved).tolist():
            found += _vertex(pattern, fan, k, angle, targets, float(misfit[k]))
    return found


def _curves(pattern: CreasePattern, fan: Fans, curved: Bools) -> list[Finding]:
    """One finding for all vertices of curved creases."""
    if not curved.any():
        return []
    vertex, edges = int(fan.vertex[curved][0]), np.unique(fan.edges[curved])
    text = f"{len(edges)} edges, such as {edges[0]} at {_at(pattern, vertex)}, are curved creases; facets bend there"
    return [Finding("curve", text, vertex=vertex, edges=tuple(edges.tolist()))]


def _pieces(pattern: CreasePattern) -> list[Finding]:
    """The finding that cuts part the paper; its facet and place are of the smallest piece."""
    count = len(pattern.facets.rings)
    sides = pattern.facets.edge_faces
    joined = (sides >= 0).all(axis=1) & ~np.isin(pattern.assignment, (CUT, BOUNDARY))
    graph = coo_matrix((np.ones(int(joined.sum())), (sides[joined, 0], sides[joined, 1])), (count, count))
    pieces, piece = connected_components(graph, directed=False)
    if pieces < 2:
        return []
    facets = np.bincount(piece)
    smallest = int(np.argmin(facets))
    facet = int(np.flatnonzero(piece == smallest)[0])
    has = "a facet" if facets[smallest] == 1 else f"{facets[smallest]} facets"
    text = (
        f"the pattern falls into {pieces} loose pieces along its cuts or at its corners; the smallest has {has}, at "
        f"{_at(pattern, pattern.facets.rings[facet][0][0])}"
    )
    return [Finding("pieces", text, facet=facet)]


def _drawing(pattern: CreasePattern) -> list[Finding]:
    """Lines that end in a facet, lines that cross, and facets that are not simple."""
    found = []
    slit = pattern.facets.dangling & np.isin(pattern.assignment, (CUT, BOUNDARY))
    for edge in np.flatnonzero(pattern.facets.dangling & ~slit).tolist():
        text = f"edge {edge} at {_at(pattern, pattern.edges[edge, 1])} separates no facets: one of its ends is loose"
        found.append(Finding("dangling", text, edges=(edge,)))
    if slit.any():
        edges = np.flatnonzero(slit).tolist()
        text = f"{len(edges)} edges, such as {edges[0]} at {_at(pattern, pattern.edges[edges[0], 1])}, are slits"
        found.append(Finding("slit", f"{text}: cuts that separate no facets", edges=tuple(edges)))
    for a, b in zip(*crossing_edges(pattern.vertices, pattern.edges), strict=True):
        text = f"edges {a} and {b} cross or touch without a common vertex near {_at(pattern, pattern.edges[a, 0])}"
        found.append(Finding("crossing", text, edges=(int(a), int(b))))
    for facet, rings in enumerate(pattern.facets.rings):
        corners = np.concatenate(rings)
        repeated = np.unique(corners)[np.unique(corners, return_counts=True)[1] > 1]
        if len(repeated):
            text = f"facet {facet} touches itself at vertex {repeated[0]} at {_at(pattern, repeated[0])}"
            found.append(Finding("facet", text, facet=facet, vertex=int(repeated[0])))
    if not pattern.facets.rings:
        found.append(Finding("facet", "no facet is closed: the outline has a gap, or no boundary was drawn"))
    return found


def _vertex(pattern: CreasePattern, fan: Fans, k: int, angle: Floats, targets: Floats, misfit: float) -> list[Finding]:
    """What is wrong at a vertex: the reason why it does not fold flat where it should, else by how much it misfits."""
    if not misfit > LARGEST_MISFIT:
        edges = fan.edges[k]
        return _signs(pattern, fan, k) if np.all(np.abs(angle[edges]) >= FLAT_FOLD) else []
    if np.all(np.abs(targets[fan.edges[k]]) >= FLAT_FOLD):
        reasons = _kawasaki(pattern, fan, k) + _signs(pattern, fan, k)
        if reasons:
            return reasons
    edges = tuple(fan.edges[k].tolist())
    shown = ", ".join(f"{edge}: {np.degrees(angle[edge]):.4g}°" for edge in edges[:8])
    text = f"{_misfit(pattern, fan, k)}: facets miss each other by {np.degrees(misfit):.3g}° (angles of edges {shown})"
    return [Finding("fit", text, vertex=int(fan.vertex[k]), edges=edges)]


def _kawasaki(pattern: CreasePattern, fan: Fans, k: int) -> list[Finding]:
    """The finding that alternate sectors do not add up to 180°."""
    sectors, edges = fan.sectors[k], tuple(fan.edges[k].tolist())
    odd = len(edges) % 2 == 1
    error = 0.0 if odd else float(sectors[::2].sum() - np.pi)
    if not odd and abs(error) <= SECTOR_ERROR:
        return []
    reason = (
        f"{len(edges)} creases meet, an odd number"
        if odd
        else f"alternate sectors add up to {np.degrees(error + np.pi):.5g}°, not 180°"
    )
    text = f"{_misfit(pattern, fan, k)}: {reason}, so that it cannot fold flat (Kawasaki)"
    return [Finding("kawasaki", text, vertex=int(fan.vertex[k]), edges=edges)]


def _signs(pattern: CreasePattern, fan: Fans, k: int) -> list[Finding]:
    """The findings that mountains and valleys do not differ by two, or do not enclose the smallest sector."""
    edges = fan.edges[k]
    letters, vertex = pattern.assignment[edges], int(fan.vertex[k])
    if np.isin(letters, (FLAT, UNASSIGNED, JOIN, BOUNDARY, CUT)).any():
        return []
    found = []
    mountains = int((letters == MOUNTAIN).sum())
    valleys = len(edges) - mountains
    if abs(mountains - valleys) != 2:
        text = f"{_misfit(pattern, fan, k)}: {mountains} mountains and {valleys} valleys do not differ by 2 (Maekawa)"
        found.append(Finding("maekawa", text, vertex=vertex, edges=tuple(edges.tolist())))
    sectors = fan.sectors[k]
    small = (sectors < np.roll(sectors, 1) - SECTOR_ERROR) & (sectors < np.roll(sectors, -1) - SECTOR_ERROR)
    for s in np.flatnonzero(small & (letters == np.roll(letters, -1))).tolist():
        pair = (int(edges[s]), int(edges[(s + 1) % len(edges)]))
        kind = "mountains" if letters[s] == MOUNTAIN else "valleys"
        text = f"{_misfit(pattern, fan, k)}: edges {pair[0]} and {pair[1]} beside its smallest sector are both {kind}"
        found.append(Finding("sector", text, vertex=vertex, edges=pair))
    return found


def _misfit(pattern: CreasePattern, fan: Fans, k: int) -> str:
    vertex = int(fan.vertex[k])
    return f"creases do not fit at vertex {vertex} at {_at(pattern, vertex)}"


def _at(pattern: CreasePattern, vertex: int) -> str:
    """A vertex as a place in the pattern."""
    x, y = pattern.vertices[vertex]
    return f"({x:.4g}, {y:.4g}) m"
