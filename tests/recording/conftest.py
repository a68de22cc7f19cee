from __future__ import annotations

from pathlib import Path

import pytest
from recording_samples import make_recording


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A recording of frames 0 to 4."""
    return make_recording(tmp_path / "run")
