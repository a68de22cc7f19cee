"""Transforms and motions of an ARCSim scene as tables.

A motion file is plain text: the number of motions, then for each its number of keys followed by as many rows of
7 numbers: translation x y z [m] and a rotation quaternion w x y z. Keys are 1/fps apart from time 0; # begins a
comment.
"""

from __future__ import annotations

from math import atan2, degrees, isfinite, sqrt
from pathlib import Path
from typing import Any

from crumple.errors import InputError
from crumple.scenes.arcsim_files import Files
from crumple.scenes.arcsim_json import Entry
from crumple.scenes.messages import one_line

MOST_MOTIONS = 10_000
MOST_NUMBERS = 5_000_000
FRAME = "frame"
"""Name of the motion that holds the overall transform of a motion file."""


def transform_table(entry: Entry) -> dict[str, Any]:
    """{translate, rotate = {angle, axis}, scale} of {translate, rotate: [degrees, x, y, z], scale}; only given keys."""
    table: dict[str, Any] = {}
    if entry.has("translate"):
        table["translate"] = entry.vector("translate", 3)
    if entry.has("rotate"):
        angle, *axis = entry.vector("rotate", 4)
        if any(axis):
            table["rotate"] = {"angle": angle, "axis": axis}
        elif angle:
            raise entry.error("must be [degrees, x, y, z] with an axis that is not zero", [angle, *axis], key="rotate")
    if entry.has("scale"):
        table["scale"] = entry.number("scale")
    entry.close()
    return table


def motion_name(entry: Entry, count: int) -> str | None:
    """The name of the motion that the key `motion` numbers; none if there is no key, or -1."""
    number = entry.whole("motion", -1)
    if not -1 <= number < count:
        raise entry.error(f"there are {count} motions, numbered from 0", number, key="motion")
    return f"motion{number}" if number >= 0 else None


def motion_tables(scene: Entry, files: Files) -> tuple[dict[str, Any], int]:
    """All motions by name (motion0, motion1, …) and their number."""
    if isinstance(scene.take("motions"), dict):
        return _file_motions(scene.entry("motions"), files)
    tables = {}
    for k, keys in enumerate(scene.items("motions")):
        if not isinstance(keys, list):
            raise scene.error("must be a list of motions, each a list of keys", keys, key="motions")
        path = (*scene.path, "motions", k)
        entries = [Entry(key, (*path, n), scene.label, scene.notes) for n, key in enumerate(keys)]
        tables[f"motion{k}"] = {"keys": [_key(entry) for entry in entries] or [{"time": 0.0}]}
    return tables, len(tables)


def _key(entry: Entry) -> dict[str, Any]:
    """A key frame; a given velocity replaces the tangent of what it names."""
    table = {"time": entry.number("time"), **transform_table(entry.entry("transform"))}
    if entry.has("velocity"):
        table["velocity"] = transform_table(entry.entry("velocity"))
    entry.close()
    return table


def _file_motions(entry: Entry, files: Files) -> tuple[dict[str, Any], int]:
    path = Path(files.find(entry, "motfile"))
    rate = entry.number("fps")
    if not (isfinite(rate) and rate > 0):
        raise entry.error("must be > 0, in 1/s", rate, key="fps")
    motions = _read_motions(path)
    tables: dict[str, Any] = {}
    for k, rows in enumerate(motions):
        tables[f"motion{k}"] = {"keys": _poses(rows, rate, path)}
        if entry.has("transform"):
            tables[f"motion{k}"]["relative_to"] = FRAME
    if entry.has("transform"):
        tables[FRAME] = {"keys": [{"time": 0.0, **transform_table(entry.entry("transform"))}]}
    entry.close()
    return tables, len(motions)


def _read_motions(path: Path) -> list[list[list[float]]]:
    """The rows of all motions in a file."""
    try:
        text = path.read_text("utf-8", errors="replace")
        words = [word for line in text.splitlines() for word in line.partition("#")[0].split()]
        if len(words) > MOST_NUMBERS:
            raise InputError(path.name, f"has more than {MOST_NUMBERS} numbers")
        numbers = [float(word) for word in words]
    except ValueError as error:
        raise InputError(path.name, one_line(f"must be plain numbers: {error}", 150)) from None
    except OSError as error:
        raise InputError(path.name, f"cannot be read: {error.strerror or error}") from None
    position = 0

    def count(what: str, most: int) -> int:
        nonlocal position
        if position >= len(numbers):
            raise InputError(path.name, f"ends before the number of {what}")
        value = numbers[position]
        position += 1
        if not 1 <= value <= most or value != int(value):
            raise InputError(f"{path.name}: number {position}", f"must be the number of {what}, 1…{most}", value)
        return int(value)

    motions = []
    for _ in range(count("motions", MOST_MOTIONS)):
        keys = count("keys", 100_000)
        flat = numbers[position : position + 7 * keys]
        if len(flat) < 7 * keys:
            raise InputError(path.name, f"ends within a motion of {keys} keys; rows are x y z and a quaternion w x y z")
        motions.append([flat[7 * n : 7 * n + 7] for n in range(keys)])
        position += 7 * keys
    if position < len(numbers):
        raise InputError(path.name, f"has {len(numbers) - position} numbers after its last motion")
    return motions


def _poses(rows: list[list[float]], rate: float, path: Path) -> list[dict[str, Any]]:
    """Keys 1/rate apart; each rotation is written as the nearest to the one before (whole turns are the same pose)."""
    keys, last = [], (0.0, 0.0, 0.0)
    for n, row in enumerate(rows):
        length = sqrt(sum(q * q for q in row[3:]))
        if not all(map(isfinite, row)) or not abs(length - 1.0) < 0.01:
            raise InputError(path.name, "rows must be x y z and a unit quaternion w x y z", row)
        w, *axis = (q / length for q in row[3:])
        sine = sqrt(sum(a * a for a in axis))
        angle = degrees(2.0 * atan2(sine, w))
        if sine < 1e-9:  # no turn, or whole turns about the last axis
            size = sqrt(sum(a * a for a in last))
            axis, sine = ([*last], size) if size > 1e-9 else ([1.0, 0.0, 0.0], 1.0)
        unit = [a / sine for a in axis]
        along = sum(a * b for a, b in zip(unit, last, strict=True))
        angle += 360.0 * round((along - angle) / 360.0)
        last = (angle * unit[0], angle * unit[1], angle * unit[2])
        keys.append({"time": n / rate, "translate": row[:3], "rotate": {"angle": angle, "axis": unit}})
    return keys
