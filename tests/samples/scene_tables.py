"""A small scene that uses every table of the format, as plain tables; tests change it."""

import copy
from typing import Any

RICH: dict[str, Any] = {
    "name": "rich",
    "description": "everything",
    "run": {"frame_time": 0.04, "duration": 0.4},
    "solver": {
        "mode": "dynamic",
        "integrator": "tr-bdf2",
        "motion_tolerance": 1e-3,
        "tolerance": 1e-2,
        "speed_tolerance": 0.05,
        "path_error": 1e-3,
        "step_error": 5e-3,
        "max_step": 0.04,
        "min_step": 1e-6,
        "fixed_step": 0.02,
        "max_iterations": 50,
        "linear_solver": "auto",
    },
    "contact": {
        "enabled": True,
        "activation": 1e-3,
        "stiffness": 1e5,
        "thickness": 1e-4,
        "friction": 0.3,
        "slip_speed": 1e-2,
        "pairs": [{"parts": ["a", "ball"], "friction": 0.1}],
    },
    "environment": {"gravity": [0, 0, -9.81], "wind": {"density": 1.2, "velocity": [1, 0, 0], "drag": 0.1}},
    "sheets": [
        {
            "name": "a",
            "shape": {"kind": "rectangle", "width": 0.1, "height": 0.05, "size": 0.02, "style": "right", "seed": 1},
            "transform": {
                "translate": [0, 0, 0.2],
                "rotate": {"angle": 10, "axis": [1, 0, 0]},
                "scale": 1.5,
                "center": [0, 0, 0],
            },
            "material": {
                "young": 2e9,
                "poisson": 0.2,
                "thickness": 1e-4,
                "density": 0.08,
                "damping": 1e-3,
                "yield_curvature": 100,
                "weakening": 1,
                "stretch_factor": 0.5,
                "bend_factor": 2,
                "density_factor": 1,
            },
            "velocity": [0, 0, 1],
            "jitter": {"amplitude": 1e-5, "seed": 3},
            "creases": [{"line": [[0.05, -0.01], [0.05, 0.06]], "angle": 20, "damage": 1.5}],
            "folded": True,
            "contact_thickness": 1e-4,
        },
        {
            "name": "b",
            "shape": {"kind": "disk", "radius": 0.03, "size": 0.02},
            "material": {"stretch": 1e5, "bend": 1e-4, "thickness": 1e-4, "density": 0.1},
            "transform": {"translate": [0, 0, 0.4]},
        },
        {
            "name": "c",
            "shape": {"kind": "outline", "points": [[0, 0], [0.05, 0], [0, 0.05]], "size": 0.02},
            "material": {
                "membrane": [1e5, 1e4, 1e5, 1e5],
                "bending": [1e-4, 1e-4, 1e-4],
                "thickness": 1e-4,
                "density": 0.1,
            },
            "transform": {"translate": [0, 0, 0.6]},
        },
    ],
    "handles": [
        {
            "name": "grip",
            "sheet": "a",
            "select": {"kind": "side", "side": "left"},
            "motion": "lift",
            "start": 0.1,
            "end": 0.3,
            "fade": 0.1,
            "stiffness": 100,
        },
        {"sheet": "a", "select": {"kind": "indices", "indices": [0, 1]}},
        {"sheet": "b", "select": {"kind": "ball", "center": [0, 0, 0.4], "radius": 0.02}},
        {"sheet": "b", "select": {"kind": "box", "low": [-1, -1, 0], "high": [1, 1, 1]}},
        {"sheet": "c", "select": {"kind": "nearest", "points": [[0, 0, 0.6]]}},
        {
            "sheet": "c",
            "select": {"kind": "boundary"},
            "circle": {"center": [0, 0, 0.6], "circumference": 0.1, "axis0": [1, 0, 0], "axis1": [0, 1, 0]},
        },
    ],
    "obstacles": [
        {
            "name": "ball",
            "shape": {"kind": "sphere", "radius": 0.05, "center": [0, 0, 0], "size": 0.03, "inside": False},
            "transform": {"translate": [0, 0, 0], "scale": [1, 1, 1]},
            "motion": "turn",
            "start": 0,
            "end": 0.3,
            "friction": 0.2,
            "thickness": 1e-3,
        },
        {"name": "floor", "shape": {"kind": "plane", "width": 1, "height": 1, "center": [0, 0, -0.2], "size": 0.5}},
        {"name": "crate", "shape": {"kind": "box", "extent": [3, 3, 3], "inside": True}},
        {"name": "pole", "shape": {"kind": "cylinder", "radius": 0.02, "height": 0.1, "center": [0.5, 0, 0]}},
    ],
    "motions": {
        "lift": {
            "keys": [
                {"time": 0, "translate": [0, 0, 0]},
                {
                    "time": 0.2,
                    "translate": [0, 0, 0.1],
                    "rotate": {"angle": 400, "axis": [0, 0, 1]},
                    "scale": 1.1,
                    "velocity": {"translate": [0, 0, 1], "rotate": {"angle": 90, "axis": [0, 0, 1]}, "scale": 0.1},
                },
                {"time": 0.4, "translate": [0, 0, 0.2]},
            ],
            "center": [0, 0, 0.2],
            "relative_to": "turn",
        },
        "turn": {"rate": {"velocity": [0.01, 0, 0], "spin": {"angle": 30, "axis": [0, 1, 0]}, "start": 0, "end": 1}},
    },
    "quick": {"sheets[0].shape.size": 0.05},
}

SMALL: dict[str, Any] = {
    "name": "small",
    "sheets": [
        {"shape": {"kind": "rectangle", "width": 0.1, "height": 0.1, "size": 0.05}, "material": {"preset": "paper80"}}
    ],
}


def rich() -> dict[str, Any]:
    return copy.deepcopy(RICH)


def small() -> dict[str, Any]:
    return copy.deepcopy(SMALL)


def leaves(tables: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The paths of all values that are not tables or lists of tables."""
    if isinstance(tables, dict):
        return [leaf for key, below in tables.items() for leaf in leaves(below, (*path, key))]
    if isinstance(tables, list) and tables and isinstance(tables[0], dict):
        return [leaf for k, below in enumerate(tables) for leaf in leaves(below, (*path, k))]
    return [path]


def at(tables: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        tables = tables[step]
    return tables


def changed(tables: dict[str, Any], path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """A copy with one value replaced (or removed, when the value is `...`)."""
    tables = copy.deepcopy(tables)
    holder = at(tables, path[:-1])
    if value is ...:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return tables
