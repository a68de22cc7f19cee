"""Whether the kernels still have to be compiled on this machine, so that a wait can be announced."""

from __future__ import annotations

import os
import sys
from itertools import chain
from pathlib import Path

import crumple

NOTICE = "compiling kernels for this machine (once, about a minute) …"


def kernels_compiled() -> bool:
    """Whether Numba's cache holds kernels of this package for this Python."""
    suffix = f"*.py{sys.version_info.major}{sys.version_info.minor}*.nbi"
    package = Path(crumple.__file__).parent
    folders = [package, *_other_caches()]
    return any(chain.from_iterable(folder.rglob(suffix) for folder in folders if folder.is_dir()))


def _other_caches() -> list[Path]:
    """Where Numba puts its cache when it is told to, or when the package's folder cannot be written."""
    told = os.environ.get("NUMBA_CACHE_DIR")
    if told:
        return [Path(told)]
    home = Path.home()
    root = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return [Path(root) / "numba" if root else home / ".cache" / "numba", home / "Library" / "Caches" / "numba"]
