"""All that a developable sheet is at, and `commit`, the one gate that every edit of its structure passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from crumple.developable.clearance import Clearance
from crumple.developable.enrich import Layout, enrich
from crumple.developable.isometry import Isometry, make_isometry
from crumple.developable.memory import FIELD, hinge_memory
from crumple.developable.structure import Edge, Refused, Structure
from crumple.developable.transfer import transfer
from crumple.developable.tuning import TUNING
from crumple.model.model import Model
from crumple.options.developable import DevelopableOptions
from crumple.runtime.typing import Floats
from crumple.simulation.observers import Event
from crumple.state import State, initial_state
from crumple.state.ragged import Pins

HELD, REFUSED = TUNING.held_weight.value, TUNING.refused_strain.value
REST, LONG_REST = TUNING.rest_frames.value, TUNING.refused_frames.value


@dataclass(frozen=True)
class Paper:
    """A sheet between two phases of a frame, never changed.

    `layout`: structure and mesh;  `state` on this mesh;  `memory` of folds by ruling [rad];  `draws`: random numbers
    used so far;  `resting`: the frame from which on a region may be edited again, by key, that of flat regions under
    None;  `refused`: the compression at which a flat region was tried in vain, by its vertices;  `events` of this
    frame;  `begun`: the state at the end of the frame before.
    """

    model: Model
    options: DevelopableOptions
    layout: Layout
    state: State
    memory: Mapping[Edge, float] = field(default_factory=dict)
    draws: int = 0
    resting: Mapping[int | None, int] = field(default_factory=dict)
    refused: Mapping[frozenset[int], float] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    begun: State | None = None

    @property
    def structure(self) -> Structure:
        """S_G."""
        return self.layout.structure

    @cached_property
    def isometry(self) -> Isometry:
        """The lengths that edges have to have."""
        return make_isometry(self.layout.mesh.edges, self.layout.rest_length)

    @cached_property
    def weight(self) -> Floats:
        """How far the projection moves each node, over others, (node_count,)."""
        weight = np.ones(self.layout.mesh.node_count)
        weight[self.state.pins.node] = HELD
        return weight

    def x(self, key: int) -> Floats:
        """Where a vertex is, (3,) [m]."""
        return np.asarray(self.state.x[self.layout.node[key]])

    def random(self) -> np.random.Generator:
        """The generator of the next random numbers, which `drawn` counts."""
        return np.random.default_rng([self.options.seed, self.draws])

    def drawn(self) -> Paper:
        """The same after random numbers have been used."""
        return replace(self, draws=self.draws + 1)

    def rests(self, region: int | None) -> bool:
        """Whether a region was edited only now."""
        return self.state.frame < self.resting.get(region, 0)

    def rested(self, region: int | None, frames: int = REST) -> Paper:
        """The same with a region that is to be left alone for some frames."""
        return replace(self, resting={**self.resting, region: self.state.frame + 1 + frames})

    def happened(self, kind: str, message: str) -> Paper:
        """The same with an event."""
        return replace(self, events=(*self.events, Event(self.state.time, kind, message)))


def commit(paper: Paper, structure: Structure, *, is_same: bool = False) -> Paper:
    """The paper with another structure; `Refused` when nothing would change, the mesh is not valid, edges cannot have
    their lengths, or something would intersect or come too close.

    `is_same`: only what is held changes.
    """
    if not is_same and not structure.differs(paper.structure):
        raise Refused("nothing changes")
    layout = enrich(structure, paper.options.ghost_spacing)
    x, v = transfer(paper.layout, layout, paper.state.x, paper.state.v)
    edited = replace(paper, layout=layout, state=state_on(layout, paper, x, v))
    clearance = Clearance(paper.model, edited.state)
    if not clearance.is_clear(x):
        raise Refused("something would intersect")
    y = clearance.restore(edited.isometry, x, edited.weight)
    strain = float(np.abs(edited.isometry.strain(y)).max())
    if strain > REFUSED:
        raise Refused(f"edges would be strained by {strain:.2g}")
    before = Clearance(paper.model, paper.state).gap(paper.state.x)
    if clearance.gap(y) < 0.5 * before:
        raise Refused("something would come too close")
    return replace(edited, state=edited.state.replaced(x=y))


def restored(paper: Paper, x: Floats) -> tuple[Floats, float]:
    """The positions (node_count, 3) [m] that x leads to when edges get their lengths, and the largest strain left."""
    y = Clearance(paper.model, paper.state).restore(paper.isometry, x, paper.weight)
    return y, float(np.abs(paper.isometry.strain(y)).max())


def attempt(paper: Paper, edit: Callable[[Paper], Paper]) -> Paper | None:
    """The paper after an edit, itself when there was nothing to do; None when it was refused."""
    try:
        return edit(paper)
    except Refused:
        return None


def edit_region(paper: Paper, key: int, edit: Callable[[Paper, int], Paper]) -> Paper:
    """The paper after one of its curved regions was edited, which then rests: longer, when it was refused."""
    if key not in paper.structure.curves or paper.rests(key):
        return paper
    edited = attempt(paper, lambda paper: edit(paper, key))
    if edited is None:
        return paper.rested(key, LONG_REST)
    return edited if edited is paper else edited.rested(key)


def state_on(layout: Layout, paper: Paper, x: Floats, v: Floats) -> State:
    """The state of a paper on another mesh."""
    old, pins = paper.state, paper.state.pins
    place = {u: number for number, u in enumerate(_rounded(layout.mesh.u))}
    try:
        node = np.array([place[u] for u in _rounded(paper.layout.mesh.u[pins.node])], np.int32)
    except KeyError:
        raise Refused("a held node would go") from None
    fresh = initial_state(
        layout.mesh, x, v=v, obstacle_x=old.obstacle_x, obstacle_count=len(old.obstacle_lag), step_size=old.step_size
    )
    order = np.lexsort((node, pins.handle))
    kept = {
        name: getattr(old, name)
        for name in (
            "obstacle_lag", "obstacle_force", "handle_load", "ledger", "time", "dense_steps", "frame", "steps",
            "iterations",
        )
    }  # fmt: skip
    fresh = fresh.replaced(pins=Pins(node[order], pins.handle[order], pins.anchor[order]), **kept)
    return fresh.with_field(FIELD, hinge_memory(layout, paper.memory), where="hinge", rule="discard")


def _rounded(u: Floats) -> list[tuple[float, ...]]:
    """Pattern positions as keys: nodes that stay have the same bits."""
    return [tuple(row) for row in np.asarray(u).tolist()]
