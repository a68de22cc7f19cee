"""Tells the user about the compilation of kernels, which makes the first run on a machine start late."""

from __future__ import annotations

import os
import sys
import time as clock
from itertools import chain
from pathlib import Path

from rich.console import Console

import crumple
from crumple.simulation.model import Model
from crumple.simulation.observers import Observer, StepReport
from crumple.simulation.state import State

NOTICE = "first run on this machine: compiling kernels (once, up to a minute) …"


class CompilationNotice(Observer):
    """Says that kernels are being compiled, if so, and after the first step how long it took.

    Make it before the scene is built: the first kernels are compiled there.
    """

    def __init__(self, console: Console) -> None:
        self._console, self._waiting, self._began = console, not kernels_compiled(), clock.perf_counter()
        if self._waiting:
            console.print(NOTICE)

    def on_step(self, model: Model, state: State, report: StepReport) -> None:
        if self._waiting:
            self._console.print(f"compiled; first step done after {clock.perf_counter() - self._began:.0f} s")
        self._waiting = False


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
