"""Bonds, the pairs of nodes that attachments draw together: their springs, and how they follow remeshing."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from crumple.energies.attachments import make_attachments
from crumple.energies.contract import BatchEnergy
from crumple.simulation.model import Model
from crumple.simulation.state import Bonds, State
from crumple.typing import Ints

Parents = tuple[tuple[int, float], ...]
"""Old nodes that a new node lies between, with their weights, ascending."""


def bond_energies(model: Model, state: State, time: float) -> list[BatchEnergy]:
    """The springs of the attachments that hold at `time` [s]."""
    bonds = state.bonds
    if not len(bonds.attachment):
        return []
    strength = np.array([one.stiffness * one.strength(time) for one in model.attachments])
    holding = np.flatnonzero(strength[bonds.attachment] > 0.0)
    if not len(holding):
        return []
    which = bonds.attachment[holding]
    length = np.array([one.length for one in model.attachments])
    return [make_attachments(bonds.nodes[holding], strength[which], length[which])]


def follow_bonds(node_operator: csr_matrix, bonds: Bonds) -> Bonds:
    """The bonds after a remeshing that kept their nodes (they must have been protected).

    New nodes at the same place between bonded nodes on both sides are bonded too, so that a seam that is refined
    alike on both sides stays closed.
    """
    if not len(bonds.attachment):
        return bonds
    rows = node_operator.tocsr()
    kept = _kept_nodes(rows)
    nodes, owners = [kept[bonds.nodes]], [bonds.attachment]
    for number in np.unique(bonds.attachment):
        joined = _join_between(rows, bonds.nodes[bonds.attachment == number])
        nodes.append(joined)
        owners.append(np.full(len(joined), number, np.int32))
    return Bonds(np.concatenate(nodes).astype(np.int32), np.concatenate(owners).astype(np.int32))


def _kept_nodes(rows: csr_matrix) -> Ints:
    """The new number of every old node that is still there, (old_count,)."""
    new = np.flatnonzero(np.diff(rows.indptr) == 1)
    kept = np.full(rows.shape[1], -1, np.int32)
    kept[rows.indices[rows.indptr[new]]] = new
    return kept


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
