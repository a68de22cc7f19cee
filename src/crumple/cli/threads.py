"""How many threads a run uses; decided before the libraries that read it are loaded."""

from __future__ import annotations

import os
import sys

from crumple.cli.notices import show_warning

VARIABLES = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def set_threads(count: int | None) -> None:
    """Limit kernels, linear solver and BLAS to `count` threads; `None` leaves the user's environment alone.

    More threads than cores only wait for each other, and many more crash the libraries: they are not started.
    """
    if count is None:
        return
    cores = available_cores()
    if count > cores:
        show_warning(f"--threads {count}: this machine has {cores} cores; using {cores} threads")
        count = cores
    if "numba" in sys.modules:  # the number of workers is fixed by now, but fewer of them can be used
        import numba

        numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))
        return
    for variable in VARIABLES:
        os.environ[variable] = str(count)


def available_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
