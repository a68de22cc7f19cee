"""Tells the user about the compilation of kernels, which makes the first run on a machine start late."""

from __future__ import annotations

import subprocess
import sys
import time as clock

from rich.console import Console

from crumple.runtime.caching import kernels_compiled

NOTICE = "first run here: compiling kernels once (half a minute, one with remeshing) …"

LARGE_NOTICE = "first run of a large sheet here: compiling kernels once (half a minute) …"


def compile_with_notice(console: Console, *, remeshing: bool) -> None:
    """Compile what a run needs before it starts, if that has not been done on this machine, and say so.

    The edits of the mesh take as long as all the rest: a second process compiles them at the same time.
    """
    missing = {name for name in ("solving", "remeshing") if not kernels_compiled(name)}
    if not remeshing:
        missing.discard("remeshing")
    if not missing:
        return
    from crumple.simulation import warming

    begin = clock.perf_counter()
    console.print(NOTICE)
    edits = _start_compiling_edits() if "remeshing" in missing else None
    if "solving" in missing:
        warming.compile_stepping()
    if edits is not None:
        warming.compile_sizing()
        edits.wait()
        warming.compile_remeshing()
    console.print(f"compiled in {clock.perf_counter() - begin:.0f} s", highlight=False)


def compile_large_with_notice(console: Console, faces: int) -> None:
    """The same with what a sheet of so many `faces` needs besides, if it is a large one."""
    from crumple.solving.tuning import TUNING

    if faces < TUNING.compact_faces.value or kernels_compiled("large"):
        return
    from crumple.simulation import warming

    begin = clock.perf_counter()
    console.print(LARGE_NOTICE)
    warming.compile_large()
    console.print(f"compiled in {clock.perf_counter() - begin:.0f} s", highlight=False)


def _start_compiling_edits() -> subprocess.Popen[bytes]:
    """A process that fills Numba's cache; should it fail, the kernels are compiled when they are needed."""
    command = [sys.executable, "-c", "from crumple.simulation.warming import compile_edits; compile_edits()"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
