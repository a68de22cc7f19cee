from __future__ import annotations

import pytest
from export_samples import make_changing_recording

from crumple.recording import Recording


@pytest.fixture(scope="session")
def changing(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """Four sheets, two of them sewn, whose meshes are others in every frame, and an obstacle that moves."""
    return Recording(make_changing_recording(tmp_path_factory.mktemp("export") / "take"))
