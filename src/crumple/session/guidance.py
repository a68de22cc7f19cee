"""Handles and obstacles that are moved by hand: model and state with them on their way, and where they have arrived.

A handle is wanted where its targets are, an obstacle where its motion has it; what is sent somewhere starts there and
goes steadily, and whatever motion the scene has given it ends. Every engine understands the result: it is a model with
other motions, and a state with other anchors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from crumple.boundary.motions import Motion, Rate, make_motion, rotation_vector_of
from crumple.boundary.obstacles import Obstacle
from crumple.model.model import Model
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Bools, Floats
from crumple.state import State
from crumple.state.ragged import Pins


class Body(NamedTuple):
    """A handle or an obstacle of a model: its `kind`, "handle" or "obstacle", and its number there."""

    kind: str
    number: int


@dataclass(frozen=True)
class Goal:
    """Where a body is to be: its middle at `position` (3,) [m], turned by `turn` (3, 3) from its direction at the
    start; None: as it is."""

    position: Floats | None = None
    turn: Floats | None = None


def find_body(model: Model, kind: str, name: str) -> Body:
    """The handle or the obstacle of this name; `InputError` when there is none."""
    names = [one.name for one in (model.handles if kind == "handle" else model.obstacles)]
    if name not in names:
        raise InputError(kind, f"the scene has {', '.join(names) or f'no {kind}s'}", name)
    return Body(kind, names.index(name))


def wanted_position(model: Model, state: State, body: Body) -> Floats:
    """Where the middle of the nodes of a body is wanted now, (3,) [m]."""
    if body.kind == "obstacle":
        return np.asarray(model.obstacles[body.number].positions(state.time).mean(axis=0))
    handle, held = model.handles[body.number], _held(state, body)
    if not held.any():
        raise InputError("handle", "it holds no node", handle.name)
    return np.asarray(handle.target(state.time, state.pins.anchor[held]).mean(axis=0))


def send(
    model: Model, state: State, goals: Mapping[Body, Goal], turns: Mapping[Body, Floats], until: float
) -> tuple[Model, State]:
    """Model and state with bodies on their way to their goals, where they arrive at the time `until` [s].

    `turns` (3, 3): how bodies that were turned by hand before are turned now.
    """
    handles, obstacles = list(model.handles), list(model.obstacles)
    now, anchor = state.time, state.pins.anchor.copy()
    for body, goal in goals.items():
        before = turns.get(body, np.eye(3))
        if body.kind == "handle":
            handle, held = handles[body.number], _held(state, body)
            anchor[held] = handle.target(now, anchor[held])
            middle = anchor[held].mean(axis=0) if held.any() else np.zeros(3)
            motion = _steady(handle.name, goal, before, middle, now, until)
            handles[body.number] = replace(handle, motion=motion, grips=False)
        else:
            still = _stopped(obstacles[body.number], now)
            motion = _steady(still.name, goal, before, still.shapes[0].mean(axis=0), now, until)
            obstacles[body.number] = replace(still, motion=motion)
    model = replace(model, handles=tuple(handles), obstacles=tuple(obstacles))
    return model, state.replaced(pins=replace(state.pins, anchor=anchor))


def stop(model: Model, state: State, bodies: Iterable[Body], time: float) -> tuple[Model, State]:
    """Model and state with bodies that stay where they are wanted at `time` [s], whatever comes."""
    handles, obstacles = list(model.handles), list(model.obstacles)
    anchor = state.pins.anchor.copy()
    for body in bodies:
        if body.kind == "handle":
            handle, held = handles[body.number], _held(state, body)
            anchor[held] = handle.target(time, anchor[held])
            handles[body.number] = replace(handle, motion=None)
        else:
            obstacles[body.number] = _stopped(obstacles[body.number], time)
    model = replace(model, handles=tuple(handles), obstacles=tuple(obstacles))
    return model, state.replaced(pins=replace(state.pins, anchor=anchor))


def let_go(state: State, body: Body) -> State:
    """The state in which a handle holds nothing."""
    pins, kept = state.pins, ~_held(state, body)
    return state.replaced(pins=Pins(pins.node[kept], pins.handle[kept], pins.anchor[kept]))


def take_hold(model: Model, state: State, body: Body, point: Floats, reach: float) -> State | None:
    """The state in which a handle also holds the node nearest to `point` (3,) [m] that nothing holds, where it is; None
    when there is none within `reach` [m]."""
    pins, x = state.pins, state.x
    distance = np.linalg.norm(x - point, axis=1)
    distance[pins.node] = np.inf
    node = int(distance.argmin())
    if not distance[node] <= reach:
        return None
    anchor = model.handles[body.number].anchor(state.time, x[[node]])
    nodes, handles = np.append(pins.node, np.int32(node)), np.append(pins.handle, np.int32(body.number))
    order = np.lexsort((nodes, handles))
    return state.replaced(pins=Pins(nodes[order], handles[order], np.concatenate([pins.anchor, anchor])[order]))


def felt_force(model: Model, state: State, body: Body) -> Floats:
    """The force that a body feels from the sheets, (3,) [N], friction included; of obstacles at the end of the last
    step, zero before the first."""
    if body.kind == "handle":
        handle, held = model.handles[body.number], _held(state, body)
        force = handle.force(state.time, state.x[state.pins.node[held]], state.pins.anchor[held])
        return np.asarray(-force.sum(axis=0))
    if len(state.obstacle_force) != len(state.obstacle_x):
        return np.zeros(3)
    first = sum(obstacle.node_count for obstacle in model.obstacles[: body.number])
    return np.asarray(-state.obstacle_force[first : first + model.obstacles[body.number].node_count].sum(axis=0))


def leave_obstacles(model: Model, state: State) -> Model:
    """The model with obstacles that have no motion where the state has them: they were put there by hand.

    The model of a recording has them where they were last, which is elsewhere when it is resumed from a frame before.
    """
    first = 0
    for index, obstacle in enumerate(model.obstacles):
        here = state.obstacle_x[first : first + obstacle.node_count]
        first += obstacle.node_count
        is_late = state.obstacle_lag[index] > 0.0  # it is on its way to where the model has it
        if not obstacle.moves and not is_late and not np.array_equal(here, obstacle.shapes[0]):
            others = list(model.obstacles)
            others[index] = replace(obstacle, shapes=here[None].copy())
            model = replace(model, obstacles=tuple(others))
    return model


def turned_now(
    model: Model, goals: Mapping[Body, Goal], turns: Mapping[Body, Floats], time: float
) -> dict[Body, Floats]:
    """How the bodies that are to turn on their way are turned from their directions at the start at `time` [s]."""
    found: dict[Body, Floats] = {}
    for body, goal in goals.items():
        motion = (model.handles if body.kind == "handle" else model.obstacles)[body.number].motion
        if goal.turn is not None and motion is not None:
            is_there = time >= motion.rate_end
            found[body] = goal.turn if is_there else motion.transform(time)[0] @ turns.get(body, np.eye(3))
    return found


def _held(state: State, body: Body) -> Bools:
    """The pins of a handle, (pin_count,)."""
    return np.asarray(state.pins.handle == body.number)


def _stopped(obstacle: Obstacle, time: float) -> Obstacle:
    """The obstacle as it is at `time` [s], whatever comes."""
    return replace(obstacle, shapes=obstacle.positions(time)[None], times=np.zeros(1), motion=None)


def _steady(name: str, goal: Goal, before: Floats, middle: Floats, now: float, until: float) -> Motion:
    """The motion from `middle` (3,) [m] and the turn `before` (3, 3) to the goal, steadily."""
    spin = np.zeros(3) if goal.turn is None else rotation_vector_of(goal.turn @ before.T)
    way = np.zeros(3) if goal.position is None else goal.position - middle
    span = until - now
    return make_motion(name, [], rate=Rate(tuple(way / span), tuple(spin / span), now, until), center=tuple(middle))
