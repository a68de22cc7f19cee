"""Sparse block matrices and their Cholesky factorisation."""

from crumple.linalg.block_matrix import (
    MISSING,
    NOTHING,
    UPPER_PAIRS,
    BlockPattern,
    add_blocks,
    add_vectors,
    block_keys,
    find_slots,
    join_keys,
    make_pattern,
    missing_keys,
    multiply,
    multiply_elements,
    waive_zeros,
)
from crumple.linalg.cholesky import CholeskySolver, full_matrix, make_solver
from crumple.linalg.conjugate import conjugate_gradients, inner

__all__ = [
    "MISSING",
    "NOTHING",
    "UPPER_PAIRS",
    "BlockPattern",
    "CholeskySolver",
    "add_blocks",
    "add_vectors",
    "block_keys",
    "conjugate_gradients",
    "find_slots",
    "full_matrix",
    "inner",
    "join_keys",
    "make_pattern",
    "make_solver",
    "missing_keys",
    "multiply",
    "multiply_elements",
    "waive_zeros",
]
