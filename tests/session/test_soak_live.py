"""Random hands and tools in live sessions (`benchmarks/soak_live.py`), for as long as one likes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

MOST_GROWTH = 60.0
"""Of the memory of the process in the second half of a soak [MB]."""


def load_soak() -> ModuleType:
    """The program, as a module."""
    path = Path(__file__).parents[2] / "benchmarks" / "soak_live.py"
    spec = importlib.util.spec_from_file_location("soak_live", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["soak_live"] = module
    spec.loader.exec_module(module)
    return module


def test_random_hands_leave_the_sheet_whole() -> None:
    """Half a second: finite, no intersections, and the same bits from the script; `soak` raises otherwise."""
    player = load_soak().soak(0, 0.5, every=15, faces=100)
    assert player.done["advance"] > 25
    assert player.done["grab"] > 0


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_random_hands_for_a_minute(seed: int) -> None:
    """A minute in all, and the memory stays."""
    module = load_soak()
    module.soak(seed, 7.5, episode=7.5, faces=153)
    begun = module.resident_memory()
    module.soak(seed, 7.5, episode=7.5, faces=153)
    assert module.resident_memory() - begun < MOST_GROWTH
