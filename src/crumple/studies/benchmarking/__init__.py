"""Measurements of speed on this machine."""

from crumple.studies.benchmarking.history import (
    Entry,
    append_entry,
    compare,
    differences,
    find_entry,
    make_entry,
    read_history,
)
from crumple.studies.benchmarking.machine import describe_machine
from crumple.studies.benchmarking.report import Report
from crumple.studies.benchmarking.suite import BENCHMARKS, run_benchmarks

__all__ = [
    "BENCHMARKS",
    "Entry",
    "Report",
    "append_entry",
    "compare",
    "describe_machine",
    "differences",
    "find_entry",
    "make_entry",
    "read_history",
    "run_benchmarks",
]
