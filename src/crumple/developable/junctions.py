"""Curved regions grow and shrink at their ends: step (e) of [Schreck2015], fig. 16 and §6.1."""

from __future__ import annotations

import numpy as np

from crumple.developable.paper import Paper, commit, edit_region
from crumple.developable.singular import ruling_angles
from crumple.developable.structure import BOUNDARY, NOBODY, Draft, Edge, Refused, Structure, sorted_edge


def slide_junctions(paper: Paper) -> Paper:
    """The paper after the ends of its curved regions have moved, each by at most one ruling."""
    for key in list(paper.structure.curves):
        paper = edit_region(paper, key, slide)
    for key in list(paper.structure.curves):
        paper = edit_region(paper, key, join)
    return paper


def join(paper: Paper, key: int) -> Paper:
    """The paper with one region instead of two that end with the same ruling and have no singular point, if the second
    begins where this one ends; the same object when there are none."""
    rulings, apex = paper.structure.curves[key]
    last = set(rulings[-1])
    if apex != NOBODY or len(rulings) < 2:
        return paper
    for other, (more, tip) in paper.structure.curves.items():
        if other == key or tip != NOBODY or len(more) < 2 or last not in (set(more[0]), set(more[-1])):
            continue
        more = more if set(more[0]) == last else more[::-1]
        more = more if more[0] == rulings[-1] else tuple((b, a) for a, b in more)
        draft = Draft(paper.structure)
        del draft.curves[other]
        draft.replace_curve(key, (*rulings, *more[1:]))
        return commit(paper, draft.build())
    return paper


def slide(paper: Paper, key: int) -> Paper:
    """The paper with one curved region that is gone, shorter or longer; the same object when it stays as it is."""
    curve, angle = paper.structure.curves[key], ruling_angles(paper, key)
    if (angle < paper.options.flat_angle).all():
        if curve.apex != NOBODY or _is_singular(paper.structure, curve.rulings):
            return paper
        draft = Draft(paper.structure)
        del draft.curves[key]
        return commit(paper, draft.build()).happened("flatten", "a curved region has become flat")
    for end in (0, -1):
        is_flat = angle[end] < paper.options.flat_angle and len(curve.rulings) > 2
        if not is_flat and angle[end] <= paper.options.curved_angle:
            continue
        flat = _flat_beside(paper.structure, curve.rulings[end])
        if flat == NOBODY:
            continue
        draft = Draft(paper.structure)
        if is_flat:
            draft.replace_curve(key, curve.rulings[1:] if end == 0 else curve.rulings[:-1], curve.apex)
            return commit(paper, draft.build())
        if angle[end] > _opposite_angle(paper, flat, curve.rulings[end]):
            longer = _next_ruling(draft, paper.structure, flat, curve.rulings[end])
            if longer is not None:
                rulings = (longer, *curve.rulings) if end == 0 else (*curve.rulings, longer)
                draft.replace_curve(key, rulings, curve.apex)
                return commit(paper, draft.build())
    return paper


def _is_singular(structure: Structure, rulings: tuple[Edge, ...]) -> bool:
    return any(structure.vertices[key].kind != BOUNDARY for edge in rulings for key in edge)


def _flat_beside(structure: Structure, edge: Edge) -> int:
    """The flat region beside the last ruling of a curve, `NOBODY` if there is none."""
    for way in (edge, (edge[1], edge[0])):
        cell = structure.sides.get(way, NOBODY)
        if cell in structure.flats:
            return cell
    return NOBODY


def _opposite_angle(paper: Paper, flat: int, edge: Edge) -> float:
    """The largest angle at the other rulings of a flat region [rad]."""
    keys = paper.structure.cells[flat]
    others = [
        paper.bend(side)
        for side in zip(keys, (*keys[1:], keys[0]), strict=True)
        if set(side) != set(edge)
        and (side[1], side[0]) in paper.structure.sides
        and sorted_edge(side) not in paper.structure.creases
    ]
    return max(others, default=0.0)


def _next_ruling(draft: Draft, structure: Structure, flat: int, edge: Edge) -> Edge | None:
    """The ruling one sample further into a flat region, None where there is no room."""
    loop = structure.cells[flat]
    found: list[int] = []
    for key in edge:
        vertex = structure.vertices[key]
        if vertex.kind != BOUNDARY:
            found.append(key)
            continue
        place = loop.index(key)
        after, before = loop[(place + 1) % len(loop)], loop[place - 1]
        beside = after if after not in edge else before
        if beside in edge or structure.vertices[beside].kind != BOUNDARY or (key, beside) in structure.owners:
            found.append(key)
            continue
        gap = structure.outline.way(vertex.place, structure.vertices[beside].place)
        if abs(gap) < 1.5 * structure.spacing:
            found.append(beside)
        else:
            found.append(draft.border(vertex.place + np.sign(gap) * structure.spacing))
    one, other = found
    if one == other or {one, other} == set(edge) or sorted_edge((one, other)) in structure.creases:
        return None
    a, b = draft.vertices[one], draft.vertices[other]
    if a.kind == b.kind == BOUNDARY and structure.outline.on_one_side(a.place, b.place):
        raise Refused("the edge of the sheet")
    return one, other
