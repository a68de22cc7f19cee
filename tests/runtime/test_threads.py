"""Threads follow the size of the mesh and the cores that are free."""

from __future__ import annotations

import numba
import pytest

from crumple.runtime import load, threads
from crumple.runtime.load import LoadWatch, Look, spare_cores
from crumple.runtime.threads import FEW_FACES, limited_threads, worthwhile_threads


@pytest.mark.parametrize(
    ("own", "idle", "spare"),
    [
        (1.0, 1.0, 2),  # one thread, the other core idle
        (1.9, 0.05, 2),  # two threads that have the machine for themselves
        (1.33, 0.0, 1),  # two threads beside another program on two cores
        (1.0, 0.0, 1),  # one thread beside another program
        (0.3, 0.0, 1),  # hardly any time at all
        (2.0, 2.0, 4),
    ],
)
def test_free_cores_are_those_used_and_those_idle(own, idle, spare):
    assert spare_cores(Look(10.0, 5.0, 100.0), Look(12.0, 5.0 + 2.0 * own, 100.0 + 2.0 * idle)) == spare


def test_the_watch_looks_again_after_a_while(monkeypatch):
    looks = iter([Look(0.0, 0.0, 0.0), Look(0.1, 0.1, 0.1), Look(1.0, 1.0, 0.0), Look(2.0, 2.0, 1.0)])
    monkeypatch.setattr(load, "look", lambda: next(looks))
    monkeypatch.setattr(load, "_free_at_once", lambda: 7)
    watch = LoadWatch()
    assert [watch.spare() for _ in range(4)] == [7, 7, 1, 2]


def test_a_system_that_does_not_tell_counts_as_free(monkeypatch, tmp_path):
    monkeypatch.setattr(load, "_STATISTICS", tmp_path / "nothing")
    monkeypatch.setattr(load.os, "cpu_count", lambda: 3)
    assert LoadWatch().spare() == 3


@pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="there is one thread")
def test_threads_by_faces_and_load(monkeypatch):
    spare = {"cores": 2}
    monkeypatch.setattr(threads._watch, "spare", lambda: spare["cores"])
    with limited_threads(2):
        for faces, cores, expected in ((FEW_FACES - 1, 2, 1), (FEW_FACES, 2, 2), (FEW_FACES, 1, 1), (FEW_FACES, 8, 2)):
            spare["cores"] = cores
            with worthwhile_threads(faces):
                assert numba.get_num_threads() == expected
            assert numba.get_num_threads() == 2
