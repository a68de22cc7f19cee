"""Where the sound sheet begins to tear, and where a vertex splits by the criterion of [Jiang2016].

The separation strength s of a vertex (`tearing.separation`) is 2σ in uniform tension σ. The sound sheet opens where
s ≥ 2 σ_t, away from tips, which have their own balance, and from what handles hold. With Griffith's criterion it opens
only on a way that sets free the energy which it takes, and only where s ≥ 2 σ_t all along it: stress and energy decide
together [Leguillon2002]. The first edge alone hardly ever sets free enough, so that a sheet would be the stronger the
finer its mesh is.

With `criterion = "strength"` a tip splits when s > σ_t √(ℓ/h), h the edge length there: at a tip s grows as 1/√h.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.energies.stress import membrane_stress
from crumple.model.model import Model
from crumple.runtime.typing import Bools, Floats
from crumple.state import State
from crumple.tearing.path import node_vertex
from crumple.tearing.separation import Separation, creased_pull, jiang_pull, separation_strength
from crumple.tearing.tuning import TUNING

FROM_TIPS = TUNING.sound_near_tips.value
FROM_PINS = TUNING.sound_near_pins.value


@dataclass(frozen=True)
class Weakness:
    """A `node` that splits along the unit `direction` (2,) on the pattern; `tip`: number of the tip there, −1 = none;
    `ratio` of its separation strength to the one at which it splits."""

    node: int
    direction: Floats
    tip: int
    ratio: float


def can_begin(model: Model) -> bool:
    """Whether cracks may begin anywhere."""
    assert model.tearing is not None
    return model.tearing.initiation and any(np.isfinite(material.tensile_strength) for material in model.materials)


def weakest_place(model: Model, state: State, size: float, excluded: set[int]) -> Weakness | None:
    """The vertex of the sound sheet whose strength is exceeded most, None when none is; `excluded`: nodes."""
    allowed = _away(state, size)
    allowed[list(excluded)] = False
    found = _separation(model, state, is_jiang=False)
    ratio = found.strength / (2.0 * _vertex_strength(model, state))
    return _largest(state, found, np.where(allowed[state.mesh.vertex_node], ratio, 0.0))


def overload(model: Model, state: State) -> Floats:
    """The separation strength of every vertex over that at which the sound sheet opens, (vertex_count,)."""
    return _separation(model, state, is_jiang=False).strength / (2.0 * _vertex_strength(model, state))


def longest_extension(state: State, loaded: State, ratio: Floats, first: int) -> Weakness | None:
    """Where a crack that is too short yet goes on: at the one of its tips around which the sheet was overloaded most
    before anything had torn, None when it was nowhere.

    `state` with the crack, whose tips are those from the number `first` on;  `loaded`: the sound sheet, and its
    overload, `ratio` (vertex_count,).
    """
    best = None
    for number in range(first, len(state.tips.node)):
        node = int(state.tips.node[number])
        vertex = node_vertex(state.mesh, node)
        is_near = loaded.mesh.node_sheet[loaded.mesh.vertex_node] == state.mesh.node_sheet[node]
        distance = np.linalg.norm(loaded.mesh.u - state.mesh.u[vertex], axis=1)
        here = float(ratio[np.argmin(np.where(is_near, distance, np.inf))])
        if here > 1.0 and (best is None or here > best.ratio):
            best = Weakness(node, state.tips.heading[number], number, here)
    return best


def weakest_vertex(model: Model, state: State, size: float, excluded: set[int]) -> Weakness | None:
    """The same by [Jiang2016], tips included."""
    assert model.tearing is not None
    found = _separation(model, state, is_jiang=True)
    limit = _vertex_strength(model, state)
    allowed = _away(state, size) if model.tearing.initiation else np.zeros(state.mesh.node_count, bool)
    ratio = np.where(allowed[state.mesh.vertex_node], found.strength / (2.0 * limit), 0.0)
    for node in state.tips.node.tolist():
        vertex = node_vertex(state.mesh, node)
        around = np.unique(state.mesh.faces[(state.mesh.faces == vertex).any(axis=1)])
        edge = float(np.linalg.norm(state.mesh.u[around[around != vertex]] - state.mesh.u[vertex], axis=1).mean())
        ratio[vertex] = found.strength[vertex] / (limit[vertex] * min(1.0, np.sqrt(size / edge)))
    ratio[np.isin(state.mesh.vertex_node, list(excluded))] = 0.0
    return _largest(state, found, ratio)


def _largest(state: State, found: Separation, ratio: Floats) -> Weakness | None:
    """The vertex with the largest ratio (vertex_count,), if that is above 1."""
    vertex = int(np.argmax(ratio))
    if not ratio[vertex] > 1.0:
        return None
    node = int(state.mesh.vertex_node[vertex])
    tips = np.flatnonzero(state.tips.node == node)
    number = int(tips[0]) if len(tips) else -1
    direction = found.direction[vertex]
    if number >= 0 and float(direction @ state.tips.heading[number]) < 0.0:
        direction = -direction
    return Weakness(node, direction, number, float(ratio[vertex]))


def _separation(model: Model, state: State, *, is_jiang: bool) -> Separation:
    """The separation strength of all vertices [Pa]."""
    assert model.tearing is not None
    stress = membrane_stress(state.mesh, model.materials, state.x, state.plastic_strain)
    pull = jiang_pull(stress, state.damage, state.plastic_curvature) if is_jiang else creased_pull(stress, state.crease)
    return separation_strength(state.mesh, pull, planes=model.tearing.planes)


def _vertex_strength(model: Model, state: State) -> Floats:
    """σ_t of each vertex [Pa]: the least of its faces, (vertex_count,)."""
    limit = np.full(state.mesh.vertex_count, np.inf)
    strength = np.array([material.tensile_strength for material in model.materials])[state.mesh.face_material]
    np.minimum.at(limit, state.mesh.faces.ravel(), np.repeat(strength, 3))
    return limit


def _away(state: State, size: float) -> Bools:
    """Nodes where the sound sheet may begin to tear, (node_count,)."""
    mesh = state.mesh
    allowed = np.ones(mesh.node_count, bool)
    place = np.zeros((mesh.node_count, 2))
    place[mesh.vertex_node] = mesh.u
    for nodes, distance in ((state.tips.node, FROM_TIPS), (np.unique(state.pins.node), FROM_PINS)):
        for node in nodes.tolist():
            near = np.linalg.norm(place - place[node], axis=1) < distance * size
            allowed &= ~(near & (mesh.node_sheet == mesh.node_sheet[node]))
    allowed[state.bonds.nodes_needed] = False
    return allowed
