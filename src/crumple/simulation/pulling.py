"""What handles do to the sheets that they hold: the force, how far they have moved, and their work."""

from __future__ import annotations

import numpy as np

from crumple.boundary.handles import Handle
from crumple.simulation.model import Model
from crumple.simulation.observers import Pull
from crumple.state import Pins, State
from crumple.typing import Floats


def handle_pulls(model: Model, before: State, moved: State, settled: State) -> dict[str, Pull]:
    """What each handle has done over a step, by its name.

    `before` the step;  `moved` at its end, before anything has torn;  `settled`: after that. The force is that of the
    settled state. The work is the mean of the forces at both ends of the motion times the way of the targets: a crack
    runs when they have arrived.
    """
    pulls: dict[str, Pull] = {}
    for index, handle in enumerate(model.handles):
        pins, held = moved.pins, moved.pins.handle == index
        if not held.any():
            continue
        way = _targets(handle, pins, held, moved.time) - _targets(handle, pins, held, before.time)
        mean = 0.5 * (_forces(handle, before, pins, held) + _forces(handle, moved, pins, held))
        after = settled.pins.handle == index
        force = _forces(handle, settled, settled.pins, after).sum(axis=0)
        grip = _targets(handle, settled.pins, after, max(handle.start, 0.0))
        gone = (_targets(handle, settled.pins, after, settled.time) - grip).mean(axis=0)
        pulls[handle.name] = Pull(_three(force), _three(gone), float(np.sum(mean * way)))
    return pulls


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
