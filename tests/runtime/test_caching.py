"""Cache folders belong to the user alone, whatever somebody else put in their place."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from pathlib import Path

import pytest

from crumple.runtime import caching

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="owners and modes of POSIX")


@pytest.fixture
def places(tmp_path, monkeypatch) -> tuple[Path, Path]:
    """The user's cache folder and the shared one for temporary files."""
    cache, shared = tmp_path / "cache", tmp_path / "tmp"
    shared.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    return cache, shared


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_it_is_in_the_users_cache_and_private(places):
    folder = caching.cache_folder("benchmarks")
    assert folder == places[0] / "crumple" / "benchmarks"
    assert mode(folder) == mode(folder.parent) == 0o700
    assert caching.cache_folder("benchmarks") == folder


def test_a_planted_link_or_an_open_folder_is_not_used(places, monkeypatch):
    cache, shared = places
    monkeypatch.setattr(caching, "user_cache", lambda: None)
    planted = shared / f"crumple-{os.getuid()}"
    cache.mkdir()
    planted.symlink_to(cache)
    folder = caching.cache_folder("kernels")
    assert planted not in folder.parents
    assert mode(folder) == 0o700
    planted.unlink()
    planted.mkdir()
    planted.chmod(0o777)
    assert planted not in caching.cache_folder("kernels").parents
    planted.chmod(0o700)
    assert caching.cache_folder("kernels") == planted / "kernels"


def test_numba_is_given_a_place_only_where_it_has_none(places, monkeypatch):
    assert caching.ensure_kernel_cache() is None
    monkeypatch.setattr(caching, "_is_package_writable", lambda: False)
    assert caching.ensure_kernel_cache() is None  # the user's cache will do
    monkeypatch.setattr(caching, "user_cache", lambda: None)
    folder = caching.ensure_kernel_cache()
    assert folder is not None
    assert os.environ.pop("NUMBA_CACHE_DIR") == str(folder)


def test_without_a_home_there_is_no_user_cache(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    assert caching.user_cache() is None
    monkeypatch.setattr(Path, "home", lambda: Path("/nonexistent/home"))
    assert caching.user_cache() is None
