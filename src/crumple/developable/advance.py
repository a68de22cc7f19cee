"""One frame of a developable sheet, after figure 16 of [Schreck2015]:

    (a, b) simulate    hands move, implicit steps with contact on S_P       the engine's steps, `simulation.frame`
    (c)    take over   S_G has the positions of S_P: its vertices are nodes, held ones among them
           tear        a border under too much tension is cut: beyond the paper
    (d)    bend        compressed flat regions get rulings, or a singular point; so do rulings that are pressed along
    (e)    slide       curved regions grow and shrink at their junctions with flat ones
    (f)    fit         rulings turn to those of generalised cones
    (g)    enrich      S_P from S_G, with ghosts: in `commit`, the gate of every edit above
    (h)    restore     every edge gets its length in the pattern, as far as contact lets it; folds are remembered

A phase is a function from a `Paper` to a further one, and returns the same object where it has nothing to do. One edit
of the structure comes as far as the gate in a frame, as each takes as long as a step; the others are due in the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from crumple.developable.bend import bend_flats, dent_curves
from crumple.developable.cones import fit_curves
from crumple.developable.holding import take_over
from crumple.developable.junctions import slide_junctions
from crumple.developable.paper import Paper
from crumple.developable.settling import remember_folds, restore_lengths
from crumple.developable.tearing import tear_border

PHASES: tuple[Callable[[Paper], Paper], ...] = (
    take_over, tear_border, bend_flats, dent_curves, slide_junctions, fit_curves, restore_lengths, remember_folds,
)  # fmt: skip
"""The phases after the steps of every frame."""


def finish_frame(paper: Paper) -> Paper:
    """The paper after all phases, with the events of this frame."""
    paper = replace(paper, events=(), is_edited=False)
    for phase in PHASES:
        paper = phase(paper)
    return paper
