"""Data of a state that belong to some elements only: nodes that handles hold, pairs of nodes that attachments join, and
what creases remember, which belongs to places on the pattern, whatever the mesh.

Each kind knows the nodes it needs (`nodes_needed`: remeshing keeps them), how it follows a change of the mesh
(`follow`), and how it is numbered when sheets are put side by side (`shifted`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_matrix

from crumple.runtime.typing import Floats, Ints
from crumple.state.change import Change

Parents = tuple[tuple[int, float], ...]
"""Old nodes that a new node lies between, with their weights, ascending."""


@dataclass(frozen=True)
class Pins:
    """Nodes held by handles: `node` (m,), `handle` (m,) index into the model's handles,
    `anchor` (m, 3) where the handle's motion starts from [m]."""

    node: Ints
    handle: Ints
    anchor: Floats

    @property
    def nodes_needed(self) -> Ints:
        return self.node

    def shifted(self, nodes: int) -> Pins:
        """The same with `nodes` added to all node numbers."""
        return replace(self, node=(self.node + nodes).astype(np.int32))

    def follow(self, change: Change) -> Pins:
        """The pins after a change that kept their nodes, ascending by handle, then by node.

        A new node between nodes of one handle joins it; its anchor is interpolated like its position.
        """
        nodes, handles, anchors = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)], [np.zeros((0, 3))]
        rows = change.node_operator.tocsr()
        for number in np.unique(self.handle):
            of_handle = self.handle == number
            weight = np.zeros(rows.shape[1])
            weight[self.node[of_handle]] = 1.0
            where = np.zeros((rows.shape[1], 3))
            where[self.node[of_handle]] = self.anchor[of_handle]
            joined = np.flatnonzero(rows @ weight > 1.0 - 1e-12)
            nodes.append(joined.astype(np.int32))
            handles.append(np.full(len(joined), number, np.int32))
            anchors.append((rows @ where)[joined])
        return Pins(np.concatenate(nodes), np.concatenate(handles), np.concatenate(anchors))


def no_pins() -> Pins:
    """No node is held."""
    return Pins(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros((0, 3)))


@dataclass(frozen=True)
class Bonds:
    """Pairs of nodes that attachments draw together: `nodes` (m, 2), `attachment` (m,) index into the model's."""

    nodes: Ints
    attachment: Ints

    @property
    def nodes_needed(self) -> Ints:
        return self.nodes.ravel()

    def shifted(self, nodes: int) -> Bonds:
        """The same with `nodes` added to all node numbers."""
        return replace(self, nodes=(self.nodes + nodes).astype(np.int32))

    def follow(self, change: Change) -> Bonds:
        """The bonds after a change that kept their nodes.

        New nodes at the same place between bonded nodes on both sides are bonded too, so that a seam that is refined
        alike on both sides stays closed.
        """
        if not len(self.attachment):
            return self
        rows = change.node_operator.tocsr()
        nodes, owners = [change.node_map[self.nodes]], [self.attachment]
        for number in np.unique(self.attachment):
            joined = _join_between(rows, self.nodes[self.attachment == number])
            nodes.append(joined)
            owners.append(np.full(len(joined), number, np.int32))
        return Bonds(np.concatenate(nodes).astype(np.int32), np.concatenate(owners).astype(np.int32))


def no_bonds() -> Bonds:
    """Nothing is attached."""
    return Bonds(np.zeros((0, 2), np.int32), np.zeros(0, np.int32))


@dataclass(frozen=True)
class CreaseRows:
    """What driven and pressed creases remember of their angles, by place.

    `sheet`, `label` (m,) of the crease;  `kind` (m,): 0 flap, 1 spring, 2 spine, 3 and 4 torsion on its left and
    right;  `place` (m, 2) on the pattern [m];  `moment` (m, 3): what a row bears, per length of flaps and torsion [N],
    as a vector in space of spines [N m];  `shift` (m,) [rad]: by which a flap is still behind its target, or by which
    the rest angle of a spring has yielded;  `status` (m,): −1 broken, else for how many steps it has been overloaded.
    """

    sheet: Ints
    label: Ints
    kind: Ints
    place: Floats
    moment: Floats
    shift: Floats
    status: Ints

    @property
    def nodes_needed(self) -> Ints:
        return np.zeros(0, np.int32)

    def shifted(self, nodes: int) -> CreaseRows:
        """The same: rows do not name nodes."""
        return self

    def follow(self, change: Change) -> CreaseRows:
        """The same: places stay where they are. Whoever mounts them on a mesh looks for the nearest."""
        return self


def no_creases() -> CreaseRows:
    """Nothing is driven or pressed."""
    none = np.zeros(0, np.int32)
    return CreaseRows(none, none, none, np.zeros((0, 2)), np.zeros((0, 3)), np.zeros(0), none)


def _join_between(rows: csr_matrix, pairs: Ints) -> Ints:
    """Pairs of new nodes that lie alike between the first and between the second nodes of `pairs`, (n, 2)."""
    partner = dict(zip(pairs[::-1, 0].tolist(), pairs[::-1, 1].tolist(), strict=True))
    first = _nodes_between(rows, pairs[:, 0])
    second = _nodes_between(rows, pairs[:, 1])
    joined = []
    for parents, node in first.items():
        other = second.get(tuple(sorted((partner[old], weight) for old, weight in parents)))
        if other is not None and other != node:
            joined.append((node, other))
    return np.array(joined, np.int32).reshape(-1, 2)


def _nodes_between(rows: csr_matrix, nodes: Ints) -> dict[Parents, int]:
    """New nodes with several parents, all of them among `nodes`, by their parents."""
    inside = np.zeros(rows.shape[1])
    inside[nodes] = 1.0
    between = np.flatnonzero((rows @ inside > 1.0 - 1e-12) & (np.diff(rows.indptr) > 1))
    found = {}
    for node in between.tolist():
        span = slice(rows.indptr[node], rows.indptr[node + 1])
        weights = np.round(rows.data[span], 9).tolist()
        found[tuple(sorted(zip(rows.indices[span].tolist(), weights, strict=True)))] = node
    return found
