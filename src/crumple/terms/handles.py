"""Handles: springs that hold nodes (the pins of a state) to moving targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np

from crumple.boundary.handles import Handle
from crumple.contract import Energy, MountedTerm, Term
from crumple.energies.holding import make_holding, make_limited_holding
from crumple.runtime.remembered import Equal, Remembered
from crumple.state import Pins, State


@dataclass(frozen=True)
class Handles(Term):
    """All handles of a model."""

    handles: tuple[Handle, ...]
    name = "handles"

    def mount(self, state: State) -> MountedTerm:
        return MountedHandles(self.handles)


@dataclass(frozen=True)
class MountedHandles(MountedTerm):
    """The handles; which nodes they hold is in the state."""

    handles: tuple[Handle, ...]

    @cached_property
    def _known(self) -> Remembered[list[Energy]]:
        return Remembered(2)

    def stored(self, state: State, time: float) -> Sequence[Energy]:
        """Springs that pull the held nodes to the targets of their handles at `time` [s]."""
        return self._known.find((state.pins, Equal(time)), lambda: self._make(state.pins, time))

    def _make(self, pins: Pins, time: float) -> list[Energy]:
        if not len(pins.node):
            return []
        stiffness, target = np.zeros(len(pins.node)), pins.anchor.copy()
        largest = np.full(len(pins.node), np.inf)
        for index, handle in enumerate(self.handles):
            held = pins.handle == index
            strength = handle.strength(time)
            stiffness[held] = handle.stiffness * strength
            target[held] = handle.target(time, pins.anchor[held])
            if np.isfinite(handle.largest):
                largest[held] = strength * handle.largest / max(int(held.sum()), 1)
        limited = np.isfinite(largest)
        if not limited.any():
            return [make_holding(pins.node, target, stiffness)]
        held, hand = np.flatnonzero(~limited), np.flatnonzero(limited)
        springs = make_limited_holding(pins.node[hand], target[hand], stiffness[hand], largest[hand])
        return [make_holding(pins.node[held], target[held], stiffness[held]), springs] if len(held) else [springs]

    def with_handles(self, term: Term) -> MountedHandles:
        return replace(self, handles=cast(Handles, term).handles)

    def begin(self, state: State, step: float) -> State:
        """The state with the nodes of the handles that start within the step taken where they are now."""
        pins = state.pins
        anchor = pins.anchor
        for index, handle in enumerate(self.handles):
            if handle.grips and state.time < handle.start <= state.time + step:
                held = pins.handle == index
                anchor = anchor.copy()
                anchor[held] = handle.anchor(handle.start, state.x[pins.node[held]])
        return state if anchor is pins.anchor else state.replaced(pins=replace(pins, anchor=anchor))
