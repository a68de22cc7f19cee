"""crumple: thin sheets that fold, crumple and crease."""

import os

# Threads that wait by spinning starve those of the other runtime (Numba's kernels and MKL take turns).
# Read when the runtimes start, hence before anything imports them.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("KMP_BLOCKTIME", "0")

__version__ = "0.1.0"
