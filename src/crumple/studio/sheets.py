"""Sheets to play with: small scenes on a table, which a hand finds at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import Any

from crumple.runtime.errors import InputError
from crumple.runtime.numbers import is_finite_number

FRAME = 1.0 / 60.0
"""Time of a frame [s], that of most screens."""
DURATION = 3600.0
"""Of a scene [s]; nobody ends it."""
FACES = 260
"""Of a rectangle to play with: as many as a frame has time for, with room for folds."""
SIDES = (0.04, 0.42)
"""Shortest and longest side of a sheet that a page may ask for [m], the latter that of A3."""
HEIGHT = 0.002
"""Of a sheet above the table at the start [m]."""
TABLE = {
    "name": "floor",
    "shape": {"kind": "plane", "width": 1.6, "height": 1.2, "center": [0.0, 0.0, 0.0]},
}
MATERIALS = (
    "tissue", "paper70", "paper80", "paper90", "card", "cardboard", "kitchen-foil", "heavy-foil", "mylar", "cotton",
)  # fmt: skip
"""What a page may have a sheet made of."""


@dataclass(frozen=True)
class Sheet:
    """A sheet to play with: `what` it is, its `material` and `sides` [m], how it looks, and what else its scene has.

    `shape` replaces the rectangle, and `sheet` adds to the table of the sheet; `place` [m] is where it starts.
    """

    what: str
    material: str = "paper80"
    sides: tuple[float, float] = (0.15, 0.15)
    look: str = "paper"
    shape: dict[str, Any] | None = None
    sheet: dict[str, Any] = field(default_factory=dict)
    place: tuple[float, float, float] = (0.0, 0.0, HEIGHT)
    environment: dict[str, Any] = field(default_factory=dict)
    obstacles: tuple[dict[str, Any], ...] = ()


def sheet_tables(name: object, material: object = None, sides: object = None) -> dict[str, Any]:
    """The tables of the scene of one of `SHEETS`, with another material and other sides [m] where they are given."""
    if not isinstance(name, str) or name not in SHEETS:
        raise InputError("sheet", f"must be one of {', '.join(SHEETS)}", name)
    about = SHEETS[name]
    if material is not None and material not in MATERIALS:
        raise InputError("material", f"must be one of {', '.join(MATERIALS)}", material)
    if sides is not None and about.shape is not None:
        raise InputError("sides", f"{about.what} has one size; take a rectangle to choose them", sides)
    return {
        "name": name,
        "description": about.what,
        "run": {"frame_time": FRAME, "duration": DURATION},
        "solver": {"integrator": "implicit-euler"},
        "contact": {"friction": 0.3, "slip_speed": 1e-3},
        "environment": about.environment,
        "sheets": [
            {
                "name": "sheet",
                "material": material or about.material,
                "shape": about.shape or _rectangle(about.sides if sides is None else _checked(sides)),
                "transform": {"translate": list(about.place)},
                **about.sheet,
            }
        ],
        "obstacles": [TABLE, *about.obstacles],
    }


def _checked(sides: object) -> tuple[float, float]:
    least, most = SIDES
    if isinstance(sides, list) and len(sides) == 2 and all(is_finite_number(a) and least <= a <= most for a in sides):
        return float(sides[0]), float(sides[1])
    raise InputError("sides", f"must be two numbers from {least:g} to {most:g}, in m", str(sides)[:80])


def _rectangle(sides: tuple[float, float]) -> dict[str, Any]:
    """A rectangle of about `FACES` faces, each nearly equilateral: √3/4 of the square of its side."""
    width, height = sides
    return {
        "kind": "rectangle",
        "width": width,
        "height": height,
        "size": sqrt(4.0 * width * height / (sqrt(3) * FACES)),
    }


def _driven(group: str, name: str, angle: float) -> dict[str, Any]:
    """A group of creases that a page folds by its percent, to an angle [degrees]: until then they stay flat."""
    keys = [{"time": 0.0, "angle": 0.0}, {"time": DURATION, "angle": 0.0}, {"time": DURATION + 1.0, "angle": angle}]
    return {"name": name, "group": group, "drive": "hard", "keys": keys}


SHEETS: dict[str, Sheet] = {
    "note": Sheet("a square of note paper"),
    "a4": Sheet("a sheet of A4", sides=(0.21, 0.297)),
    "letter": Sheet("a letter, ruled", sides=(0.2159, 0.2794), look="ruled"),
    "newspaper": Sheet("a page of a newspaper", "tissue", (0.28, 0.4), "newspaper"),
    "card": Sheet("a card", "card", (0.148, 0.105)),
    "foil": Sheet("kitchen foil", "kitchen-foil", look="foil"),
    "napkin": Sheet("a napkin of cotton", "cotton", (0.2, 0.2), "cloth"),
    "ball": Sheet(
        "a napkin over a ball that can be dragged",
        "cotton",
        (0.2, 0.2),
        "cloth",
        place=(0.0, 0.0, 0.075),
        obstacles=(
            {
                "name": "ball",
                "shape": {"kind": "sphere", "radius": 0.03, "size": 0.012},
                "transform": {"translate": [0.0, 0.0, 0.035]},
            },
        ),
    ),
    "miura": Sheet(
        "a Miura-ori, folded by its percent",
        shape={"kind": "miura", "columns": 6, "rows": 6, "a": 0.025, "b": 0.025, "alpha": 60.0, "size": 0.013},
        sheet={
            "creases": [
                _driven("zigzag", "zigzags", 150.0),
                {"name": "straight lines", "group": "straight", "drive": "free"},
            ]
        },
    ),
    "dart": Sheet(
        "a paper dart to throw",
        shape={"kind": "dart", "width": 0.21, "height": 0.297, "size": 0.04},
        sheet={"contact_thickness": 5e-5},
        place=(0.1, 0.0, 0.06),
        environment={"wind": {"density": 1.2}},
    ),
}
"""What can be played with, by name."""
