"""Every energy crumple knows, with the example that tests it: a new energy is one file and one line here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from crumple.energies import (
    attachments,
    bending_hinge,
    bending_measured,
    damping,
    gravity,
    inertia,
    membrane_measured,
    membrane_stvk,
    pins,
    wind,
)
from crumple.energies.contract import Example

EXAMPLES: dict[str, Callable[[np.random.Generator], Example]] = {
    "membrane_stvk": membrane_stvk.example,
    "membrane_stvk_stretched": membrane_stvk.example_stretched,
    "membrane_measured": membrane_measured.example,
    "bending_hinge": bending_hinge.example,
    "bending_hinge_creased": bending_hinge.example_creased,
    "bending_measured": bending_measured.example,
    "damping_membrane": damping.example_membrane,
    "damping_bending": damping.example_bending,
    "inertia": inertia.example,
    "gravity": gravity.example,
    "wind": wind.example,
    "pins": pins.example,
    "attachments": attachments.example,
}
