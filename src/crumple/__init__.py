"""crumple: thin sheets that fold, crumple and crease.

The few names that most uses need; each is imported when it is first used, so that `import crumple` is quick.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

# Threads that wait by spinning starve those of the other runtime (Numba's kernels and MKL take turns).
# Read when the runtimes start, hence before anything imports them.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("KMP_BLOCKTIME", "0")

__version__ = "0.1.0"

_HOMES = {
    "CrumpleError": "crumple.errors",
    "InputError": "crumple.errors",
    "SimulationError": "crumple.errors",
    "Material": "crumple.materials",
    "preset": "crumple.materials",
    "Model": "crumple.simulation.model",
    "Observer": "crumple.simulation.observers",
    "Recording": "crumple.recording",
    "State": "crumple.state",
    "build": "crumple.scenes",
    "create_recording": "crumple.recording",
    "energy": "crumple.energies.traced",
    "export_recording": "crumple.export",
    "load_dataset": "crumple.datasets",
    "load_scene": "crumple.scenes",
    "read_pattern": "crumple.patterns",
    "remesh": "crumple.remeshing",
    "run": "crumple.simulation.run",
    "Simulation": "crumple.live",
    "simulate": "crumple.live",
    "sweep": "crumple.sweeping.sweep",
    "write_dataset": "crumple.datasets",
}

__all__ = [
    "CrumpleError",
    "InputError",
    "Material",
    "Model",
    "Observer",
    "Recording",
    "Simulation",
    "SimulationError",
    "State",
    "build",
    "create_recording",
    "energy",
    "export_recording",
    "load_dataset",
    "load_scene",
    "preset",
    "read_pattern",
    "remesh",
    "run",
    "simulate",
    "sweep",
    "write_dataset",
]

if TYPE_CHECKING:
    from crumple.datasets import load_dataset, write_dataset
    from crumple.energies.traced import energy
    from crumple.errors import CrumpleError, InputError, SimulationError
    from crumple.export import export_recording
    from crumple.live import Simulation, simulate
    from crumple.materials import Material, preset
    from crumple.patterns import read_pattern
    from crumple.recording import Recording, create_recording
    from crumple.remeshing import remesh
    from crumple.scenes import build, load_scene
    from crumple.simulation.model import Model
    from crumple.simulation.observers import Observer
    from crumple.simulation.run import run
    from crumple.state import State
    from crumple.sweeping.sweep import sweep


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'crumple' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
