"""Hands: handles that take hold of a sheet anywhere, at any time, and pull with a largest force.

A hand is a handle of the model, made when it first grabs; what it holds is in the pins of the state. A hand that has
let go stays in the model with nothing in it, for the next one: so every frame of a recording fits its last model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

import numpy as np

from crumple.boundary.handles import Handle
from crumple.model.model import Model
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints
from crumple.session.guidance import Body
from crumple.session.picking import Place
from crumple.state import State
from crumple.state.ragged import Pins

PREFIX = "hand"
"""How the names of hands begin."""


@dataclass(frozen=True)
class Grip:
    """How a hand holds: all nodes within `radius` [m] of its place on the pattern, by springs of `stiffness` [N/m]
    together, with at most the force `largest` [N]."""

    radius: float = 0.008
    stiffness: float = 3e3
    largest: float = 5.0


def add_hand(model: Model, state: State, place: Place, nodes: Ints, grip: Grip) -> tuple[Model, State, str]:
    """Model and state with a hand that holds `nodes` at a place of a sheet where they are, unless others hold them, and
    the name of the hand."""
    nodes = np.setdiff1d(nodes, state.pins.node).astype(np.int32)
    if not len(nodes):
        raise InputError("grab", "the sheet is held there already; take it elsewhere", list(map(float, place.u)))
    index, name = _vacancy(model, state)
    hand = Handle(name, stiffness=grip.stiffness / len(nodes), grips=False, largest=grip.largest)
    handles = (*model.handles[:index], hand, *model.handles[index + 1 :])
    return replace(model, handles=handles), state.replaced(pins=_joined(state.pins, nodes, index, state.x)), name


def is_hand(handle: Handle) -> bool:
    """Whether a handle was made by a grab."""
    return handle.name.startswith(PREFIX) and handle.name[len(PREFIX) :].isdigit() and handle.largest < inf


def hand_middle(state: State, body: Body) -> Floats:
    """The middle of the nodes that a hand holds, (3,) [m]."""
    return np.asarray(state.pins.anchor[state.pins.handle == body.number].mean(axis=0))


def _vacancy(model: Model, state: State) -> tuple[int, str]:
    """The number and the name of a hand that holds nothing: one that has let go, or a new one."""
    for index, handle in enumerate(model.handles):
        if is_hand(handle) and not (state.pins.handle == index).any():
            return index, handle.name
    names = {handle.name for handle in model.handles}
    number = next(k for k in range(1, len(names) + 2) if f"{PREFIX}{k}" not in names)
    return len(model.handles), f"{PREFIX}{number}"


def _joined(pins: Pins, nodes: Ints, handle: int, x: Floats) -> Pins:
    """The pins with `nodes` held by a handle where they are, in their order."""
    every = np.concatenate([pins.node, nodes]).astype(np.int32)
    handles = np.concatenate([pins.handle, np.full(len(nodes), handle)]).astype(np.int32)
    order = np.lexsort((every, handles))
    return Pins(every[order], handles[order], np.concatenate([pins.anchor, x[nodes]])[order])
