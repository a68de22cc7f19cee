"""Sparse block matrices and their Cholesky factorisation."""

from crumple.linalg.block_matrix import (
    MISSING,
    PRESCRIBED,
    UPPER_PAIRS,
    BlockPattern,
    add_blocks,
    add_vectors,
    block_keys,
    find_slots,
    join_keys,
    make_pattern,
    multiply,
    multiply_elements,
)
from crumple.linalg.cholesky import CholeskySolver, full_matrix, make_solver
from crumple.linalg.conjugate import conjugate_gradients, inner

__all__ = [
    "MISSING",
    "PRESCRIBED",
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
    "multiply",
    "multiply_elements",
]
