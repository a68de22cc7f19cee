"""Optional packages, imported when they are needed, and the extras of crumple that bring them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from crumple.runtime.errors import InputError

EXTRAS = {
    "PIL": "render",
    "aiohttp": "studio",
    "alembic3d": "alembic",
    "distributed": "sweep",
    "gymnasium": "learn",
    "imageio": "render",
    "imageio_ffmpeg": "render",
    "matplotlib": "render",
    "meshio": "notebook",
    "pandas": "notebook",
    "pxr": "usd",
    "pyarrow": "sweep",
    "pyvista": "notebook",
    "trimesh": "notebook",
}
"""The extra of pyproject.toml that brings each package, by the name under which it is imported."""


def load_package(module: str, place: str, extra: str | None = None) -> Any:
    """The imported `module`; where its package is missing, an `InputError` at `place` with the command that installs
    the `extra`, by default that of `EXTRAS`."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        remedy = f"needs an optional package: pip install 'crumple[{extra or EXTRAS[package]}]' ({error})"
        raise InputError(place, remedy) from None
