"""What a dataset keeps of one frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from crumple.contact.closest_points import closest_points
from crumple.export.resample import Resampler
from crumple.export.surface import require_finite
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.model.model import Model
from crumple.runtime.typing import Floats
from crumple.state import State
from crumple.stepping.contact_forces import contact_pairs

HELD = 1.0 - 1e-6
"""Share of held nodes from which on a point between them is held as well."""

Columns = dict[str, np.ndarray]


@dataclass(frozen=True)
class Sample:
    """One frame: `mesh`, and by kind of element ("node", "face", "pin", "contact") arrays of as many rows.

    `handles` (handle_count, 3): where the middle of the nodes of each handle is wanted [m], NaN where it holds none.
    """

    time: float
    frame: int
    mesh: SheetMesh
    columns: dict[str, Columns]
    handles: Floats
    obstacle_x: Floats


def sample_state(model: Model, state: State, *, resampler: Resampler | None, contacts: bool) -> Sample:
    """The sample of `state`, on its own mesh or on that of the `resampler`; contacts are only of its own."""
    require_finite(state)
    targets = pin_targets(model, state)
    columns = _own_columns(state, targets) if resampler is None else _resampled(state, targets, resampler)
    if contacts:
        columns["contact"] = contact_columns(model, state)
    return Sample(
        time=state.time,
        frame=state.frame,
        mesh=state.mesh if resampler is None else resampler.target,
        columns=columns,
        handles=_handle_positions(len(model.handles), state, targets),
        obstacle_x=state.obstacle_x,
    )


def pin_targets(model: Model, state: State) -> Floats:
    """Where the handles want the nodes that they hold at the time of the state, (pin_count, 3) [m]."""
    targets = state.pins.anchor.copy()
    for index, handle in enumerate(model.handles):
        held = state.pins.handle == index
        targets[held] = handle.target(state.time, state.pins.anchor[held])
    return targets


def contact_columns(model: Model, state: State) -> Columns:
    """The pairs in contact; nodes of obstacles are numbered after those of the sheets.

    `nodes` (n, 4): node and face, or two edges where `is_edges`;  `weight` (n, 4): Σ w x is the vector between the
    closest points, `distance` (n,) its length [m];  `force` (n, 3) on the first side, without friction [N].
    """
    x = np.concatenate([state.x, state.obstacle_x])
    barrier = contact_pairs(model, state)
    if barrier is None or not barrier.count:
        return {
            "nodes": np.zeros((0, 4), np.int32),
            "is_edges": np.zeros(0, np.uint8),
            "weight": np.zeros((0, 4)),
            "distance": np.zeros(0),
            "force": np.zeros((0, 3)),
        }
    distance, weight = closest_points(barrier, x)
    pull = barrier.gradient(x)
    force = -np.where(barrier.is_edges[:, None], pull[:, 0] + pull[:, 1], pull[:, 0])
    return {
        "nodes": barrier.stencil,
        "is_edges": barrier.is_edges.astype(np.uint8),
        "weight": weight,
        "distance": distance,
        "force": force,
    }


def transfer_operator(source: SheetMesh, target: SheetMesh) -> csr_matrix:
    """The matrix (target node_count, source node_count) that interpolates in the pattern from one mesh to another."""
    return Resampler(target).operator(source)


def _own_columns(state: State, targets: Floats) -> dict[str, Columns]:
    """Nodes, faces and pins on the state's own mesh."""
    return {
        "node": {"x": state.x, "v": state.v},
        "face": {"damage": state.damage, "plastic_curvature": state.plastic_curvature},
        "pin": {"node": state.pins.node, "handle": state.pins.handle, "target": targets},
    }


def _resampled(state: State, targets: Floats, resampler: Resampler) -> dict[str, Columns]:
    """Nodes, faces and pins on the mesh of the resampler; a node between held ones is held."""
    carry = resampler.operator(state.mesh)
    face = resampler.faces(state.mesh)
    nodes, handles, wanted = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)], [np.zeros((0, 3))]
    for index in np.unique(state.pins.handle):
        held = state.pins.handle == index
        share, where = np.zeros(state.mesh.node_count), np.zeros((state.mesh.node_count, 3))
        share[state.pins.node[held]], where[state.pins.node[held]] = 1.0, targets[held]
        joined = np.flatnonzero(carry @ share > HELD).astype(np.int32)
        nodes.append(joined)
        handles.append(np.full(len(joined), index, np.int32))
        wanted.append((carry @ where)[joined])
    return {
        "node": {"x": carry @ state.x, "v": carry @ state.v},
        "face": {"damage": state.damage[face], "plastic_curvature": state.plastic_curvature[face]},
        "pin": {"node": np.concatenate(nodes), "handle": np.concatenate(handles), "target": np.concatenate(wanted)},
    }


def _handle_positions(count: int, state: State, targets: Floats) -> Floats:
    """The middle of the targets of each handle, (count, 3) [m]; NaN for one that holds no node."""
    positions = np.full((count, 3), np.nan)
    for index in np.unique(state.pins.handle):
        positions[index] = targets[state.pins.handle == index].mean(axis=0)
    return positions
