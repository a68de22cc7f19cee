"""ARCSim's own scenes, where they are at hand beside the repository."""

from pathlib import Path

import pytest

from crumple.scenes import check_scene

FOLDER = Path(__file__).resolve().parents[3] / "shared/arcsim-scenes/conf"
SCENES = sorted(FOLDER.glob("*.json")) if FOLDER.is_dir() else []


@pytest.mark.skipif(not SCENES, reason="no ARCSim scenes beside the repository")
@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_scene_is_sound(path):
    report = check_scene(path)
    assert report.errors == ()
    assert report.exact
    assert not any("unknown" in note for note in report.notes)
