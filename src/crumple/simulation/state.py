"""What varies during a run: exactly what a checkpoint holds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from crumple.errors import InputError
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.typing import Floats, Ints


@dataclass(frozen=True)
class Pins:
    """Nodes held by handles: `node` (m,), `handle` (m,) index into the model's handles,
    `anchor` (m, 3) where the handle's motion starts from [m]."""

    node: Ints
    handle: Ints
    anchor: Floats


def no_pins() -> Pins:
    """No node is held."""
    return Pins(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 3)))


@dataclass(frozen=True)
class Bonds:
    """Pairs of nodes that attachments draw together: `nodes` (m, 2), `attachment` (m,) index into the model's."""

    nodes: Ints
    attachment: Ints


def no_bonds() -> Bonds:
    """Nothing is attached."""
    return Bonds(np.zeros((0, 2), np.int32), np.zeros(0, np.int32))


@dataclass(frozen=True)
class State:
    """One instant of a simulation.

    `x`, `v` (node_count, 3) world positions [m] and velocities [m/s];  `y` (node_count, 3) plastic embedding [m];
    `plastic_curvature` (face_count, 3) S_p as (xx, yy, xy) [1/m];  `damage` (face_count,) [-];
    `plastic_strain` (face_count, 3) plastic part E_p of the Green strain (xx, yy, xy), none by default;
    `obstacle_x` (obstacle_nodes, 3) where the obstacles are [m];
    `obstacle_lag` (obstacle_count,) how far behind its motion each obstacle is held [s], 0 = on time;
    `step_size` the step that the step control tries next [s];  `frame` the number of finished frames;
    `steps`, `iterations` done since the start.
    """

    mesh: SheetMesh
    x: Floats
    v: Floats
    y: Floats
    plastic_curvature: Floats
    damage: Floats
    obstacle_x: Floats
    obstacle_lag: Floats
    plastic_strain: Floats = field(default_factory=lambda: np.zeros((0, 3)))
    pins: Pins = field(default_factory=no_pins)
    bonds: Bonds = field(default_factory=no_bonds)
    time: float = 0.0
    step_size: float = 1e-3
    frame: int = 0
    steps: int = 0
    iterations: int = 0

    def __post_init__(self) -> None:
        if len(self.plastic_strain) == 0:  # left out, as in recordings from before there was any
            object.__setattr__(self, "plastic_strain", np.zeros((self.mesh.face_count, 3)))

    def replaced(self, **changes: object) -> State:
        """A copy with the named fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


def initial_state(
    mesh: SheetMesh,
    x: Floats,
    *,
    v: Floats | None = None,
    obstacle_x: Floats | None = None,
    obstacle_count: int = 0,
    pins: Pins | None = None,
    step_size: float = 1e-3,
) -> State:
    """A state at time 0 without plastic deformation; at rest unless `v` says otherwise.

    Raises InputError for positions or velocities that are not finite.
    """
    for name, values in (("positions", x), ("velocities", v), ("obstacle positions", obstacle_x)):
        if values is not None and not np.isfinite(values).all():
            raise InputError(name, "must all be finite numbers")
    x = np.ascontiguousarray(x, np.float64)
    return State(
        mesh=mesh,
        x=x,
        v=np.zeros_like(x) if v is None else np.ascontiguousarray(v, np.float64),
        y=mesh.node_rest.copy(),
        plastic_curvature=np.zeros((mesh.face_count, 3)),
        damage=np.zeros(mesh.face_count),
        obstacle_x=np.zeros((0, 3)) if obstacle_x is None else np.ascontiguousarray(obstacle_x, np.float64),
        obstacle_lag=np.zeros(obstacle_count),
        pins=no_pins() if pins is None else pins,
        step_size=step_size,
    )
