"""Where the tips of cracks are, and how far they may go."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from crumple.mesh import BOUNDARY
from crumple.mesh.edit_glide import glide_room
from crumple.runtime.typing import Bools
from crumple.state import State, Tips, Torn, make_tips
from crumple.tearing.path import Opening, is_bound, node_vertex
from crumple.tearing.tip import has_lips
from crumple.tearing.tuning import TUNING

LEAST_ROOM = TUNING.least_glide_room.value
SHORTEST = TUNING.straight_run.value
TURN = TUNING.turning.value
TOGETHER = TUNING.tips_together.value


def gone_on(state: State, number: int, opening: Opening) -> tuple[Tips, Torn]:
    """The tips and the paths after the tip `number` has run on."""
    tips = state.tips
    sheet = int(state.mesh.node_sheet[tips.node[number]])
    return _moved_tip(tips, number, opening), state.torn.extended(opening.path[-1], int(tips.crack[number]), sheet)


def begun_at(state: State, opening: Opening, node: int) -> tuple[Tips, Torn]:
    """The tips and the paths with a new crack: one from the border, or two that run apart from inside the sheet."""
    tips, torn = state.tips, state.torn
    number = int(max(torn.crack.max(initial=-1), tips.crack.max(initial=-1))) + 1
    path = opening.path
    lines = [(path, opening.tip)] if len(path) == 2 else [(path[1:], opening.tip), (path[1::-1], opening.start)]
    for line, end in lines:
        for point in line:
            torn = torn.extended(point, number, int(state.mesh.node_sheet[node]))
        if end >= 0:
            new = make_tips(np.array([end]), (line[-1] - line[-2])[None], line[-2][None], np.array([number]))
            tips = Tips(*(np.concatenate([getattr(tips, name), getattr(new, name)]) for name in vars(new)))
        number += 1
    return tips, torn


def _moved_tip(tips: Tips, number: int, opening: Opening) -> Tips:
    """The tips after an edge was cut at one of them, which has gone if the crack has reached a border."""
    if opening.tip < 0:
        return tips.chosen(np.arange(len(tips.node)) != number)
    node, heading, last = tips.node.copy(), tips.heading.copy(), tips.last.copy()
    node[number], heading[number], last[number] = opening.tip, opening.heading, opening.path[-2]
    return replace(tips, node=node, heading=heading, last=last)


def kept_nodes(state: State) -> Bools:
    """Nodes that must not glide: held ones, bonds and tips, (node_count,)."""
    kept = np.zeros(state.mesh.node_count, bool)
    for needed in (state.pins.nodes_needed, state.bonds.nodes_needed, state.tips.nodes_needed):
        kept[needed] = True
    return kept


def distance_behind(state: State, number: int) -> float:
    """How far the tip `number` has run straight on [m]."""
    vertex = node_vertex(state.mesh, int(state.tips.node[number]))
    return float(np.linalg.norm(state.mesh.u[vertex] - state.tips.last[number]))


def room_ahead(state: State, number: int, size: float) -> float:
    """How far the tip `number` may glide [m], 0 when it must be cut on."""
    mesh, node, heading = state.mesh, int(state.tips.node[number]), state.tips.heading[number]
    vertex = node_vertex(mesh, node)
    room = min(glide_room(mesh, vertex, heading), size - distance_behind(state, number))
    can_glide = room > LEAST_ROOM * size and has_lips(mesh, node, heading) and not is_bound(mesh, node, heading)
    return room if can_glide else 0.0


def tips_apart(state: State, worst: int, free: list[int], size: float) -> list[int]:
    """Tips among the `free` ones that do not feel each other, the `worst` first: on other sheets, or far apart."""
    mesh, nodes = state.mesh, state.tips.node
    place = np.array([mesh.u[node_vertex(mesh, int(node))] for node in nodes])
    chosen = [worst]
    for k in free:
        near = np.linalg.norm(place[chosen] - place[k], axis=1) < TOGETHER * size
        if not (near & (mesh.node_sheet[nodes[chosen]] == mesh.node_sheet[nodes[k]])).any():
            chosen.append(k)
    return chosen


def ends_of_one_slit(state: State) -> bool:
    """Whether all tips are on one border that is not the outer one of their sheet: they are the ends of a slit."""
    mesh, node = state.mesh, state.tips.node
    edges = mesh.edges[mesh.twin[mesh.edge_corners] == BOUNDARY]
    links = csr_matrix((np.ones(len(edges)), edges.T), shape=(mesh.node_count, mesh.node_count))
    border = connected_components(links, directed=False)[1]
    if len(np.unique(border[node])) != 1:
        return False
    own = np.flatnonzero(mesh.node_sheet[mesh.vertex_node] == mesh.node_sheet[node[0]])
    outermost = mesh.vertex_node[own[np.argmin(mesh.u[own, 0])]]
    return bool(border[outermost] != border[node[0]])
