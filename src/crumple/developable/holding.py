"""Held nodes are vertices of the structure: step (c) of [Schreck2015], fig. 16, and hands that come and go.

A hand takes hold of any node. One on the border becomes a vertex that no edit removes; a ghost inside the sheet becomes
a vertex of its own kind, for as long as it is held.
"""

from __future__ import annotations

import numpy as np

from crumple.developable.paper import Paper, attempt, commit
from crumple.developable.structure import HANDLE, Draft, Refused

Place = tuple[float, float]


def take_over(paper: Paper) -> Paper:
    """The paper whose structure knows what is held now; the same object when it does."""
    held = held_places(paper)
    known = {vertex.u for vertex in paper.structure.vertices.values() if vertex.is_held}
    if held == known:
        return paper
    edited = attempt(paper, lambda paper: commit(paper, _holding(paper, held).build(), is_same=True))
    return paper if isinstance(edited, Refused) else edited


def held_places(paper: Paper) -> set[Place]:
    """Where in the pattern nodes are held."""
    return {(float(u[0]), float(u[1])) for u in paper.layout.mesh.u[paper.state.pins.node]}


def _holding(paper: Paper, held: set[Place]) -> Draft:
    """The structure with the right vertices held."""
    draft = Draft(paper.structure)
    left = set(held)
    for key, vertex in list(draft.vertices.items()):
        is_held = vertex.u in held
        left.discard(vertex.u)
        if vertex.kind == HANDLE and not is_held:
            del draft.vertices[key]
        else:
            draft.vertices[key] = vertex._replace(is_held=is_held)
    for u in sorted(left):
        draft.inner(HANDLE, np.array(u))
    return draft
