"""Strokes of SVG: colours, opacity, and style sheets; what each colour means in a crease pattern."""

from __future__ import annotations

import re
from collections.abc import Mapping
from colorsys import rgb_to_hsv

MOST_RULES = 10_000
"""Rules of a style sheet that are read."""

_NAMES = {
    "black": (0, 0, 0),
    "red": (255, 0, 0),
    "blue": (0, 0, 255),
    "lime": (0, 255, 0),
    "green": (0, 128, 0),
    "yellow": (255, 255, 0),
    "magenta": (255, 0, 255),
    "fuchsia": (255, 0, 255),
    "white": (255, 255, 255),
    "gray": (128, 128, 128),
    "grey": (128, 128, 128),
    "cyan": (0, 255, 255),
    "aqua": (0, 255, 255),
}
_HUES = (
    (0.0, 25.0, "M"),
    (45.0, 72.0, "F"),
    (80.0, 170.0, "C"),
    (215.0, 270.0, "V"),
    (285.0, 335.0, "U"),
    (345.0, 360.0, "M"),
)
"""Hues [degrees] of the colours of Origami Simulator, from, to and letter, as wide as print colours need: the blue,
green and magenta that Illustrator has for print are 238°, 149° and 324°. Orange, turquoise and violet are left out."""
DARKEST, PALEST = 80, 0.6
"""Colours whose channels are all below the first are black (0…255); less saturated ones than the second are grey."""
_PROPERTIES = ("stroke", "opacity", "stroke-opacity", "display", "visibility")
COLOURS = {"B": "#000000", "M": "#ff0000", "V": "#0000ff", "C": "#00ff00", "F": "#ffff00", "U": "#ff00ff"}
"""The colour in which each assignment is written."""
_RULE = re.compile(r"([^{}]{1,2000})\{([^{}]{0,20000})\}")
_COMMENT = re.compile(r"/\*.*?\*/", re.S)

Style = dict[str, str]


def parse_colour(text: str) -> tuple[int, int, int] | None:
    """Red, green and blue (0…255) of a colour; None for none and for what is no colour."""
    text = text.strip().lower()
    if text in _NAMES:
        return _NAMES[text]
    if re.fullmatch(r"#[0-9a-f]{3}", text):
        return tuple(17 * int(digit, 16) for digit in text[1:])  # type: ignore[return-value]
    if re.fullmatch(r"#[0-9a-f]{6}(?:[0-9a-f]{2})?", text):
        return tuple(int(text[k : k + 2], 16) for k in (1, 3, 5))  # type: ignore[return-value]
    found = re.fullmatch(r"rgba?\(\s*([\d.]{1,9})(%?)[\s,]+([\d.]{1,9})(%?)[\s,]+([\d.]{1,9})(%?)[^)]{0,40}\)", text)
    if found is None:
        return None
    try:
        values = [float(found.group(k)) * (2.55 if found.group(k + 1) else 1.0) for k in (1, 3, 5)]
    except ValueError:
        return None
    return tuple(min(255, round(value)) for value in values)  # type: ignore[return-value]


def assignment_of(colour: tuple[int, int, int]) -> str | None:
    """The letter that a colour stands for, also when a drawing program has changed it a little; None if none."""
    high, low = max(colour), min(colour)
    if high <= DARKEST:
        return "B"
    if high - low < PALEST * high:
        return None
    hue = 360.0 * rgb_to_hsv(*colour)[0]
    return next((letter for least, most, letter in _HUES if least <= hue <= most), None)


def parse_declarations(text: str) -> Style:
    """`stroke: red; opacity: 0.5` as a dictionary."""
    style = {}
    for part in text[:20000].split(";"):
        key, colon, value = part.partition(":")
        if colon:
            style[key.strip().lower()] = value.replace("!important", "").strip()
    return style


def parse_sheet(text: str) -> dict[str, Style]:
    """The rules of a style sheet for simple selectors: an element, `.class`, `#id`, or `element.class`."""
    rules: dict[str, Style] = {}
    for count, found in enumerate(_RULE.finditer(_COMMENT.sub(" ", text))):
        if count >= MOST_RULES:
            break
        for selector in found.group(1).split(","):
            rules.setdefault(selector.strip(), {}).update(parse_declarations(found.group(2)))
    return rules


def own_style(tag: str, attributes: Mapping[str, str], sheet: Mapping[str, Style]) -> Style:
    """What an element says of itself: attributes, then the style sheet, then its `style`."""
    style = {key: attributes[key] for key in _PROPERTIES if key in attributes}
    classes = attributes.get("class", "").split()[:20]
    selectors = ["*", tag, *(f".{name}" for name in classes), *(f"{tag}.{name}" for name in classes)]
    for selector in [*selectors, f"#{attributes.get('id', '')}"]:
        style |= sheet.get(selector, {})
    return style | parse_declarations(attributes.get("style", ""))


def parse_opacity(text: str) -> float:
    """A fraction within 0…1; 1 for what is no number."""
    text = text.strip()
    try:
        value = float(text[:-1]) / 100.0 if text.endswith("%") else float(text)
    except ValueError:
        return 1.0
    return min(1.0, max(0.0, value)) if value == value else 1.0
