"""Singular points: where they appear on a curved region, and how its rulings then go ([Schreck2015] §5.2).

The most probable ruling is the first one from the compressed side that bends by more than θ₀. Along it all places are
alike; the distance d from it has the density exp(−d²/σ²), σ by the kind of paper. The rulings from the edge of the
curved region to the next one that bends are replaced by fans from the singular point to both borders.
"""

from __future__ import annotations

import numpy as np

from crumple.developable.creases import split_crease
from crumple.developable.paper import Paper
from crumple.developable.propagation import Band
from crumple.developable.structure import BOUNDARY, NOBODY, SINGULAR, Draft, Edge, Refused
from crumple.developable.tuning import TUNING
from crumple.runtime.typing import Floats

APART, MARGIN = TUNING.apart.value, TUNING.margin.value


def ruling_angles(paper: Paper, curve: int) -> Floats:
    """By how much the sheet bends at each ruling of a curve, (ruling_count,) [rad], 0 on the border."""
    hinges = [paper.layout.hinge_of(edge) for edge in paper.structure.curves[curve].rulings]
    return np.array([0.0 if hinge is None else abs(paper.angle[hinge]) for hinge in hinges])


def choose_vertex(paper: Paper, draft: Draft, edge: Edge, band: Band) -> int:
    """The singular vertex that a band ends in which meets the chord `edge`: that of the fan that the chord belongs to,
    or a new one on the curved region beyond it."""
    if edge in paper.structure.creases:
        return _on_crease(paper, draft, edge, band)
    key, number = paper.structure.owners[edge]
    curve = paper.structure.curves[key]
    if curve.apex != NOBODY:
        return curve.apex
    for end in edge:
        if paper.structure.vertices[end].kind == SINGULAR:
            return end
    if len(curve.rulings) == 1:
        return _on_fold(paper, draft, key, band)
    if number not in (0, len(curve.rulings) - 1):
        raise Refused("not at the edge of a curved region")
    return _in_curve(paper, draft, key, from_end=number != 0, band=band)


def _on_crease(paper: Paper, draft: Draft, edge: Edge, band: Band) -> int:
    """A singular point on a crease: one that is near, or a new one."""
    u = _random_place(paper, edge, band, scatter=0.0)
    for end in edge:
        is_near = float(np.linalg.norm(paper.structure.u(end) - u)) < APART * paper.structure.spacing
        if is_near and paper.structure.vertices[end].kind == SINGULAR:
            return end
    return break_crease(paper, draft, edge, u)


def break_crease(paper: Paper, draft: Draft, edge: Edge, u: Floats) -> int:
    """A new singular point at u (2,) [m] on a crease, which it cuts in two."""
    vertex = draft.inner(SINGULAR, allowed_place(paper, u))
    split_crease(draft, edge, vertex)
    return vertex


def _on_fold(paper: Paper, draft: Draft, key: int, band: Band) -> int:
    """A singular point on a fold between two flat regions, which it cuts in two."""
    a, b = paper.structure.curves[key].rulings[0]
    vertex = draft.inner(SINGULAR, allowed_place(paper, _random_place(paper, (a, b), band)))
    draft.replace_curve(key, [(a, vertex)], apex=vertex)
    draft.curve([(vertex, b)], apex=vertex)
    return vertex


def _in_curve(paper: Paper, draft: Draft, key: int, *, from_end: bool, band: Band) -> int:
    """A singular point on a curved region that is met from its first ruling, or from its last."""
    angle = ruling_angles(paper, key)
    count = len(angle)
    order = range(count - 1, -1, -1) if from_end else range(count)
    bent = [number for number in order[1:] if angle[number] > paper.options.singular_angle]
    likely = bent[0] if bent else order[-1]
    beyond = bent[1] if len(bent) > 1 else order[-1]
    if beyond == likely:
        raise Refused("no room for a singular point")
    u = allowed_place(paper, _random_place(paper, paper.structure.curves[key].rulings[likely], band))
    return insert_vertex(draft, key, min(order[0], beyond), max(order[0], beyond), u)


def insert_vertex(draft: Draft, key: int, first: int, last: int, u: Floats) -> int:
    """A singular point at u (2,) [m] in place of the rulings between two of a curve; fans go to both borders, and what
    is left of the curve on either side stays curved."""
    vertex = draft.inner(SINGULAR, u)
    fan_out(draft, key, first, last, vertex)
    return vertex


def fan_out(draft: Draft, key: int, first: int, last: int, vertex: int) -> None:
    """Replace the rulings between two of a curve by fans from a vertex to both borders."""
    curve = draft.curves[key]
    rulings = curve.rulings
    parts = [part for part in (rulings[: first + 1], rulings[last:]) if len(part) >= 2]
    for end in (0, 1):
        draft.curve([(vertex, ruling[end]) for ruling in rulings[first : last + 1]], apex=vertex)
    del draft.curves[key]
    for part in parts:
        draft.curve(part, curve.apex)


def _random_place(paper: Paper, ruling: Edge, band: Band, scatter: float | None = None) -> Floats:
    """A random place on a ruling, within the band if it is to be, (2,) [m]; `scatter` across it [m]."""
    p, q = (paper.structure.u(key) for key in ruling)
    low, high = 0.0, 1.0
    reach = float((q - p) @ band.along)
    if not paper.options.whole_ruling and abs(reach) > 1e-9:
        start = float((band.origin - p) @ band.along)
        ends = sorted(((start + band.low) / reach, (start + band.high) / reach))
        low, high = max(0.0, ends[0]), min(1.0, ends[1])
        if high <= low:
            low, high = 0.0, 1.0
    generator = paper.random()
    margin = MARGIN * (high - low)
    along = generator.uniform(low + margin, high - margin)
    offset = generator.normal(0.0, (paper.options.scatter if scatter is None else scatter) / np.sqrt(2.0))
    limit = 0.4 * paper.structure.spacing
    return np.asarray(p + along * (q - p) + np.clip(offset, -limit, limit) * across_line(p, q))


def across_line(p: Floats, q: Floats) -> Floats:
    """The unit normal (2,) of a line."""
    d = (q - p) / np.linalg.norm(q - p)
    return np.array([-d[1], d[0]])


def allowed_place(paper: Paper, u: Floats) -> Floats:
    """A place for a singular point; `Refused` when it is too close to the border or to another one."""
    structure = paper.structure
    if len(structure.singular) >= paper.options.most_singular:
        raise Refused("enough singular points")
    apart = APART * structure.spacing
    if not structure.outline.contains(u) or structure.outline.place(u)[1] < 0.5 * apart:
        raise Refused("a singular point at the border")
    others = [key for key, vertex in structure.vertices.items() if vertex.kind != BOUNDARY]
    if any(np.linalg.norm(structure.u(key) - u) < apart for key in others):
        raise Refused("singular points are too close")
    return u
