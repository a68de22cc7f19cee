"""What is known of a tuned number: its value, and why it is not another one.

Each package that has such numbers keeps them in one module `tuning`, in a frozen dataclass `Tuning`. The modules that
use them bind the values to constants, which compiled kernels take as they are: after a change of a value,
`make recompile` makes Numba forget the kernels that hold the old one. Names are unique over all packages, and
docs/tuning.md lists them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

Value_co = TypeVar("Value_co", covariant=True)

NOT_RECORDED = "not recorded"
"""Said of what nobody wrote down when a number was chosen."""


@dataclass(frozen=True)
class Tuned(Generic[Value_co]):
    """A number that was chosen by experience.

    `unit`: "1" for ratios; `why`: what it means, and why there is such a number; `chosen_on`: the scenes or meshes it
    was chosen on; `breaks`: what goes wrong with another value.
    """

    value: Value_co
    unit: str
    why: str
    chosen_on: str = NOT_RECORDED
    breaks: str = NOT_RECORDED
