"""The mark of a recording (`.crumple`): crumple made the folder, and with what scene."""

from __future__ import annotations

import json
from pathlib import Path

from crumple.recording.files import read_file, write_atomically
from crumple.recording.log import strict_json
from crumple.runtime.errors import InputError

MARK = ".crumple"


def mark_folder(folder: Path, scene: str) -> None:
    """Say that `folder` is a recording of the resolved scene text `scene` (TOML), "" for a model built by hand."""
    write_atomically(folder / MARK, strict_json({"crumple": "recording", "scene": scene}).encode())


def marked_scene(folder: Path) -> str | None:
    """The scene text that the recording was made with; None when that is not known (version 0.1 had no mark)."""
    try:
        scene = json.loads(read_file(folder / MARK))["scene"]
    except (InputError, ValueError, LookupError, TypeError, RecursionError):
        return None
    return scene if isinstance(scene, str) else None
