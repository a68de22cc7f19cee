"""How this package compiles functions and runs them on several threads.

Division by zero gives inf or nan as in numpy: the checks of the Python rule cost time in every kernel.

Calls inside a loop take scalars and a few arrays, never a named tuple of arrays: each array of it would be
reference-counted at every call, which costs more than the work and makes threads wait for each other.

Threads are Python threads that run compiled code without the interpreter's lock. Numba's own parallel loops would
take twice as long to compile, and their waiting threads use up the processor. A kernel that runs in parallel has the
first two arguments (first, step) and handles the chunks first, first + step, …; chunks have a fixed size and share no
output, so results do not depend on the number of threads (`numba.set_num_threads`).
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sized
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import FunctionType
from typing import Any, cast

import numba
import numpy as np
from numba import njit
from numba.extending import register_jitable

from crumple.runtime.tuning import TUNING

_few = [TUNING.one_thread_faces.value]

device = njit(cache=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""A function that only compiled code calls."""
kernel = njit(cache=True, error_model="numpy", nogil=True)
"""A function that Python calls as well."""
fused = njit(
    cache=True, error_model="numpy", fastmath={"contract", "reassoc"}, no_cpython_wrapper=True, no_cfunc_wrapper=True
)
"""A device function whose products may be fused with sums, and whose sums may be taken as a vector's: for dense
algebra, where nothing but speed depends on it."""
rule = register_jitable
"""A function of a few scalars that loops in Python and compiled loops share: plain Python in the one, where a call of
compiled code would cost more than the work, and compiled as a part of the other. To give the same bits in both it only
adds, multiplies and compares; powers are written as products."""

ZERO, ONE, TWO = np.int64(0), np.int64(1), np.int64(2)
NO, YES = np.bool_(False), np.bool_(True)
"""What kernels give to other kernels: for a literal in their place, Numba would compile a version of its own."""

_pool: list[ThreadPoolExecutor] = []


def spread(over: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorates a loop (`prange`) over the rows of its argument number `over` that write disjoint outputs: compiled for
    all threads where there are many rows, and for one where there are few, which starts at once and compiles in half
    the time. Each version is compiled when it is first needed; both give the same bits. Compiled code calls `alone`."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        many = njit(cache=True, parallel=True)(function)
        few = njit(cache=True)(_renamed(function))

        @functools.wraps(function)
        def run(*arguments: Any) -> None:
            (few if is_few(arguments[over]) else many)(*arguments)

        run.alone = few  # type: ignore[attr-defined]
        return run

    return decorate


def is_few(rows: Sized) -> bool:
    """Whether so many rows are for one thread."""
    return len(rows) < _few[0]


@contextmanager
def always_spread() -> Iterator[None]:
    """Let all loops use the version for many rows: to compile it."""
    before, _few[0] = _few[0], 0
    try:
        yield
    finally:
        _few[0] = before


def _renamed(function: Callable[..., None]) -> Callable[..., None]:
    """The same function under another name: Numba's cache knows compiled code by name and line."""
    own = cast(FunctionType, function)
    copy = FunctionType(own.__code__, own.__globals__, f"{own.__name__}_alone", own.__defaults__, own.__closure__)
    copy.__qualname__ = f"{own.__qualname__}_alone"
    copy.__module__ = own.__module__
    return copy


def run_chunks(function: Callable[..., None], chunks: int, *arguments: Any) -> None:
    """Run the kernel function(first, step, *arguments) on all threads, for `chunks` chunks of work."""
    threads = min(numba.get_num_threads(), chunks)
    if threads <= 1:
        function(0, 1, *arguments)
        return
    if not _pool:
        _pool.append(ThreadPoolExecutor(numba.config.NUMBA_NUM_THREADS, "crumple-contact"))
    rest = [_pool[0].submit(function, k, threads, *arguments) for k in range(1, threads)]
    function(0, threads, *arguments)
    for part in rest:
        part.result()


if hasattr(os, "register_at_fork"):  # a forked child has no threads: it starts its own
    os.register_at_fork(after_in_child=_pool.clear)
