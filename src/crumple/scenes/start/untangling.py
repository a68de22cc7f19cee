"""Starts that overlap are untangled: nodes move as little as separates what intersects.

Each round projects the pose, weighted by mass, onto the separation of the pairs that are wrong (a Jacobi sweep over
constraints n·Σ w_i x_i ≥ ξ + `ROOM` D, thickness ξ, activation gap D), until no edge crosses a face and all gaps are
open. Which side is right is told by the regions that intersections cut from a part [Baraff2003]:

1. Edges of part A that cross faces of part B are taken out of A. What falls off the largest piece left is beyond B.
   Where both parts fall apart, the smaller region decides, and the piece of the other part that lies over it is wrong.
2. A node beyond B goes back through the nearest point of B (on its own sheet: of the pierced faces and those around).
   Where an intersection ends within both parts, nothing falls off: then the region of A over B, as far as it hangs
   together, belongs to the side of B on which most of it is.
3. A crossing without a node beyond anything goes to the side on which the ends of its edge are further away.

Handles hold their nodes, obstacles stay. What is linked, like a sheet through a ring, is still crossed after all
rounds: the start is refused with the place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from crumple.contact import Surface, active_pairs, describe_intersection, find_candidates, find_intersections
from crumple.contact.closest_points import closest_points
from crumple.energies.inertia import node_masses
from crumple.geometry.distance import point_triangle
from crumple.model.derived import Derived, contact_surface
from crumple.model.model import Model
from crumple.runtime.compiled import kernel
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.state import State

MOST_ROUNDS = 300
"""Rounds after which a start is refused; a millimetre of overlap takes two to thirty."""
PATIENCE = 50
"""Rounds without fewer crossings after which it is given up."""
ROOM = 0.25
"""Gap that pairs are given, over the gap at which contact is felt."""
OPEN = 0.02
"""Gaps below this fraction of it are closed."""
ROUNDING = 1e-9
"""Weights of corners below this are none."""
RINGS = 3
"""Faces of a sheet around those that it pierces itself which a node may go back through, in rings."""


class Untangling(NamedTuple):
    """What was done: rounds, the largest distance that a node has moved [m], and where it still crosses, if it does
    (parts by number, place (3,) [m])."""

    rounds: int
    moved: float
    parts: tuple[int, int] | None = None
    place: Floats | None = None


class Pushes(NamedTuple):
    """Pairs that are to part: `nodes` (n, 5) with `weights` (n, 5), Σ w = 0, so that Σ w x, the vector between the two
    sides, grows by `amount` (n,) [m] along `direction` (n, 3)."""

    nodes: Ints
    weights: Floats
    direction: Floats
    amount: Floats


def untangle_start(model: Model, state: State) -> tuple[State, Untangling]:
    """The state with nothing crossing or closer than its thickness, or as it was if that was not found."""
    surface = contact_surface(model, state, state.time)
    count, start = state.mesh.node_count, np.concatenate([state.x, state.obstacle_x])
    mobility = np.zeros(len(start))
    mobility[:count] = 1.0 / node_masses(state.mesh, model.materials)
    mobility[state.pins.node] = 0.0
    x, fewest, waited = start.copy(), len(start) ** 2, 0
    for rounds in range(MOST_ROUNDS):
        crossing = find_intersections(surface, x)
        fewest, waited = (len(crossing), 0) if len(crossing) < fewest else (fewest, waited + 1)
        if len(crossing) and waited > PATIENCE:
            break
        pushes = _crossing_pushes(surface, x, crossing) if len(crossing) else _gap_pushes(surface, x)
        if not len(pushes.nodes) and not len(crossing):
            if not rounds:
                return state, Untangling(0, 0.0)
            state = state.replaced(x=np.ascontiguousarray(x[:count]))
            moved = float(np.linalg.norm(x - start, axis=1).max())
            return Derived(model, state).relaxed(state), Untangling(rounds, moved)
        x = _pushed(x, pushes, mobility)
    return state, Untangling(MOST_ROUNDS, 0.0, *_stuck(surface, start, x))


def _stuck(surface: Surface, start: Floats, x: Floats) -> tuple[tuple[int, int], Floats]:
    """The parts and the place at the start [m] of what overlapped then, of that first which still does at x."""
    first, last = (
        [describe_intersection(surface, pose, row) for row in find_intersections(surface, pose)] for pose in (start, x)
    )
    still = {frozenset(found.parts) for found in last}
    for found in [found for found in first if frozenset(found.parts) in still] + first:
        return found.parts, found.place
    node, *_, other = _gap_pushes(surface, start).nodes[0, :4]
    return (int(surface.node_part[node]), int(surface.node_part[other])), start[node]


def _pushed(x: Floats, pushes: Pushes, mobility: Floats) -> Floats:
    """x (n, 3) after one sweep: each push alone would be fulfilled with the least motion, weighted by mass; a node
    takes the mean of what its pushes ask for, weighted by its part in them."""
    own = mobility[pushes.nodes] * pushes.weights
    total = np.einsum("ij,ij->i", own, pushes.weights)
    able = total > 0.0
    scale = np.where(able, pushes.amount, 0.0) / np.where(able, total, 1.0)
    move = (own * scale[:, None])[..., None] * pushes.direction[:, None]
    share = np.abs(pushes.weights) * (own != 0.0)
    summed, shares = np.zeros_like(x), np.zeros(len(x))
    np.add.at(summed, pushes.nodes, share[..., None] * move)
    np.add.at(shares, pushes.nodes, share)
    return x + summed / np.where(shares > 0.0, shares, 1.0)[:, None]


def _gap_pushes(surface: Surface, x: Floats) -> Pushes:
    """What opens the closed gaps of a pose without crossings."""
    pairs = active_pairs(surface, find_candidates(surface, x, x, surface.reach), x, 1.0)
    distance, weights = closest_points(pairs, x)
    gap = distance - pairs.thickness
    closed = gap < OPEN * pairs.dhat
    nodes, weights = pairs.stencil[closed], weights[closed]
    between = np.einsum("ij,ijk->ik", weights, x[nodes])
    return _padded(nodes, weights, between, (ROOM * pairs.dhat - gap)[closed])


def _padded(nodes: Ints, weights: Floats, between: Floats, amount: Floats) -> Pushes:
    """Pushes of four nodes along the vectors `between` (n, 3)."""
    nodes = np.concatenate([nodes, nodes[:, :1]], axis=1)
    weights = np.concatenate([weights, np.zeros((len(weights), 1))], axis=1)
    return Pushes(nodes, weights, _unit(between), amount)


def _unit(vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(length > 0.0, length, 1.0)


def _crossing_pushes(surface: Surface, x: Floats, crossing: Ints) -> Pushes:
    """What takes crossing parts apart."""
    edge_part, face_part = surface.node_part[surface.edges[:, 0]], surface.node_part[surface.faces[:, 0]]
    couples = np.unique(
        np.sort(np.stack([edge_part[crossing[:, 0]], face_part[crossing[:, 1]]], axis=1), axis=1), axis=0
    )
    found = []
    for one, two in couples.tolist():
        ways = [(one, two)] if one == two else [(one, two), (two, one)]
        cuts = [_own(crossing, edge_part == a, face_part == b) for a, b in ways]
        beyond = _sides(surface, x, ways, cuts)
        for (_, b), cut, wrong in zip(ways, cuts, beyond, strict=True):
            targets = _where(face_part == b) if one != two else _around(surface, cut[:, 1], wrong)
            if not len(targets):
                continue
            found.append(_node_pushes(surface, x, _where(wrong), targets))
            settled = np.any([side[surface.edges[cut[:, 0]]].any(axis=1) for side in beyond], axis=0)
            settled |= np.any([side[surface.faces[cut[:, 1]]].any(axis=1) for side in beyond], axis=0)
            found.append(_edge_pushes(surface, x, cut[~settled], targets))
    return Pushes(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _own(crossing: Ints, edges: Bools, faces: Bools) -> Ints:
    """The crossings of some edges with some faces."""
    return crossing[edges[crossing[:, 0]] & faces[crossing[:, 1]]]


def _sides(surface: Surface, x: Floats, ways: list[tuple[int, int]], cuts: list[Ints]) -> list[Bools]:
    """For each way (A, B) which nodes of A are beyond B, (node_count,)."""
    pieces = [_pieces(surface, a, cut[:, 0]) for (a, _), cut in zip(ways, cuts, strict=True)]
    beyond = [_fallen(surface, whole, piece) for whole, piece in pieces]
    if len(ways) == 1:
        return beyond
    if not any(side.any() for side in beyond):
        return [_minority(surface, x, a, b, cut[:, 0]) for (a, b), cut in zip(ways, cuts, strict=True)]
    if not all(side.any() for side in beyond):
        return beyond
    weight = [float(surface.node_weight[side].sum()) for side in beyond]
    first = int(weight[1] < weight[0])
    second = 1 - first
    # of the other part, those pieces are wrong that lie over the region which is
    whole, piece = pieces[second]
    ends = np.unique(surface.edges[cuts[second][:, 0]])
    faces = _where(surface.node_part[surface.faces[:, 0]] == ways[first][0])
    nearest, _, _ = _nearest(x, ends, surface.faces, faces)
    over = np.asarray(beyond[first][surface.faces[nearest]].any(axis=1), bool)
    wrong = np.zeros(len(x), bool)
    for body in np.unique(whole[ends]):
        own = ends[whole[ends] == body]
        score = {
            int(label): float(over[np.isin(ends, own[piece[own] == label])].mean()) for label in np.unique(piece[own])
        }
        low, high = min(score.values()), max(score.values())
        for label, value in score.items():
            if high > low and value > 0.5 * (low + high):
                wrong |= (whole == body) & (piece == label)
    beyond[second] = wrong
    return beyond


def _minority(surface: Surface, x: Floats, part: int, other: int, cut: Ints) -> Bools:
    """The nodes of `part` over `other` that are on another side of it than most of those which hang together with them
    and with the `cut` edges, (node_count,)."""
    wrong = np.zeros(len(x), bool)
    faces = _where(surface.node_part[surface.faces[:, 0]] == other)
    own = np.unique(surface.faces[surface.node_part[surface.faces[:, 0]] == part])
    near, weights, _ = _nearest(x, own, surface.faces, faces)
    corners = surface.faces[near]
    at_border = (_border(surface)[corners] | (weights <= ROUNDING)).all(axis=1)  # not over it, but beside it
    a, b, c = (x[corners[:, k]] for k in range(3))
    height = np.einsum("ij,ij->i", x[own] - np.einsum("ij,ijk->ik", weights, x[corners]), np.cross(b - a, c - a))
    over = np.zeros(len(x), bool)
    over[own[~at_border]] = True
    joined = surface.edges[over[surface.edges].all(axis=1)]
    graph = coo_array((np.ones(len(joined), np.int8), tuple(joined.T)), shape=(len(x),) * 2)
    label = connected_components(graph, directed=False)[1][own]
    side, weight = np.sign(height), surface.node_weight[own]
    for region in np.unique(label[np.isin(own, surface.edges[cut]) & ~at_border]):
        inside = label == region
        wrong[own[inside & (side * np.sign((side * weight)[inside].sum()) < 0.0)]] = True
    return wrong


def _border(surface: Surface) -> Bools:
    """Which nodes are on a border, (node_count,)."""
    tail, head = surface.faces.ravel().astype(np.int64), np.roll(surface.faces, -1, axis=1).ravel().astype(np.int64)
    key, count = np.unique(np.minimum(tail, head) * surface.node_count + np.maximum(tail, head), return_counts=True)
    border = np.zeros(surface.node_count, bool)
    border[key[count == 1] // surface.node_count] = True
    border[key[count == 1] % surface.node_count] = True
    return border


def _pieces(surface: Surface, part: int, cut: Ints) -> tuple[Ints, Ints]:
    """The bodies of a part and the pieces that they fall into without the `cut` edges, as labels (node_count,), −1
    elsewhere."""
    own = surface.node_part[surface.edges[:, 0]] == part
    kept = own.copy()
    kept[cut] = False
    labels = []
    for chosen in (own, kept):
        a, b = surface.edges[chosen].T
        graph = coo_array((np.ones(len(a), np.int8), (a, b)), shape=(surface.node_count,) * 2)
        label = connected_components(graph, directed=False)[1]
        labels.append(np.where(surface.node_part == part, label, -1).astype(np.int32))
    return labels[0], labels[1]


def _fallen(surface: Surface, whole: Ints, piece: Ints) -> Bools:
    """The nodes that are not in the largest piece of their body, (node_count,)."""
    own = whole >= 0
    size = np.bincount(piece[own], weights=surface.node_weight[own])
    main = np.zeros(len(size), bool)
    order = np.argsort(-size[piece[own]], kind="stable")
    first = np.unique(whole[own][order], return_index=True)[1]
    main[piece[own][order][first]] = True
    fallen = np.zeros(len(whole), bool)
    fallen[own] = ~main[piece[own]]
    return fallen


def _around(surface: Surface, pierced: Ints, wrong: Bools) -> Ints:
    """The pierced faces and `RINGS` rings of faces around them, without those that have wrong nodes."""
    touched = np.zeros(surface.node_count, bool)
    touched[surface.faces[pierced]] = True
    for _ in range(RINGS):
        touched[surface.faces[touched[surface.faces].any(axis=1)]] = True
    return _where(np.asarray(touched[surface.faces].all(axis=1) & ~wrong[surface.faces].any(axis=1), bool))


def _node_pushes(surface: Surface, x: Floats, wrong: Ints, targets: Ints) -> Pushes:
    """Wrong nodes back through the nearest points of the target faces."""
    face, weights, distance = _nearest(x, wrong, surface.faces, targets)
    nodes = np.concatenate([wrong[:, None], surface.faces[face]], axis=1)
    weights = np.concatenate([np.ones((len(wrong), 1)), -weights], axis=1)
    back = -np.einsum("ij,ijk->ik", weights, x[nodes])
    return _padded(nodes.astype(np.int32), weights, back, distance + _wanted(surface, nodes))


def _edge_pushes(surface: Surface, x: Floats, cut: Ints, targets: Ints) -> Pushes:
    """Crossing edges to the side on which their ends are further away from the target faces."""
    edge, face = surface.edges[cut[:, 0]], surface.faces[cut[:, 1]]
    a, b, c = (x[face[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    heights = [np.einsum("ij,ij->i", x[edge[:, k]] - a, normal) for k in range(2)]
    span = heights[0] - heights[1]
    t = np.clip(np.where(span != 0.0, heights[0] / np.where(span != 0.0, span, 1.0), 0.5), 0.0, 1.0)
    point = (1.0 - t)[:, None] * x[edge[:, 0]] + t[:, None] * x[edge[:, 1]]
    corner = [np.cross(c - b, point - b), np.cross(a - c, point - c), np.cross(b - a, point - a)]
    area = np.maximum(np.stack([np.einsum("ij,ij->i", one, normal) for one in corner], axis=1), 0.0)
    share = area / np.maximum(area.sum(axis=1, keepdims=True), 1e-300)
    offset = []
    for k in range(2):
        near, weights, _ = _nearest(x, edge[:, k], surface.faces, targets)
        offset.append(x[edge[:, k]] - np.einsum("ij,ijk->ik", weights, x[surface.faces[near]]))
    direction = _unit(offset[0] + offset[1])
    depth = np.maximum(0.0, -np.minimum(*(np.einsum("ij,ij->i", one, direction) for one in offset)))
    nodes = np.concatenate([edge, face], axis=1)
    weights = np.concatenate([np.stack([1.0 - t, t], axis=1), -share], axis=1)
    return Pushes(nodes, weights, direction, depth + _wanted(surface, nodes))


def _wanted(surface: Surface, nodes: Ints) -> Floats:
    """The distance that pairs are to have, ξ + `ROOM` D [m]; the first and last nodes tell their parts."""
    thickness = surface.part_thickness[surface.node_part[nodes[:, [0, -1]]]].mean(axis=1)
    return np.asarray(thickness + ROOM * surface.dhat)


def _where(chosen: Bools) -> Ints:
    """The places at which an array is true."""
    return np.flatnonzero(chosen).astype(np.int32)


@kernel
def _search(x, points, faces, targets, face, weights, distance):
    """The nearest of the faces `targets` to each of the nodes `points` that is not a corner of it."""
    for i in range(points.shape[0]):
        p, best = points[i], np.inf
        for k in range(targets.shape[0]):
            a, b, c = faces[targets[k], 0], faces[targets[k], 1], faces[targets[k], 2]
            if p in (a, b, c):
                continue
            d2, u, v, _ = point_triangle(
                x[p, 0], x[p, 1], x[p, 2], x[a, 0], x[a, 1], x[a, 2],
                x[b, 0], x[b, 1], x[b, 2], x[c, 0], x[c, 1], x[c, 2],
            )  # fmt: skip
            if d2 < best:
                best, face[i] = d2, targets[k]
                weights[i, 0], weights[i, 1], weights[i, 2] = 1.0 - u - v, u, v
        distance[i] = np.sqrt(best) if best < np.inf else 0.0


def _nearest(x: Floats, points: Ints, faces: Ints, targets: Ints) -> tuple[Ints, Floats, Floats]:
    """The face of `targets` nearest to each node (n,), the weights (n, 3) of its nearest point, the distance [m]."""
    face, weights, distance = np.zeros(len(points), np.int32), np.zeros((len(points), 3)), np.zeros(len(points))
    face[:], weights[:, 0] = targets[0], 1.0
    _search(x, points.astype(np.int32), faces, targets, face, weights, distance)
    return face, weights, distance
