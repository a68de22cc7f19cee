"""How many cores this process can have: those it has used lately, and those that were idle.

Two threads that share one core with another program wait for each other longer than they work, and what they do takes
up to twice as long as with one thread.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from crumple.runtime.tuning import TUNING

WINDOW = TUNING.load_window.value
NEARLY = TUNING.nearly_free_core.value
_STATISTICS, _AVERAGES = Path("/proc/stat"), Path("/proc/loadavg")


@dataclass(frozen=True)
class Look:
    """The clocks at one time [s]: of the `wall`, of this process (`own`), and of `idle` cores, summed over all."""

    wall: float
    own: float
    idle: float


def spare_cores(before: Look, now: Look) -> int:
    """Cores that this process had between two looks, or could have had; at least one."""
    free = (now.own - before.own + now.idle - before.idle) / max(now.wall - before.wall, 1e-9)
    return max(1, int(free + 1.0 - NEARLY))


class LoadWatch:
    """Looks at the machine from time to time; where it cannot be looked at, all cores count as free."""

    def __init__(self) -> None:
        self._last: Look | None = None
        self._spare: int | None = None

    def spare(self) -> int:
        """Cores that this process can have, by the time since the last look if that is long enough."""
        now = look()
        if now is None:
            return os.cpu_count() or 1
        if self._last is None or self._spare is None:
            self._last, self._spare = now, _free_at_once()
        elif now.wall - self._last.wall >= WINDOW:
            self._spare = spare_cores(self._last, now)
            self._last = now
        return self._spare


def look() -> Look | None:
    """The clocks now; None where the system does not tell them."""
    try:
        with _STATISTICS.open(encoding="ascii") as file:
            _, _, _, _, idle, waiting_for_disk, *_ = file.readline().split()
        ticks = int(idle) + int(waiting_for_disk)
        return Look(time.perf_counter(), time.process_time(), ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, AttributeError):
        return None


def _free_at_once() -> int:
    """Cores without a running thread of another process at this moment; at least one."""
    cores = os.cpu_count() or 1
    try:
        running = int(_AVERAGES.read_text(encoding="ascii").split()[3].split("/")[0])
    except (OSError, ValueError, IndexError):
        return cores
    return max(1, min(cores, cores - (running - 1)))
