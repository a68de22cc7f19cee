"""Every energy crumple knows, with the example that tests it: a new energy is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crumple.energies import bending_hinge, membrane_stvk
from crumple.energies.contract import Example

EXAMPLES: dict[str, Callable[[np.random.Generator], Example]] = {
    "membrane_stvk": membrane_stvk.example,
    "bending_hinge": bending_hinge.example,
    "bending_hinge, creased": bending_hinge.example_creased,
}
