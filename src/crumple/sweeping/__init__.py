"""Sweeps: one scene with many values of its keys, on the cores of this machine or on a Dask cluster."""

from crumple.sweeping.folder import SweepFolder, is_sweep
from crumple.sweeping.plan import Plan, PlannedRun, make_plan
from crumple.sweeping.sweep import Watcher, lead, sweep
from crumple.sweeping.table import read_sweep, recordings

__all__ = ["Plan", "PlannedRun", "SweepFolder", "Watcher", "is_sweep", "lead", "make_plan", "read_sweep", "recordings", "sweep"]
