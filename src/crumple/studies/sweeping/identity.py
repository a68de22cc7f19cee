"""Which crumple this is: recordings have the same bits wherever they are made only if the code is the same."""

from __future__ import annotations

import hashlib
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import crumple

NUMERICAL = ("numpy", "scipy", "numba", "h5py")
"""Libraries whose versions may change bits."""


@cache
def identity() -> dict[str, str]:
    """Version of crumple, a digest of its sources, versions of Python and of numerical libraries, by name."""
    found = {
        "crumple": crumple.__version__,
        "sources": _sources(),
        "Python": ".".join(platform.python_version_tuple()[:2]),
    }
    for name in NUMERICAL:
        try:
            found[name] = version(name)
        except PackageNotFoundError:  # a copy without metadata
            found[name] = "unknown"
    return found


def mismatch(here: dict[str, str], there: dict[str, str]) -> str:
    """Why two machines must not share a sweep, "" when they may."""
    if here["crumple"] != there.get("crumple"):
        return f"has crumple {there.get('crumple')}, this machine {here['crumple']}"
    if here["Python"] != there.get("Python"):
        return f"has Python {there.get('Python')}, this machine {here['Python']}"
    if here["sources"] != there.get("sources"):
        return f"has other sources of crumple {here['crumple']} than this machine"
    return ""


def loose_mismatch(here: dict[str, str], there: dict[str, str]) -> str:
    """Libraries whose versions differ, which may change the last bits; "" when all agree."""
    names = [name for name in NUMERICAL if here[name] != there.get(name)]
    return ", ".join(f"{name} {there.get(name)} instead of {here[name]}" for name in names)


def _sources() -> str:
    """A digest of all Python files of the package."""
    root = Path(crumple.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
