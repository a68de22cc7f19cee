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

__version__ = "0.2.0"

_HOMES = {
    "CrumpleError": "crumple.runtime.errors",
    "InputError": "crumple.runtime.errors",
    "SimulationError": "crumple.runtime.errors",
    "Material": "crumple.materials",
    "preset": "crumple.materials",
    "Model": "crumple.model.model",
    "Observer": "crumple.simulation.observers",
    "Recording": "crumple.recording",
    "State": "crumple.state",
    "build": "crumple.scenes",
    "create_recording": "crumple.recording",
    "energy": "crumple.energies.traced.declaration",
    "export_recording": "crumple.export",
    "load_dataset": "crumple.studies.datasets",
    "load_scene": "crumple.scenes",
    "read_pattern": "crumple.patterns",
    "remesh": "crumple.remeshing",
    "run": "crumple.session.session",
    "Simulation": "crumple.session.simulation",
    "simulate": "crumple.session.simulation",
    "sweep": "crumple.studies.sweeping.sweep",
    "write_dataset": "crumple.studies.datasets",
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
    from crumple.energies.traced.declaration import energy
    from crumple.export import export_recording
    from crumple.materials import Material, preset
    from crumple.model.model import Model
    from crumple.patterns import read_pattern
    from crumple.recording import Recording, create_recording
    from crumple.remeshing import remesh
    from crumple.runtime.errors import CrumpleError, InputError, SimulationError
    from crumple.scenes import build, load_scene
    from crumple.session.session import run
    from crumple.session.simulation import Simulation, simulate
    from crumple.simulation.observers import Observer
    from crumple.state import State
    from crumple.studies.datasets import load_dataset, write_dataset
    from crumple.studies.sweeping.sweep import sweep


_PACKAGES = (
    "analysis",
    "contact",
    "contract",
    "energies",
    "export",
    "materials",
    "mesh",
    "options",
    "patterns",
    "recording",
    "remeshing",
    "rendering",
    "scenes",
    "shapes",
    "state",
    "studies",
)
"""Packages that are there after `import crumple`, each imported when it is first used."""


def __dir__() -> list[str]:
    return [*__all__, *_PACKAGES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"crumple.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'crumple' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
