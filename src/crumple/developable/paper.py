"""All that a developable sheet is at, and `commit`, the one gate that every edit of its structure passes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from crumple.developable.clearance import Clearance
from crumple.developable.enrich import Layout, enrich
from crumple.developable.isometry import Isometry
from crumple.developable.memory import with_hinges
from crumple.developable.structure import Edge, Refused, Structure
from crumple.developable.transfer import transfer
from crumple.developable.tuning import TUNING
from crumple.geometry.hinge import dihedral_angles
from crumple.model.model import Model
from crumple.options.developable import DevelopableOptions
from crumple.runtime.typing import Floats, Ints
from crumple.simulation.observers import Event
from crumple.state import State, initial_state
from crumple.state.ragged import Pins

HELD, REFUSED = TUNING.held_weight.value, TUNING.refused_strain.value
REST, LONG_REST = TUNING.rest_frames.value, TUNING.refused_frames.value
Resting = int | None | Edge
"""What is left alone for some frames."""
CLOSER = TUNING.edit_gap.value


@dataclass(frozen=True)
class Paper:
    """A sheet between two phases of a frame, never changed.

    `layout`: structure and mesh;  `state` on this mesh;  `memory` of folds by ruling [rad];  `draws`: random numbers
    used so far;  `resting`: the frame from which on a region may be edited again, by key, that of flat regions under
    None, or a ruling may break, by its ends;  `refused`: the compression at which a flat region was tried in vain, by
    its vertices;  `events` of this frame;  `begun`: the state at the end of the frame before;  `is_edited`: in this
    frame an edit has come as far as the gate, and all others wait for the next one.
    """

    model: Model
    options: DevelopableOptions
    layout: Layout
    state: State
    memory: Mapping[Edge, float] = field(default_factory=dict)
    draws: int = 0
    resting: Mapping[Resting, int] = field(default_factory=dict)
    refused: Mapping[frozenset[int], float] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    begun: State | None = None
    is_edited: bool = False

    @property
    def structure(self) -> Structure:
        """S_G."""
        return self.layout.structure

    @property
    def isometry(self) -> Isometry:
        """The lengths that edges have to have."""
        return self.layout.isometry

    @cached_property
    def angle(self) -> Floats:
        """By how much the sheet bends at each hinge, signed, (hinge_count,) [rad]."""
        return dihedral_angles(self.state.x, self.layout.mesh.hinges.nodes)

    def bend(self, edge: Edge) -> float:
        """By how much the sheet bends at a ruling or crease [rad], 0 on the border."""
        hinge = self.layout.hinge_of(edge)
        return 0.0 if hinge is None else abs(float(self.angle[hinge]))

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

    def rests(self, region: Resting) -> bool:
        """Whether a region was edited only now."""
        return self.state.frame < self.resting.get(region, 0)

    def rested(self, region: Resting, frames: int = REST) -> Paper:
        """The same with a region that is to be left alone for some frames; those that have rested are forgotten."""
        now = self.state.frame
        left = {key: until for key, until in self.resting.items() if until > now}
        return replace(self, resting={**left, region: now + 1 + frames})

    def after(self, refusal: Refused) -> Paper:
        """The same after an edit was refused."""
        return replace(self, is_edited=True) if refusal.is_late else self

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
    try:
        return _through_gate(paper, structure)
    except Refused as refusal:
        refusal.is_late = True
        raise


def _through_gate(paper: Paper, structure: Structure) -> Paper:
    """The paper with another structure, on its mesh; `Refused` as `commit` says."""
    layout = enrich(structure, paper.options.ghost_spacing)
    x, v = transfer(paper.layout, layout, paper.state.x, paper.state.v)
    edited = replace(paper, layout=layout, state=state_on(layout, paper, x, v))
    clearance = Clearance(paper.model, edited.state)
    if not clearance.is_clear(x):
        raise Refused("something would intersect")
    y = clearance.restore(edited.isometry, x, edited.weight)
    strain = edited.isometry.worst(y)
    if strain > REFUSED:
        raise Refused(f"edges would be strained by {strain:.2g}")
    gap = clearance.gap(y)
    if gap < CLOSER and gap < CLOSER * Clearance(paper.model, paper.state).gap(paper.state.x):
        raise Refused("something would come too close")
    return replace(edited, state=edited.state.replaced(x=y), is_edited=True)


def restored(paper: Paper, x: Floats) -> tuple[Floats, float]:
    """The positions (node_count, 3) [m] that x leads to when edges get their lengths, and the largest strain left."""
    y = Clearance(paper.model, paper.state).restore(paper.isometry, x, paper.weight)
    return y, paper.isometry.worst(y)


def attempt(paper: Paper, edit: Callable[[Paper], Paper]) -> Paper | Refused:
    """The paper after an edit, itself when there was nothing to do; or why it was refused."""
    try:
        return edit(paper)
    except Refused as refusal:
        return refusal


def edit_region(paper: Paper, key: int, edit: Callable[[Paper, int], Paper]) -> Paper:
    """The paper after one of its curved regions was edited, which then rests: longer, when it was refused."""
    if paper.is_edited or key not in paper.structure.curves or paper.rests(key):
        return paper
    edited = attempt(paper, lambda paper: edit(paper, key))
    if isinstance(edited, Refused):
        return paper.after(edited).rested(key, LONG_REST)
    return edited if edited is paper else edited.rested(key)


def state_on(layout: Layout, paper: Paper, x: Floats, v: Floats) -> State:
    """The state of a paper on another mesh."""
    old, pins = paper.state, paper.state.pins
    node = _nodes_on(layout, paper.layout, pins.node)
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
    return with_hinges(fresh, layout, paper.memory)


def _nodes_on(layout: Layout, old: Layout, nodes: Ints) -> Ints:
    """What held nodes of an old mesh are on a new one, (n,): the same vertices, or those at the same place of the
    pattern, to the bit; `Refused` when there is none."""
    keys = list(old.structure.vertices)
    place = {tuple(u): number for number, u in enumerate(layout.mesh.u.tolist())}
    found = []
    for n in nodes.tolist():
        key = keys[n] if n < old.ghost else None
        there = layout.node.get(key) if key is not None else None
        there = place.get(tuple(old.mesh.u[n].tolist())) if there is None else there
        if there is None:
            raise Refused("a held node would go")
        found.append(there)
    return np.array(found, np.int32)
