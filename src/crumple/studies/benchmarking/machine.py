"""The machine that a measurement was made on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numba

from crumple.linalg import make_solver

PACKAGES = ("crumple", "numpy", "scipy", "numba", "pypardiso", "mkl")


def describe_machine() -> dict[str, str]:
    """Processor, cores, threads, system and versions of what counts for speed."""
    solver = make_solver()
    machine = {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "threads": str(numba.get_num_threads()),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "linear solver": f"own fronts, ordered by {solver.name}" if solver.leaves_to_fronts else solver.name,
    }
    for package in PACKAGES:
        try:
            machine[package] = version(package)
        except PackageNotFoundError:
            continue
    if hasattr(os, "getloadavg"):
        machine["load before"] = f"{os.getloadavg()[0]:.2f}"
    return machine


def _processor() -> str:
    """The name of the processor as the system knows it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
