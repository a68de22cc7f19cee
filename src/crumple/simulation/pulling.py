"""What handles do to the sheets that they hold: the force, how far they have moved, and their work."""

from __future__ import annotations

import numpy as np

from crumple.boundary.handles import Handle
from crumple.simulation.model import Model
from crumple.simulation.observers import Pull
from crumple.state import Pins, State
from crumple.typing import Floats


def handle_pulls(
    model: Model, before: State, moved: State, settled: State, *, is_fresh: bool = False
) -> dict[str, Pull]:
    """What each handle has done over a step, by its name.

    `before` the step;  `moved` at its end, before anything has torn, with the anchors of handles that have taken hold;
    `settled`: after that. The force is that of the settled state. The work is the way of the targets times the mean of
    the forces before and after it, when all cracks have run: in a stiff sheet the force on a crack that waits for the
    end of the step is far above that of one that runs along.

    `is_fresh`: the mesh is new, and the sheet was not in balance on it at the start, so that the springs pulled with
    whatever force remeshing has left in them; then the forces after the step count alone.
    """
    pulls: dict[str, Pull] = {}
    for index, handle in enumerate(model.handles):
        first, last = moved.pins.handle == index, settled.pins.handle == index
        if not first.any() or not last.any():
            continue
        span = before.time, settled.time
        start = _forces(handle, before, moved.pins, first)
        end = _forces(handle, settled, settled.pins, last)
        after = float(np.sum(end * _way(handle, settled.pins, last, *span)))
        work = after + (after if is_fresh else float(np.sum(start * _way(handle, moved.pins, first, *span))))
        gone = _way(handle, settled.pins, last, max(handle.start, 0.0), settled.time).mean(axis=0)
        pulls[handle.name] = Pull(_three(end.sum(axis=0)), _three(gone), 0.5 * work)
    return pulls


def _way(handle: Handle, pins: Pins, held: np.ndarray, since: float, time: float) -> Floats:
    """How far the targets of a handle move from one time [s] to another, (m, 3) [m]."""
    return _targets(handle, pins, held, time) - _targets(handle, pins, held, since)


def _forces(handle: Handle, state: State, pins: Pins, held: np.ndarray) -> Floats:
    """Forces of the springs of a handle on the nodes that it holds, (m, 3) [N]."""
    strength = handle.stiffness * handle.strength(state.time)
    return strength * (_targets(handle, pins, held, state.time) - state.x[pins.node[held]])


def _targets(handle: Handle, pins: Pins, held: np.ndarray, time: float) -> Floats:
    """Where a handle wants its nodes at `time` [s], (m, 3) [m]."""
    return handle.target(time, pins.anchor[held])


def _three(vector: Floats) -> tuple[float, float, float]:
    x, y, z = vector.tolist()
    return x, y, z
