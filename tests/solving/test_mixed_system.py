"""The system of nodes and scalars grows with contacts and solves what it should, by factor or by iteration."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.linalg import make_solver
from crumple.linalg.mixed_matrix import multiply_mixed
from crumple.runtime.timing import PhaseTimer
from crumple.solving.system import CG_TOLERANCE, NewtonSystem, TurnTerm

NODES = 50


def parts(rng, count, k, m):
    """Element matrices and their parts."""
    root = rng.standard_normal((count, 3 * k + m, 3 * k + m))
    dense = root @ root.transpose(0, 2, 1)
    blocks = [dense[:, 3 * a : 3 * a + 3, 3 * b : 3 * b + 3] for a in range(k) for b in range(a, k)]
    mixed = dense[:, : 3 * k, 3 * k :].reshape(count, k, 3, m).transpose(0, 1, 3, 2)
    own = [dense[:, 3 * k + e, 3 * k + f] for e in range(m) for f in range(e, m)]
    return np.stack(blocks, axis=1), np.ascontiguousarray(mixed), np.stack(own, axis=1) if m else np.zeros((count, 0))


def chain(solver, rng):
    """A chain of faces with two edges each: system, terms, terms with turns."""
    nodes = np.array([[i, i + 1, i + 2] for i in range(NODES - 2)], np.int32)
    edges = np.array([[i, i + 1] for i in range(NODES - 2)], np.int32)
    anchor = np.array([[i, i + 1] for i in range(NODES - 1)], np.int32)
    diagonal = np.arange(NODES, dtype=np.int32).reshape(-1, 1)
    pinned, none = np.array([[0], [NODES - 2]], np.int32), np.zeros((2, 0), np.int32)
    couplings = [(nodes, edges), (none, pinned)]
    system = NewtonSystem(NODES, [diagonal, nodes], solver, PhaseTimer(), anchor=anchor, couplings=couplings)
    blocks, mixed, own = parts(rng, len(nodes), 3, 2)
    terms = [(diagonal, np.tile(np.eye(3), (NODES, 1, 1, 1))), (nodes, blocks)]
    pins = TurnTerm(none, pinned, np.zeros((2, 0, 1, 3)), np.full((2, 1), 3.0))
    return system, terms, [TurnTerm(nodes, edges, mixed, own), pins]


@pytest.mark.parametrize("name", ["auto", "superlu"])
def test_grows_and_thins(name):
    rng = np.random.default_rng(0)
    system, terms, turn_terms = chain(make_solver(name), rng)
    base = system.pattern.block_count
    b = rng.standard_normal(system.coupling.size)
    for _ in range(3):
        contact = np.array([rng.choice(NODES, 4, replace=False) for _ in range(30)], np.int32)
        more = [*terms, (contact, parts(rng, 30, 4, 0)[0])]
        matrix = system.assemble(more, turn_terms)
        found = system.direction(matrix, b, is_convex=False)
        np.testing.assert_allclose(multiply_mixed(system.pattern, system.coupling, matrix, found), b, atol=1e-8)
        assert system.split(found)[0].shape == (NODES, 3)
        assert system.split(found)[1].shape == (NODES - 1,)
    assert system.pattern.block_count > base
    system.thin()
    system.assemble(terms, turn_terms)
    assert system.pattern.block_count == base


def test_an_old_factor_serves_the_next_matrix(monkeypatch):
    rng = np.random.default_rng(1)
    system, terms, turn_terms = chain(make_solver("superlu"), rng)
    b = rng.standard_normal(system.coupling.size)
    matrix = system.assemble(terms, turn_terms)
    assert system.direction(matrix, b, is_convex=True) is not None
    monkeypatch.setattr(type(system._solver), "solutions", 60.0)
    monkeypatch.setattr(system._solver, "factorise", lambda _: pytest.fail("must not be factorised again"))
    contact = np.array([[3, 17, 30, 44]], np.int32)
    matrix = system.assemble([*terms, (contact, parts(rng, 1, 4, 0)[0])], turn_terms)
    found = system.direction(matrix, b, is_convex=True)
    rest = multiply_mixed(system.pattern, system.coupling, matrix, found) - b
    assert 0.0 < np.linalg.norm(rest) < 10.0 * CG_TOLERANCE * np.linalg.norm(b)


def test_terms_without_elements():
    rng = np.random.default_rng(2)
    system, terms, turn_terms = chain(make_solver("superlu"), rng)
    none, no_scalars = np.zeros((0, 0), np.int32), np.zeros((0, 1), np.int32)
    nodes, edges = turn_terms[0].nodes, turn_terms[0].turns
    couplings = [(nodes, edges), (none, no_scalars)]
    stencils, anchor = [terms[0][0], nodes], system.coupling.anchor
    other = NewtonSystem(NODES, stencils, make_solver("superlu"), PhaseTimer(), anchor=anchor, couplings=couplings)
    empty = TurnTerm(none, no_scalars, np.zeros((0, 0, 1, 3)), np.zeros((0, 1)))
    with_empty = other.assemble(terms, [turn_terms[0], empty])
    without = system.assemble(terms, turn_terms[:1])
    np.testing.assert_array_equal(with_empty.mixed, without.mixed)
    np.testing.assert_array_equal(with_empty.own, without.own)
