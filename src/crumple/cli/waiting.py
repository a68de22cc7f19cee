"""What a command shows while something takes long that has no frames to count: checking and building a scene."""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

PATIENCE = 2.0
"""Seconds after which a command says what it is at."""
HEARTBEAT = 30.0
"""Seconds between two lines where there is no terminal."""


@contextmanager
def told_when_long(console: Console, what: str) -> Iterator[None]:
    """Say `what` goes on, and for how long, beyond `PATIENCE`: in place on a terminal, else in lines."""
    over = threading.Event()
    thread = threading.Thread(target=_tell, args=(console, what, over), name="crumple-waiting", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _tell(console: Console, what: str, over: threading.Event) -> None:
    begin = clock.monotonic()
    if over.wait(PATIENCE):
        return
    if not console.is_terminal:
        while True:
            console.print(f"{what}, {clock.monotonic() - begin:.0f} s so far …", highlight=False)
            if over.wait(HEARTBEAT):
                return
    with console.status(what) as status:
        while not over.wait(1.0):
            status.update(f"{what}, {clock.monotonic() - begin:.0f} s so far …")
