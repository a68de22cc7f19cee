"""Pressure of sheets on the closed surfaces that confine them, and the sizes at which it is the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from crumple.analysis.analyze import recording_model
from crumple.contact import active_pairs, find_candidates
from crumple.model.derived import contact_surface
from crumple.model.model import Model
from crumple.recording.recording import Recording
from crumple.runtime.typing import Floats
from crumple.state import State


@dataclass(frozen=True)
class PressureCurve:
    """Frame by frame while a container shrinks: its `radius` [m], that of a ball of the same volume, and the
    `pressure` [Pa] on it, both (n,)."""

    radius: Floats
    pressure: Floats

    def below(self, radius: float) -> PressureCurve:
        """The part in which the container is smaller than `radius` [m] and the sheet presses on it."""
        chosen = (self.radius < radius) & (self.pressure > 0.0)
        return PressureCurve(self.radius[chosen], self.pressure[chosen])


@dataclass(frozen=True)
class EqualPressure:
    """`radius` [m] at which each of several sheets presses on its container with the same pressure, (n,), and the
    `steepness` α of P ∝ R^−α, which they share."""

    radius: Floats
    steepness: float


def equal_pressure(curves: Sequence[PressureCurve], pressure: float) -> EqualPressure | None:
    """The radii at a `pressure` [Pa], by least squares with all frames; None unless pressures rise on the whole.

    ln P = a_k − α ln R with an a_k for each sheet: as facets snap through, pressures jump by factors of two and more
    from frame to frame, which makes the radius of a single crossing a matter of chance. Ratios of the radii do not
    depend on the pressure.
    """
    if not curves or any(len(curve.radius) < 2 for curve in curves):
        return None
    logs = [(np.log(curve.radius), np.log(curve.pressure)) for curve in curves]
    product = sum(float(((r - r.mean()) * (p - p.mean())).sum()) for r, p in logs)
    square = sum(float(((r - r.mean()) ** 2).sum()) for r, _ in logs)
    if product >= 0.0 or square == 0.0:
        return None
    steepness = -product / square
    radius = np.exp([r.mean() + (p.mean() - np.log(pressure)) / steepness for r, p in logs])
    return EqualPressure(radius, steepness)


def pressure_curves(recording: Recording) -> tuple[PressureCurve, ...]:
    """Radius of and pressure on every obstacle, closed ones, from frame 1 until it is smallest."""
    model = recording_model(recording)
    states = [recording.load(frame) for frame in recording.frames[1:]]
    shape = (len(states), len(model.obstacles))
    volume = np.array([container_volumes(model, state) for state in states]).reshape(shape)
    pressure = np.array([container_pressures(model, state) for state in states]).reshape(shape)
    radius = (0.75 * volume / np.pi) ** (1.0 / 3.0)
    ends = [int(np.argmin(column)) + 1 for column in radius.T] if states else [0] * shape[1]
    return tuple(PressureCurve(radius[:end, k], pressure[:end, k]) for k, end in enumerate(ends))


def container_pressures(model: Model, state: State) -> Floats:
    """Pressure of the sheets on each obstacle, closed ones, (obstacle_count,) [Pa].

    P = −dE/dV of the contact energy E when the container is scaled about its centre c: with the gradient g of E in its
    nodes, P = −Σ g·(x − c)/(3 V). Friction is not in it.
    """
    surface = contact_surface(model, state, state.time)
    x = np.ascontiguousarray(np.concatenate([state.x, state.obstacle_x]))
    barrier = active_pairs(surface, find_candidates(surface, x, x, surface.reach), x, model.contact.stiffness)
    node, gradient = barrier.stencil.ravel(), barrier.gradient(x).reshape(-1, 3)
    force = np.stack([np.bincount(node, gradient[:, k], len(x)) for k in range(3)], axis=1)
    work = [
        float(np.einsum("ij,ij->", force[first:last], x[first:last] - x[first:last].mean(axis=0)))
        for first, last in container_nodes(model, state)
    ]
    return -np.array(work) / (3.0 * container_volumes(model, state))


def container_volumes(model: Model, state: State) -> Floats:
    """Volume inside each obstacle, closed ones, (obstacle_count,) [m³]."""
    x = np.concatenate([state.x, state.obstacle_x])
    volumes = []
    for obstacle, (first, last) in zip(model.obstacles, container_nodes(model, state), strict=True):
        centred = x[first:last] - x[first:last].mean(axis=0)
        a, b, c = centred[obstacle.faces].transpose(1, 0, 2)
        volumes.append(abs(float(np.einsum("ij,ij->", a, np.cross(b, c)))) / 6.0)
    return np.array(volumes)


def container_nodes(model: Model, state: State) -> list[tuple[int, int]]:
    """First node of each obstacle among all nodes, and the one behind its last."""
    ends = state.mesh.node_count + np.cumsum([0, *(obstacle.node_count for obstacle in model.obstacles)])
    return [(int(first), int(last)) for first, last in pairwise(ends)]
