"""Kernels are compiled by one worker of a machine while the others wait."""

from __future__ import annotations

import threading
import time

import pytest

from crumple.studies.sweeping import preparing


@pytest.fixture
def cold(tmp_path, monkeypatch):
    """A machine without kernels; the list of what was compiled, and how many did so at once."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(preparing, "_done", set())
    compiled, busy = [], [0, 0]

    def compile_some(remeshing):
        if compiled:
            return
        busy[0] += 1
        busy[1] = max(busy)
        time.sleep(0.3)
        compiled.append(remeshing)
        busy[0] -= 1

    monkeypatch.setattr(preparing, "_compile", compile_some)
    return compiled, busy


def test_no_storm(cold):
    compiled, busy = cold
    workers = [threading.Thread(target=preparing.compile_once, kwargs={"remeshing": True}) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert compiled == [True]
    assert busy[1] == 1


def test_it_is_not_asked_again(cold, monkeypatch):
    preparing.compile_once(remeshing=True)
    monkeypatch.setattr(preparing, "lock_folder", None)
    preparing.compile_once(remeshing=True)
    preparing.compile_once(remeshing=False)


def test_nobody_waits_for_ever(cold, monkeypatch):
    compiled, _ = cold
    monkeypatch.setattr(preparing, "PATIENCE", 0.3)
    with preparing.lock_folder(preparing.cache_folder("compiling")):
        preparing.compile_once(remeshing=True)
    assert not compiled
