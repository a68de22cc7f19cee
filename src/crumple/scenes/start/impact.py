"""How stiff the contact barrier of a model has to be for what will hit in it.

A barrier that is too soft for an impact is compressed to a tiny fraction of its gap, where collisions bound every
Newton step. With the speed v that is foreseen, a sheet of mass ρ per area and membrane stiffness Y [N/m], the gap D at
which the barrier b starts, and edges of the length ℓ, the impact ends at the fraction `GAP` = s of the gap if

    flat:     κ = ½ ρ v² / (D b(s))             the barrier takes up the energy of motion
    edge on:  κ = 3 v √(Y ρ) / (ℓ |b'(s)|)      a node with a third of ℓ² as its area carries the pressure wave
                                                v √(Y ρ) [N/m] that runs into the sheet from an edge ℓ

The stiffness is the largest of these over all materials, and never below that of `ContactOptions`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import log, sqrt

import numpy as np

from crumple.model.model import Model
from crumple.options.contact import ContactOptions
from crumple.runtime.typing import Floats
from crumple.state import State

GAP = 0.1
"""Fraction of the gap that is left when an impact ends: where the barrier's hard core begins."""
STIFFEST = 1e9
"""Of the barrier [Pa], whatever is foreseen."""
SAMPLES = 65
"""Times at which the speeds of obstacles and handles are looked at, besides the start."""


def with_impact_stiffness(model: Model, state: State) -> Model:
    """The model with the contact stiffness that its start and its motions ask for."""
    return replace(model, contact=replace(model.contact, stiffness=impact_stiffness(model, state)))


def impact_stiffness(model: Model, state: State) -> float:
    """κ [Pa], two digits of it, for a run of the model from `state`."""
    speed = float(np.linalg.norm(state.v, axis=1).max(initial=0.0)) + _driven_speed(model, state)
    energy, pressure = -((1.0 - GAP) ** 2) * log(GAP), -2.0 * (1.0 - GAP) * log(GAP) + (1.0 - GAP) ** 2 / GAP
    edge = _edge_length(model, state)
    needed = [ContactOptions.stiffness]
    for material in model.materials:
        needed.append(0.5 * material.density * speed**2 / (model.contact.activation * energy))
        wave = speed * sqrt(material.stretch_stiffness * material.density)
        needed.append(3.0 * wave / (edge * pressure))
    return float(f"{min(max(needed), STIFFEST):.2g}")


def _edge_length(model: Model, state: State) -> float:
    """The length of the shortest usual edges [m]: the least that remeshing makes, or the mean."""
    if model.remeshing is not None:
        return min(sizing.size_min for sizing in model.remeshing.all_sizing)
    return float(np.mean(state.mesh.corner_length))


def _driven_speed(model: Model, state: State) -> float:
    """The largest speed of any obstacle or handle during the run [m/s]."""
    times = np.linspace(0.0, model.duration, SAMPLES + 1)
    fastest = 0.0
    for obstacle in model.obstacles:
        if obstacle.moves:
            fastest = max(fastest, _speed(obstacle.positions, times))
    for index, handle in enumerate(model.handles):
        anchor = state.pins.anchor[state.pins.handle == index]
        if handle.motion is not None and len(anchor):
            fastest = max(fastest, _speed(lambda t, h=handle, a=anchor: h.target(t, a), times))
    return fastest


def _speed(positions: Callable[[float], Floats], times: Floats) -> float:
    """The largest mean speed of any point between two times that follow each other [m/s]."""
    before, fastest = positions(float(times[0])), 0.0
    for k, time in enumerate(times[1:].tolist()):
        now = positions(time)
        displacement = float(np.linalg.norm(now - before, axis=1).max(initial=0.0))
        before, fastest = now, max(fastest, displacement / (time - float(times[k])))
    return fastest
