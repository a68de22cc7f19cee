"""What drives a crack's tip and what holds it: Griffith's balance, over all directions.

    Γ(θ) = |g| ((1 + cos(θ − θ_g))/2)² / R(θ)

with the configurational force g of the terms, as a rule of membrane and bending (`energies.driving_force`), and the
resistance R of the sheet (`tearing.resistance`). The crack runs along the θ of the largest Γ while that is above 1.

What damping stores and dissipates over a stage counts as well: g is how the potential that the stage minimises changes
with the pattern. A damped sheet does not relax at once, and the stress that its elements have would drive the crack on
and on, while viscous stress holds the lips together.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, pi

import numpy as np

from crumple.contract import Stage
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.runtime.typing import Floats
from crumple.state import State
from crumple.tearing.path import node_vertex
from crumple.tearing.resistance import Toughness, make_toughness, resistance
from crumple.tearing.tip import tip_weights
from crumple.tearing.tuning import TUNING

ANGLES = TUNING.tip_directions.value
PROCESS_ZONE = TUNING.process_zone.value
LAST = TUNING.moving_lips.value
FORWARD = TUNING.largest_kink.value


@dataclass(frozen=True)
class Load:
    """The load of one tip: the `force` g (2,) [N], the best `direction` (2,), R there [N], and `ratio` Γ; `straight`: R
    and Γ straight on."""

    force: Floats
    direction: Floats
    resistance: float
    ratio: float
    straight: tuple[float, float]


def tip_size(model: Model, state: State) -> float:
    """ℓ [m]: edge length at the tips of cracks: as asked for, else the smallest of remeshing, else that of the mesh."""
    assert model.tearing is not None
    if model.tearing.tip_size is not None:
        return model.tearing.tip_size
    if model.remeshing is not None:
        return min(options.size_min for options in model.remeshing.all_sizing)
    return float(np.sqrt(4.0 / np.sqrt(3.0) * np.abs(state.mesh.face_area).mean()))


def spare_tips(before: State, state: State, model: Model) -> State:
    """The state whose faces around tips have the crease tensors of `before`.

    What yields around a tip yields because the crack runs: it is a part of the energy that tearing takes, not a fold
    that was there. Otherwise a crack would follow the bends that it makes itself.
    """
    if not len(state.tips.node) or state.crease is before.crease:
        return state
    mesh = state.mesh
    tips = np.array([node_vertex(mesh, int(node)) for node in state.tips.node])
    middle = mesh.u[mesh.faces].mean(axis=1)
    near = np.zeros(mesh.face_count, bool)
    sheet = mesh.node_sheet[state.tips.node]
    for vertex, own in zip(tips, sheet, strict=True):
        way = np.linalg.norm(middle - mesh.u[vertex], axis=1)
        near |= (way < PROCESS_ZONE * tip_size(model, state)) & (mesh.face_sheet == own)
    return state.replaced(crease=np.where(near[:, None], before.crease, state.crease))


def state_toughness(model: Model, state: State) -> Toughness:
    """What the faces of a state oppose to cracks."""
    assert model.tearing is not None
    return make_toughness(
        state.mesh,
        model.materials,
        model.tearing,
        crease=state.crease,
        damage=state.damage,
        plastic_curvature=state.plastic_curvature,
    )


def tip_load(
    state: State, derived: Derived, toughness: Toughness, number: int, size: float, stage: Stage | None
) -> Load:
    """The load of the tip `number` of a state at the end of a `stage`, or at rest without one; `size` ℓ [m]."""
    mesh, node, heading = state.mesh, int(state.tips.node[number]), state.tips.heading[number]
    vertex = node_vertex(mesh, node)
    force = tip_force(state, derived, number, size, stage)
    strength = float(np.linalg.norm(force))
    if strength == 0.0:
        return Load(force, heading, float("inf"), 0.0, (float("inf"), 0.0))
    directions = np.concatenate([heading[None], force[None] / strength, _directions(mesh.u, mesh.faces, vertex)])
    directions = directions[directions @ heading > FORWARD]
    held = resistance(toughness, mesh, vertex, directions, size=size)
    aligned = 0.5 * (1.0 + directions @ force / strength)
    ratio = strength * aligned**2 / held
    best = int(np.argmax(ratio))
    return Load(force, directions[best], float(held[best]), float(ratio[best]), (float(held[0]), float(ratio[0])))


def tip_force(state: State, derived: Derived, number: int, size: float, stage: Stage | None = None) -> Floats:
    """g (2,) [N] of the tip `number`: along its heading with lips that move along, across it with lips that stay but
    for the last edge; `size` ℓ [m].

    A crack that runs straight on is the same crack with its lips slid along themselves. One that turns leaves its lips
    where they are. If they moved aside as well, whatever pushes against a lip would draw the crack there, as if it
    could have run elsewhere.
    """
    mesh, node, heading = state.mesh, int(state.tips.node[number]), state.tips.heading[number]
    normal = np.array([-heading[1], heading[0]])
    force = np.zeros(2)
    for way, lips in ((heading, inf), (normal, LAST)):
        weight = tip_weights(mesh, node, heading, size, lips=lips)
        force += (driving_force(state, derived, weight, stage) @ way) * way
    return force


def driving_force(state: State, derived: Derived, weight: Floats, stage: Stage | None = None) -> Floats:
    """g (2,) [N] of all terms for a motion of the pattern by `weight` (node_count,), with what they dissipate over a
    `stage`, if given."""
    moving = None if stage is None or stage.is_static else stage
    force = np.zeros(2)
    for _, term in derived.terms:
        for part in term.driving_force(state, weight, moving):
            force += part
    return force


def _directions(u: Floats, faces: np.ndarray, vertex: int) -> Floats:
    """Unit vectors (n, 2) at equal angles, and along the edges at a vertex."""
    angle = 2.0 * pi / ANGLES * np.arange(ANGLES)
    around = np.unique(faces[(faces == vertex).any(axis=1)])
    along = u[around[around != vertex]] - u[vertex]
    along = along / np.linalg.norm(along, axis=1, keepdims=True)
    return np.concatenate([np.stack([np.cos(angle), np.sin(angle)], axis=1), along])
