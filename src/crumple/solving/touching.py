"""Contact during one step: candidates, barrier, lagged friction, collision-free steps."""

from __future__ import annotations

from crumple.energies.contract import Energy
from crumple.timing import PhaseTimer
from crumple.typing import Floats
