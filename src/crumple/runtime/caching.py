"""Folders for what can be made again, which belong to the user alone: compiled kernels, states to measure on."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from itertools import chain
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def cache_folder(name: str) -> Path:
    """The folder `name` of crumple's cache, made if it is not there: in the user's cache folder, else in that for
    temporary files.

    Nobody else can write there: it is no link, it is the user's and it has mode 0700. Where that cannot be had, it is
    a new folder.
    """
    for base in (user_cache(), Path(tempfile.gettempdir()) / f"crumple-{_user()}"):
        if base is not None:
            folder = base / name
            if _make_private(base) and _make_private(folder):
                return folder
    return Path(tempfile.mkdtemp(prefix=f"crumple-{name}-"))


def ensure_kernel_cache() -> Path | None:
    """Give Numba a place for compiled code if it has none, and return it; to be called before Numba is imported.

    Without any place, beside the package or in the user's cache, Numba refuses to define a kernel at all.
    """
    if os.environ.get("NUMBA_CACHE_DIR") or _is_package_writable() or _is_creatable(user_cache()):
        return None
    folder = cache_folder("kernels")
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    return folder


def user_cache() -> Path | None:
    """Where crumple may keep files by the convention of the system; None when the user has no such place."""
    told = os.environ.get("LOCALAPPDATA") if os.name == "nt" else os.environ.get("XDG_CACHE_HOME")
    if told and Path(told).is_absolute():
        return Path(told) / "crumple"
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if not home.is_absolute() or not home.is_dir():
        return None
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "crumple"


def kernels_compiled(package: str) -> bool:
    """Whether Numba's cache holds kernels for this Python of what `package` ("solving", "remeshing", "rendering", and
    "large" for large sheets) runs."""
    module = {
        "solving": "multifrontal.factorise_fronts",
        "large": "block_matrix._add_blocks-",
        "remeshing": "passes.run_pass",
        "rendering": "pixels._veil_bands",
    }[package]
    name = f"{module}*.py{sys.version_info.major}{sys.version_info.minor}*.nbi"
    return any(chain.from_iterable(folder.rglob(name) for folder in _kernel_caches() if folder.is_dir()))


def _kernel_caches() -> list[Path]:
    """Where Numba looks for compiled code: where it is told to, or beside the package, or in the user's cache."""
    told = os.environ.get("NUMBA_CACHE_DIR")
    if told:
        return [Path(told)]
    user = user_cache()
    return [_PACKAGE, *([] if user is None else [user.with_name("numba")])]


def _is_package_writable() -> bool:
    """Whether compiled code can be kept beside every module of the package."""
    return all(_is_creatable(module.parent / "__pycache__") for module in _PACKAGE.rglob("__init__.py"))


def _is_creatable(folder: Path | None) -> bool:
    """Whether `folder` can be written, or made where it is not there yet."""
    if folder is None:
        return False
    existing = next((place for place in (folder, *folder.parents) if place.exists()), folder)
    return existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


def _make_private(folder: Path) -> bool:
    """Whether `folder` is there now, for this user only, and can be written."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return False
    if not stat.S_ISDIR(found.st_mode):
        return False
    if os.name != "nt" and (found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077):
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
