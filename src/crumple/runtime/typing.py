"""Array types used in signatures; shapes and units are in the docstrings.

They are written out: `NDArray` of NumPy 2.5 is an alias that hides `np.ndarray` from whoever asks a type what it is
made of, as recordings do.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Floats: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[np.float64]]
Ints: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[np.int32]]
Bools: TypeAlias = np.ndarray[tuple[Any, ...], np.dtype[np.bool_]]
