"""Sweeps: one scene with many values of its keys, on the cores of this machine or on a Dask cluster.

The names are imported when they are first used, so that telling a sweep from a recording is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from crumple.studies.sweeping.layout import is_sweep

_HOMES = {
    "Plan": "plan", "PlannedRun": "plan", "SweepFolder": "folder", "Watcher": "sweep", "lead": "sweep",
    "make_plan": "plan", "read_sweep": "table", "recordings": "table",
}  # fmt: skip

__all__ = ["Plan", "PlannedRun", "SweepFolder", "Watcher", "is_sweep", "lead", "make_plan", "read_sweep", "recordings"]

if TYPE_CHECKING:
    from crumple.studies.sweeping.folder import SweepFolder
    from crumple.studies.sweeping.plan import Plan, PlannedRun, make_plan
    from crumple.studies.sweeping.sweep import Watcher, lead
    from crumple.studies.sweeping.table import read_sweep, recordings


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'crumple.studies.sweeping' has no attribute {name!r}")
    return getattr(import_module(f"crumple.studies.sweeping.{_HOMES[name]}"), name)
