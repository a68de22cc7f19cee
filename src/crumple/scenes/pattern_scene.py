"""A crease pattern given as a scene: a sheet of paper that folds by itself, with defaults for all else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from crumple.patterns import CreasePattern, fold_angles, read_pattern
from crumple.patterns.pattern import UNASSIGNED
from crumple.scenes.patterns import is_rigid

FLAT = np.radians(120.0)
"""Patterns whose creases fold further than this are folded by half at first [rad]."""
START = 0.25
"""Fraction of the fold at the start, where the pattern allows it: from flat, vertices may pop in either direction."""
FOLDED = 0.8
"""When all creases have their angles [s]."""
PER_FACET, FINEST, COARSEST = 3.0, 60.0, 15.0
"""Edges of the mesh along a facet, and bounds on edges along the longer side of the pattern."""


def pattern_tables(path: Path, label: str) -> dict[str, Any]:
    """The scene tables of a FOLD or SVG file: paper without gravity, slowed by air, whose creases are driven hard to
    their angles, or set plastically where they do not fit."""
    pattern = read_pattern(path)
    fold = default_fold(pattern)
    start = START if is_rigid(pattern, START * fold) else 0.0
    fits = fold_angles(pattern, START * fold) is not None and fold_angles(pattern, fold) is not None
    return {
        "name": re.sub(r"[^A-Za-z0-9_\-]", "-", path.stem)[:64] or "scene",
        "description": f"The crease pattern {path.name[:200]} folds by itself.",
        "run": {"frame_time": 0.02, "duration": 1.0},
        "plasticity": {"rule": "none"},  # a sheet pressed flat would lose part of its creases
        "environment": {"gravity": [0.0, 0.0, 0.0], "wind": {"density": 0.0, "drag": 5.0}},
        "contact": {"activation": min(1e-3, 0.1 * default_size(pattern))},
        "sheets": [
            {
                "name": "paper",
                "material": "paper80",
                "shape": {
                    "kind": "pattern",
                    "file": str(path.resolve()),
                    "size": default_size(pattern),
                    "fold": fold,
                    "start": start,
                },
                "creases": _drives(pattern, start) if fits else [],
            }
        ],
    }


def _drives(pattern: CreasePattern, start: float) -> list[dict[str, Any]]:
    """The creases of a pattern that fits, driven from its start to its fold; those without an angle are free."""
    keys = [{"time": 0.0, "fold": start}, {"time": FOLDED, "fold": 1.0}]
    drives: list[dict[str, Any]] = []
    letters = pattern.assignment[pattern.creases]
    if np.any(letters != UNASSIGNED):
        drives.append({"select": "all", "drive": "hard", "keys": keys})
    if np.any(letters == UNASSIGNED):
        drives.append({"select": "U", "drive": "free"})
    return drives


def default_size(pattern: CreasePattern) -> float:
    """Edges of the mesh [m], with two digits: a few along each facet, but neither very many nor very few in all."""
    width, height = pattern.extent
    facet = np.sqrt(width * height / max(1, len(pattern.faces)))
    longest = float(max(width, height))
    return float(f"{np.clip(facet / PER_FACET, longest / FINEST, longest / COARSEST):.2g}")


def default_fold(pattern: CreasePattern) -> float:
    """The whole fold, or half of it where creases fold flat, which thick paper cannot."""
    return 0.5 if np.abs(pattern.targets()).max(initial=0.0) > FLAT else 1.0
