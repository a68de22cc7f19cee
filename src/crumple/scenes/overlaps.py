"""Refuses scenes that start intersecting or too close, naming the two parts and the place."""

from __future__ import annotations

import numpy as np

from crumple.contact import (
    Surface,
    candidate_parts,
    describe_intersection,
    find_candidates,
    find_intersections,
    min_gap,
)
from crumple.model.derived import contact_surface
from crumple.model.model import Model
from crumple.runtime.typing import Floats
from crumple.scenes.messages import Problems
from crumple.scenes.start.untangling import untangle_start
from crumple.state import State

MOST_EDGES = 10.0
"""Contact that reaches further than this many edge lengths makes every face meet thousands: surely a wrong unit."""
MOST_PAIRS = 1e8
"""Pairs of primitives within reach of each other in a flat sheet that a scene may have (8 bytes each)."""
MOST_REPORTED = 10
REMEDY = "; run.untangle = true takes them apart"


def untangled(model: Model, state: State, problems: Problems) -> State:
    """The state with its parts taken apart, with a note on how far they moved, or a problem at the place where they
    could not be."""
    if not model.contact.enabled or not _check_reach(model, state, problems):
        return state
    state, done = untangle_start(model, state)
    if done.parts is not None and done.place is not None:
        text = f"{_both(model.part_names, *sorted(done.parts))} could not be taken apart, near {_point(done.place)}"
        problems.add(("run", "untangle"), f"{text}; they may be linked: move them apart in the scene")
    elif done.rounds:
        text = f"parts that overlapped have been taken apart by moving nodes by up to {done.moved:.3g} m"
        problems.note(("run", "untangle"), f"{text}, in {done.rounds} rounds")
    return state


def check_overlaps(model: Model, state: State, problems: Problems) -> None:
    """Note the parts that intersect, or are closer than their thickness, at the start."""
    if not model.contact.enabled or not _check_reach(model, state, problems):
        return
    surface = contact_surface(model, state, state.time)
    x = np.concatenate([state.x, state.obstacle_x])
    names = model.part_names
    seen: set[tuple[int, int]] = set()
    for pair in find_intersections(surface, x):
        found = describe_intersection(surface, x, pair)
        parts = min(found.parts), max(found.parts)
        if parts not in seen and len(seen) < MOST_REPORTED:
            seen.add(parts)
            problems.add((), f"{_both(names, *parts)} intersect at the start, near {_point(found.place)}{REMEDY}")
    if not seen:
        _check_gap(surface, x, names, problems)


def _check_gap(surface: Surface, x: Floats, names: tuple[str, ...], problems: Problems) -> None:
    """Note the closest pair of parts if it is closer than its thickness."""
    candidates = find_candidates(surface, x, x, surface.reach - surface.dhat)  # within the thickness
    gap, pair = min_gap(surface, candidates, x)
    if gap > 0:
        return
    parts = candidate_parts(surface, candidates, pair)
    thickness = 0.5 * float(surface.part_thickness[list(parts)].sum())
    faces = len(candidates.point_face)
    nodes = candidates.point_face[pair, :1] if pair < faces else surface.edges[candidates.edge_edge[pair - faces, 0]]
    close = f"are closer than their thickness ({thickness:g} m, by {-gap:.3g} m) at the start"
    problems.add((), f"{_both(names, *parts)} {close}, near {_point(x[nodes].mean(axis=0))}{REMEDY}")


def _check_reach(model: Model, state: State, problems: Problems) -> bool:
    """Whether thickness and activation distance are lengths that fit the meshes.

    Within the distance r of a node or edge lie about 7 (1 + r/h)² faces and edges of a flat mesh of edge length h.
    """
    mesh = state.mesh
    length = mesh.corner_length.reshape(-1, 3).mean(axis=1)
    thickness = max([*model.contact.sheet_thickness, *(obstacle.thickness for obstacle in model.obstacles)])
    before = len(problems.messages)
    for key, value in (("activation", model.contact.activation), ("thickness", thickness)):
        for sheet, name in enumerate(model.sheet_names):
            edge = length[mesh.face_sheet == sheet]
            size = float(edge.mean())
            pairs = 14.0 * len(edge) * (1.0 + value / size) ** 2
            if value > MOST_EDGES * size or pairs > MOST_PAIRS:
                most = min(MOST_EDGES, max(0.0, (MOST_PAIRS / (14.0 * len(edge))) ** 0.5 - 1.0)) * size
                remedy = f"must be ≤ {most:.2g} m for the {len(edge)} faces of {name!r} with edges of {size:.2g} m"
                problems.add(("contact", key), remedy, value)
    return len(problems.messages) == before


def _both(names: tuple[str, ...], a: int, b: int) -> str:
    return f"{names[a]!r} and itself" if a == b else f"{names[a]!r} and {names[b]!r}"


def _point(x: Floats) -> str:
    return f"({x[0]:.4g}, {x[1]:.4g}, {x[2]:.4g}) m"
