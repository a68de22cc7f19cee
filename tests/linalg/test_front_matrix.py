"""The small Cholesky solver against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.geometry.directors import edge_links
from crumple.linalg.front_matrix import FrontMatrix, clique_pairs, loose_pairs
from crumple.shapes.sheets import rectangle


def _elements(rng, faces, edges, turns):
    """Random definite element matrices: blocks, mixed, own, and the dense sum with flat unknowns."""
    nodes, singles = int(faces.max()) + 1, len(edges)
    size = 3 * nodes + singles
    dense = np.zeros((size, size))
    blocks, mixed, own = [], [], []
    for face, turn in zip(faces, turns, strict=True):
        root = rng.standard_normal((12, 12))
        full = root @ root.T + np.eye(12)
        places = np.concatenate([(3 * face[:, None] + np.arange(3)).ravel(), 3 * nodes + turn])
        dense[np.ix_(places, places)] += full
        grid = full[:9, :9].reshape(3, 3, 3, 3).transpose(0, 2, 1, 3)
        blocks.append([grid[a, b] for a in range(3) for b in range(a, 3)])
        mixed.append(full[:9, 9:].reshape(3, 3, 3).transpose(0, 2, 1))
        own.append([full[9 + c, 9 + d] for c in range(3) for d in range(c, 3)])
    return dense, np.array(blocks), np.array(mixed), np.array(own)


def _sample(rng, *, loose=40):
    """A matrix of a sheet with random contacts, assembled, and its dense form."""
    mesh, _ = rectangle(0.1, 0.08, 0.012)
    links = edge_links(mesh)
    faces, turns = links.face_nodes, links.face_edge
    dense, blocks, mixed, own = _elements(rng, faces, mesh.edges, turns)
    count = mesh.node_count
    contact = np.array([rng.permutation(count + 5)[:4] for _ in range(loose)], np.int32).reshape(-1, 4)
    pairs = [clique_pairs(faces, count)]
    weights = np.zeros((loose, 10, 3, 3))
    for e, stencil in enumerate(contact):
        vector = rng.standard_normal((4, 3))
        vector[e % 4] = 0.0  # a corner that feels nothing
        q = 0
        for a in range(4):
            for b in range(a, 4):
                weights[e, q] = np.outer(vector[a], vector[b])
                i, j = stencil[a], stencil[b]
                if i < count and j < count:
                    dense[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] += weights[e, q]
                    if a != b:
                        dense[3 * j : 3 * j + 3, 3 * i : 3 * i + 3] += weights[e, q].T
                q += 1
    pairs.append(loose_pairs(contact, weights, count))
    matrix = FrontMatrix(count, np.concatenate(pairs), mesh.edges)
    matrix.clear()
    matrix.add_placed(matrix.find_blocks(faces), blocks)
    matrix.add_singles(matrix.find_singles(faces, turns), mixed, own)
    assert matrix.add_loose(contact, weights)
    return matrix, dense


@pytest.mark.parametrize("loose", [0, 40])
def test_solves_like_dense_algebra(loose):
    rng = np.random.default_rng(loose)
    matrix, dense = _sample(rng, loose=loose)
    b = rng.standard_normal(len(dense))
    assert matrix.factorise()
    expected = np.linalg.solve(dense, b)
    assert np.abs(matrix.solve(b) - expected).max() <= 1e-11 * np.abs(expected).max()


def test_the_factor_is_that_of_the_permuted_matrix():
    matrix, dense = _sample(np.random.default_rng(1))
    assert matrix.factorise()
    order = np.empty(len(dense), int)
    order[matrix._position] = np.arange(len(dense))
    diagonal = np.diag(np.linalg.cholesky(dense[np.ix_(order, order)]))
    f = matrix.fronts
    own = np.concatenate([matrix._values[f.panel[k] + np.arange(f.first[k + 1] - f.first[k]) * (f.width[k] + 1)]
                          for k in range(len(f.width))])  # fmt: skip
    assert np.allclose(own, diagonal, rtol=1e-10)


def test_notices_a_matrix_that_is_not_definite():
    matrix, dense = _sample(np.random.default_rng(2))
    least = float(np.linalg.eigvalsh(dense)[0])
    nodes = np.arange(matrix.node_count, dtype=np.int32)[:, None]
    shift = np.tile(-np.eye(3), (len(nodes), 1, 1, 1))
    single = matrix._diagonal
    for factor, is_definite in ((0.999, True), (1.001, False)):
        again, _ = _sample(np.random.default_rng(2))
        again.add_loose(nodes, factor * least * shift)
        again._values[single] -= factor * least
        assert again.factorise() is is_definite


def test_a_block_without_a_place_is_noticed_unless_it_is_zero():
    matrix = FrontMatrix(3, np.array([[0, 1]], np.int32), np.zeros((0, 2), np.int32))
    stencil = np.array([[0, 2]], np.int32)
    blocks = np.zeros((1, 3, 3, 3))
    assert matrix.add_loose(stencil, blocks)
    blocks[0, 1, 2, 0] = 1.0
    assert not matrix.add_loose(stencil, blocks)
    assert loose_pairs(stencil, blocks, 3).tolist() == [[0, 2]]


def test_not_a_number_is_not_definite():
    matrix, _ = _sample(np.random.default_rng(3))
    matrix._values[matrix._diagonal[4]] = np.nan
    assert not matrix.factorise()
