"""What is reported of steps and frames."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Pull:
    """What a handle or an obstacle has done in a step: its `force` on the sheets at the end [N], its `displacement`
    since it took hold, the mean of its nodes [m], and its `work` during the step [J]."""

    force: tuple[float, float, float]
    displacement: tuple[float, float, float]
    work: float


@dataclass(frozen=True)
class StepReport:
    """One accepted time step: when it ended [s], how long it was [s], what it cost and what it left.

    `energies` [J] by term at the end of the step, and of "contact"; `min_gap` smallest contact gap [m];
    `retries` shortened attempts, and the `trouble` of the last of them, "" if there was none;
    `note` which obstacles were held back, and what creases and cracks have done, else "";
    `handles`, `obstacles`: what each of them has done, by name;  `losses` [J] during the step by their cause:
    "yielding" and "overstress";  `ledger` [J]: the columns of the ledger of energy since the start, see `state.ledger`.
    """

    time: float
    step: float
    iterations: int
    contacts: int
    min_gap: float
    energies: dict[str, float]
    seconds: float
    retries: int = 0
    note: str = ""
    trouble: str = ""
    handles: dict[str, Pull] = field(default_factory=dict)
    obstacles: dict[str, Pull] = field(default_factory=dict)
    losses: dict[str, float] = field(default_factory=dict)
    ledger: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class FrameReport:
    """One finished frame: sums and extremes over its steps, seconds per phase, warnings, the solver, the ledger of
    energy at the end of its last step."""

    frame: int
    time: float
    faces: int
    steps: int
    iterations: int
    contacts_max: int
    seconds: float
    phases: dict[str, float]
    energies: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    linear_solver: str = ""
    ledger: dict[str, float] = field(default_factory=dict)
