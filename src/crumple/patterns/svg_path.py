"""The shapes of SVG as polylines: paths with curves flattened, transforms, numbers and lengths."""

from __future__ import annotations

import math
import re

import numpy as np

from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats

NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?")
_TOKEN = re.compile(r"([MmLlHhVvZzCcSsQqTtAa])|([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?)|([\s,]+)|(.)", re.S)
_TRANSFORM = re.compile(r"(\w+)\s*\(([^()]*)\)[\s,]*")
_ARGUMENTS = {"M": 2, "L": 2, "H": 1, "V": 1, "Z": 0, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7}
PARTS = 24
"""Segments that a curve is flattened into; an arc gets this many for a half turn."""
MOST_POINTS = 200_000
"""Points of all shapes of a drawing."""
LARGEST = 1e9
"""Coordinates beyond this are refused, in units of the drawing."""

Point = tuple[float, float]


def parse_numbers(text: str, place: str) -> list[float]:
    """Numbers between blanks and commas."""
    if NUMBER.sub("", text).strip(" \t\r\n,"):
        raise InputError(place, "must be numbers", text[:60])
    return [_bounded(found.group(), place) for found in NUMBER.finditer(text)]


def _bounded(text: str, place: str) -> float:
    number = float(text)
    if not abs(number) <= LARGEST:
        raise InputError(place, f"numbers must be within ±{LARGEST:g}", number)
    return number


def parse_path(text: str, place: str) -> list[list[Point]]:
    """The polylines of a path; curves are flattened."""
    lines: list[list[Point]] = []
    pen: Point = (0.0, 0.0)
    control, last = pen, ""
    for letter, values in _commands(text, place):
        kind, relative = letter.upper(), letter.islower()
        if not lines and kind != "M":
            raise InputError(place, "must begin with M", text[:40])
        values = _absolute(kind, values, pen) if relative else values
        if kind == "M":
            pen = (values[0], values[1])
            lines.append([pen])
        elif kind == "Z":
            pen = lines[-1][0]
            lines[-1].append(pen)
            lines.append([pen])  # a path may go on from there without M
        else:
            smooth = control if last in _SMOOTH_AFTER.get(kind, "") and last else pen
            reflected = (2.0 * pen[0] - smooth[0], 2.0 * pen[1] - smooth[1])
            points, control = _drawn(kind, pen, values, reflected)
            lines[-1] += points
            pen = points[-1]
        last = kind
    return [line for line in lines if len(line) > 1]


_SMOOTH_AFTER = {"S": "CS", "T": "QT"}


def _commands(text: str, place: str) -> list[tuple[str, list[float]]]:
    """Letters with their arguments; repeated arguments repeat the letter (M goes on as L)."""
    commands: list[tuple[str, list[float]]] = []
    letter, values = "", list[float]()
    if len(text) > 10_000_000:
        raise InputError(place, "is too long")

    def close() -> None:
        if not letter:
            if values:
                raise InputError(place, "must begin with M", text[:40])
            return
        count = _ARGUMENTS[letter.upper()]
        if (count == 0 and values) or (count and (len(values) % count or not values)):
            raise InputError(place, f"{letter} needs {count or 'no'} numbers each time, not {len(values)}", text[:40])
        if count == 0:
            commands.append((letter, []))
        for k in range(0, len(values), max(count, 1)):
            on = {"M": "L", "m": "l"}.get(letter, letter) if k else letter
            commands.append((on, values[k : k + count]))

    for found in _TOKEN.finditer(_spread_flags(text)):
        if found.group(4):
            raise InputError(place, f"is no path: {found.group(4)!r} at character {found.start()}", text[:40])
        if found.group(1):
            close()
            letter, values = found.group(1), []
        elif found.group(2):
            values.append(_bounded(found.group(2), place))
    close()
    if len(commands) > MOST_POINTS:
        raise InputError(place, f"has more than {MOST_POINTS} parts")
    return commands


_ARC = re.compile(r"[Aa][^A-Za-df-z]*")
_FLAGS = re.compile(
    rf"({NUMBER.pattern}[\s,]*{NUMBER.pattern}[\s,]*{NUMBER.pattern}[\s,]*)([01])[\s,]*([01])[\s,]*"
    rf"({NUMBER.pattern}[\s,]*{NUMBER.pattern})"
)


def _spread_flags(text: str) -> str:
    """Arcs with blanks around their flags, which may be written without ("a1 1 0 01 2 3")."""
    return _ARC.sub(lambda arc: _FLAGS.sub(r"\1 \2 \3 \4 ", arc.group()), text) if "a" in text or "A" in text else text


def _absolute(kind: str, values: list[float], pen: Point) -> list[float]:
    """Arguments that count from the pen, from the origin instead."""
    if kind == "H":
        return [values[0] + pen[0]]
    if kind == "V":
        return [values[0] + pen[1]]
    if kind == "A":
        return [*values[:5], values[5] + pen[0], values[6] + pen[1]]
    return [value + pen[k % 2] for k, value in enumerate(values)]


def _drawn(kind: str, pen: Point, v: list[float], reflected: Point) -> tuple[list[Point], Point]:
    """The points that a command adds, and its last control point."""
    if kind == "L":
        return [(v[0], v[1])], pen
    if kind == "H":
        return [(v[0], pen[1])], pen
    if kind == "V":
        return [(pen[0], v[0])], pen
    if kind == "A":
        return _arc(pen, v), pen
    if kind == "C":
        controls = [(v[0], v[1]), (v[2], v[3]), (v[4], v[5])]
    elif kind == "S":
        controls = [reflected, (v[0], v[1]), (v[2], v[3])]
    elif kind == "Q":
        controls = [(v[0], v[1]), (v[2], v[3])]
    else:
        controls = [reflected, (v[0], v[1])]
    return bezier([pen, *controls]), controls[-2]


def bezier(points: list[Point]) -> list[Point]:
    """Points along a Bézier curve after its first one; only the last when the curve is straight."""
    p = np.array(points)
    chord = p[-1] - p[0]
    away = np.abs(chord[0] * (p[:, 1] - p[0, 1]) - chord[1] * (p[:, 0] - p[0, 0]))
    if away.max() <= 1e-9 * max(float(chord @ chord), 1e-300):
        return [points[-1]]
    t = np.linspace(0.0, 1.0, PARTS + 1)[1:]
    while len(p) > 1 and p.ndim == 2:
        p = np.repeat(p[:, None, :], PARTS, axis=1)
    while len(p) > 1:
        p = (1.0 - t)[:, None] * p[:-1] + t[:, None] * p[1:]
    return [(float(x), float(y)) for x, y in p[0][:-1]] + [points[-1]]


def _arc(pen: Point, v: list[float]) -> list[Point]:
    """Points along an elliptical arc after the pen (SVG 1.1, appendix F.6)."""
    rx, ry, end = abs(v[0]), abs(v[1]), (v[5], v[6])
    if rx < 1e-12 or ry < 1e-12 or end == pen:
        return [end]
    cosine, sine = math.cos(math.radians(v[2])), math.sin(math.radians(v[2]))
    dx, dy = 0.5 * (pen[0] - end[0]), 0.5 * (pen[1] - end[1])
    x, y = (cosine * dx + sine * dy) / rx, (-sine * dx + cosine * dy) / ry
    square = x * x + y * y
    if square > 1.0:
        rx, ry, x, y, square = (
            rx * math.sqrt(square),
            ry * math.sqrt(square),
            x / math.sqrt(square),
            y / math.sqrt(square),
            1.0,
        )
    if square < 1e-24:
        return [end]
    reach = math.sqrt(max(0.0, 1.0 / square - 1.0)) * (-1.0 if (v[3] != 0) == (v[4] != 0) else 1.0)
    cx, cy = reach * y, -reach * x  # centre on the unit circle
    first, last = math.atan2(y - cy, x - cx), math.atan2(-y - cy, -x - cx)
    sweep = (last - first) % (2.0 * math.pi)
    sweep = sweep if v[4] != 0 else sweep - 2.0 * math.pi
    parts = max(1, math.ceil(abs(sweep) / math.pi * PARTS))
    at = first + sweep * np.arange(1, parts) / parts
    u, w = rx * (cx + np.cos(at)), ry * (cy + np.sin(at))
    middle = (0.5 * (pen[0] + end[0]), 0.5 * (pen[1] + end[1]))
    px, py = cosine * u - sine * w + middle[0], sine * u + cosine * w + middle[1]
    return [(float(a), float(b)) for a, b in zip(px, py, strict=True)] + [end]


def ellipse(cx: float, cy: float, rx: float, ry: float) -> list[Point]:
    """A closed ellipse."""
    at = 2.0 * math.pi * np.arange(2 * PARTS + 1) / (2 * PARTS)
    points = np.stack([cx + rx * np.cos(at), cy + ry * np.sin(at)], axis=1)
    points[-1] = points[0]
    return [(float(x), float(y)) for x, y in points]


def rounded_rectangle(x: float, y: float, width: float, height: float, rx: float, ry: float) -> list[Point]:
    """A closed rectangle whose corners are quarters of an ellipse; sharp ones for radii of 0."""
    rx, ry = min(max(rx, 0.0), 0.5 * width), min(max(ry, 0.0), 0.5 * height)
    if rx == 0.0 or ry == 0.0:
        return [(x, y), (x + width, y), (x + width, y + height), (x, y + height), (x, y)]
    points: list[Point] = []
    middles = [(x + width - rx, y + height - ry), (x + rx, y + height - ry), (x + rx, y + ry), (x + width - rx, y + ry)]
    for quarter, (cx, cy) in enumerate(middles):
        at = 0.5 * math.pi * (quarter + np.linspace(0.0, 1.0, PARTS // 2 + 1))
        points += [(float(a), float(b)) for a, b in zip(cx + rx * np.cos(at), cy + ry * np.sin(at), strict=True)]
    return [*points, points[0]]


def parse_transform(text: str, place: str) -> Floats:
    """The matrix (2, 3) of a transform attribute."""
    total = np.eye(3)
    end = 0
    text = text.strip()
    for found in _TRANSFORM.finditer(text):
        if found.start() != end:
            break
        end = found.end()
        total = total @ _transform(found.group(1), parse_numbers(found.group(2), place), place)
    if end != len(text) or not np.abs(total).max() <= LARGEST:
        raise InputError(place, "is no transform, or far too large", text[:60])
    return total[:2]


def _transform(name: str, v: list[float], place: str) -> Floats:
    """The matrix (3, 3) of one transform."""
    if name == "matrix" and len(v) == 6:
        return np.array([[v[0], v[2], v[4]], [v[1], v[3], v[5]], [0.0, 0.0, 1.0]])
    if name == "translate" and len(v) in (1, 2):
        return np.array([[1.0, 0.0, v[0]], [0.0, 1.0, v[1] if len(v) == 2 else 0.0], [0.0, 0.0, 1.0]])
    if name == "scale" and len(v) in (1, 2):
        return np.diag([v[0], v[-1], 1.0])
    if name == "rotate" and len(v) in (1, 3):
        c, s = math.cos(math.radians(v[0])), math.sin(math.radians(v[0]))
        x, y = (v[1], v[2]) if len(v) == 3 else (0.0, 0.0)
        return np.array([[c, -s, x - c * x + s * y], [s, c, y - s * x - c * y], [0.0, 0.0, 1.0]])
    if name in ("skewX", "skewY") and len(v) == 1 and abs(math.cos(math.radians(v[0]))) > 1e-6:
        slope = math.tan(math.radians(v[0]))
        return (
            np.array([[1.0, slope, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
            if name == "skewX"
            else np.array([[1.0, 0.0, 0.0], [slope, 1.0, 0.0], [0.0, 0.0, 1.0]])
        )
    raise InputError(place, f"unknown transform, or a wrong number of values in {name[:20]}", v)
