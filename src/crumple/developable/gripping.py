"""Where a hand takes hold of a developable sheet: vertices of the border, or a point inside, which becomes a vertex."""

from __future__ import annotations

import numpy as np

from crumple.developable.enrich import border_nodes
from crumple.developable.paper import Paper, attempt, commit
from crumple.developable.structure import HANDLE, Draft, Refused
from crumple.developable.tuning import TUNING
from crumple.runtime.typing import Floats, Ints

RIM, REACH, NEAR = TUNING.grip_rim.value, TUNING.grip_reach.value, TUNING.grip_near.value


def grip(paper: Paper, u: Floats, radius: float) -> tuple[Paper, Ints]:
    """The paper with something to hold at the point `u` (2,) [m] of its pattern, and the nodes to be held there.

    Near the border these are its nodes within `radius` [m], at least the nearest with its neighbours: three of them
    hold the tangent plane ([Schreck2015] §4). Inside it is one, at the point itself: a finger.
    """
    structure, mesh = paper.structure, paper.layout.mesh
    spacing = structure.spacing
    if structure.outline.place(u)[1] <= RIM * spacing:
        rim = border_nodes(paper.layout)
        far = np.linalg.norm(mesh.u[rim] - u, axis=1)
        around = np.linalg.norm(mesh.u[rim] - mesh.u[rim[int(far.argmin())]], axis=1)
        return paper, rim[(far <= radius) | (around <= REACH * spacing)].astype(np.int32)
    if np.linalg.norm(mesh.u - u, axis=1).min() > NEAR * spacing:
        edited = attempt(paper, lambda paper: _with_vertex(paper, u))
        paper = paper if isinstance(edited, Refused) else edited
    nearest = int(np.linalg.norm(paper.layout.mesh.u - u, axis=1).argmin())
    return paper, np.array([nearest], np.int32)


def _with_vertex(paper: Paper, u: Floats) -> Paper:
    """The paper with a vertex at a point inside; `Refused` where there is no room for it."""
    draft = Draft(paper.structure)
    draft.inner(HANDLE, u)
    return commit(paper, draft.build(), is_same=True)
