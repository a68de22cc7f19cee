"""Strips for the cases that compare with the planar elastica, and their static solution.

The mesh is equilateral with rows of edges straight across the strip. Two rows that are held make a clamp at the inner
one; the strip is placed so that this is at x = 0 (and x = length for the second clamp).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crumple.boundary import Handle
from crumple.materials.material import Material
from crumple.mesh import SheetMesh
from crumple.model.model import Model
from crumple.options.contact import ContactOptions
from crumple.options.plasticity import PlasticityOptions
from crumple.options.solver import SolverOptions
from crumple.runtime.typing import Floats, Ints
from crumple.session.simulation import Simulation
from crumple.shapes import rectangle
from crumple.state import Pins, State

CLAMP_STIFFNESS = 1e6
"""Of every held node [N/m]: it gives way by less than 1e-8 m in all cases."""
ROW_HEIGHT = np.sqrt(0.75)
"""Of equilateral triangles, over their side."""
NO_CONTACT = ContactOptions(enabled=False)


@dataclass(frozen=True)
class Strip:
    """A flat strip along x: `x` (node_count, 3) [m]; `row` (node_count,) of each node, `spacing` h of the rows [m]."""

    mesh: SheetMesh
    x: Floats
    row: Ints
    spacing: float
    width: float

    @property
    def last(self) -> int:
        return int(self.row.max())

    def nodes(self, *rows: int) -> Ints:
        """Nodes of the given rows, negative ones counted from the end."""
        wanted = [row % (self.last + 1) for row in rows]
        return np.flatnonzero(np.isin(self.row, wanted)).astype(np.int32)

    def line(self, x: Floats) -> Floats:
        """Mean position of every row, (row_count, 3) [m]."""
        count = np.bincount(self.row)[:, None]
        return np.stack([np.bincount(self.row, weights=x[:, k]) for k in range(3)], axis=1) / count

    def curvatures(self, x: Floats) -> Floats:
        """Curvature at the inner rows, seen from the side: turning angle of the line over h, (row_count - 2,) [1/m]."""
        step = np.diff(self.line(x), axis=0)
        angle = np.unwrap(np.arctan2(step[:, 2], step[:, 0]))
        return np.diff(angle) / self.spacing


def make_strip(length: float, width: float, rows: int, *, clamps: int = 1) -> Strip:
    """A strip of `rows` rows of triangles and about the `width` [m], `length` [m] between clamp and end (or clamps)."""
    spacing = length / (rows - clamps)
    side = spacing / ROW_HEIGHT
    columns = max(1, round(width / side))
    mesh, flat = rectangle(columns * side, rows * spacing, divisions=(columns, rows))
    x = np.stack([flat[:, 1] - (spacing if clamps else 0.5 * spacing), -flat[:, 0], np.zeros(len(flat))], axis=1)
    row = np.rint(flat[:, 1] / spacing).astype(np.int32)
    return Strip(mesh, np.ascontiguousarray(x), row, spacing, columns * side)


def hold(strip: Strip, x: Floats, *grips: Sequence[int]) -> Pins:
    """Pins: the rows of grips[k] are held by handle k where they are in `x`."""
    nodes = [strip.nodes(*rows) for rows in grips]
    handle = np.repeat(np.arange(len(grips)), [len(held) for held in nodes])
    node = np.concatenate(nodes).astype(np.int32)
    return Pins(node, handle.astype(np.int32), np.ascontiguousarray(x[node]))


PAPERS_LAW = PlasticityOptions(crease_strength=0.0)
"""Yielding as in [Narain2013], for which closed solutions are known."""


def static_model(
    material: Material, handles: Sequence[Handle], *, step: float = 1.0, distance: float = 1e-6, **others: Any
) -> Model:
    """A model that is in equilibrium after every step of `step` [s]; a frame takes 1 s. No weight, no contact.

    `distance` [m]: how far a node may be from where it would come to rest, when the energy to gain is next to nothing.
    """
    solver = SolverOptions(
        mode="static",
        tolerance=1e-9,
        speed_tolerance=distance / step,
        fixed_step=step,
        max_step=step,
        max_iterations=400,
    )
    settings: dict[str, Any] = {"gravity": (0.0, 0.0, 0.0), "contact": NO_CONTACT, "frame_time": 1.0} | others
    return Model((material,), handles=tuple(handles), solver=solver, **settings)


def settle(model: Model, state: State, frames: int = 2) -> State:
    """The state `frames` frames later: in equilibrium."""
    return Simulation(model=model, state=state).run(state.frame + frames)


def reaction(model: Model, state: State, index: int) -> Floats:
    """Force of a handle on the sheet (3,) [N]."""
    handle = model.handles[index]
    held = state.pins.handle == index
    stretch = handle.target(state.time, state.pins.anchor[held]) - state.x[state.pins.node[held]]
    return handle.stiffness * handle.strength(state.time) * stretch.sum(axis=0)


def clamp(name: str, **others: Any) -> Handle:
    """A handle that is hard enough to be a clamp."""
    return Handle(name, stiffness=CLAMP_STIFFNESS, **others)


def moved_pins(pins: Pins, anchor: Floats) -> Pins:
    """The same nodes held from other anchors (m, 3) [m]."""
    return replace(pins, anchor=np.ascontiguousarray(anchor))
