"""A scene.toml that was edited since its recording began: what resuming can adopt, and what it cannot."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crumple.model.model import Model
from crumple.recording.files import read_file, write_atomically
from crumple.recording.mark import mark_folder, marked_scene
from crumple.recording.model_file import fit_problem
from crumple.recording.recording import Recording
from crumple.runtime.errors import InputError
from crumple.scenes import Scene, dump_scene, scene_from_tables
from crumple.state import State

IN_THE_STATE = re.compile(
    r"sheets($|\[\d+\]($|\.(shape|transform|velocity|jitter|creases|plastic_shape|folded|name))|\[\d+\]\.materials$)"
    r"|(obstacles|handles|attachments)($|\[\d+\]($|\.(shape|transform|select|first|second|pairing|sheets?|name)))"
    r"|run\.frame_time"
)
"""Keys whose values went into the state when the recording began; what was recorded counts, not they."""
SILENT = re.compile(r"run\.duration|name|description")
MOST_NAMED = 3


def check_edits(recording: Recording, scene: Scene) -> list[str]:
    """What was changed in scene.toml and takes effect from now on, a line each.

    `InputError` names a change that cannot take effect, because it is part of what was recorded.
    """
    text = marked_scene(recording.path)
    if text is None:
        return []
    try:  # through the schema, which fills in keys that are newer than the recording
        before = scene_from_tables(tomllib.loads(text)).tables()
    except (tomllib.TOMLDecodeError, InputError):
        return []
    changed = [path for path in _differences(before, scene.tables(), "") if not SILENT.fullmatch(path)]
    fixed = [path for path in changed if IN_THE_STATE.match(path)]
    if fixed:
        remedy = (
            "was changed since the recording began, which cannot be resumed; undo it or start again with `crumple run`"
        )
        raise InputError(f"{recording.scene_path}: {_some(fixed)}", remedy)
    if not changed:
        return []
    return [f"{recording.scene_path} was changed since the recording began; from now on with the new {_some(changed)}"]


def check_fit(place: Path, model: Model, state: State) -> None:
    """`InputError` unless `state` is one of the model's; `place`: the file that the model comes from."""
    problem = fit_problem(model, state)
    if problem:
        raise InputError(str(place), f"{problem}; was it changed since?")


def adopt_scene(recording: Recording, scene: Scene, *, rewrite: bool) -> None:
    """Note that the recording goes on with `scene`; `rewrite` scene.toml too, else the user's text stays as it is."""
    text = dump_scene(scene)
    if rewrite and read_file(recording.scene_path) != text.encode():
        write_atomically(recording.scene_path, text.encode())
    if marked_scene(recording.path) != text:
        mark_folder(recording.path, text)


def _differences(a: Any, b: Any, path: str) -> Iterator[str]:
    """The key paths at which two values differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        for key in dict.fromkeys([*a, *b]):
            below = f"{path}.{key}" if path else str(key)
            if key in a and key in b:
                yield from _differences(a[key], b[key], below)
            else:
                yield below
    elif (
        isinstance(a, list | tuple) and isinstance(b, list | tuple) and any(isinstance(item, dict) for item in (*a, *b))
    ):
        if len(a) != len(b):
            yield path
        for index, (one, other) in enumerate(zip(a, b, strict=False)):
            yield from _differences(one, other, f"{path}[{index}]")
    elif a != b:
        yield path


def _some(paths: list[str]) -> str:
    """The first few of `paths`."""
    more = len(paths) - MOST_NAMED
    return ", ".join(paths[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
