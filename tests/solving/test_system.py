"""The linear system grows with the contacts and forgets stale ones, without changing what it solves."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.linalg import full_matrix, make_solver
from crumple.runtime.timing import PhaseTimer
from crumple.solving.system import CG_TOLERANCE, LOOSE_TOLERANCE, WORTH, NewtonSystem


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
        np.testing.assert_allclose(full_matrix(system.pattern, data.blocks).toarray(), expected, atol=1e-10)
        assert system.factorise(data)
        np.testing.assert_allclose(expected @ system.solve_forces(b).ravel(), b.ravel(), atol=1e-8)
    grown = system.pattern.block_count
    assert grown > base
    system.thin()
    system.assemble([(diagonal, unit), (chain, blocks)])
    assert system.pattern.block_count == base


def test_nodes_without_a_part_in_a_contact_have_no_place():
    """As where the closest point of a face is on one of its edges: the third node feels nothing."""
    rng = np.random.default_rng(6)
    nodes = 60
    system, terms, b = chain_system(make_solver("superlu"), rng, nodes)
    contacts = np.array([rng.choice(nodes, 4, replace=False) for _ in range(50)], np.int32)
    _, blocks = element_blocks(rng, len(contacts), 4)
    absent = [q for q, pair in enumerate([(a, c) for a in range(4) for c in range(a, 4)]) if 3 in pair]
    blocks[:, absent] = 0.0
    given = [*terms, (contacts, blocks)]
    found, _ = system.newton_direction(given, [], b, np.zeros(0), is_convex=True)
    smaller = NewtonSystem(nodes, [terms[0][0], terms[1][0]], make_solver("superlu"), PhaseTimer())
    three = [q for q in range(10) if q not in absent]
    given = [*terms, (np.ascontiguousarray(contacts[:, :3]), np.ascontiguousarray(blocks[:, three]))]
    expected, _ = smaller.newton_direction(given, [], b, np.zeros(0), is_convex=True)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert system.pattern.block_count == smaller.pattern.block_count


class CountingSolver:
    """A solver that counts its factorisations."""

    def __init__(self, solutions: float = 60.0) -> None:
        self._solver = make_solver("superlu")
        self.name, self.solutions, self.leaves_to_fronts = self._solver.name, solutions, False
        self.analyse, self.solve = self._solver.analyse, self._solver.solve
        self.factorisations = 0

    def factorise(self, blocks):
        self.factorisations += 1
        return self._solver.factorise(blocks)


def chain_system(solver, rng, nodes=60):
    """A chain of elements: the system, its constant terms and a right-hand side."""
    chain = np.array([[i, i + 1, i + 2] for i in range(nodes - 2)], np.int32)
    diagonal = np.arange(nodes, dtype=np.int32).reshape(-1, 1)
    terms = [(diagonal, np.tile(np.eye(3), (nodes, 1, 1, 1))), (chain, element_blocks(rng, len(chain), 3)[1])]
    return NewtonSystem(nodes, [diagonal, chain], solver, PhaseTimer()), terms, rng.standard_normal((nodes, 3))


def energy_error(system, assembled, b, found):
    """Of a solution, in the energy norm, relative."""
    matrix = full_matrix(system.pattern, assembled.blocks).toarray()
    exact = np.linalg.solve(matrix, b.ravel())
    off = found.ravel() - exact
    return np.sqrt(off @ matrix @ off / (exact @ matrix @ exact))


def test_a_costly_factorisation_serves_the_next_matrices():
    """A few contacts more do not need a factorisation of their own; the direction is as good as promised."""
    rng, solver = np.random.default_rng(1), CountingSolver()
    system, terms, b = chain_system(solver, rng)
    matrix = system.assemble(terms)
    np.testing.assert_allclose(
        energy_error(system, matrix, b, system.direction(matrix, b.ravel(), is_convex=True)), 0.0, atol=1e-9
    )
    contact = np.array([[3, 17, 30, 44], [5, 9, 28, 51]], np.int32)
    for stiffness in (1.0, 10.0, 100.0):
        more = [*terms, (contact, stiffness * element_blocks(rng, 2, 4)[1])]
        matrix = system.assemble(more)
        found = system.direction(matrix, b.ravel(), is_convex=True)
        assert 1e-12 < energy_error(system, matrix, b, found) < 3.0 * CG_TOLERANCE
    assert solver.factorisations == 1


@pytest.mark.parametrize(("solutions", "is_convex"), [(WORTH - 1.0, True), (100.0, False)])
def test_what_is_cheap_or_may_be_indefinite_is_always_factorised(solutions, is_convex):
    solver = CountingSolver(solutions)
    system, terms, b = chain_system(solver, np.random.default_rng(2))
    for _ in range(3):
        matrix = system.assemble(terms)
        assert energy_error(system, matrix, b, system.direction(matrix, b.ravel(), is_convex=is_convex)) < 1e-9
    assert solver.factorisations == 3


def test_an_indefinite_matrix_has_no_direction():
    system, terms, b = chain_system(CountingSolver(), np.random.default_rng(3))
    assert system.direction(system.assemble(terms), b.ravel(), is_convex=False) is not None
    negative = [(terms[0][0], -1e3 * terms[0][1]), terms[1]]
    for is_convex in (False, True):
        assert system.direction(system.assemble(negative), b.ravel(), is_convex=is_convex) is None
        assert system.direction(system.assemble(terms), b.ravel(), is_convex=is_convex) is not None


def test_a_few_new_contacts_need_no_analysis():
    rng = np.random.default_rng(4)
    nodes = 60
    system, terms, b = chain_system(make_solver("superlu"), rng, nodes)
    contacts = np.array([rng.choice(nodes + 3, 4, replace=False) for _ in range(60)], np.int32)  # some prescribed nodes
    _, blocks = element_blocks(rng, len(contacts), 4)

    def directions(count, weight):
        scale = np.ones(count)
        scale[50:] = weight
        given = [*terms, (contacts[:count], scale[:, None, None, None] * blocks[:count])]
        found, _ = system.newton_direction(given, [], b, np.zeros(0), is_convex=True)
        fresh = NewtonSystem(nodes, [terms[0][0], terms[1][0]], make_solver("superlu"), PhaseTimer())
        expected, _ = fresh.newton_direction(given, [], b, np.zeros(0), is_convex=True)
        matrix = full_matrix(fresh.pattern, fresh.assemble(given).blocks).toarray()
        off = (found - expected).ravel()
        return np.sqrt(off @ matrix @ off / (expected.ravel() @ matrix @ expected.ravel()))

    assert directions(50, 0.0) < 1e-12
    before = system.pattern.block_count
    assert 0.0 < directions(51, 0.1) < LOOSE_TOLERANCE  # one more, weak: by conjugate gradients
    assert system.pattern.block_count == before
    assert directions(60, 0.1) < 1e-12  # ten more are too many
    assert system.pattern.block_count > before


def test_stiff_new_contacts_get_their_place():
    rng = np.random.default_rng(5)
    nodes = 400
    system, terms, b = chain_system(make_solver("superlu"), rng, nodes)
    contacts = np.array([rng.choice(nodes, 4, replace=False) for _ in range(420)], np.int32)
    _, blocks = element_blocks(rng, len(contacts), 4)
    blocks[400:] *= 1e4
    system.newton_direction([*terms, (contacts[:400], blocks[:400])], [], b, np.zeros(0), is_convex=True)
    before = system.pattern.block_count
    given = [*terms, (contacts, blocks)]
    found, _ = system.newton_direction(given, [], b, np.zeros(0), is_convex=True)
    assert system.pattern.block_count > before
    assert energy_error(system, system.assemble(given), b, found) < 1e-9
