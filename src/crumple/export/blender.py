"""The add-on for Blender as a file: `blender_addon.py` with the command of this environment in it."""

from __future__ import annotations

import sys
from pathlib import Path

from crumple.recording.files import read_text_file, write_output

ADDON = Path(__file__).with_name("blender_addon.py")


def write_blender_addon(output: Path = Path("crumple_blender.py"), *, command: list[str] | None = None) -> Path:
    """Write the add-on to `output`, and return that; it runs `command`, by default the crumple of this environment.

    An add-on that is there is replaced.
    """
    text = read_text_file(ADDON)
    said = 'COMMAND = ["crumple"]\n'
    if text.count(said) != 1:
        raise AssertionError("the add-on is not the one that this module knows")
    output = output / "crumple_blender.py" if output.is_dir() else output
    command = [sys.executable, "-m", "crumple"] if command is None else command
    write_output(output, text.replace(said, f"COMMAND = {command!r}\n").encode())
    return output
