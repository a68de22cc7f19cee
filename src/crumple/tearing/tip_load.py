"""What drives a crack's tip and what holds it: Griffith's balance, over all directions.

    Γ(θ) = G(θ)/R(θ),    G(θ) = κ g_∥ K(θ)²/(K_I² + K_II²) + (1 − κ) |g| ((1 + cos(θ − θ_g))/2)²

with the configurational force g of the terms, as a rule of membrane and bending (`energies.driving_force`), g_∥ its
part along the crack, and the resistance R of the sheet (`tearing.resistance`). The crack runs along the θ of the
largest Γ while that is above 1.

What a crack that kinks sets free depends on what loads it. Where the sheet is pulled in its own plane, its tip is in a
field of stress (`tearing.williams`), which tells it: K(θ) is largest where the tension across the crack is. A flap that
is peeled off or the legs of trousers free work of the hands instead, and the field explains next to nothing of it. κ is
the part that it does explain, (K_I² + K_II²)/(Y g_∥), and 0 where the tension around the tip is not such a field.

What damping stores and dissipates over a stage counts as well: g is how the potential that the stage minimises changes
with the pattern. A damped sheet does not relax at once, and the stress that its elements have would drive the crack on
and on, while viscous stress holds the lips together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import pi, sqrt
from typing import TypeAlias

import numpy as np

from crumple.contract import Stage
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.runtime.typing import Floats
from crumple.state import State
from crumple.tearing.path import node_vertex
from crumple.tearing.resistance import Toughness, make_toughness, resistance, weak_lines
from crumple.tearing.tip import REACH, lip_nodes, tip_weights
from crumple.tearing.tip_field import tip_field
from crumple.tearing.tuning import TUNING
from crumple.tearing.williams import Field

ANGLES = TUNING.tip_directions.value
PROCESS_ZONE = TUNING.process_zone.value
LAST = TUNING.moving_lips.value
FOLD = TUNING.fold_reach.value
CLEAR = TUNING.clear_of_held_lips.value
APART = TUNING.fold_from_tips.value
FORWARD = TUNING.largest_kink.value
ROUND = TUNING.largest_turn_of_lines.value
GOOD_FIELD = TUNING.field_good.value
STALE = TUNING.stale_begin.value
AKIN = TUNING.akin_begin.value
NO_FIELD = TUNING.field_bad.value
HELD = TUNING.held_glide.value


Begins: TypeAlias = dict[int, tuple[Floats, Floats]]
"""Of each crack, by its number: where its tip was at the start of the step (2,) [m], and g there (2,) [N]."""


@dataclass(frozen=True)
class Load:
    """The load of one tip: the `force` g (2,) [N], the best `direction` (2,), R there [N], and `ratio` Γ; `straight`: R
    and Γ straight on;  `gliding`: Γ of a tip that glides straight on within its faces."""

    force: Floats
    direction: Floats
    resistance: float
    ratio: float
    straight: tuple[float, float]
    gliding: float = float("inf")

    @property
    def is_held(self) -> bool:
        """Whether the tip sets free much less when it glides than the stress around it promises.

        Lips that are a single edge beside a tip cannot bend: the sheet is held together behind the tip, until an edge
        is cut and a node of the lips is free.
        """
        return self.gliding < HELD * self.straight[1]


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
    state: State,
    derived: Derived,
    toughness: Toughness,
    number: int,
    size: float,
    stage: Stage | None,
    begins: Callable[[], Begins] = dict,
) -> Load:
    """The load of the tip `number` of a state at the end of a `stage`, or at rest without one; `size` ℓ [m];
    `begins`: what it was before, see `as_it_begins`."""
    mesh, node, heading = state.mesh, int(state.tips.node[number]), state.tips.heading[number]
    vertex = node_vertex(mesh, node)
    force = tip_force(state, derived, number, size, stage)
    strength = float(np.linalg.norm(force))
    if strength == 0.0:
        return Load(force, heading, float("inf"), 0.0, (float("inf"), 0.0))
    straight = float(resistance(toughness, mesh, vertex, heading[None], size=size)[0])
    before = begins().get(int(state.tips.crack[number])) if strength > straight else None
    drive = as_it_begins(force, straight, before, mesh.u[vertex], size)
    field, share = field_share(state, derived, number, size, stage, float(force @ heading))
    wanted = [heading, drive, *([] if field is None else [field.kink])]
    directions = np.concatenate([np.array(wanted), _directions(mesh.u, mesh.faces, vertex)])
    lined = weak_lines(toughness.line, mesh, vertex)
    directions = np.concatenate([directions[directions @ heading > FORWARD], lined[lined @ heading > ROUND]])
    held = resistance(toughness, mesh, vertex, directions, size=size)
    freed = (1.0 - share) * strength * (0.5 * (1.0 + directions @ drive)) ** 2
    if field is not None:
        freed += share * float(force @ heading) * field.hoop(directions) ** 2 / field.straight
    ratio = freed / held
    best = int(np.argmax(ratio))
    own = np.zeros(mesh.node_count)
    own[state.tips.node[number]] = 1.0
    gliding = float(driving_force(state, derived, own, stage) @ heading) / straight
    straight_on = (float(held[0]), float(ratio[0]))
    return Load(force, directions[best], float(held[best]), float(ratio[best]), straight_on, gliding)


def tip_begins(state: State, derived: Derived, size: float) -> Begins:
    """Where the tips of a state are, and what drives them; `size` ℓ [m]."""
    return {
        int(crack): (state.mesh.u[node_vertex(state.mesh, int(node))], tip_force(state, derived, number, size))
        for number, (crack, node) in enumerate(zip(state.tips.crack, state.tips.node, strict=True))
    }


def as_it_begins(
    force: Floats, held: float, before: tuple[Floats, Floats] | None, place: Floats, size: float
) -> Floats:
    """The unit vector (2,) along g when it has just grown to what the crack takes, `held` [N], on its way from what it
    was `before` to the `force` (2,) [N], which is more.

    In a step the hands move first and the crack follows. With the crack still where it was the sheet is pulled taut,
    more than it ever is, and g points elsewhere. Stress grows evenly with the motion of the hands, g as its square: so
    it is vectors along g of the length √|g| that are followed. Where the tip has run by more than `STALE` ℓ since, or g
    was quite another, what was before says nothing.
    """
    now = float(np.linalg.norm(force))
    if before is None or not _is_akin(before[1], force) or float(np.linalg.norm(place - before[0])) >= STALE * size:
        return force / now
    then = float(np.linalg.norm(before[1]))
    first, last = sqrt(min(1.0, then / held)), sqrt(now / held)
    passed = (1.0 - first) / (last - first)
    drive = (1.0 - passed) * first * before[1] / then + passed * last * force / now
    return drive / float(np.linalg.norm(drive))


def _is_akin(first: Floats, second: Floats) -> bool:
    """Whether the angle between two vectors (2,) is small."""
    return float(first @ second) > AKIN * float(np.linalg.norm(first) * np.linalg.norm(second))


def field_share(
    state: State, derived: Derived, number: int, size: float, stage: Stage | None, along: float
) -> tuple[Field | None, float]:
    """The field of the tip `number` and κ, the part of g_∥ `along` its heading [N] that the field explains."""
    found = tip_field(state, derived, number, size, stage) if along > 0.0 else None
    if found is None or found[0].straight == 0.0:
        return None, 0.0
    field, modulus = found
    trust = min(1.0, max(0.0, (NO_FIELD - field.residual) / (NO_FIELD - GOOD_FIELD)))
    share = trust * min(1.0, field.straight / (modulus * along))
    return (field, share) if share > 0.0 else (None, 0.0)


def tip_force(state: State, derived: Derived, number: int, size: float, stage: Stage | None = None) -> Floats:
    """g (2,) [N] of the tip `number`; `size` ℓ [m].

    A crack that runs straight on is the same crack with its lips slid along themselves. One that turns leaves its lips
    where they are but for the last edge: if they moved aside, whatever pushes against a lip would draw the crack there,
    as if it could have run elsewhere. What is held stays where it is, too; where that is a lip,
    only what is much nearer to the tip counts: around such a node elements of this size tell little of the stress.
    Nor does it count what an obstacle presses against, which is no stress of the crack's.

    But the fold by which a flap hangs on the sheet moves on with the crack. One that turns inwards makes it narrower,
    and saves a part of its energy that is proportional to the width [Hamm2008]: what bending frees when the lips move
    aside as far as the fold goes. What bending has taken for good counts as what it stores does: both are spent where
    the sheet goes on into the fold.
    """
    mesh, node, heading = state.mesh, int(state.tips.node[number]), state.tips.heading[number]
    still = np.concatenate([state.pins.node, state.bonds.nodes_needed, state.tips.node]).astype(np.int32)
    weights = partial(tip_weights, mesh, node, heading, size, still=still)
    clear = CLEAR * _held_lip(state, number, FOLD / CLEAR * size) / size
    along = driving_force(state, derived, weights(reach=min(REACH, clear)), stage)
    other = min(APART * _nearest_tip(state, number), _nearest_obstacle(state, number))
    reach = min(FOLD, max(REACH, min(clear, other / size)))
    wide = partial(weights, core=reach - REACH, reach=reach)
    across = turning_force(state, derived, wide(lips=LAST), wide(), stage)
    normal = np.array([-heading[1], heading[0]])
    return (along @ heading) * heading + (across @ normal) * normal


def driving_force(state: State, derived: Derived, weight: Floats, stage: Stage | None = None) -> Floats:
    """g (2,) [N] of all terms for a motion of the pattern by `weight` (node_count,), with what they dissipate over a
    `stage`, if given."""
    moving = None if stage is None or stage.is_static else stage
    parts = [part for _, term in derived.terms for part in term.driving_force(state, weight, moving)]
    return np.sum(parts, axis=0) if parts else np.zeros(2)


def turning_force(
    state: State, derived: Derived, weight: Floats, fold_weight: Floats, stage: Stage | None = None
) -> Floats:
    """The same when the lips stay, `weight` (node_count,), but for folds, which move on by `fold_weight`."""
    moving = None if stage is None or stage.is_static else stage
    force = np.zeros(2)
    for _, term in derived.terms:
        fold = term.fold_force(state, fold_weight, moving)
        for part in term.driving_force(state, weight, moving) if fold is None else fold:
            force += part
    return force


def _held_lip(state: State, number: int, reach: float) -> float:
    """How far the next node of its lips that is held is from the tip `number` [m], inf if farther than `reach` [m]."""
    mesh, node = state.mesh, int(state.tips.node[number])
    vertex = node_vertex(mesh, node)
    distance = np.full(mesh.node_count, np.inf)
    np.minimum.at(distance, mesh.vertex_node, np.linalg.norm(mesh.u - mesh.u[vertex], axis=1))
    lips = np.concatenate(lip_nodes(mesh, node, state.tips.heading[number], distance < reach))
    held = np.intersect1d(lips[lips != node], state.pins.node)
    return float(distance[held].min(initial=np.inf))


def _nearest_obstacle(state: State, number: int) -> float:
    """How far the next node of an obstacle is from the tip `number` [m]."""
    away = state.obstacle_x - state.x[state.tips.node[number]]
    return float(np.linalg.norm(away, axis=1).min(initial=np.inf))


def _nearest_tip(state: State, number: int) -> float:
    """How far the next tip of the same sheet is from the tip `number` [m]."""
    mesh, nodes = state.mesh, state.tips.node
    place = np.array([mesh.u[node_vertex(mesh, int(node))] for node in nodes])
    other = (mesh.node_sheet[nodes] == mesh.node_sheet[nodes[number]]) & (np.arange(len(nodes)) != number)
    return float(np.linalg.norm(place[other] - place[number], axis=1).min(initial=np.inf))


def _directions(u: Floats, faces: np.ndarray, vertex: int) -> Floats:
    """Unit vectors (n, 2) at equal angles, and along the edges at a vertex."""
    angle = 2.0 * pi / ANGLES * np.arange(ANGLES)
    around = np.unique(faces[(faces == vertex).any(axis=1)])
    along = u[around[around != vertex]] - u[vertex]
    along = along / np.linalg.norm(along, axis=1, keepdims=True)
    return np.concatenate([np.stack([np.cos(angle), np.sin(angle)], axis=1), along])
