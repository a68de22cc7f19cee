"""Crease patterns by the ending of their file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from crumple.patterns.fold_file import read_fold
from crumple.patterns.pattern import CreasePattern
from crumple.patterns.svg_file import read_svg
from crumple.runtime.errors import InputError

READERS: dict[str, Callable[..., CreasePattern]] = {".fold": read_fold, ".svg": read_svg}
"""How a pattern is read, by suffix."""


def read_pattern(path: str | Path, *, unit: float | None = None, width: float | None = None) -> CreasePattern:
    """The crease pattern in a FOLD or SVG file; `unit` and `width` [m] as in `read_fold` and `read_svg`."""
    suffix = Path(path).suffix.lower()
    if suffix not in READERS:
        raise InputError(str(path), f"crease patterns end in {' or '.join(READERS)}")
    return READERS[suffix](path, unit=unit, width=width)
