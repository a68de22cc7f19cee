"""The JSON of a FOLD file, and its frames with what they inherit from each other."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

from crumple.runtime.errors import InputError
from crumple.runtime.reading import read_regular

LARGEST_FILE = 50_000_000
"""Larger files are refused before they are read [bytes]."""


def load_record(path: Path, name: str) -> dict[str, Any]:
    """The JSON object in a file."""
    try:
        content = read_regular(path, LARGEST_FILE).decode("utf-8-sig")
        record = json.loads(content, parse_constant=_refuse_constant)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise InputError(name, f"is larger than {LARGEST_FILE // 10**6} MB") from None
        raise InputError(name, f"cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(name, "is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{name}: line {error.lineno}", f"is no JSON: {error.msg}") from None
    except (RecursionError, ValueError):
        raise InputError(name, "is no JSON that can be read: nested too deeply, or NaN or endless numbers") from None
    if not isinstance(record, dict):
        raise InputError(name, "must be a JSON object; is this a FOLD file?")
    spec = record.get("file_spec", 1)
    if isinstance(spec, bool) or not isinstance(spec, int | float | str):
        raise InputError(f"{name}: file_spec", "must be a number", spec)
    return record


def _refuse_constant(text: str) -> None:
    raise ValueError(text)


def inherited_frames(record: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """All frames with what they inherit; number 0 is the file itself."""
    below = record.get("file_frames", [])
    if not isinstance(below, list) or not all(isinstance(frame, dict) for frame in below):
        raise InputError(f"{name}: file_frames", "must be a list of objects")
    if len(below) > 10_000:
        raise InputError(f"{name}: file_frames", "at most 10000 frames are possible", len(below))
    raw = [{key: value for key, value in record.items() if key != "file_frames"}, *below]
    whole: list[dict[str, Any] | None] = [raw[0], *([None] * len(below))]
    for first in range(1, len(raw)):
        chain = [first]
        while whole[chain[-1]] is None and raw[chain[-1]].get("frame_inherit") is True:
            parent = raw[chain[-1]].get("frame_parent")
            place = f"{name}: file_frames[{chain[-1] - 1}].frame_parent"
            if isinstance(parent, bool) or not isinstance(parent, int) or not 0 <= parent < len(raw):
                raise InputError(place, f"must be the number of a frame, 0…{len(raw) - 1}", parent)
            if parent in chain:
                raise InputError(place, "frames inherit from each other in a circle", parent)
            chain.append(parent)
        for number in reversed(chain):
            if whole[number] is None:
                parents = whole[raw[number]["frame_parent"]] if raw[number].get("frame_inherit") is True else {}
                whole[number] = {**(parents or {}), **raw[number]}
    kept = [frame for frame in whole if frame is not None]
    kept[0] = {**kept[0], **({"file_frames": below} if below else {})}
    return kept
