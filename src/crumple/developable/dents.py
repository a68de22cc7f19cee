"""Dents: singular points on curved regions that are pressed where no flat region can bend.

What presses along rulings shortens them; the one that is shortened most breaks where the sheet beside it is deflected
most. A finger that presses across rulings cannot shorten them in so coarse a mesh, in which they are straight; but the
ruling through it would have to be longer than it is to reach the finger. From the same part ε_c of its length on, the
sheet has a singular point where the finger is. [Schreck2015] §7.4 has neither.
"""

from __future__ import annotations

import numpy as np

from crumple.developable.paper import Paper, commit
from crumple.developable.singular import across_line, allowed_place, break_crease, fan_out, insert_vertex
from crumple.developable.structure import HANDLE, NOBODY, SINGULAR, Draft, Edge, Refused
from crumple.developable.tuning import TUNING
from crumple.runtime.typing import Floats

MARGIN, INNER = TUNING.margin.value, TUNING.fan_margin.value
LONG, TRIALS = TUNING.breaking_length.value, TUNING.breaking_trials.value


def dent_at_finger(paper: Paper) -> Paper:
    """The paper with a singular point where a finger has gone farther across a curved region than rulings can follow;
    the same object when there is none."""
    for key, finger in finger_places(paper).items():
        found = _strip_of(paper, key)
        if found is None:
            continue
        curve, number = found
        if finger_excess(paper, key, finger, curve, number) <= paper.options.compression:
            continue
        if len(paper.structure.singular) >= paper.options.most_singular:
            raise Refused("enough singular points")
        draft = Draft(paper.structure)
        draft.vertices[key] = draft.vertices[key]._replace(kind=SINGULAR)
        last = len(paper.structure.curves[curve].rulings) - 1
        fan_out(draft, curve, max(number - 1, 0), min(number + 2, last), key)
        return commit(paper, draft.build())
    return paper


def finger_places(paper: Paper) -> dict[int, Floats]:
    """Where hands want the vertices that they hold inside the sheet, (3,) [m] by key."""
    pins, time = paper.state.pins, paper.state.time
    keys = {paper.layout.node[key]: key for key, vertex in paper.structure.vertices.items() if vertex.kind == HANDLE}
    return {
        keys[node]: np.asarray(paper.model.handles[hand].target(time, anchor[None])[0])
        for node, hand, anchor in zip(pins.node.tolist(), pins.handle.tolist(), pins.anchor, strict=True)
        if node in keys
    }


def finger_excess(paper: Paper, key: int, finger: Floats, curve: int, number: int) -> float:
    """By how much the ruling through a held vertex would have to be longer to reach the finger (3,) [m] where it has
    gone across the sheet, over its length. The ruling lies between two of a curve, the first of the given number."""
    first, second = paper.structure.curves[curve].rulings[number : number + 2]
    p, q, r, s = (paper.x(end) for end in (*first, *second))
    if np.linalg.norm(p - r) + np.linalg.norm(q - s) > np.linalg.norm(p - s) + np.linalg.norm(q - r):
        r, s = s, r
    one, other = 0.5 * (p + r), 0.5 * (q + s)
    normal = np.cross(q - r, p - s)
    normal = normal / max(float(np.linalg.norm(normal)), 1e-300)
    x = paper.x(key)
    place = x + ((finger - x) @ normal) * normal
    through = float(np.linalg.norm(other - x) + np.linalg.norm(x - one))
    return float(np.linalg.norm(other - place) + np.linalg.norm(place - one)) / through - 1.0


def _strip_of(paper: Paper, key: int) -> tuple[int, int] | None:
    """The curve, and the number of its strip, that a vertex inside the sheet is in; None in flat regions."""
    node = paper.layout.node[key]
    faces = np.any(paper.layout.mesh.faces == node, axis=1)
    cell = int(paper.layout.face_cell[faces][0])
    return next((name for name, strip in paper.structure.strips.items() if strip == cell), None)


def dent_curve(paper: Paper) -> Paper:
    """The paper with a singular point on the ruling that is shortened most, of those that can have one; the same object
    when none is shortened by too much."""
    pressed = sorted(pressed_rulings(paper), reverse=True)[:TRIALS]
    for number, (_, key, ruling) in enumerate(pressed):
        draft, edge = Draft(paper.structure), _pressed_edge(paper, key, ruling)
        try:
            if key == NOBODY:
                break_crease(paper, draft, edge, _anywhere_on(paper, edge))
            else:
                insert_vertex(draft, key, ruling - 1, ruling + 1, _deflected_place(paper, key, ruling))
            return commit(paper, draft.build()).drawn()
        except Refused as refusal:
            if refusal.is_late:  # the others have their turn in the next frames
                refusal.about = edge
            if refusal.is_late or number == len(pressed) - 1:
                raise
    return paper


def pressed_rulings(paper: Paper) -> list[tuple[float, int, int]]:
    """The inner rulings, and the creases, that are shortened by too much: by how much, of which curve, and which.
    Creases are of `NOBODY`. Those that have been tried only now are left out."""
    edges = [(edge, key, number) for key, curve in paper.structure.curves.items()
             for number, edge in list(enumerate(curve.rulings))[1:-1]]  # fmt: skip
    edges += [(edge, NOBODY, number) for number, edge in enumerate(sorted(paper.structure.creases))]
    if not edges:
        return []
    ends = np.array([[paper.layout.node[key] for key in edge] for edge, _, _ in edges])
    rest, now = (np.linalg.norm(x[ends[:, 1]] - x[ends[:, 0]], axis=1) for x in (paper.layout.mesh.u, paper.state.x))
    shortening = 1.0 - now / rest
    is_pressed = (shortening > paper.options.compression) & (rest > LONG * paper.structure.spacing)
    found = [n for n in np.flatnonzero(is_pressed).tolist() if not paper.rests(edges[n][0])]
    return [(float(shortening[n]), *edges[n][1:]) for n in found]


def _pressed_edge(paper: Paper, key: int, number: int) -> Edge:
    """The ruling of a curve, or the crease, of a number."""
    return sorted(paper.structure.creases)[number] if key == NOBODY else paper.structure.curves[key].rulings[number]


def _anywhere_on(paper: Paper, edge: Edge) -> Floats:
    """A random place well inside an edge, (2,) [m]."""
    p, q = (paper.structure.u(key) for key in edge)
    return np.asarray(p + paper.random().uniform(INNER, 1.0 - INNER) * (q - p))


def _deflected_place(paper: Paper, key: int, number: int) -> Floats:
    """Where on a ruling the sheet beside it is deflected most, with its scatter, (2,) [m]; anywhere well inside where
    nothing beside it can be, as in a fan."""
    a, b = paper.structure.curves[key].rulings[number]
    p, q = paper.structure.u(a), paper.structure.u(b)
    cells = [paper.structure.strips[key, number - 1], paper.structure.strips[key, number]]
    nodes = np.unique(paper.layout.mesh.faces[np.isin(paper.layout.face_cell, cells)])
    inner = [n for n in nodes if n >= paper.layout.ghost or n in paper.state.pins.node]
    along = [float((paper.layout.mesh.u[n] - p) @ (q - p) / ((q - p) @ (q - p))) for n in inner]
    bow = [_height(paper.state.x, n, paper.layout.node[a], paper.layout.node[b], t)
           for n, t in zip(inner, along, strict=True)]  # fmt: skip
    generator = paper.random()
    middle = along[int(np.argmax(bow))] if bow else generator.uniform(INNER, 1.0 - INNER)
    scatter = generator.normal(0.0, paper.options.scatter / np.sqrt(2.0))
    return allowed_place(paper, p + np.clip(middle, MARGIN, 1.0 - MARGIN) * (q - p) + scatter * across_line(p, q))


def _height(x: Floats, node: int, a: int, b: int, t: float) -> float:
    """How far a node is from the place t of the line between two others [m]."""
    return float(np.linalg.norm(x[node] - x[a] - t * (x[b] - x[a])))
