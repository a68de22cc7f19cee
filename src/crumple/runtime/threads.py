"""How many threads are worth it: on small meshes, and on cores that others use, they wait for each other longer than
they work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numba

from crumple.runtime.load import LoadWatch
from crumple.runtime.tuning import TUNING

FEW_FACES = TUNING.one_thread_faces.value
_watch = LoadWatch()


@contextmanager
def worthwhile_threads(faces: int) -> Iterator[None]:
    """One thread for a mesh of few `faces`, else as many as before, but no more than there are free cores.

    Results do not depend on it.
    """
    before = numba.get_num_threads()
    with limited_threads(1 if faces < FEW_FACES or before == 1 else min(before, _watch.spare())):
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread, as many as before afterwards; for the calls of this thread only."""
    with limited_threads(1):
        yield


@contextmanager
def limited_threads(count: int) -> Iterator[None]:
    """At most `count` threads, as many as before afterwards; for the calls of this thread only.

    The linear solver keeps to it too.
    """
    before = numba.get_num_threads()
    numba.set_num_threads(min(count, before))
    try:
        yield
    finally:
        numba.set_num_threads(before)
