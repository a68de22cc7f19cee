"""SVG drawings as crease patterns, with the colours of Origami Simulator, in and out.

Strokes: black boundary, red mountain, blue valley, green cut, yellow flat, magenta free. The fold angle of mountains
and valleys is 180° times the opacity of the stroke. Drawings face the viewer; their y axis points down.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from xml.parsers import expat

import numpy as np

from crumple.errors import InputError
from crumple.patterns.lengths import fitted_scale
from crumple.patterns.pattern import JOIN, CreasePattern
from crumple.patterns.planar import pattern_from_segments
from crumple.patterns.svg_path import MOST_POINTS, Point, ellipse, parse_numbers, parse_path, parse_transform
from crumple.patterns.svg_style import (
    COLOURS,
    Style,
    assignment_of,
    own_style,
    parse_colour,
    parse_opacity,
    parse_sheet,
)
from crumple.typing import Floats

LARGEST_FILE = 20_000_000
"""Larger files are refused before they are read [bytes]."""
MOST_ELEMENTS = 200_000
DEEPEST = 200
"""Nesting of elements."""
SNAP = 1e-3
"""Points nearer than this share of the longer side are joined."""
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
_HIDDEN = frozenset(("defs", "symbol", "clippath", "mask", "pattern", "marker", "metadata", "title", "desc", "style"))
_SHAPES = frozenset(("line", "polyline", "polygon", "rect", "path", "circle", "ellipse"))


@dataclass
class _Element:
    """An element of a drawing; `parent` is its number in the list of all."""

    tag: str
    attributes: dict[str, str]
    parent: int
    line: int


@dataclass
class _Strokes:
    """Segments in the order of the drawing, and what was left out."""

    segments: list[tuple[Point, Point]] = field(default_factory=list)
    letters: list[str] = field(default_factory=list)
    angles: list[float] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)


def read_svg(
    path: str | Path, *, unit: float | None = None, width: float | None = None, snap: float = SNAP
) -> CreasePattern:
    """The crease pattern in an SVG file.

    `unit`: length of a user unit [m], instead of what the file says; `width`: length of the longer side [m], instead of
    either; `snap`: share of the longer side within which points are joined.
    """
    name = Path(path).name
    elements, sheet = _parse(Path(path), name)
    if not elements or elements[0].tag != "svg":
        raise InputError(name, "must be an svg element; is this an SVG file?")
    if not (np.isfinite(snap) and 0.0 < snap < 0.5):
        raise InputError(f"{name}: snap", "must be > 0 and < 0.5", snap)
    strokes = _strokes(elements, parse_sheet(sheet), name)
    if not strokes.segments:
        raise InputError(name, "has no lines in the colours of a crease pattern (black, red, blue, green, …)")
    points = np.array(strokes.segments)
    points[:, :, 1] *= -1.0
    longest = float(np.ptp(points.reshape(-1, 2), axis=0).max())
    own = _user_unit(elements[0], name) if unit is None and width is None else unit
    scale = fitted_scale(name, longest, own, width)
    notes = tuple(f"{count} {what} left out" for what, count in sorted(strokes.left_out.items()))
    corner = points.reshape(-1, 2).min(axis=0)
    return pattern_from_segments(
        (points - corner) * scale,
        strokes.letters,
        np.array(strokes.angles),
        snap=snap * longest * scale,
        notes=notes,
    )


def _parse(path: Path, name: str) -> tuple[list[_Element], str]:
    """All elements of an XML file in order, and its style sheets. Entities and inner declarations are refused."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise InputError(name, f"is larger than {LARGEST_FILE // 10**6} MB")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(name, f"cannot be read: {error.strerror or error}") from None
    elements: list[_Element] = []
    open_elements: list[int] = []
    sheet: list[str] = []
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(elements) >= MOST_ELEMENTS or len(open_elements) >= DEEPEST:
            raise InputError(name, f"has more than {MOST_ELEMENTS} elements, or more than {DEEPEST} within each other")
        parent = open_elements[-1] if open_elements else -1
        open_elements.append(len(elements))
        elements.append(_Element(tag.rpartition(":")[2].lower(), attributes, parent, parser.CurrentLineNumber))

    def text(characters: str) -> None:
        if open_elements and elements[open_elements[-1]].tag == "style":
            sheet.append(characters)

    def refuse(*_: object) -> int:
        raise InputError(
            f"{name}: line {parser.CurrentLineNumber}", "declares entities, which are not read; remove them"
        )

    def doctype(_name: str, _system: str | None, _public: str | None, inner: int) -> None:
        if inner:
            refuse()

    parser.StartElementHandler, parser.EndElementHandler = start, lambda _tag: open_elements.pop()
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = text, doctype
    parser.EntityDeclHandler = parser.ExternalEntityRefHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        reason = expat.errors.messages.get(error.code, str(error))
        raise InputError(f"{name}: line {error.lineno}", f"is no XML: {reason}") from None
    except (ValueError, LookupError) as error:  # an encoding that Python does not know, or cannot follow
        raise InputError(name, f"is no XML that can be read: {' '.join(str(error).split())[:100]}") from None
    return elements, "".join(sheet)


def _user_unit(svg: _Element, name: str) -> float:
    """Length of a user unit of the drawing [m]: of its width and its viewBox, else a pixel."""
    box = svg.attributes.get("viewBox")
    if box is None:
        return PIXEL
    view = parse_numbers(box, f"{name}: svg.viewBox")
    if len(view) != 4 or not min(view[2:]) > 0.0:
        raise InputError(f"{name}: svg.viewBox", "must be four numbers, the last two > 0", box[:60])
    sides = [_length(svg.attributes.get(key), f"{name}: svg.{key}") for key in ("width", "height")]
    scales = [side / extent for side, extent in zip(sides, view[2:], strict=True) if side is not None]
    return min(scales) if scales else PIXEL


def _length(text: str | None, place: str) -> float | None:
    """A length with a unit [m]; None for shares of the window."""
    if text is None or text.strip().endswith("%") or text.strip() == "auto":
        return None
    text = text.strip().lower()
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    unit = text[len(number) :]
    values = parse_numbers(number, place)
    if unit not in UNITS or len(values) != 1 or not values[0] > 0.0:
        raise InputError(place, "must be a length > 0, such as 100mm", text[:40])
    return values[0] * UNITS[unit]


def _strokes(elements: list[_Element], sheet: dict[str, Style], name: str) -> _Strokes:
    """The coloured segments of all shapes that are shown, in user units."""
    strokes, total = _Strokes(), 0
    styles: list[tuple[str, float, float, bool]] = []
    matrices: list[Floats] = []
    for number, element in enumerate(elements):
        place = f"{name}: line {element.line}: {element.tag[:20]}"
        style = own_style(element.tag, element.attributes, sheet)
        above = styles[element.parent] if element.parent >= 0 else ("none", 1.0, 1.0, True)
        stroke = above[0] if style.get("stroke", "inherit") == "inherit" else style["stroke"]
        shown = above[3] and element.tag not in _HIDDEN and style.get("display") != "none"
        opacity = above[1] * parse_opacity(style.get("opacity", "1"))
        stroke_opacity = parse_opacity(style["stroke-opacity"]) if "stroke-opacity" in style else above[2]
        styles.append((stroke, opacity, stroke_opacity, shown))
        above_matrix = matrices[element.parent] if element.parent >= 0 else np.eye(3)[:2]
        matrices.append(_placed(element, above_matrix, place) if shown and number else above_matrix)
        if not shown:
            continue
        if element.tag in ("use", "image", "text"):
            strokes.left_out[f"elements <{element.tag}>"] = strokes.left_out.get(f"elements <{element.tag}>", 0) + 1
        if element.tag in _SHAPES:
            lines = _shape(element, place)
            total += sum(map(len, lines))
            if total > MOST_POINTS:
                raise InputError(name, f"has more than {MOST_POINTS} points")
            _add(strokes, lines, matrices[number], stroke, opacity * stroke_opacity)
    return strokes


def _placed(element: _Element, above: Floats, place: str) -> Floats:
    """The matrix (2, 3) of an element within those above it."""
    text = element.attributes.get("transform")
    if not text:
        return above
    whole = above @ np.vstack([parse_transform(text, place), [0.0, 0.0, 1.0]])
    if not np.abs(whole).max() <= 1e12:
        raise InputError(f"{place}.transform", "is far too large together with those above it")
    return whole


def _shape(element: _Element, place: str) -> list[list[Point]]:
    """The polylines of a shape."""
    get, tag = element.attributes.get, element.tag

    def number(key: str, default: str = "0") -> float:
        values = parse_numbers((get(key) or default).strip().removesuffix("px"), f"{place}.{key}")
        if len(values) != 1:
            raise InputError(f"{place}.{key}", "must be one number", get(key))
        return values[0]

    if tag == "path":
        return parse_path(get("d", ""), f"{place}.d")
    if tag == "line":
        return [[(number("x1"), number("y1")), (number("x2"), number("y2"))]]
    if tag == "rect":
        x, y, w, h = number("x"), number("y"), number("width"), number("height")
        return [[(x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y)]] if w > 0 and h > 0 else []
    if tag in ("circle", "ellipse"):
        rx, ry = (number("r"),) * 2 if tag == "circle" else (number("rx"), number("ry"))
        return [ellipse(number("cx"), number("cy"), rx, ry)] if rx > 0 and ry > 0 else []
    values = parse_numbers(get("points", ""), f"{place}.points")
    if len(values) % 2:
        raise InputError(f"{place}.points", "must be pairs of numbers", len(values))
    points = list(zip(values[::2], values[1::2], strict=True))
    return [points + points[:1] if tag == "polygon" else points] if len(points) > 1 else []


def _add(strokes: _Strokes, lines: list[list[Point]], matrix: Floats, stroke: str, opacity: float) -> None:
    """Add the segments of polylines, if their colour says what they are."""
    colour = parse_colour(stroke)
    letter = assignment_of(colour) if colour is not None else None
    if letter is None:
        if lines and stroke.strip().lower() not in ("none", "transparent", ""):
            what = f"shapes in the unknown colour {stroke.strip()[:20]!r}"
            strokes.left_out[what] = strokes.left_out.get(what, 0) + 1
        return
    angle = {"M": np.pi * opacity, "V": -np.pi * opacity, "U": np.nan}.get(letter, 0.0)
    for line in lines:
        points = [(float(x), float(y)) for x, y in np.array(line) @ matrix[:, :2].T + matrix[:, 2]]
        segments = [(p, q) for p, q in pairwise(points) if p != q]
        strokes.segments += segments
        strokes.letters += [letter] * len(segments)
        strokes.angles += [angle] * len(segments)


def encode_svg(pattern: CreasePattern, *, line: float | None = None) -> str:
    """The pattern as an SVG drawing in mm that `read_svg` and Origami Simulator read; `line`: width of strokes [mm]."""
    low, extent = pattern.vertices.min(axis=0) * 1e3, pattern.extent * 1e3
    line = 0.004 * float(extent.max()) if line is None else line
    margin = 2.0 * line
    box = [-margin, -margin, extent[0] + 2 * margin, extent[1] + 2 * margin]
    rows = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{box[2]:.6g}mm" height="{box[3]:.6g}mm" '
        f'viewBox="{" ".join(f"{value:.6g}" for value in box)}">',
        f'<g fill="none" stroke-width="{line:.4g}" stroke-linecap="round">',
    ]
    for (a, b), letter, angle in zip(pattern.edges, pattern.assignment, pattern.angle, strict=True):
        if letter == JOIN:
            continue
        (x1, y1), (x2, y2) = ((pattern.vertices[v] * 1e3 - low) for v in (a, b))
        opacity = f' stroke-opacity="{abs(angle) / np.pi:.6g}"' if letter in "MV" else ""
        ends = f'x1="{x1:.9g}" y1="{extent[1] - y1:.9g}" x2="{x2:.9g}" y2="{extent[1] - y2:.9g}"'
        rows.append(f'<line {ends} stroke="{COLOURS[letter]}"{opacity}/>')
    return "\n".join([*rows, "</g>", "</svg>", ""])


def write_svg(path: str | Path, pattern: CreasePattern) -> None:
    """Write a pattern as an SVG drawing with the colours of Origami Simulator."""
    Path(path).write_text(encode_svg(pattern), "utf-8")
