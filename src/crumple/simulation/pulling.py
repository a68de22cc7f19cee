"""What handles do to the sheets that they hold: the force, how far they have moved, and their work."""

from __future__ import annotations

import numpy as np

from crumple.boundary.handles import Handle
from crumple.simulation.model import Model
from crumple.simulation.observers import Pull
from crumple.state import Pins, State
from crumple.typing import Floats


def handle_pulls(
    model: Model, before: State, moved: State, settled: State, *, is_fresh: bool = False, is_ahead: bool = False
) -> dict[str, Pull]:
    """What each handle has done over a step, by its name.

    `before` the step;  `moved` at its end, before anything has torn, with the anchors of handles that have taken hold;
    `settled`: after that. The force is that of the settled state.

    The work is an integral over the way of the targets, of a force that is known at both ends. Where cracks have run,
    it is not that of `moved`: in a stiff sheet the force on a crack that waits for the end of the step is far above
    that of one that runs along. It rises with the stiffness that `moved` tells until the crack runs, and stays as it is
    then; see `_work`.

    `is_fresh`: the mesh is new, and the sheet was not in balance on it at the start, so that the springs pulled with
    whatever force remeshing has left in them; then the forces after the step count alone.

    `is_ahead`: cracks have run ahead in `moved`, which does not tell how the force rises then: at once in a
    stiff sheet.
    """
    pulls: dict[str, Pull] = {}
    for index, handle in enumerate(model.handles):
        first, last = moved.pins.handle == index, settled.pins.handle == index
        if not first.any() or not last.any():
            continue
        span = before.time, settled.time
        way = _way(handle, moved.pins, first, *span)
        end = _forces(handle, settled, settled.pins, last)
        after = float(np.sum(end * _way(handle, settled.pins, last, *span)))
        start = after if is_fresh else float(np.sum(_forces(handle, before, moved.pins, first) * way))
        waiting = np.inf if is_ahead else float(np.sum(_forces(handle, moved, moved.pins, first) * way))
        gone = _way(handle, settled.pins, last, max(handle.start, 0.0), settled.time).mean(axis=0)
        pulls[handle.name] = Pull(_three(end.sum(axis=0)), _three(gone), _work(start, waiting, after))
    return pulls


def _work(start: float, waiting: float, after: float) -> float:
    """The work of a handle [J] if its force times the whole way [J] is `start` before a step, `after` it, and `waiting`
    if nothing tears.

    While the crack waits, the force goes from the first to the last of them in a straight line. If it has become larger
    in the end, it has risen along that line and then stayed; if it has become smaller, the mean of both ends counts.
    """
    rise, most = after - start, waiting - start
    share = min(1.0, rise / most) if rise > 0.0 and most > 0.0 else 1.0
    return share * 0.5 * (start + after) + (1.0 - share) * after


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
