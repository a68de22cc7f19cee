"""The end of a frame: edges get their lengths, folds are remembered; step (h) of [Schreck2015], fig. 16."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.developable.clearance import Clearance
from crumple.developable.memory import FIELD, hinge_memory, remember
from crumple.developable.paper import REFUSED, Paper, restored


def restore_lengths(paper: Paper) -> Paper:
    """Every edge has its length in the pattern, or nearly: the projection is a motion, which contact cuts. A sheet that
    cannot have them where it was pulled stays behind its hands, half-way, or where it was."""
    y, strain = restored(paper, paper.state.x)
    begun = paper.begun
    if strain <= REFUSED or begun is None or begun.mesh is not paper.state.mesh:
        return replace(paper, state=paper.state.replaced(x=y))
    clearance = Clearance(paper.model, paper.state)
    for part in (0.5, 0.0):
        x = begun.x + part * (paper.state.x - begun.x)
        z, less = restored(paper, x) if clearance.is_clear(x) else (x, np.inf)
        if less <= REFUSED:
            return replace(paper, state=paper.state.replaced(x=z, v=part * paper.state.v))
    return replace(paper, state=paper.state.replaced(x=y))


def remember_folds(paper: Paper) -> Paper:
    """Folds at singular points stay; the same object when none has become sharper."""
    memory = remember(paper.layout, paper.angle, paper.memory, paper.options.remembered_curvature)
    if memory == paper.memory:
        return paper
    state = paper.state.with_field(FIELD, hinge_memory(paper.layout, memory), where="hinge", rule="discard")
    return replace(paper, memory=memory, state=state)
