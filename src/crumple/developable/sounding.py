"""What is heard of a change of structure: the energy of the compression that it relieves."""

from __future__ import annotations

from dataclasses import replace

from crumple.developable.paper import Paper
from crumple.model.derived import Derived
from crumple.runtime.timing import PhaseTimer
from crumple.simulation.observers import Event


def sounding(before: Paper, after: Paper) -> tuple[Event, ...]:
    """The events of a frame, each with its part of the energy [J] of compression and tension that was in the sheet
    `before` it was put in order and is not `after`."""
    events = after.events
    if not events:
        return ()
    freed = max(_strain_energy(before) - _strain_energy(after), 0.0) / len(events)
    return tuple(replace(event, energy=freed) for event in events)


def _strain_energy(paper: Paper) -> float:
    return Derived(paper.model, paper.state, PhaseTimer()).prepared().measure("membrane", paper.state)
