"""The linear system grows with the contacts and forgets stale ones, without changing what it solves."""

from __future__ import annotations

import numpy as np

from crumple.linalg import full_matrix, make_solver
from crumple.solving.system import NewtonSystem
from crumple.timing import PhaseTimer


def element_blocks(rng: np.random.Generator, count: int, k: int):
    root = rng.standard_normal((count, 3 * k, 3 * k))
    dense = root @ root.transpose(0, 2, 1)
    cut = [dense[:, 3 * a : 3 * a + 3, 3 * b : 3 * b + 3] for a in range(k) for b in range(a, k)]
    return dense, np.ascontiguousarray(np.stack(cut, axis=1))


def test_grows_and_thins():
    rng = np.random.default_rng(0)
    nodes = 60
    chain = np.array([[i, i + 1, i + 2] for i in range(nodes - 2)], np.int32)
    diagonal = np.arange(nodes, dtype=np.int32).reshape(-1, 1)
    system = NewtonSystem(nodes, [diagonal, chain], make_solver(), PhaseTimer())
    base = system.pattern.block_count
    unit = np.tile(np.eye(3), (nodes, 1, 1, 1))
    dense, blocks = element_blocks(rng, len(chain), 3)
    b = rng.standard_normal((nodes, 3))
    for seed in range(3):
        contact = np.array(
            [np.random.default_rng([seed, k]).choice(nodes, 4, replace=False) for k in range(40)], np.int32
        )
        contact_dense, contact_blocks = element_blocks(rng, len(contact), 4)
        data = system.assemble([(diagonal, unit), (chain, blocks), (contact, contact_blocks)])
        expected = np.eye(3 * nodes)
        for stencil, matrices in ((chain, dense), (contact, contact_dense)):
            for e, element in enumerate(stencil):
                dofs = (3 * element[:, None] + np.arange(3)).ravel()
                expected[np.ix_(dofs, dofs)] += matrices[e]
        np.testing.assert_allclose(full_matrix(system.pattern, data).toarray(), expected, atol=1e-10)
        assert system.factorise(data)
        np.testing.assert_allclose(expected @ system.solve(b).ravel(), b.ravel(), atol=1e-8)
    grown = system.pattern.block_count
    assert grown > base
    system.thin([])
    assert system.pattern.block_count == base
