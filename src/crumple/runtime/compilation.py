"""Which kernels Numba compiles, while it does so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba.core import event

KIND = "numba:compile"
"""What Numba calls the event: told for every function that it compiles, not for those in its cache."""


class CompilationWatch(event.Listener):  # type: ignore[misc]
    """Follows what this process compiles while the watch is entered.

    `count`: kernels compiled so far; `tell`, if given, is called with the name of each ("solving.newton.minimise") when
    it is done. Other threads may look at `count` and `current` at any time.
    """

    def __init__(self, tell: Callable[[str], None] | None = None) -> None:
        self.count = 0
        self._tell = tell
        self._stack: tuple[str, ...] = ()

    @property
    def current(self) -> str:
        """The kernel that is being compiled, the innermost of nested ones; "" if there is none."""
        stack = self._stack
        return stack[-1] if stack else ""

    def on_start(self, event: Any) -> None:
        self._stack = (*self._stack, kernel_name(event.data["dispatcher"].py_func))

    def on_end(self, event: Any) -> None:
        *outer, name = self._stack
        self._stack = tuple(outer)
        self.count += 1
        if self._tell is not None:
            self._tell(name)

    def __enter__(self) -> CompilationWatch:
        event.register(KIND, self)
        return self

    def __exit__(self, *_: object) -> None:
        event.unregister(KIND, self)


def kernel_name(function: Any) -> str:
    """The name of a kernel with its module, without that of the package: "remeshing.passes.run_pass"."""
    return f"{function.__module__}.{function.__qualname__}".removeprefix("crumple.")
