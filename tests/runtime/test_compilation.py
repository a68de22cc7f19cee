"""What Numba compiles is told while it does so."""

from __future__ import annotations

import numpy as np
from numba import njit

from crumple.runtime.compilation import CompilationWatch


def test_kernels_are_named_and_counted_when_they_are_compiled_and_only_then():
    seen, told = [], []

    @njit
    def inner(values):
        return values[0] + 1.0

    @njit
    def outer(values):
        return 2.0 * inner(values)

    with CompilationWatch(lambda name: (told.append(name), seen.append(watch.current))) as watch:
        assert watch.current == ""
        outer(np.ones(3))
        outer(np.ones(4))
    assert [name.rsplit(".", 1)[1] for name in told] == ["inner", "outer"]
    assert seen[0].endswith("outer"), "the inner one is compiled for the outer one"
    assert watch.count == 2
    assert watch.current == ""
    inner(np.ones(3, np.int64))
    assert watch.count == 2, "a watch that was left sees no more"
