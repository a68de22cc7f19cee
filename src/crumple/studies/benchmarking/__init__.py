"""Measurements of speed on this machine."""

from crumple.studies.benchmarking.machine import describe_machine
from crumple.studies.benchmarking.report import Report
from crumple.studies.benchmarking.suite import BENCHMARKS, run_benchmarks

__all__ = ["BENCHMARKS", "Report", "describe_machine", "run_benchmarks"]
