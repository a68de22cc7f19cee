"""Block assembly against dense sums, and the solvers against each other."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from crumple.linalg import (
    MISSING,
    add_blocks,
    add_vectors,
    block_keys,
    find_slots,
    full_matrix,
    join_keys,
    make_pattern,
    make_solver,
    missing_keys,
    multiply,
    multiply_elements,
    waive_zeros,
)
from crumple.runtime.errors import InputError, SimulationError


def random_system(seed: int, nodes: int = 40, elements: int = 120, k: int = 4):
    """Random elements on `nodes` nodes, some of which reach prescribed nodes beyond them."""
    rng = np.random.default_rng(seed)
    stencil = np.array([rng.choice(nodes + 5, k, replace=False) for _ in range(elements)], np.int32)
    root = rng.standard_normal((elements, 3 * k, 3 * k))
    dense = root @ root.transpose(0, 2, 1)
    blocks = np.stack([dense[:, 3 * a : 3 * a + 3, 3 * b : 3 * b + 3] for a in range(k) for b in range(a, k)], axis=1)
    return nodes, stencil, dense, np.ascontiguousarray(blocks)


def assemble(nodes, stencil, blocks):
    pattern = make_pattern(nodes, block_keys(nodes, [stencil]))
    codes = find_slots(pattern, stencil)
    assert not np.any(codes == MISSING)
    data = np.zeros((pattern.block_count, 3, 3))
    data[pattern.row_start[:-1]] += np.eye(3)
    add_blocks(codes, blocks, 1.0, data)
    return pattern, data


def dense_sum(nodes, stencil, dense):
    total = np.eye(3 * nodes)
    for nodes_of, matrix in zip(stencil, dense, strict=True):
        for a, i in enumerate(nodes_of):
            for b, j in enumerate(nodes_of):
                if i < nodes and j < nodes:
                    total[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] += matrix[3 * a : 3 * a + 3, 3 * b : 3 * b + 3]
    return total


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_assembly_equals_the_dense_sum(k):
    nodes, stencil, dense, blocks = random_system(k, k=k)
    pattern, data = assemble(nodes, stencil, blocks)
    expected = dense_sum(nodes, stencil, dense)
    np.testing.assert_allclose(full_matrix(pattern, data).toarray(), expected, rtol=1e-13, atol=1e-12)
    x = np.random.default_rng(1).standard_normal((nodes, 3))
    np.testing.assert_allclose(multiply(pattern, data, x).ravel(), expected @ x.ravel(), rtol=1e-11, atol=1e-10)


@pytest.mark.parametrize("k", [1, 3, 4])
def test_element_products(k):
    nodes, stencil, dense, blocks = random_system(k, k=k)
    x = np.random.default_rng(4).standard_normal((nodes + 5, 3))
    expected = np.einsum("eij,ej->ei", dense, x[stencil].reshape(len(stencil), -1))
    np.testing.assert_allclose(multiply_elements(stencil, blocks, x).reshape(len(stencil), -1), expected, atol=1e-11)


def test_missing_blocks_are_told():
    nodes, stencil, _, _ = random_system(7)
    pattern = make_pattern(nodes, block_keys(nodes, [stencil[:60]]))
    codes = find_slots(pattern, stencil)
    assert np.any(codes == MISSING)
    assert (codes[:60] != -2).all()


def test_blocks_that_are_zero_are_not_missing():
    nodes, stencil, _, blocks = random_system(7)
    pattern = make_pattern(nodes, block_keys(nodes, [stencil[:60]]))
    codes = find_slots(pattern, stencil)
    lacking = codes == MISSING
    zero = lacking & (np.random.default_rng(0).random(codes.shape) < 0.5)
    blocks[zero] = 0.0
    assert waive_zeros(codes, blocks) == np.count_nonzero(lacking & ~zero)
    np.testing.assert_array_equal(codes == MISSING, lacking & ~zero)
    keys = join_keys(missing_keys(nodes, stencil, codes))
    whole = make_pattern(nodes, join_keys(pattern.keys, keys))
    assert not np.intersect1d(keys, pattern.keys).size
    assert not np.any(find_slots(whole, stencil)[lacking & ~zero] == MISSING)


def test_sums_do_not_depend_on_threads():
    nodes, stencil, _, blocks = random_system(3)
    results = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        vector = np.zeros((nodes, 3))
        add_vectors(stencil, np.ascontiguousarray(blocks[:, :4, 0]), 0.3, vector)
        results.append((assemble(nodes, stencil, blocks)[1].tobytes(), vector.tobytes()))
    assert results[0] == results[1]


@pytest.mark.parametrize("name", ["auto", "fronts", "superlu", "pardiso", "cholmod"])
def test_solvers(name):
    nodes, stencil, dense, blocks = random_system(5)
    try:
        solver = make_solver(name)
    except InputError:
        assert name in ("pardiso", "cholmod")
        pytest.skip(f"{name} is not installed")
    pattern, data = assemble(nodes, stencil, blocks)
    solver.analyse(pattern)
    assert solver.factorise(data)
    b = np.random.default_rng(2).standard_normal((nodes, 3))
    x = solver.solve(b)
    np.testing.assert_allclose(dense_sum(nodes, stencil, dense) @ x.ravel(), b.ravel(), rtol=1e-9, atol=1e-9)
    data[pattern.row_start[nodes // 2]] -= 1e4 * np.eye(3)
    assert not solver.factorise(data), "an indefinite matrix must be noticed"
    smaller = make_pattern(nodes, block_keys(nodes, []))
    solver.analyse(smaller)
    assert solver.factorise(np.tile(2.0 * np.eye(3), (nodes, 1, 1)))
    np.testing.assert_allclose(solver.solve(b), b / 2)


@pytest.mark.parametrize("failures", [1, 2])
def test_pardiso_starts_afresh_after_a_failure(failures, monkeypatch):
    pytest.importorskip("pypardiso")
    solver = make_solver("pardiso")
    nodes, stencil, _, blocks = random_system(3)
    pattern, data = assemble(nodes, stencil, blocks)
    solver.analyse(pattern)
    left = [failures]
    call = solver._pardiso

    def flaky(*arguments):
        call(*arguments)
        phase, error = arguments[4]._obj, arguments[-1]._obj
        if phase.value == solver._FACTORISE and left[0]:
            left[0] -= 1
            error.value = -2

    monkeypatch.setattr(solver, "_pardiso", flaky)
    if failures == 2:
        with pytest.raises(SimulationError, match="error -2"):
            solver.factorise(data)
        return
    assert solver.factorise(data)
    b = np.random.default_rng(1).standard_normal((nodes, 3))
    np.testing.assert_allclose(multiply(pattern, data, solver.solve(b)), b, atol=1e-8)


def test_pardiso_repeats_its_bits():
    """Multi-threaded ordering (3) excludes the reproducible mode, and so does a number of threads of 0."""
    pytest.importorskip("pypardiso")
    nodes, stencil, _, blocks = random_system(4, nodes=400, elements=1600)
    pattern, data = assemble(nodes, stencil, blocks)
    b = np.random.default_rng(1).standard_normal((nodes, 3))
    solutions = []
    for _ in range(4):
        solver = make_solver("pardiso")
        assert solver._options[1] == 2
        assert solver._options[33] >= 2
        solver.analyse(pattern)
        assert solver.factorise(data)
        solutions.append(solver.solve(b).tobytes())
    assert len(set(solutions)) == 1


def test_unknown_solver():
    with pytest.raises(InputError, match="must be auto"):
        make_solver("magic")
