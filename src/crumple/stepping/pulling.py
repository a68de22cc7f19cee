"""What handles and obstacles do to the sheets: their force, how far they have moved, and their work.

The work in a step is an integral over the way of the targets, or of the obstacle's nodes, of a force that is known at
both ends. Where cracks have run, it is not that of the state before: in a stiff sheet the force on a crack that waits
for the end of the step is far above that of one that runs along; see `_work`.

The force at the start is that at the end of the step before. Remeshing in between gives a handle other nodes, and
leaves whatever force in their springs; so what the state keeps of a handle with the forces f_i at the targets p_i is

    Σ f_i  and  Σ p_i f_iᵀ     (4, 3),

which is all that the work along an affine motion depends on.
"""

from __future__ import annotations

from math import inf

import numpy as np

from crumple.boundary.handles import Handle
from crumple.model.model import Model
from crumple.runtime.typing import Floats
from crumple.state import State
from crumple.stepping.reports import Pull

PROBES = np.concatenate([np.zeros((1, 3)), np.eye(3)])
"""Places that an affine motion is known by."""


def handle_pulls(model: Model, before: State, moved: State, settled: State) -> dict[str, Pull]:
    """What each handle has done over a step, by its name.

    `before` the step;  `moved` at its end, before anything has torn, with the anchors of handles that have taken hold;
    `settled`: after that. The force is that of the settled state.
    """
    pulls: dict[str, Pull] = {}
    has_torn, is_led = moved.x is not settled.x or moved.pins is not settled.pins, _is_led(before, moved, settled)
    loads = before.handle_load
    if len(loads) != len(model.handles):
        loads = np.zeros((len(model.handles), 4, 3))
    for index, handle in enumerate(model.handles):
        last = settled.pins.handle == index
        first = moved.pins.handle == index if has_torn else last
        if not first.any() or not last.any():
            continue
        span = before.time, settled.time
        end = _forces(handle, settled, last)
        after = float(np.sum(end * _displacement(handle, settled.pins.anchor[last], *span)))
        waiting = after
        if is_led:
            waiting = inf
        elif has_torn:
            way = _displacement(handle, moved.pins.anchor[first], *span)
            waiting = float(np.sum(_forces(handle, moved, first) * way))
        start = _load_work(handle, loads[index], *span)
        gone = _displacement(handle, settled.pins.anchor[last], max(handle.start, 0.0), settled.time).mean(axis=0)
        pulls[handle.name] = Pull(_three(end.sum(axis=0)), _three(gone), _work(start, waiting, after))
    return pulls


def handle_loads(model: Model, state: State) -> Floats:
    """What handles pull with at the end of a step, (handle_count, 4, 3): Σ f [N] and Σ p fᵀ [N m]."""
    loads = np.zeros((len(model.handles), 4, 3))
    for index, handle in enumerate(model.handles):
        held = state.pins.handle == index
        force = _forces(handle, state, held)
        target = handle.target(state.time, state.pins.anchor[held])
        loads[index] = np.concatenate([force.sum(axis=0)[None], target.T @ force])
    return loads


def obstacle_pulls(model: Model, before: State, moved: State, settled: State) -> dict[str, Pull]:
    """The same of each obstacle, friction included, where something can touch."""
    if len(settled.obstacle_force) != len(settled.obstacle_x):
        return {}
    pulls: dict[str, Pull] = {}
    begin = before.obstacle_force
    if len(begin) != len(settled.obstacle_force):
        begin = np.zeros_like(settled.obstacle_force)
    displacement = settled.obstacle_x - before.obstacle_x
    first = 0
    for obstacle in model.obstacles:
        mine = slice(first, first + obstacle.node_count)
        first = mine.stop
        if not obstacle.active(settled.time):
            continue
        start, waiting, after = (
            float(np.sum(force[mine] * displacement[mine]))
            for force in (begin, moved.obstacle_force, settled.obstacle_force)
        )
        waiting = inf if _is_led(before, moved, settled) else waiting
        gone = settled.obstacle_x[mine].mean(axis=0) - obstacle.middle_at_start
        force = settled.obstacle_force[mine].sum(axis=0)
        pulls[obstacle.name] = Pull(_three(force), _three(gone), _work(start, waiting, after))
    return pulls


def _is_led(before: State, moved: State, settled: State) -> bool:
    """Whether cracks ran on before the sheets moved, and have not been drawn back. What the force would have been
    without is not known then; in a sheet that tears it rises so fast that it is as large as after the step at once."""
    return moved.torn is not before.torn and settled.fracture_work > before.fracture_work


def _work(start: float, waiting: float, after: float) -> float:
    """The work over a step [J] if the force times the whole way [J] is `start` before it, `after` it, and `waiting` if
    nothing tears.

    While the crack waits, the force goes from the first to the last of them in a straight line. If it has become larger
    in the end, it has risen along that line and then stayed; if it has become smaller, the mean of both ends counts.
    """
    rise, most = after - start, waiting - start
    fraction = min(1.0, rise / most) if rise > 0.0 and most > 0.0 else 1.0
    return fraction * 0.5 * (start + after) + (1.0 - fraction) * after


def _load_work(handle: Handle, load: Floats, since: float, time: float) -> float:
    """The work of a load (4, 3) that stays as it is while the targets move from one time [s] to another [J]."""
    displacement = _displacement(handle, handle.anchor(since, PROBES), since, time)
    displacement[1:] -= displacement[0]
    return float(np.sum(load * displacement))


def _displacement(handle: Handle, anchor: Floats, since: float, time: float) -> Floats:
    """How far the targets of anchors (m, 3) move from one time [s] to another, (m, 3) [m]."""
    return handle.target(time, anchor) - handle.target(since, anchor)


def _forces(handle: Handle, state: State, held: np.ndarray) -> Floats:
    """Forces of the springs of a handle on the pins that it holds, `held` (pin_count,), (m, 3) [N]."""
    return handle.force(state.time, state.x[state.pins.node[held]], state.pins.anchor[held])


def _three(vector: Floats) -> tuple[float, float, float]:
    x, y, z = vector.tolist()
    return x, y, z
