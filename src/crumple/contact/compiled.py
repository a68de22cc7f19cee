"""The two ways in which this package compiles functions.

Division by zero gives inf or nan as in numpy: the checks of the Python rule cost time in every kernel.

Calls inside a loop take scalars and a few arrays, never a named tuple of arrays: each array of it would be
reference-counted at every call, which costs more than the work and makes threads wait for each other.
"""

from __future__ import annotations

from numba import njit

device = njit(cache=True, error_model="numpy")
"""A function called by other compiled code, or a short loop."""
parallel = njit(cache=True, error_model="numpy", parallel=True)
"""A loop over chunks of fixed size that share no output, so that results do not depend on the number of threads."""
