"""Sparse Cholesky behind one small interface: analyse a pattern, factorise values, solve.

Newton's systems go into fronts of our own (`sparse_front_solver`), which MKL Pardiso orders where it exists and SuperLU
of scipy elsewhere, on ARM and on macOS. The two also solve what is left, systems of nodes alone (Pardiso takes our 3×3
blocks as they are, which makes the analysis twice as fast as on scalars). CHOLMOD through cvxopt (GPL) serves only when
asked for by name.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Protocol

import numba
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import SuperLU, splu

from crumple.linalg.block_matrix import BlockPattern
from crumple.linalg.mixed_matrix import ScalarPattern
from crumple.linalg.tuning import TUNING
from crumple.runtime.errors import InputError, SimulationError
from crumple.runtime.typing import Floats, Ints

_CBWR_AUTO = 2
"""MKL's conditional numerical reproducibility with the best instructions of the processor (`MKL_CBWR_AUTO`)."""


class CholeskySolver(Protocol):
    """Solves A x = b for a symmetric positive definite matrix A of blocks of width 3, or 1 (`ScalarPattern`)."""

    name: str
    leaves_to_fronts: bool
    """Whether it only orders the nodes of matrices that go into fronts of our own (`sparse_front_solver`)."""

    @property
    def solutions(self) -> float:
        """About how many solutions take as long as a factorisation of the pattern."""

    def analyse(self, pattern: BlockPattern | ScalarPattern) -> None:
        """Order and analyse the pattern; valid until the next call. A `ScalarPattern` is in order already."""

    def factorise(self, blocks: Floats) -> bool:
        """Factorise the values (block_count, width, width); False when the matrix is not positive definite."""

    def solve(self, b: Floats) -> Floats:
        """The solution for the right-hand side b (node_count, width)."""

    def order(self, pattern: BlockPattern) -> Ints:
        """The nodes in a good order of elimination, (node_count,)."""


def make_solver(name: str = "auto") -> CholeskySolver:
    """The named solver; "auto" is fronts of our own in the order of MKL where that is installed, else "fronts": the
    same in the order of SuperLU."""
    if name in ("auto", "pardiso"):
        try:
            return Pardiso(leaves_to_fronts=name == "auto")
        except (ImportError, OSError) as error:
            if name == "pardiso":
                raise InputError("solver.linear_solver", f"MKL Pardiso is not available: {error}", name) from None
    if name in ("auto", "fronts", "superlu"):
        return ScipySolver(leaves_to_fronts=name != "superlu")
    if name == "cholmod":
        return Cholmod()
    raise InputError("solver.linear_solver", "must be auto, pardiso, fronts, superlu or cholmod", name)


class Pardiso:
    """Intel MKL Pardiso on upper-triangular block CSR (mtype 2: symmetric positive definite)."""

    name = "MKL Pardiso"
    _ANALYSE, _FACTORISE, _SOLVE, _RELEASE = 11, 22, 33, -1
    _SECONDS = {3: TUNING.pardiso_block_seconds.value, 1: TUNING.pardiso_scalar_seconds.value}  # noqa: RUF012
    _FEW_NODES = TUNING.minimum_degree_nodes.value
    _WORTH_THREADS = TUNING.one_thread_unknowns.value
    _NOT_POSITIVE_DEFINITE = (-4, -13)  # the latter is undocumented for this: about 1 in 200 indefinite matrices

    def __init__(self, *, leaves_to_fronts: bool = False) -> None:
        self.leaves_to_fronts = leaves_to_fronts
        self._pardiso = _load_pardiso()
        self._handle = np.zeros(64, np.int64)
        self._options = np.zeros(64, np.int32)
        self._options[0] = 1  # no defaults
        self._options[1] = 2  # nested dissection; the multi-threaded one (3) excludes reproducible bits
        self._options[33] = _reproducible_threads()
        self._options[34] = 1  # indices from zero, blocks row by row
        self._pattern: BlockPattern | ScalarPattern | None = None
        self._order: Ints = np.zeros(1, np.int32)
        self._blocks = np.zeros((0, 3, 3))

    @property
    def solutions(self) -> float:
        entries, megaflops = self._options[17:19].astype(float)  # as counted by the analysis, in blocks
        factorisation, solution = self._SECONDS[3 if self._pattern is None else self._pattern.width]
        return float(factorisation * megaflops / (solution * max(entries, 1.0)))

    def analyse(self, pattern: BlockPattern | ScalarPattern) -> None:
        self._release()
        self._pattern = pattern
        self._blocks = np.zeros((pattern.block_count, pattern.width, pattern.width))
        if pattern.width == 3:
            self._options[4], self._options[36] = 0, 3  # block CSR with 3×3 blocks
        else:
            self._options[4], self._options[36] = 1, 0  # the order is given: as the unknowns are
            self._order = np.arange(pattern.node_count, dtype=np.int32)
        self._options[17:19] = -1  # count entries and operations
        self._call(self._ANALYSE)

    def factorise(self, blocks: Floats) -> bool:
        self._blocks = blocks
        try:
            return self._call(self._FACTORISE) == 0
        except SimulationError:  # seen once, "not enough memory" with plenty of it: start afresh before giving up
            assert self._pattern is not None
            self.analyse(self._pattern)
            self._blocks = blocks
            return self._call(self._FACTORISE) == 0

    def solve(self, b: Floats) -> Floats:
        x = np.empty_like(b)
        self._call(self._SOLVE, np.ascontiguousarray(b), x)
        return x

    def order(self, pattern: BlockPattern) -> Ints:
        graph = Pardiso()
        graph._options[1] = 0 if pattern.node_count < self._FEW_NODES else 2
        graph._options[4] = 2  # returns the order
        graph._order = np.zeros(max(pattern.node_count, 1), np.int32)
        graph._pattern, graph._blocks = pattern, np.ones((pattern.block_count, 1, 1))
        graph._call(self._ANALYSE)
        return graph._order

    def _call(self, phase: int, b: Floats | None = None, x: Floats | None = None) -> int:
        """Run one phase; returns 0, or another number when the matrix is not positive definite."""
        assert self._pattern is not None
        empty = np.zeros(1)
        b, x = (empty if b is None else b), (empty if x is None else x)
        error = ctypes.c_int32(0)
        one, zero = ctypes.c_int32(1), ctypes.c_int32(0)
        is_small = self._pattern.node_count * self._pattern.width < self._WORTH_THREADS
        before = _load_mkl().MKL_Set_Num_Threads_Local(ctypes.c_int(1 if is_small else _threads()))
        self._pardiso(
            _address(self._handle), ctypes.byref(one), ctypes.byref(one), ctypes.byref(ctypes.c_int32(2)),
            ctypes.byref(ctypes.c_int32(phase)), ctypes.byref(ctypes.c_int32(self._pattern.node_count)),
            _address(self._blocks), _address(self._pattern.row_start), _address(self._pattern.column),
            _address(self._order), ctypes.byref(one), _address(self._options), ctypes.byref(zero),
            _address(b), _address(x), ctypes.byref(error),
        )  # fmt: skip
        _load_mkl().MKL_Set_Num_Threads_Local(ctypes.c_int(before))
        if error.value and error.value not in self._NOT_POSITIVE_DEFINITE:
            raise SimulationError(f"MKL Pardiso failed in phase {phase} with error {error.value}")
        return error.value

    def _release(self) -> None:
        if self._pattern is not None:
            self._call(self._RELEASE)
            self._handle[:] = 0
            self._pattern = None

    def __del__(self) -> None:
        if getattr(self, "_pattern", None) is not None and not sys.is_finalizing():
            self._release()


class ScipySolver:
    """SuperLU of scipy on scalar columns, without pivoting; slower, but always there."""

    name = "SuperLU (scipy)"
    solutions = 10.0

    def __init__(self, *, leaves_to_fronts: bool = False) -> None:
        self.leaves_to_fronts = leaves_to_fronts
        self._pattern: BlockPattern | ScalarPattern | None = None
        self._factor: SuperLU | None = None

    def order(self, pattern: BlockPattern) -> Ints:
        """By minimum degree, found with a factorisation of a matrix with one unknown per node."""
        if not self.leaves_to_fronts or pattern.node_count == 0:
            return _as_they_are(pattern)
        shape = pattern.node_count, pattern.node_count
        upper = sp.csr_matrix((np.full(len(pattern.column), -1.0), pattern.column, pattern.row_start), shape)
        graph = upper + upper.T
        graph.setdiag(1.0 - graph.sum(axis=1).A1)
        return np.argsort(_factorise(graph.tocsc()).perm_c).astype(np.int32)

    def analyse(self, pattern: BlockPattern | ScalarPattern) -> None:
        self._pattern = pattern

    def factorise(self, blocks: Floats) -> bool:
        assert self._pattern is not None
        matrix = full_matrix(self._pattern, blocks).tocsc()
        try:
            self._factor = _factorise(matrix)
        except RuntimeError:  # exactly singular
            return False
        return bool((self._factor.U.diagonal() > 0.0).all())

    def solve(self, b: Floats) -> Floats:
        assert self._factor is not None
        return self._factor.solve(b.ravel()).reshape(b.shape)


class Cholmod:
    """CHOLMOD through cvxopt, which is under the GPL: an extra, used only when asked for."""

    name = "CHOLMOD (cvxopt)"
    leaves_to_fronts = False
    solutions = 10.0

    def __init__(self) -> None:
        try:
            import cvxopt
            import cvxopt.cholmod
        except ImportError:
            raise InputError(
                "solver.linear_solver", "needs cvxopt (GPL): pip install 'crumple[cholmod]'", "cholmod"
            ) from None
        self._cvxopt = cvxopt
        self._pattern: BlockPattern | ScalarPattern | None = None

    def order(self, pattern: BlockPattern) -> Ints:
        return _as_they_are(pattern)

    def analyse(self, pattern: BlockPattern | ScalarPattern) -> None:
        self._pattern = pattern
        self._factor = self._cvxopt.cholmod.symbolic(
            self._lower(np.ones((pattern.block_count, pattern.width, pattern.width)))
        )

    def factorise(self, blocks: Floats) -> bool:
        try:
            self._cvxopt.cholmod.numeric(self._lower(blocks), self._factor)
        except ArithmeticError:
            return False
        return True

    def solve(self, b: Floats) -> Floats:
        x = self._cvxopt.matrix(b.ravel())
        self._cvxopt.cholmod.solve(self._factor, x)
        return np.array(x).reshape(b.shape)

    def _lower(self, blocks: Floats):  # type: ignore[no-untyped-def]
        assert self._pattern is not None
        lower = sp.tril(full_matrix(self._pattern, blocks)).tocoo()
        return self._cvxopt.spmatrix(lower.data, lower.row.astype(int), lower.col.astype(int), lower.shape)


@cache
def _load_mkl() -> ctypes.CDLL:
    """MKL, asked for the same bits in every run on this machine.

    Wheels and conda put the library into the environment. Where it is not there, pypardiso looks for it: it asks the
    linker and walks through all installed packages, which would be a large part of the time that a run needs to start.
    """
    library = None if "PYPARDISO_MKL_RT" in os.environ else _environment_mkl()
    if library is None:
        from pypardiso import PyPardisoSolver

        library = PyPardisoSolver(mtype=2).libmkl
    library.MKL_CBWR_Set(ctypes.c_int(_CBWR_AUTO))
    return library


@cache
def _load_pardiso() -> Callable[..., None]:
    """The routine `pardiso` of MKL."""
    routine: Callable[..., None] = _load_mkl().pardiso
    return routine


@cache
def _most_threads() -> int:
    """Threads that MKL would use, by the number of cores or the user's environment."""
    return int(_load_mkl().MKL_Get_Max_Threads())


def _threads() -> int:
    """Threads for a large matrix: as many as kernels use at present (`runtime.threads`), if MKL may have them."""
    return min(numba.get_num_threads(), _most_threads())


def _reproducible_threads() -> int:
    """Threads that the work is divided for: one thread does it as two would, and gets the same bits."""
    return max(2, _most_threads())


def _environment_mkl() -> ctypes.CDLL | None:
    """MKL from the folder of this environment in which its wheel puts it, if it is there."""
    for path in chain.from_iterable(Path(sys.prefix, folder).glob("*mkl_rt*") for folder in ("lib", "Library/bin")):
        with suppress(OSError):  # not a library, or one for another system
            return ctypes.CDLL(str(path))
    return None


def _as_they_are(pattern: BlockPattern) -> Ints:
    """No order of their own: for solvers that order scalars themselves."""
    return np.arange(pattern.node_count, dtype=np.int32)


def full_matrix(pattern: BlockPattern | ScalarPattern, blocks: Floats) -> sp.csr_matrix:
    """The whole symmetric matrix as scalars, (width node_count, width node_count)."""
    n = pattern.width * pattern.node_count
    upper = sp.bsr_matrix((blocks, pattern.column, pattern.row_start), shape=(n, n)).tocsr()
    strict = sp.triu(upper, 1)
    return (strict + strict.T + sp.diags(upper.diagonal())).tocsr()


def _address(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def _factorise(matrix: sp.csc_matrix) -> SuperLU:
    """The factors of a symmetric matrix, ordered by minimum degree, without pivoting."""
    return splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
