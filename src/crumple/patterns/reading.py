"""Crease patterns by the ending of their file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from crumple.patterns.fold_file import read_fold
from crumple.patterns.pattern import BOUNDARY, UNASSIGNED, CreasePattern
from crumple.patterns.svg_file import read_svg
from crumple.runtime.errors import InputError

READERS: dict[str, Callable[..., CreasePattern]] = {".fold": read_fold, ".svg": read_svg}
"""How a pattern is read, by suffix."""


def read_pattern(path: str | Path, *, unit: float | None = None, width: float | None = None) -> CreasePattern:
    """The crease pattern in a FOLD or SVG file; `unit` and `width` [m] as in `read_fold` and `read_svg`."""
    suffix = Path(path).suffix.lower()
    if suffix not in READERS:
        raise InputError(str(path), f"crease patterns end in {' or '.join(READERS)}")
    return joined_inside(READERS[suffix](path, unit=unit, width=width))


def joined_inside(pattern: CreasePattern) -> CreasePattern:
    """The pattern with creases that may take any angle where lines drawn as boundary have paper on both sides.

    Paper ends at a boundary, so these lines contradict themselves; taken as cuts they would leave loose pieces, which
    nobody draws on purpose in the colour of the outline. What is to be cut is drawn as a cut.
    """
    boundary = pattern.assignment == BOUNDARY
    if not (boundary & (pattern.facets.edge_faces >= 0).all(axis=1)).any():
        return pattern  # what is across a boundary is a hole, or the outside
    inside = np.where(boundary, UNASSIGNED, pattern.assignment)
    inner = boundary & (replace(pattern, assignment=inside).facets.edge_faces >= 0).all(axis=1)
    letters, angle = np.where(inner, UNASSIGNED, pattern.assignment), np.where(inner, np.nan, pattern.angle)
    count = int(inner.sum())
    lines = "1 line that is drawn as boundary has" if count == 1 else f"{count} lines that are drawn as boundary have"
    note = f"{lines} paper on both sides; taken as creases that may take any angle (draw cuts as cuts: C, green in SVG)"
    return replace(pattern, assignment=letters, angle=angle, notes=(*pattern.notes, note))
