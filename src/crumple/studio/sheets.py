"""Sheets to play with: small scenes on a table, which a hand finds at once."""

from __future__ import annotations

from typing import Any

FRAME = 1.0 / 60.0
"""Time of a frame [s], that of most screens."""
TABLE = {
    "name": "table",
    "shape": {"kind": "plane", "width": 1.6, "height": 1.2, "center": [0.0, 0.0, 0.0]},
}


def sheet_tables(name: str) -> dict[str, Any]:
    """The tables of the scene of one of `SHEETS`."""
    about = SHEETS[name]
    return {
        "name": name,
        "description": about["what"],
        "run": {"frame_time": FRAME, "duration": 3600.0},
        "solver": {"integrator": "implicit-euler"},
        "contact": {"friction": 0.3, "slip_speed": 1e-3},
        "sheets": [
            {
                "name": "sheet",
                "material": about["material"],
                "shape": {"kind": "rectangle", **about["shape"]},
                "transform": {"translate": [0.0, 0.0, 0.002]},
            }
        ],
        "obstacles": [TABLE],
    }


SHEETS: dict[str, dict[str, Any]] = {
    "note": {
        "what": "a square of note paper",
        "material": "paper80",
        "shape": {"width": 0.15, "height": 0.15, "size": 0.015},
    },
    "a4": {"what": "a sheet of A4", "material": "paper80", "shape": {"width": 0.21, "height": 0.297, "size": 0.024}},
    "card": {"what": "a card", "material": "card", "shape": {"width": 0.148, "height": 0.105, "size": 0.013}},
    "foil": {
        "what": "kitchen foil",
        "material": "kitchen-foil",
        "shape": {"width": 0.15, "height": 0.15, "size": 0.015},
    },
    "napkin": {
        "what": "a napkin of cotton",
        "material": "cotton",
        "shape": {"width": 0.2, "height": 0.2, "size": 0.018},
    },
}
"""What can be played with, by name."""
