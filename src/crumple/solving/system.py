"""The linear system of Newton's method: assembled on a pattern that grows with the contacts.

Unknowns are 3-vectors at nodes and one scalar for each edge that may turn, of which there may be none. Vectors are
flat: three numbers per node, then the turns, (3 node_count + turn_count,).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from crumple.linalg import (
    MISSING,
    NOTHING,
    UPPER_PAIRS,
    BlockPattern,
    CholeskySolver,
    add_blocks,
    add_vectors,
    block_keys,
    conjugate_gradients,
    find_slots,
    join_keys,
    make_pattern,
    missing_keys,
    multiply_elements,
    waive_zeros,
)
from crumple.linalg.mixed_matrix import MixedBlocks, add_rows, find_mixed_slots, make_coupling, multiply_mixed
from crumple.linalg.mixed_solver import MixedSolver
from crumple.linalg.sparse_front_solver import SparseFrontSolver
from crumple.runtime.timing import PhaseTimer
from crumple.runtime.typing import Floats, Ints
from crumple.solving.backoff import Backoff, failed, is_due, succeeded, waited
from crumple.solving.tuning import TUNING

STALE_FRACTION = TUNING.stale_pattern.value
WORTH = TUNING.factorisation_worth.value
CG_TOLERANCE = TUNING.direction_tolerance.value
LOOSE_FRACTION = TUNING.missing_blocks.value
LOOSE_TOLERANCE = TUNING.missing_blocks_tolerance.value
LOOSE_ITERATIONS = TUNING.missing_blocks_iterations.value
LONGEST_PAUSE = TUNING.conjugate_gradient_pause.value
GAUGE = TUNING.turn_gauge.value
NO_TURNS: Ints = np.zeros((0, 2), np.int32)
"""The ends of the edges that turn where none do."""


class TurnTerm(NamedTuple):
    """What of the Hessians of n elements with `nodes` (n, k) belongs to their `turns` (n, m): `mixed` (n, k, m, 3) [N]
    and `own` (n, m(m+1)/2) [N m], see `Derivatives`. Their node blocks are terms like all others."""

    nodes: Ints
    turns: Ints
    mixed: Floats
    own: Floats


class _Fixed:
    """A stencil that stays while the mesh does, and the slots of its blocks in the present pattern, once found."""

    def __init__(self, stencil: Ints) -> None:
        self.stencil = stencil
        self.slots: Ints | None = None


class _Loose(NamedTuple):
    """Elements with blocks that the pattern lacks: stencil (n, k), and blocks of which all but those are zero."""

    stencil: Ints
    blocks: Floats


class NewtonSystem:
    """Assembles and solves H d = b, re-analysing only when the pattern lacks too many blocks.

    Blocks of past contacts stay in the pattern (as zeros) so that the analysis is reused; `thin` drops them. A larger
    pattern gets an elimination order of its own: with the old one, 2 % more blocks between layers double the fill-in.
    Blocks that are zero from the start have no place in it: where the closest point of a contact is on an edge or at
    a corner, the other nodes of the pair feel nothing, and of the blocks of contacts in a crumpled ball 60 % are so.

    An analysis takes three times as long as a factorisation, and in nearly every iteration a few contacts begin. Those
    are weak, so at first only their diagonal blocks are factorised; conjugate gradients do the rest.
    """

    def __init__(
        self,
        node_count: int,
        stencils: Sequence[Ints],
        solver: CholeskySolver,
        timer: PhaseTimer,
        *,
        anchor: Ints = NO_TURNS,
        couplings: Sequence[tuple[Ints, Ints]] = (),
    ) -> None:
        """`stencils`: those of all terms that stay;  `anchor` (turn_count, ·): nodes beside which each turn is
        eliminated, the ends of its edge;  `couplings`: (nodes, turns) of all terms with turns. Stencils and couplings
        are known again by their very arrays."""
        self._node_count = node_count
        self.coupling = make_coupling(node_count, anchor, couplings)
        self._coupling_slots = [
            (nodes, turns, find_mixed_slots(self.coupling, nodes, turns)) for nodes, turns in couplings
        ]
        self._timer = timer
        self._base_keys = block_keys(node_count, stencils)
        base = make_pattern(node_count, self._base_keys)
        self._solver: MixedSolver | SparseFrontSolver = MixedSolver(solver, self.coupling)
        if solver.leaves_to_fronts:
            self._solver = SparseFrontSolver(solver, self.coupling, base)
        self._fixed = [_Fixed(stencil) for stencil in stencils]
        self._blocks = np.zeros((0, 3, 3))
        self._analysed = False
        self._has_factor = False
        self._loose: list[_Loose] = []
        self._is_tight = False
        self._may_thin = False
        self._iterating = Backoff(0, 1)
        self._use(base)

    @property
    def solver_name(self) -> str:
        """What factorises the matrix."""
        return self._solver.name

    @property
    def pattern(self) -> BlockPattern:
        return self._pattern

    def thin(self) -> None:
        """Let the next assembly forget blocks of past contacts, if there are too many."""
        self._may_thin = True

    def assemble(self, terms: Sequence[tuple[Ints, Floats]], turn_terms: Sequence[TurnTerm] = ()) -> MixedBlocks:
        """The matrix: the sum of the element blocks (n, k(k+1)/2, 3, 3) of all (stencil, blocks) terms, and of what
        belongs to turns."""
        blocks = self._assemble_blocks(terms)
        mixed, own = np.zeros((len(self.coupling.node), 3)), np.zeros(len(self.coupling.scalar))
        if self.coupling.scalar_count:
            with self._timer("assembly"):
                for term in turn_terms:
                    mixed_slots, own_slots = self._turn_slots(term.nodes, term.turns)
                    add_rows(mixed_slots, term.mixed.reshape(*mixed_slots.shape, 3), 1.0, mixed)
                    add_rows(own_slots, term.own[..., None], 1.0, own[:, None])
            diagonal = self.coupling.scalar_start[:-1]
            own[diagonal] += GAUGE * float(np.mean(own[diagonal]))
        return MixedBlocks(blocks, mixed, own)

    def _assemble_blocks(self, terms: Sequence[tuple[Ints, Floats]]) -> Floats:
        """The blocks of the nodes, (block_count, 3, 3); elements that have no place there are kept as loose ones."""
        with self._timer("assembly"):
            self._loose = []
            slots, missing = self._find(terms)
            if self._may_thin and self._forget(terms, slots):
                slots, missing = self._find(terms)
            self._may_thin = False
            few = 0.0 if self._is_tight else LOOSE_FRACTION * (self._pattern.block_count - len(self._base_keys))
            if missing > few:
                new = [missing_keys(self._node_count, s, code) for (s, _), code in zip(terms, slots, strict=True)]
                self._grow(join_keys(*new))
                slots, missing = self._find(terms)
                self._is_tight = False
            self._blocks[:] = 0.0
            for (stencil, blocks), code in zip(terms, slots, strict=True):
                add_blocks(self._set_apart(stencil, blocks, code) if missing else code, blocks, 1.0, self._blocks)
            return self._blocks

    def _set_apart(self, stencil: Ints, blocks: Floats, code: Ints) -> Ints:
        """Keep the elements with missing blocks as loose ones; their slots but for the diagonal are taken away."""
        lacks = np.any(code == MISSING, axis=1)
        if not lacks.any():
            return code
        diagonal = np.array([a == b for a, b in UPPER_PAIRS[stencil.shape[1]]])
        apart = blocks[lacks]
        apart[(code[lacks] == NOTHING) | diagonal] = 0.0
        self._loose.append(_Loose(stencil[lacks], apart))
        return np.where(lacks[:, None] & ~diagonal, NOTHING, code)

    def newton_direction(
        self,
        terms: Sequence[tuple[Ints, Floats]],
        turn_terms: Sequence[TurnTerm],
        force: Floats,
        moment: Floats,
        *,
        is_convex: bool,
        is_direct: bool = False,
    ) -> tuple[Floats, Floats] | None:
        """Displacements (node_count, 3) and turns under the `force` (node_count, 3) and the `moment` (turn_count,).

        None when the matrix is not positive definite; see `direction` for `is_convex`.  `is_direct`: with a
        factorisation of this matrix, but for loose elements, which then serves `respond` too.
        """
        may_iterate = is_convex and not is_direct
        right = np.concatenate([force.ravel(), moment])
        found = self.direction(self.assemble(terms, turn_terms), right, is_convex=may_iterate)
        if found is None and is_convex and self._loose:  # the loose elements are not so weak
            self._is_tight = True
            found = self.direction(self.assemble(terms, turn_terms), right, is_convex=may_iterate)
        return None if found is None else self.split(found)

    def direction(self, matrix: MixedBlocks, b: Floats, *, is_convex: bool) -> Floats | None:
        """The solution d of H d = b for the assembled matrix; None when H is not positive definite.

        `is_convex`: it is known to be so. Then, of a matrix that is costly, d may be found by conjugate gradients with
        the factorisation of an earlier one and be off by `CG_TOLERANCE`. (They could not tell whether H is convex.)
        """
        found = self._iterate(matrix, b) if is_convex else None
        if found is not None:
            return found
        if not self.factorise(matrix):
            return None
        return self._solve_with_loose(matrix, b) if self._loose else self._solve(b)

    def _solve_with_loose(self, matrix: MixedBlocks, b: Floats) -> Floats | None:
        """The solution with the last factorisation, which lacks the loose elements; None when that takes too long."""
        solutions = 0

        def solve(right: Floats) -> Floats:
            nonlocal solutions
            solutions += 1
            return self._solver.solve(right)

        with self._timer("solve"):
            found = conjugate_gradients(
                lambda x: self._multiply(matrix, x),
                b,
                solve,
                tolerance=LOOSE_TOLERANCE,
                max_iterations=LOOSE_ITERATIONS,
            )
        self._is_tight = solutions > LOOSE_ITERATIONS // 2
        return found

    def _iterate(self, matrix: MixedBlocks, b: Floats) -> Floats | None:
        """The solution by conjugate gradients, or None when they are not tried or fail."""
        if not self._has_factor or self._solver.solutions < WORTH:
            return None
        if not is_due(self._iterating):
            self._iterating = waited(self._iterating)
            return None
        with self._timer("solve"):
            found = conjugate_gradients(
                lambda x: self._multiply(matrix, x),
                b,
                self._solver.solve,
                tolerance=CG_TOLERANCE,
                max_iterations=int(self._solver.solutions),
            )
        self._iterating = failed(self._iterating, LONGEST_PAUSE) if found is None else succeeded(self._iterating, 1)
        return found

    def factorise(self, matrix: MixedBlocks) -> bool:
        """Factorise; False when the matrix is not positive definite."""
        if not self._analysed:
            with self._timer("analysis"):
                self._solver.analyse(self._pattern)
            self._analysed = True
        with self._timer("factorisation"):
            self._has_factor = self._solver.factorise(matrix)
        return self._has_factor

    def respond(self, force: Floats, moment: Floats) -> tuple[Floats, Floats]:
        """Displacements (node_count, 3) and turns (turn_count,) under a `force` (node_count, 3) and a `moment`
        (turn_count,), with the last factorisation."""
        return self.split(self._solve(np.concatenate([force.ravel(), moment])))

    def solve_forces(self, force: Floats) -> Floats:
        """The displacements (node_count, 3) under the `force` (node_count, 3), with the last factorisation."""
        return self.respond(force, np.zeros(self.coupling.scalar_count))[0]

    def split(self, vector: Floats) -> tuple[Floats, Floats]:
        """The part of a flat vector at nodes (node_count, 3), and its turns (turn_count,)."""
        nodes = 3 * self._node_count
        return vector[:nodes].reshape(-1, 3), vector[nodes:]

    def _solve(self, b: Floats) -> Floats:
        """Solve with the last factorisation."""
        with self._timer("solve"):
            return self._solver.solve(b)

    def _multiply(self, matrix: MixedBlocks, x: Floats) -> Floats:
        """The product of the assembled matrix with x, flat."""
        product = multiply_mixed(self._pattern, self.coupling, matrix, x)
        self._add_loose(self.split(x)[0], self.split(product)[0])
        return product

    def _turn_slots(self, nodes: Ints, turns: Ints) -> tuple[Ints, Ints]:
        """Where the parts of a term with these very stencils go."""
        for known_nodes, known_turns, slots in self._coupling_slots:
            if known_nodes is nodes and known_turns is turns:
                return slots
        return find_mixed_slots(self.coupling, nodes, turns)

    def _add_loose(self, x: Floats, product: Floats) -> None:
        """Add the product of the loose elements with x (node_count, 3) to `product`."""
        for stencil, blocks in self._loose:
            near = np.where(stencil < self._node_count, stencil, 0)  # the blocks of prescribed nodes are zero
            add_vectors(stencil, multiply_elements(near, blocks, x), 1.0, product)

    def _find(self, terms: Sequence[tuple[Ints, Floats]]) -> tuple[list[Ints], int]:
        """Slots of the blocks of all terms, and how many are missing that are not zero."""
        slots, missing = [self._slots(stencil) for stencil, _ in terms], 0
        for (stencil, blocks), code in zip(terms, slots, strict=True):
            if self._known(stencil) is None:
                missing += waive_zeros(code, blocks)
        return slots, missing

    def _forget(self, terms: Sequence[tuple[Ints, Floats]], slots: list[Ints]) -> bool:
        """Take a pattern without the blocks that have no part in the terms, if there are many; whether it was done."""
        used = np.isin(self._pattern.keys, self._base_keys, assume_unique=True)
        for (stencil, _), code in zip(terms, slots, strict=True):
            if self._known(stencil) is None:
                used[code[code >= 0] >> 1] = True
        if self._pattern.block_count <= STALE_FRACTION * np.count_nonzero(used):
            return False
        self._use(make_pattern(self._node_count, self._pattern.keys[used]))
        return True

    def _slots(self, stencil: Ints) -> Ints:
        """Slots of a stencil's blocks, remembered for the stencils that do not change."""
        fixed = self._known(stencil)
        if fixed is None:
            return find_slots(self._pattern, stencil)
        if fixed.slots is None:
            fixed.slots = find_slots(self._pattern, stencil)
        return fixed.slots

    def _known(self, stencil: Ints) -> _Fixed | None:
        """The record of a stencil that does not change, if this very array is one."""
        return next((fixed for fixed in self._fixed if fixed.stencil is stencil), None)

    def _grow(self, keys: np.ndarray) -> None:
        old = self._pattern
        known = [fixed.slots for fixed in self._fixed]
        self._use(make_pattern(self._node_count, join_keys(old.keys, keys)))
        place = np.searchsorted(self._pattern.keys, old.keys).astype(np.int32)
        for fixed, code in zip(self._fixed, known, strict=True):
            fixed.slots = None if code is None else np.where(code < 0, code, 2 * place[code >> 1] + (code & 1))

    def _use(self, pattern: BlockPattern) -> None:
        self._pattern = pattern
        self._analysed = False
        for fixed in self._fixed:
            fixed.slots = None
        self._blocks = np.zeros((pattern.block_count, 3, 3))
