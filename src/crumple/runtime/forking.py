"""Refuses to go on in a forked process: threads of the parent are gone there, and whoever waits for them hangs."""

from __future__ import annotations

import os

from crumple.runtime.errors import SimulationError

_ran_here = False
_is_orphan = False


def note_threads() -> None:
    """Remember that threads have been started in this process; `SimulationError` in a child that lost them."""
    global _ran_here
    if _is_orphan:
        raise SimulationError(
            "this process was forked from one that has simulated already, so its threads are missing; "
            'start workers with multiprocessing.get_context("spawn") instead'
        )
    _ran_here = True


def _mark_orphan() -> None:
    global _is_orphan
    _is_orphan = _ran_here


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_mark_orphan)
