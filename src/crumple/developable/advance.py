"""One frame of a developable sheet, after figure 16 of [Schreck2015]:

    (a, b) simulate    hands move, implicit steps with contact on S_P       the engine's steps, `simulation.frame`
    (c)    take over   S_G has the positions of S_P: its vertices are nodes, held ones among them
    (d)    bend        compressed flat regions get rulings, or a singular point; so do rulings that are pressed along
    (e)    slide       curved regions grow and shrink at their junctions with flat ones
    (f)    fit         rulings turn to those of generalised cones
    (g)    enrich      S_P from S_G, with ghosts: in `commit`, the gate of every edit above
    (h)    flatten     every edge gets its length in the pattern, as far as contact lets it; folds are remembered

A phase is a function from a `Paper` to a further one, and returns the same object where it has nothing to do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from crumple.developable.bend import bend_flats, dent_curves
from crumple.developable.clearance import Clearance
from crumple.developable.cones import fit_curves
from crumple.developable.holding import take_over
from crumple.developable.junctions import slide_junctions
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
    """Folds at singular points stay."""
    memory = remember(paper.layout, paper.state.x, paper.memory, paper.options.remembered_curvature)
    state = paper.state.with_field(FIELD, hinge_memory(paper.layout, memory), where="hinge", rule="discard")
    return replace(paper, memory=memory, state=state)


PHASES: tuple[Callable[[Paper], Paper], ...] = (
    take_over, bend_flats, dent_curves, slide_junctions, fit_curves, restore_lengths, remember_folds,
)  # fmt: skip
"""The phases after the steps of every frame."""


def finish_frame(paper: Paper) -> Paper:
    """The paper after all phases, with the events of this frame."""
    paper = replace(paper, events=())
    for phase in PHASES:
        paper = phase(paper)
    return paper
