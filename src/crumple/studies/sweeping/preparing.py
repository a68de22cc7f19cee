"""Kernels are compiled once on a machine, not by all its workers at the same time."""

from __future__ import annotations

import time as clock

from crumple.recording.files import OccupiedFolder, lock_folder
from crumple.runtime.caching import cache_folder, ensure_kernel_cache, kernels_compiled

PATIENCE = 600.0
"""How long to wait for another process that compiles [s]; after that everybody compiles for himself."""

_done: set[bool] = set()


def needs_compiling(*, remeshing: bool) -> bool:
    """Whether a run would have to wait for kernels on this machine."""
    return not kernels_compiled("solving") or (remeshing and not kernels_compiled("remeshing"))


def compile_once(*, remeshing: bool) -> None:
    """Compile what a run needs unless that has been done; other processes of this machine wait for it meanwhile."""
    if remeshing in _done:
        return
    ensure_kernel_cache()
    end = clock.monotonic() + PATIENCE
    while True:
        try:
            with lock_folder(cache_folder("compiling")):
                _compile(remeshing)
                break
        except OccupiedFolder:
            if clock.monotonic() > end:
                break
            clock.sleep(0.2)
    _done.update({False, remeshing})


def _compile(remeshing: bool) -> None:
    """Run a tiny scene with all that a run can do, where the cache does not hold its kernels."""
    if not needs_compiling(remeshing=remeshing):
        return
    from crumple.simulation import warming

    warming.compile_stepping()
    if remeshing:
        warming.compile_sizing()
        warming.compile_edits()
        warming.compile_remeshing()
