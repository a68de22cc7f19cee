"""SVG drawings as crease patterns, with the colours of Origami Simulator, in and out.

Strokes: black boundary, red mountain, blue valley, green cut, yellow flat, magenta free. The fold angle of mountains
and valleys is 180° times the opacity of the stroke. Drawings face the viewer; their y axis points down.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from crumple.patterns.lengths import fitted_scale
from crumple.patterns.pattern import JOIN, CreasePattern
from crumple.patterns.planar import pattern_from_segments
from crumple.patterns.svg_elements import LOST, Element, parse_elements
from crumple.patterns.svg_path import MOST_POINTS, Point, parse_transform
from crumple.patterns.svg_shapes import SHAPES, Window, shape_length, shape_lines, window_of
from crumple.patterns.svg_style import (
    COLOURS,
    Style,
    assignment_of,
    own_style,
    parse_colour,
    parse_opacity,
    parse_sheet,
)
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints

SNAP = 1e-3
"""Points nearer than this fraction of the longer side are joined."""
_HIDDEN = frozenset(("defs", "symbol", "clippath", "mask", "pattern", "marker", "metadata", "title", "desc", "style"))
_LEFT_OUT = {"image": "elements <image>", "text": "elements <text>", LOST: "elements <use> of what is not in the file"}


@dataclass
class _Strokes:
    """Polylines (n, 2) in the order of the drawing, letter, angle [rad] and group of each, and what was left out."""

    lines: list[Floats] = field(default_factory=list)
    letters: list[str] = field(default_factory=list)
    angles: list[float] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)

    def leave_out(self, what: str) -> None:
        self.left_out[what] = self.left_out.get(what, 0) + 1


@dataclass(frozen=True)
class _Style:
    """What an element passes on to those in it; `visible` may be taken back by them, `shown` may not. `group`: the name
    of the layer or group that it is in."""

    stroke: str = "none"
    opacity: float = 1.0
    stroke_opacity: float = 1.0
    visible: bool = True
    shown: bool = True
    group: str = ""


def read_svg(
    path: str | Path, *, unit: float | None = None, width: float | None = None, snap: float = SNAP
) -> CreasePattern:
    """The crease pattern in an SVG file.

    `unit`: length of a user unit [m], instead of what the file says; `width`: length of the longer side [m], instead of
    either; `snap`: share of the longer side within which points are joined.
    """
    name = Path(path).name
    elements, sheet = parse_elements(Path(path), name)
    if not elements or elements[0].tag != "svg":
        raise InputError(name, "must be an svg element; is this an SVG file?")
    if not (np.isfinite(snap) and 0.0 < snap < 0.5):
        raise InputError(f"{name}: snap", "must be > 0 and < 0.5", snap)
    window = window_of(elements[0], name)
    strokes = _strokes(elements, parse_sheet(sheet), window, name)
    if not strokes.lines:
        raise InputError(name, "has no lines in the colours of a crease pattern (black, red, blue, green, …)")
    everything = np.concatenate(strokes.lines)
    longest = float(np.ptp(everything, axis=0).max())
    scale = fitted_scale(name, longest, window.unit if unit is None and width is None else unit, width)
    segments, source = _segments(strokes, snap * longest)
    number = {group: k - 1 for k, group in enumerate(dict.fromkeys(["", *strokes.groups]))}
    notes = tuple(f"{count} {what} left out" for what, count in sorted(strokes.left_out.items()))
    return pattern_from_segments(
        (segments - everything.min(axis=0)) * scale,
        np.array(strokes.letters)[source],
        np.array(strokes.angles)[source],
        snap=snap * longest * scale,
        group=np.array([number[group] for group in strokes.groups], np.int32)[source],
        group_names=tuple(number)[1:],
        notes=notes,
    )


def _segments(strokes: _Strokes, snap: float) -> tuple[Floats, Ints]:
    """The polylines without what is smaller than `snap`, as segments (n, 2, 2), and the number of the polyline of each.

    Curves were flattened before it was known how large the drawing is: points that change the line by less than half of
    `snap` are left out, or those of small arcs would all be joined with their neighbours into one.
    """
    import shapely

    segments, source = [np.zeros((0, 2, 2))], [np.zeros(0, np.int64)]
    for number, line in enumerate(strokes.lines):
        if np.ptp(line, axis=0).max() < snap:
            strokes.leave_out("shapes smaller than the distance within which points are joined")
            continue
        kept = shapely.get_coordinates(shapely.simplify(shapely.linestrings(line), 0.5 * snap))
        segments.append(np.stack([kept[:-1], kept[1:]], axis=1))
        source.append(np.full(len(kept) - 1, number))
    return np.concatenate(segments), np.concatenate(source)


def _strokes(elements: list[Element], sheet: dict[str, Style], window: Window, name: str) -> _Strokes:
    """The coloured polylines of all shapes that are shown, in user units with y upwards."""
    strokes, total = _Strokes(), 0
    styles: list[_Style] = []
    matrices: list[Floats] = []
    for number, element in enumerate(elements):
        place = f"{name}: line {element.line}: {element.tag[:20]}"
        style = _inherited(element, styles[element.parent] if element.parent >= 0 else _Style(), sheet)
        styles.append(style)
        above = matrices[element.parent] if element.parent >= 0 else np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
        matrices.append(_placed(element, above, window, place) if style.shown and number else above)
        if not (style.shown and style.visible):
            continue
        if element.tag in _LEFT_OUT:
            strokes.leave_out(_LEFT_OUT[element.tag])
        if element.tag in SHAPES:
            lines = shape_lines(element, window, place)
            total += sum(map(len, lines))
            if total > MOST_POINTS:
                raise InputError(name, f"has more than {MOST_POINTS} points")
            _add(strokes, lines, matrices[number], style)
    return strokes


def _inherited(element: Element, above: _Style, sheet: dict[str, Style]) -> _Style:
    """The style of an element within that above it."""
    own = own_style(element.tag, element.attributes, sheet)
    visibility = own.get("visibility", "inherit")
    return _Style(
        stroke=above.stroke if own.get("stroke", "inherit") == "inherit" else own["stroke"],
        opacity=above.opacity * parse_opacity(own.get("opacity", "1")),
        stroke_opacity=parse_opacity(own["stroke-opacity"]) if "stroke-opacity" in own else above.stroke_opacity,
        visible=above.visible if visibility == "inherit" else visibility == "visible",
        shown=above.shown and element.tag not in _HIDDEN and own.get("display") != "none",
        group=(_group_name(element) or above.group) if element.tag == "g" else above.group,
    )


def _group_name(element: Element) -> str:
    """The name of a group: that of a layer of Inkscape, or its identity, which is how Illustrator writes names."""
    return (element.attributes.get("inkscape:label") or element.attributes.get("id") or "")[:64]


def _placed(element: Element, above: Floats, window: Window, place: str) -> Floats:
    """The matrix (2, 3) of an element within those above it."""
    text, whole = element.attributes.get("transform"), above
    if text:
        whole = above @ np.vstack([parse_transform(text, place), [0.0, 0.0, 1.0]])
    if element.tag == "use":
        shift = [shape_length(element, key, window, place) for key in ("x", "y")]
        whole = whole @ np.array([[1.0, 0.0, shift[0]], [0.0, 1.0, shift[1]], [0.0, 0.0, 1.0]])
    if not np.abs(whole).max() <= 1e12:
        raise InputError(f"{place}.transform", "is far too large together with those above it")
    return whole


def _add(strokes: _Strokes, lines: list[list[Point]], matrix: Floats, style: _Style) -> None:
    """Add polylines, if their colour says what they are."""
    colour = parse_colour(style.stroke)
    letter = assignment_of(colour) if colour is not None else None
    if letter is None:
        if lines and style.stroke.strip().lower() not in ("none", "transparent", ""):
            strokes.leave_out(f"shapes in the unknown colour {style.stroke.strip()[:20]!r}")
        return
    opacity = style.opacity * style.stroke_opacity
    angle = {"M": np.pi * opacity, "V": -np.pi * opacity, "U": np.nan}.get(letter, 0.0)
    for line in lines:
        points = np.array(line) @ matrix[:, :2].T + matrix[:, 2]
        points = points[np.append(True, np.any(points[1:] != points[:-1], axis=1))]
        if len(points) > 1:
            strokes.lines.append(points)
            strokes.letters.append(letter)
            strokes.angles.append(angle)
            strokes.groups.append(style.group)


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
