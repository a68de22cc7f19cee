"""What surrounds the sheets of a session: the floor, and the air."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.boundary.obstacles import Obstacle, make_obstacle
from crumple.contact import find_candidates, has_intersections, least_relative_gap
from crumple.energies.wind import Wind
from crumple.model.derived import contact_surface
from crumple.model.model import Model
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints
from crumple.session.tuning import TUNING
from crumple.shapes.obstacles import plane
from crumple.state import State
from crumple.stepping.bookkeeping import with_stale_ledger

FLOOR = "floor"
"""The name of the obstacle that is the floor."""
NEVER = -1.0
"""The end [s] of a floor that has not been there yet: it comes to where the sheets are by then."""
AIR = 1.2
"""Density of air [kg/m³]."""
WIDTH = TUNING.floor_width.value
LEAST_WIDTH = TUNING.floor_least_width.value
LEAST_GAP = TUNING.floor_gap.value


def with_wind(model: Model, velocity: Floats) -> Model:
    """The model in a steady wind (3,) [m/s]: that of its own air, or of ordinary air where there was none."""
    x, y, z = velocity.tolist()
    wind = model.wind
    return replace(model, wind=Wind(AIR if wind.is_vacuum else wind.density, (x, y, z), wind.drag))


def with_floor(model: Model, state: State, height: float | None) -> tuple[Model, State]:
    """Model and state with the floor at a `height` [m], None = without one.

    The floor is the obstacle of that name; where there is none, a square plane below the sheets is made. Without a
    floor it is still among the obstacles, but nothing touches it.
    """
    if FLOOR not in (obstacle.name for obstacle in model.obstacles):
        model, state = _with_plane(model, state)
    number = [obstacle.name for obstacle in model.obstacles].index(FLOOR)
    floor = model.obstacles[number]
    if floor.end <= NEVER and height is not None:
        floor = replace(floor, shapes=_plane_below(state)[0][None])
    floor = _placed(floor, state.time, height)
    model = replace(model, obstacles=(*model.obstacles[:number], floor, *model.obstacles[number + 1 :]))
    first = sum(obstacle.node_count for obstacle in model.obstacles[:number])
    x, lag = state.obstacle_x.copy(), state.obstacle_lag.copy()
    x[first : first + floor.node_count], lag[number] = floor.shapes[0], 0.0
    state = with_stale_ledger(state.replaced(obstacle_x=x, obstacle_lag=lag))
    if height is not None:
        _require_room(model, state, height)
    return model, state


def _placed(floor: Obstacle, time: float, height: float | None) -> Obstacle:
    """The floor with its highest point at a `height` [m] from `time` [s] on, or touched by nothing from then on."""
    shape = floor.positions(time)
    if height is None:
        end = min(floor.end, 0.0)  # one that has never been there still has not
        return replace(floor, shapes=shape[None], times=np.zeros(1), motion=None, start=0.0, end=end)
    shape[:, 2] += height - shape[:, 2].max()
    return replace(floor, shapes=shape[None], times=np.zeros(1), motion=None, start=0.0, end=np.inf)


def _with_plane(model: Model, state: State) -> tuple[Model, State]:
    """Model and state with a plane below the sheets that rubs on each as that does on itself."""
    points, faces = _plane_below(state)
    made = make_obstacle(FLOOR, faces, points, thickness=max((one.thickness for one in model.obstacles), default=0.0))
    contact = model.contact
    if contact.friction.size:
        contact = replace(contact, friction=_with_part(contact.friction, len(model.sheet_names)))
    made = replace(made, end=NEVER)
    model = replace(model, obstacles=(*model.obstacles, made), contact=contact)
    state = state.replaced(
        obstacle_x=np.concatenate([state.obstacle_x, points]),
        obstacle_lag=np.append(state.obstacle_lag, 0.0),
        obstacle_force=np.concatenate([state.obstacle_force, np.zeros_like(points)])
        if len(state.obstacle_force) == len(state.obstacle_x) and len(state.obstacle_force)
        else state.obstacle_force,
    )
    return model, state


def _plane_below(state: State) -> tuple[Floats, Ints]:
    """Nodes [m] and faces of a large square at the height of the lowest point of the sheets, in the middle of them."""
    low, high = state.x.min(axis=0), state.x.max(axis=0)
    width = max(WIDTH * float(np.linalg.norm(np.ptp(state.mesh.node_rest, axis=0))), LEAST_WIDTH)
    points, faces = plane(width)
    return points + np.append(0.5 * (low + high)[:2], low[2]), faces


def _with_part(friction: Floats, sheets: int) -> Floats:
    """Coefficients (parts, parts) with one more part, which rubs on each sheet as that does on itself."""
    own = np.append(np.diag(friction)[:sheets], np.zeros(len(friction) - sheets))
    full = np.pad(friction, ((0, 1), (0, 1)))
    full[-1, :-1] = full[:-1, -1] = own
    return full


def _require_room(model: Model, state: State, height: float) -> None:
    """Refuse a floor that is not below all sheets, or so near that it would throw them up."""
    lowest = float(state.x[:, 2].min())
    surface = contact_surface(model, state, state.time)
    x = np.concatenate([state.x, state.obstacle_x])
    is_free = lowest > height and not has_intersections(surface, x)
    if model.contact.enabled and is_free:
        is_free = least_relative_gap(surface, find_candidates(surface, x, x, surface.reach), x) >= LEAST_GAP
    if not is_free:
        remedy = f"the sheets reach down to z = {lowest:.6g} m; put the floor lower, or raise it with set_obstacle"
        raise InputError("set_floor: height", remedy, height)
