"""The shapes of an SVG drawing as polylines in its user units, and how long such a unit is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from crumple.patterns.svg_elements import Element
from crumple.patterns.svg_path import Point, ellipse, parse_numbers, parse_path, rounded_rectangle
from crumple.runtime.errors import InputError

PIXEL = 0.0254 / 96.0
UNITS = {
    "": PIXEL,
    "px": PIXEL,
    "pt": 0.0254 / 72.0,
    "pc": 0.0254 / 6.0,
    "mm": 1e-3,
    "cm": 1e-2,
    "m": 1.0,
    "in": 0.0254,
    "q": 2.5e-4,
}
"""Units of length in SVG [m]."""
SHAPES = frozenset(("line", "polyline", "polygon", "rect", "path", "circle", "ellipse"))


@dataclass(frozen=True)
class Window:
    """What a drawing is seen through: its `width` and `height` in user units, 0 where they are not known, and the
    length of such a `unit` [m]."""

    width: float
    height: float
    unit: float

    def share(self, key: str) -> float:
        """What a percentage of the attribute `key` is a fraction of, in user units."""
        if key in ("x", "x1", "x2", "cx", "rx", "width"):
            return self.width
        if key in ("y", "y1", "y2", "cy", "ry", "height"):
            return self.height
        return math.hypot(self.width, self.height) / math.sqrt(2.0)


def window_of(svg: Element, name: str) -> Window:
    """The window of a drawing: from its width, height and viewBox; without a viewBox a unit is a pixel."""
    sides = [_side(svg.attributes.get(key), f"{name}: svg.{key}") for key in ("width", "height")]
    box = svg.attributes.get("viewBox")
    if box is None:
        width, height = (0.0 if side is None else side / PIXEL for side in sides)
        return Window(width, height, PIXEL)
    view = parse_numbers(box, f"{name}: svg.viewBox")
    if len(view) != 4 or not min(view[2:]) > 0.0:
        raise InputError(f"{name}: svg.viewBox", "must be four numbers, the last two > 0", box[:60])
    scales = [side / extent for side, extent in zip(sides, view[2:], strict=True) if side is not None]
    return Window(view[2], view[3], min(scales) if scales else PIXEL)


def _side(text: str | None, place: str) -> float | None:
    """A side of the window [m]; None where it is a fraction of the screen."""
    if text is None or text.strip().endswith("%") or text.strip() == "auto":
        return None
    number, unit = _divided(text, place)
    if unit not in UNITS or not number > 0.0:
        raise InputError(place, "must be a length > 0, such as 100mm", text[:40])
    return number * UNITS[unit]


def _divided(text: str, place: str) -> tuple[float, str]:
    """The number and the unit of a length."""
    text = text.strip().lower()
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz%")
    values = parse_numbers(number, place)
    if len(values) != 1:
        raise InputError(place, "must be one number, or a length such as 100mm", text[:40])
    return values[0], text[len(number) :]


def shape_length(element: Element, key: str, window: Window, place: str) -> float:
    """An attribute of a shape in user units, 0 when it has none. In a drawing a millimetre is 96/25.4 units, however
    long these are in the end."""
    text = element.attributes.get(key)
    if text is None or not text.strip():
        return 0.0
    number, unit = _divided(text, f"{place}.{key}")
    if unit == "%" and window.share(key) > 0.0:
        return 0.01 * number * window.share(key)
    if unit not in UNITS:
        raise InputError(f"{place}.{key}", "must be a number, or a length such as 100mm", text[:40])
    return number * UNITS[unit] / PIXEL


def shape_lines(element: Element, window: Window, place: str) -> list[list[Point]]:
    """The polylines of a shape."""
    get, tag = element.attributes.get, element.tag

    def lengths(*keys: str) -> list[float]:
        return [shape_length(element, key, window, place) for key in keys]

    if tag == "path":
        return parse_path(get("d", ""), f"{place}.d")
    if tag == "line":
        x1, y1, x2, y2 = lengths("x1", "y1", "x2", "y2")
        return [[(x1, y1), (x2, y2)]]
    if tag == "rect":
        x, y, w, h, rx, ry = lengths("x", "y", "width", "height", "rx", "ry")
        return [rounded_rectangle(x, y, w, h, rx or ry, ry or rx)] if w > 0 and h > 0 else []
    if tag in ("circle", "ellipse"):
        cx, cy, rx, ry = lengths("cx", "cy", *(("r", "r") if tag == "circle" else ("rx", "ry")))
        return [ellipse(cx, cy, rx, ry)] if rx > 0 and ry > 0 else []
    values = parse_numbers(get("points", ""), f"{place}.points")
    if len(values) % 2:
        raise InputError(f"{place}.points", "must be pairs of numbers", len(values))
    points = list(zip(values[::2], values[1::2], strict=True))
    return [points + points[:1] if tag == "polygon" else points] if len(points) > 1 else []
