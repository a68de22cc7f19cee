from __future__ import annotations

from pathlib import Path

import pytest
from recording_samples import make_recording


@pytest.fixture(scope="module")
def recorded(tmp_path_factory) -> Path:
    """A recording of five frames; not to be changed."""
    return make_recording(tmp_path_factory.mktemp("studio") / "sample", 5)
