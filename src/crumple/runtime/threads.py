"""How many threads are worth it: on small meshes they wait for each other longer than they work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numba

from crumple.runtime.tuning import TUNING

FEW_FACES = TUNING.one_thread_faces.value


@contextmanager
def worthwhile_threads(faces: int) -> Iterator[None]:
    """One thread for a mesh of few `faces`, else as many as before. Results do not depend on it."""
    if faces >= FEW_FACES:
        yield
        return
    with one_thread():
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread, as many as before afterwards; for the calls of this thread only."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(before)
