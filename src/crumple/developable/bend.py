"""Compressed flat regions become curved, or break at a singular point: step (d) of [Schreck2015], fig. 16."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.developable.compression import Compression, compression
from crumple.developable.dents import dent_at_finger, dent_curve
from crumple.developable.paper import Paper, attempt, commit
from crumple.developable.propagation import FREE, Band, find_band
from crumple.developable.singular import choose_vertex
from crumple.developable.structure import NOBODY, Draft, Edge, Refused
from crumple.developable.tuning import TUNING
from crumple.runtime.typing import Floats

LEAST, RETRY, FORGET = TUNING.least_band.value, TUNING.retry.value, TUNING.forget.value


def bend_flats(paper: Paper) -> Paper:
    """The paper after the most compressed flat region that can bend has done so; at most one."""
    paper = _forgetting(paper)
    if paper.rests(None) or paper.is_edited:
        return paper
    found = [compression(paper, cell) for cell in paper.structure.flats]
    for squeeze in sorted(found, key=lambda one: -one.value):
        name = frozenset(paper.structure.cells[squeeze.cell])
        if squeeze.value <= max(paper.options.compression, RETRY * paper.refused.get(name, 0.0)):
            continue
        edited = attempt(paper, lambda paper, squeeze=squeeze: bend_flat(paper, squeeze))  # type: ignore[misc]
        if not isinstance(edited, Refused):
            return edited.rested(None)
        paper = replace(paper.after(edited), refused={**paper.refused, name: squeeze.value}).drawn()
        if paper.is_edited:
            break
    return paper


def _forgetting(paper: Paper) -> Paper:
    """The paper that forgets by and by where it was refused: shapes change, and what did not fit may do so later."""
    if not paper.refused:
        return paper
    left = {name: FORGET * value for name, value in paper.refused.items()}
    least = 0.5 * paper.options.compression
    return replace(paper, refused={name: value for name, value in left.items() if value > least})


def bend_flat(paper: Paper, squeeze: Compression) -> Paper:
    """The paper with rulings in one flat region, parallel or through a singular point."""
    band = find_band(paper.structure, squeeze)
    if band.high - band.low < LEAST * paper.structure.spacing:
        raise Refused("no band")
    draft = Draft(paper.structure)
    if band.edges == (FREE, FREE):
        draft.curve(parallel_rulings(draft, band))
        return commit(paper, draft.build()).happened("bend", "a flat region has become curved")
    before = paper.structure.singular
    ends = [None if edge is FREE else choose_vertex(paper, draft, edge, band) for edge in band.edges]
    inner = [end for end in ends if end is not None]
    if len(inner) == 2:
        _join(draft, inner[0], inner[1])
    else:
        draft.curve(fan(draft, inner[0], *_free_ends(paper, band)), apex=inner[0])
    edited = commit(paper, draft.build()).drawn()
    return _told(edited, before)


def parallel_rulings(draft: Draft, band: Band) -> list[Edge]:
    """Rulings across a band whose lines all end on the border."""
    count = max(2, round((band.high - band.low) / draft.spacing) + 1)
    rulings: list[Edge] = []
    for offset in np.linspace(band.low, band.high, count):
        ray = band.shoot(float(offset))
        if ray is None:
            continue
        a, b = (draft.border(draft.outline.place(point)[0]) for point in ray.points)
        one, other = draft.vertices[a], draft.vertices[b]
        is_used = any(a in edge and b in edge for edge in rulings)
        if not is_used and not draft.outline.on_one_side(one.place, other.place):
            rulings.append((a, b))
    if len(rulings) < 2:
        raise Refused("no band")
    return rulings


def fan(draft: Draft, apex: int, start: float, end: float) -> list[Edge]:
    """Rulings from a singular point to the border between two places [m], counter-clockwise."""
    span = (end - start) % draft.outline.length
    count = max(2, round(span / draft.spacing) + 1)
    ends: list[int] = []
    for place in np.linspace(start, start + span, count):
        key = draft.border(float(place))
        if key not in ends:
            ends.append(key)
    if len(ends) < 2:
        raise Refused("no fan")
    return [(apex, key) for key in ends]


def dent_curves(paper: Paper) -> Paper:
    """The paper with a singular point at a finger in a curved region, or on the ruling that is shortened most, if by
    too much: what presses there has no flat region to bend."""
    if paper.rests(None) or paper.rests(NOBODY) or paper.is_edited:
        return paper
    edited = attempt(paper, dent_at_finger)
    if edited is paper or (isinstance(edited, Refused) and not edited.is_late):
        edited = attempt(paper, dent_curve)
    if isinstance(edited, Refused):
        return paper.after(edited).drawn().rested(edited.about or NOBODY)
    return paper if edited is paper else _told(edited.rested(None), paper.structure.singular)


def _free_ends(paper: Paper, band: Band) -> tuple[float, float]:
    """The places of the border between which the lines of a band end, in the order of a counter-clockwise fan."""
    outline, side = paper.structure.outline, 0 if band.edges[0] is FREE else 1
    places = []
    for offset in (band.low, band.high):
        ray = band.shoot(offset)
        if ray is None:
            raise Refused("no band")
        places.append(outline.place(np.asarray(ray.points[side]))[0])
    first, second = places
    return (first, second) if outline.way(first, second) >= 0.0 else (second, first)


def _join(draft: Draft, one: int, other: int) -> None:
    """A single ruling between two singular points."""
    if one == other:
        raise Refused("both ends are the same singular point")
    draft.curve([(one, other)], apex=NOBODY)


def _told(paper: Paper, before: tuple[int, ...]) -> Paper:
    """The paper with an event for each singular point that was not there before, or for a curved region."""
    new = [key for key in paper.structure.singular if key not in before]
    for key in new:
        u: Floats = 1e3 * paper.structure.u(key)
        paper = paper.happened("singular", f"a singular point at ({u[0]:.2f}, {u[1]:.2f}) mm of the pattern")
    return paper if new else paper.happened("bend", "a flat region has become conical")
