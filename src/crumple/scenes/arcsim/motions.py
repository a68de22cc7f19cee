"""Transforms and motions of an ARCSim scene as tables.

A motion file is plain text: `NumFrames: n`, then for each body k = 0, 1, … a line `body[k] position` with n rows
x y z [m] after it and a line `body[k] orientation` with n rows w x y z, unit quaternions. Motion k is that of body k;
keys are 1/fps apart from time 0.
"""

from __future__ import annotations

import re
from math import atan2, degrees, isfinite, sqrt
from pathlib import Path
from typing import Any

from crumple.runtime.errors import InputError
from crumple.runtime.reading import MOST_TEXT, read_regular
from crumple.scenes.arcsim.files import Files
from crumple.scenes.arcsim.json import Entry
from crumple.scenes.messages import one_line

MOST_MOTIONS = 10_000
MOST_KEYS = 100_000
_HEADER = re.compile(r"NumFrames:\s*(\d+)")
_SECTION = re.compile(r"body\[(\d{1,6})\]\s+(position|orientation)")
_COLUMNS = {"position": 3, "orientation": 4}
SMALLEST_SCALE = 1e-6
"""What the scale 0 becomes in a motion, so that it can be inverted."""
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
    """A key frame; a given velocity replaces the tangent of what it names. Scale 0 brings all nodes to one point."""
    table = {"time": entry.number("time"), **transform_table(entry.entry("transform"))}
    if table.get("scale") == 0:
        table["scale"] = SMALLEST_SCALE
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
    """The rows x y z, w x y z of all bodies in a file."""
    try:
        lines = read_regular(path, MOST_TEXT).decode("utf-8", errors="replace").splitlines()
    except OSError as error:
        raise InputError(path.name, f"cannot be read: {error.strerror or error}") from None
    sections = _read_sections(path.name, lines)
    bodies = sorted({body for body, _ in sections})
    if bodies != list(range(len(bodies))) or not bodies:
        raise InputError(path.name, "bodies must be numbered 0, 1, 2, … without gaps", bodies[:10])
    for body in bodies:
        for part in _COLUMNS:
            if (body, part) not in sections:
                raise InputError(path.name, f"has no section 'body[{body}] {part}'")
    return [
        [[*x, *q] for x, q in zip(sections[body, "position"], sections[body, "orientation"], strict=True)]
        for body in bodies
    ]


def _read_sections(name: str, lines: list[str]) -> dict[tuple[int, str], list[list[float]]]:
    """Rows of numbers by body and part; every section has as many rows as the first line says."""
    first = next((k for k, line in enumerate(lines) if line.strip()), 0)
    count = _HEADER.fullmatch(lines[first].strip()) if lines else None
    if count is None or not 1 <= int(count[1][:9]) <= MOST_KEYS:
        found = one_line(lines[first], 60) if lines else ""
        raise InputError(f"{name}: line {first + 1}", f"must be 'NumFrames: n' with n = 1…{MOST_KEYS}", found)
    sections: dict[tuple[int, str], list[list[float]]] = {}
    rows: list[list[float]] = []
    part = ""
    for number, line in enumerate(lines[first + 1 :], first + 2):
        text = line.strip()
        head = _SECTION.fullmatch(text)
        if head is not None:
            key, part, rows = (int(head[1]), head[2]), head[2], []
            if key in sections or len(sections) >= 2 * MOST_MOTIONS:
                raise InputError(f"{name}: line {number}", "this section is there twice, or there are too many", text)
            sections[key] = rows
        elif text:
            rows.append(_row(f"{name}: line {number}", text, part))
    for (body, part), found_rows in sections.items():
        if len(found_rows) != int(count[1]):
            raise InputError(f"{name}: body[{body}] {part}", f"must have {count[1]} rows", len(found_rows))
    return sections


def _row(place: str, text: str, part: str) -> list[float]:
    """The numbers of a row: 3 of a position, 4 of an orientation."""
    try:
        row = [float(word) for word in text.split()]
    except ValueError:
        row = []
    if len(row) != _COLUMNS.get(part, -1):
        remedy = f"must be {_COLUMNS[part]} numbers" if part else "must be 'body[k] position' or 'body[k] orientation'"
        raise InputError(place, remedy, one_line(text, 60))
    return row


def _poses(rows: list[list[float]], rate: float, path: Path) -> list[dict[str, Any]]:
    """Keys 1/rate apart; each rotation is written as the nearest to the one before (whole turns are the same pose)."""
    keys, last = [], (0.0, 0.0, 0.0)
    for n, row in enumerate(rows):
        length = sqrt(sum(q * q for q in row[3:]))
        if not all(map(isfinite, row)) or not abs(length - 1.0) < 0.01:
            raise InputError(path.name, "positions must be finite and orientations unit quaternions w x y z", row)
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
