"""How many threads a run uses; decided before the libraries that read it are loaded."""

from __future__ import annotations

import os
import sys

VARIABLES = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def set_threads(count: int | None) -> None:
    """Limit kernels, linear solver and BLAS to `count` threads; `None` leaves the user's environment alone."""
    if count is None:
        return
    if "numba" in sys.modules:  # the number of workers is fixed by now, but fewer of them can be used
        import numba

        numba.set_num_threads(min(count, numba.config.NUMBA_NUM_THREADS))
        return
    for variable in VARIABLES:
        os.environ[variable] = str(count)
