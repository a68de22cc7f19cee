"""Measurements of speed on this machine."""

from crumple.benchmarking.machine import describe_machine
from crumple.benchmarking.report import Report
from crumple.benchmarking.suite import BENCHMARKS, run_benchmarks

__all__ = ["BENCHMARKS", "Report", "describe_machine", "run_benchmarks"]
