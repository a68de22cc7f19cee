"""Fronts that several threads factorise: the same numbers as by one, whatever the division."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.linalg import BlockPattern, block_keys, make_pattern, make_solver
from crumple.linalg import sparse_front_solver as fronts
from crumple.linalg.mixed_matrix import MixedBlocks, make_coupling
from crumple.linalg.subtrees import divide


def grid(side: int, sheets: int) -> tuple[BlockPattern, MixedBlocks]:
    """A positive definite matrix with the triangles of `sheets` grids that do not meet."""
    at = np.arange(sheets * side * side).reshape(sheets, side, side)
    corner = at[:, :-1, :-1].ravel(), at[:, 1:, :-1].ravel(), at[:, :-1, 1:].ravel(), at[:, 1:, 1:].ravel()
    triangles = np.concatenate([np.stack([corner[i] for i in pick], axis=1) for pick in ((0, 1, 2), (1, 3, 2))])
    pattern = make_pattern(at.size, block_keys(at.size, [triangles.astype(np.int32)]))
    blocks = np.random.default_rng(1).uniform(-1.0, 1.0, (pattern.block_count, 3, 3))
    blocks[pattern.row_start[:-1]] = 30.0 * np.eye(3)
    return pattern, MixedBlocks(blocks, np.zeros((0, 3)), np.zeros(0))


def solver_of(pattern: BlockPattern) -> fronts.SparseFrontSolver:
    coupling = make_coupling(pattern.node_count, np.zeros((0, 2), np.int32), ())
    solver = fronts.SparseFrontSolver(make_solver(), coupling, pattern)
    solver.analyse(pattern)
    return solver


@pytest.mark.parametrize("sheets", [1, 2])
def test_threads_give_the_same_bits(monkeypatch, sheets):
    pattern, values = grid(40, sheets)
    b, solver = np.random.default_rng(2).standard_normal(3 * pattern.node_count), solver_of(pattern)
    assert solver.factorise(values)
    alone = solver.solve(b)
    monkeypatch.setattr(fronts, "WORTH_THREADS", 0.0)
    for threads in (2, 3, 5):
        monkeypatch.setattr(fronts, "get_num_threads", lambda threads=threads: threads)
        assert solver.factorise(values)
        assert solver._divided is not None
        division = solver._divided[1]
        assert division is not None
        assert set(division.shares) == set(range(threads))
        np.testing.assert_array_equal(solver.solve(b), alone)


def test_a_subtree_that_is_not_definite_is_noticed(monkeypatch):
    pattern, values = grid(40, 1)
    solver = solver_of(pattern)
    monkeypatch.setattr(fronts, "WORTH_THREADS", 0.0)
    monkeypatch.setattr(fronts, "get_num_threads", lambda: 2)
    for node in (0, pattern.node_count // 2, pattern.node_count - 1):
        slot = pattern.row_start[node]
        values.blocks[slot] = -np.eye(3)
        assert not solver.factorise(values)
        values.blocks[slot] = 30.0 * np.eye(3)
    assert solver.factorise(values)


def test_subtrees_are_apart_and_shared_out_evenly():
    pattern, _ = grid(60, 1)
    f = solver_of(pattern)._fronts
    division = divide(f.first, f.width, f.children, f.stack, 2)
    assert division is not None
    begin, end = division.subtrees.T
    assert (begin <= end).all()
    assert (begin[1:] > end[:-1]).all()
    assert (np.diff(division.bottom) > 0).all()
    own = np.diff(f.first).astype(float)
    work = np.cumsum(np.concatenate([[0.0], own * f.width.astype(float) ** 2]))
    load = np.bincount(division.shares, work[end + 1] - work[begin])
    assert load.max() < 1.5 * load.min()


def test_a_matrix_without_branches_is_left_to_one_thread():
    first, width, children = np.arange(0, 33, 3), np.full(10, 6), np.array([0] + 9 * [1])
    width[-1] = 3
    assert divide(first, width, children, 9, 2) is None
