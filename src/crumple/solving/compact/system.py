"""The linear system of Newton's method on a small sheet, in fronts (`linalg.front_matrix`).

It stands for `solving.system.NewtonSystem`. The analysis takes less time than a factorisation, so it is repeated
whenever a contact has no place in the fronts, and directions are always those of the whole matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crumple.linalg import join_keys
from crumple.linalg.front_matrix import BlockPlaces, FrontMatrix, SinglePlaces, clique_pairs, loose_pairs
from crumple.runtime.remembered import Equal, Remembered
from crumple.runtime.timing import PhaseTimer
from crumple.runtime.typing import Floats, Ints
from crumple.solving.system import GAUGE, NO_TURNS, TurnTerm


class Analysis(NamedTuple):
    """The fronts of a matrix, and where the parts of lasting elements go: of blocks by their nodes, and of turns by
    nodes and turns."""

    matrix: FrontMatrix
    blocks: list[tuple[Ints, BlockPlaces]]
    singles: list[tuple[Ints, Ints, SinglePlaces]]


_ANALYSES: Remembered[Analysis] = Remembered(2)
"""The last ones: a mesh with the same contacts in the next frame has the same."""


class CompactSystem:
    """Assembles and solves H d = b; see `NewtonSystem`, of which it has what Newton's method asks for."""

    solver_name: str = "fronts"

    def __init__(
        self,
        node_count: int,
        stencils: Sequence[Ints],
        timer: PhaseTimer,
        *,
        anchor: Ints = NO_TURNS,
        couplings: Sequence[tuple[Ints, Ints]] = (),
    ) -> None:
        """As in `NewtonSystem`: `anchor` (turn_count, 2) are the ends of the edges that turn."""
        self._node_count, self._timer, self._anchor = node_count, timer, anchor
        self._stencils, self._couplings = _each_once(stencils), list(couplings)
        self._matrix: FrontMatrix | None = None
        self._loose = np.zeros(0, np.int64)
        self._known: Analysis | None = None
        self._blocks: dict[int, BlockPlaces] = {}  # by the identity of arrays that the analysis keeps alive
        self._alike: list[Ints] = []  # kept, so that nothing else gets their identity
        self._singles: list[tuple[Ints, Ints, SinglePlaces]] = []

    def thin(self) -> None:
        """Nothing: blocks of past contacts cost little here."""

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
        """Displacements (node_count, 3) and turns under the `force` (node_count, 3) and the `moment` (turn_count,);
        None when the matrix is not positive definite."""
        with self._timer("assembly"):
            matrix = self._assemble(terms, turn_terms)
        with self._timer("factorisation"):
            if not matrix.factorise():
                return None
        return self.respond(force, moment)

    def respond(self, force: Floats, moment: Floats) -> tuple[Floats, Floats]:
        """Displacements (node_count, 3) and turns (turn_count,) under a `force` (node_count, 3) and a `moment`
        (turn_count,), with the last factorisation."""
        assert self._matrix is not None  # there has been a direction
        with self._timer("solve"):
            found = self._matrix.solve(np.concatenate([force.ravel(), moment]))
        return found[: 3 * self._node_count].reshape(-1, 3), found[3 * self._node_count :]

    def solve_forces(self, force: Floats) -> Floats:
        """The displacements (node_count, 3) under the `force` (node_count, 3), with the last factorisation."""
        return self.respond(force, np.zeros(len(self._anchor)))[0]

    def _assemble(self, terms: Sequence[tuple[Ints, Floats]], turn_terms: Sequence[TurnTerm]) -> FrontMatrix:
        """The matrix with all terms; analysed anew if one has no place."""
        if self._matrix is None or not self._add(self._matrix, terms, turn_terms):
            known = [stencil for stencil, _ in terms if self._is_lasting(stencil)]
            loose = [
                loose_pairs(stencil, blocks, self._node_count)
                for stencil, blocks in terms
                if not any(stencil is one for one in known)
            ]
            self._loose = join_keys(self._loose, *(self._keys(pairs) for pairs in loose))
            self._matrix = self._analyse()
            if not self._add(self._matrix, terms, turn_terms):
                raise AssertionError("a block has no place in the fronts that were made for it")
        return self._matrix

    def _add(self, matrix: FrontMatrix, terms: Sequence[tuple[Ints, Floats]], turn_terms: Sequence[TurnTerm]) -> bool:
        """Fill the matrix; False when a block has no place."""
        matrix.clear()
        for stencil, blocks in terms:
            places = self._block_places(stencil)
            if places is not None:
                matrix.add_placed(places, blocks)
            elif not matrix.add_loose(stencil, blocks):
                return False
        for nodes, turns, mixed, own in turn_terms:
            matrix.add_singles(self._single_places(matrix, nodes, turns), mixed, own)
        matrix.stiffen_singles(GAUGE)
        return True

    def _block_places(self, stencil: Ints) -> BlockPlaces | None:
        """Where the blocks of lasting elements go; also of those that are the same in another array, which a mesh has
        whose pattern alone has changed. None for all others."""
        places = self._blocks.get(id(stencil))
        if places is None and self._known is not None:
            for one, found in self._known.blocks:
                if one.shape == stencil.shape and np.array_equal(one, stencil):
                    self._alike.append(stencil)
                    self._blocks[id(stencil)] = places = found
                    break
        return places

    def _single_places(self, matrix: FrontMatrix, nodes: Ints, turns: Ints) -> SinglePlaces:
        """Where the parts of elements with turns go; those of lasting elements are known."""
        for one, other, places in self._singles:
            if one is nodes and other is turns:
                return places
        for one, other, places in self._known.singles if self._known is not None else ():
            if one.shape == nodes.shape and np.array_equal(one, nodes) and np.array_equal(other, turns):
                self._singles.append((nodes, turns, places))
                return places
        return matrix.find_singles(nodes, turns)

    def _analyse(self) -> FrontMatrix:
        """Fronts for all lasting elements, and for the pairs of contacts that there have been."""
        with self._timer("analysis"):
            parts = *self._stencils, *(one for pair in self._couplings for one in pair), self._anchor
            known = Equal((self._node_count, self._loose.tobytes()))
            found = _ANALYSES.find((*parts, known), self._make_analysis)
            self._known, self._singles, self._alike = found, list(found.singles), []
            self._blocks = {id(stencil): places for stencil, places in found.blocks}
        return found.matrix.blank()

    def _make_analysis(self) -> Analysis:
        cliques = [*self._stencils, *(self._with_ends(*coupling) for coupling in self._couplings)]
        pairs = [clique_pairs(one, self._node_count) for one in cliques if one.shape[1] > 1]
        loose = np.stack([self._loose // self._node_count, self._loose % self._node_count], axis=1)
        matrix = FrontMatrix(self._node_count, np.concatenate([*pairs, loose.astype(np.int32)]), self._anchor)
        return Analysis(
            matrix,
            [(one, matrix.find_blocks(one)) for one in self._stencils],
            [(one, other, matrix.find_singles(one, other)) for one, other in self._couplings],
        )

    def _keys(self, pairs: Ints) -> NDArray[np.int64]:
        """Pairs of nodes (p, 2) as single numbers, the same for both directions, (p,)."""
        low, high = pairs.min(axis=1).astype(np.int64), pairs.max(axis=1)
        return low * self._node_count + high

    def _with_ends(self, nodes: Ints, turns: Ints) -> Ints:
        """The nodes of elements (n, k) and the ends of the edges that turn with them, −1 for edges that cannot."""
        ends = np.full((*turns.shape, 2), -1, np.int32)
        free = turns < len(self._anchor)
        ends[free] = self._anchor[turns[free]]
        return np.concatenate([nodes, ends.reshape(len(nodes), -1)], axis=1)

    def _is_lasting(self, stencil: Ints) -> bool:
        """Whether this very array is that of elements that stay."""
        return any(one is stencil for one in self._stencils)


def _each_once(stencils: Sequence[Ints]) -> list[Ints]:
    """The stencils without those that are the very same array as one before."""
    found: list[Ints] = []
    for stencil in stencils:
        if not any(stencil is one for one in found):
            found.append(stencil)
    return found
