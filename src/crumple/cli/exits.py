"""How a command ends: exit codes, and one line instead of a traceback."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import ParamSpec

import typer

from crumple.cli.notices import show_notes
from crumple.runtime.caching import ensure_kernel_cache
from crumple.runtime.errors import CrumpleError, InputError

P = ParamSpec("P")

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
DEBUG_VARIABLE = "CRUMPLE_DEBUG"


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """`command` with errors told in one line on stderr: bad input exits with 2, other failures with 1.

    With CRUMPLE_DEBUG=1 in the environment tracebacks are shown.
    """

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            _prepare_kernels()
            command(*args, **kwargs)
        except typer.Exit:
            raise
        except BrokenPipeError:
            _abandon_output()
            raise typer.Exit(DONE) from None
        except KeyboardInterrupt:
            fail("interrupted", INTERRUPTED)
        except Exception as error:
            if os.environ.get(DEBUG_VARIABLE, "0") not in ("", "0"):
                raise
            fail(*explain(error))

    return wrapped


def explain(error: Exception) -> tuple[str, int]:
    """The line to show for an error, and the exit code."""
    if isinstance(error, InputError):
        more = len(getattr(error, "problems", ())) - 1
        return str(error) + (f" (and {more} more; `crumple check` shows all)" if more > 0 else ""), BAD_INPUT
    if isinstance(error, CrumpleError):
        return str(error), FAILED
    if isinstance(error, MemoryError):
        return "out of memory", FAILED
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror or error}", FAILED
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return f"internal error: {reason} (please report it; {DEBUG_VARIABLE}=1 shows where)", FAILED


def fail(message: str, code: int) -> None:
    """Say `message` on stderr in one line and end with `code`."""
    typer.echo(f"crumple: {message}", err=True)
    raise typer.Exit(code)


def _prepare_kernels() -> None:
    """See to it that kernels can be compiled, and say so when they cannot be kept where they usually are."""
    if "numba" in sys.modules:
        return
    folder = ensure_kernel_cache()
    if folder is not None:
        show_notes([f"compiled kernels are kept in {folder}, as neither package nor home can be written"])


def _abandon_output() -> None:
    """Keep Python from complaining at exit that the reader of its output is gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
