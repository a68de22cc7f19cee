"""Systems of nodes and scalars: assembly against dense sums, products, and all solvers."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from crumple.linalg import add_blocks, block_keys, find_slots, make_pattern, make_solver
from crumple.linalg.cholesky import ScipySolver
from crumple.linalg.mixed_matrix import (
    MixedBlocks,
    add_rows,
    add_scalars,
    elimination_positions,
    find_mixed_slots,
    make_coupling,
    make_scalar_pattern,
    multiply_mixed,
)
from crumple.linalg.mixed_solver import MixedSolver
from crumple.linalg.sparse_front_solver import SparseFrontSolver
from crumple.runtime.errors import InputError

NODES, SCALARS = 30, 25


def random_elements(seed, nodes, scalars, k=3, m=2, count=70):
    """Positive definite elements of k nodes and m scalars, some of which are prescribed; their parts."""
    rng = np.random.default_rng(seed)
    at = np.array([rng.choice(nodes + 4, k, replace=False) for _ in range(count)], np.int32).reshape(count, k)
    on = np.array([rng.choice(scalars + 3, m, replace=False) for _ in range(count)], np.int32).reshape(count, m)
    root = rng.standard_normal((count, 3 * k + m, 3 * k + m))
    dense = root @ root.transpose(0, 2, 1)
    blocks = [dense[:, 3 * a : 3 * a + 3, 3 * b : 3 * b + 3] for a in range(k) for b in range(a, k)]
    mixed = dense[:, : 3 * k, 3 * k :].reshape(count, k, 3, m).transpose(0, 1, 3, 2)
    own = [dense[:, 3 * k + e, 3 * k + f] for e in range(m) for f in range(e, m)]
    return at, on, dense, np.stack(blocks, axis=1), np.ascontiguousarray(mixed), np.stack(own, axis=1)


def assembled(elements, anchors=2):
    at, on, dense, blocks, mixed, own = elements
    anchor = np.random.default_rng(0).integers(0, NODES, (SCALARS, anchors)).astype(np.int32)
    coupling = make_coupling(NODES, anchor, [(at, on)])
    pattern = make_pattern(NODES, block_keys(NODES, [at]))
    values = MixedBlocks(
        np.zeros((pattern.block_count, 3, 3)), np.zeros((len(coupling.node), 3)), np.zeros(len(coupling.scalar))
    )
    add_blocks(find_slots(pattern, at), blocks, 1.0, values.blocks)
    mixed_slots, own_slots = find_mixed_slots(coupling, at, on)
    add_rows(mixed_slots, mixed.reshape(len(at), -1, 3), 1.0, values.mixed)
    add_rows(own_slots, own[..., None], 1.0, values.own[:, None])
    values.blocks[pattern.row_start[:-1]] += np.eye(3)
    values.own[coupling.scalar_start[:-1]] += 1.0
    total = np.eye(3 * NODES + SCALARS)
    for nodes, scalars, matrix in zip(at, on, dense, strict=True):
        place = np.concatenate(
            [(3 * nodes[:, None] + np.arange(3)).ravel(), np.where(scalars < SCALARS, 3 * NODES + scalars, 10**6)]
        )
        place[: 3 * len(nodes)][np.repeat(nodes >= NODES, 3)] = 10**6
        kept = np.flatnonzero(place < 10**6)
        total[np.ix_(place[kept], place[kept])] += matrix[np.ix_(kept, kept)]
    return pattern, coupling, values, total


def test_assembly_equals_the_dense_sum():
    pattern, coupling, values, total = assembled(random_elements(1, NODES, SCALARS))
    x = np.random.default_rng(2).standard_normal(coupling.size)
    np.testing.assert_allclose(multiply_mixed(pattern, coupling, values, x), total @ x, atol=1e-10)
    order = np.random.default_rng(3).permutation(NODES).astype(np.int32)
    position = elimination_positions(coupling, order)
    csr = make_scalar_pattern(pattern, coupling, position)
    flat = np.concatenate([values.blocks.ravel(), values.mixed.ravel(), values.own])
    permuted = np.zeros_like(total)
    for row in range(coupling.size):
        columns = csr.column[csr.row_start[row] : csr.row_start[row + 1]]
        assert (np.diff(columns) > 0).all()
        assert columns[0] == row
        permuted[row, columns] = flat[csr.source[csr.row_start[row] : csr.row_start[row + 1]]]
    permuted += np.triu(permuted, 1).T
    np.testing.assert_allclose(permuted[np.ix_(position, position)], total, atol=1e-12)


def test_scalars_follow_their_first_node():
    _, coupling, _, _ = assembled(random_elements(1, NODES, SCALARS))
    order = np.random.default_rng(3).permutation(NODES).astype(np.int32)
    position = elimination_positions(coupling, order)
    assert sorted(position) == list(range(coupling.size))
    nodes, scalars = position[: 3 * NODES].reshape(-1, 3), position[3 * NODES :]
    assert (np.diff(nodes, axis=1) == 1).all()
    assert (np.diff(nodes[order, 0]) > 0).all()
    first = nodes[coupling.anchor, 0].min(axis=1)
    assert (scalars > first).all()
    following = np.append(np.sort(nodes[:, 0]), coupling.size)
    assert (scalars < following[np.searchsorted(following, first) + 1]).all()


@pytest.mark.parametrize("anchors", [2, 6])
@pytest.mark.parametrize("name", ["auto", "fronts", "superlu", "pardiso", "cholmod"])
def test_solvers(name, anchors):
    pattern, coupling, values, total = assembled(random_elements(5, NODES, SCALARS), anchors)
    try:
        solver = MixedSolver(make_solver(name), coupling)
    except InputError:
        assert name in ("pardiso", "cholmod")
        pytest.skip(f"{name} is not installed")
    b = np.random.default_rng(2).standard_normal(coupling.size)
    for _ in range(2):
        solver.analyse(pattern)
        assert solver.factorise(values)
        np.testing.assert_allclose(total @ solver.solve(b), b, atol=1e-9)
    values.own[coupling.scalar_start[3]] -= 1e4
    assert not solver.factorise(values), "an indefinite matrix must be noticed"


@pytest.mark.parametrize("seed", range(6))
def test_sparse_fronts(seed):
    """Fronts that were made for any order solve like dense algebra, also where scalars go with nodes that meet only
    through them, and notice what is not definite."""
    pattern, coupling, values, total = assembled(random_elements(seed, NODES, SCALARS))
    rng = np.random.default_rng(seed)
    solver = SparseFrontSolver(Shuffling(rng), coupling, pattern)
    b = rng.standard_normal(coupling.size)
    for _ in range(3):
        solver.analyse(pattern)
        assert solver.factorise(values)
        np.testing.assert_allclose(total @ solver.solve(b), b, atol=1e-9)
    values.own[coupling.scalar_start[3]] -= 1e4
    assert not solver.factorise(values), "an indefinite matrix must be noticed"


class Shuffling(ScipySolver):
    """Orders nodes by chance."""

    def __init__(self, rng):
        super().__init__()
        self._rng = rng

    def order(self, pattern):
        return self._rng.permutation(pattern.node_count).astype(np.int32)


def test_the_order_without_mkl_fills_little():
    """A square of 20 by 20 nodes, numbered at random."""
    number = np.random.default_rng(4).permutation(400).astype(np.int32).reshape(20, 20)
    stencil = np.stack([number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]], axis=-1).reshape(-1, 4)
    pattern = make_pattern(400, block_keys(400, [stencil]))
    coupling = make_coupling(400, np.zeros((0, 2), np.int32), [])
    operations = {}
    for name in ("fronts", "superlu"):  # the latter leaves nodes in the order they have
        solver = SparseFrontSolver(make_solver(name), coupling, pattern)
        solver.analyse(pattern)
        operations[name] = solver.operations
    assert operations["fronts"] < 0.1 * operations["superlu"]


def test_a_solver_serves_blocks_and_scalars_in_turn():
    solver = make_solver()
    pattern, coupling, values, total = assembled(random_elements(6, NODES, SCALARS))
    mixed = MixedSolver(solver, coupling)
    b = np.random.default_rng(2).standard_normal(coupling.size)
    for _ in range(2):
        mixed.analyse(pattern)
        assert mixed.factorise(values)
        np.testing.assert_allclose(total @ mixed.solve(b), b, atol=1e-9)
        solver.analyse(pattern)
        assert solver.factorise(values.blocks)
        found = solver.solve(b[: 3 * NODES].reshape(-1, 3)).ravel()
        np.testing.assert_allclose(total[: 3 * NODES, : 3 * NODES] @ found, b[: 3 * NODES], atol=1e-9)


def test_sums_do_not_depend_on_threads():
    elements = random_elements(3, NODES, SCALARS)
    results = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        _, _, values, _ = assembled(elements)
        vector = np.zeros(SCALARS)
        add_scalars(elements[1], elements[5][:, :2], 0.3, vector)
        results.append((values.mixed.tobytes(), values.own.tobytes(), vector.tobytes()))
    assert results[0] == results[1]
