"""The workers of a sweep: processes on this machine, or whatever has joined a Dask scheduler."""

from __future__ import annotations

import json
import logging
import os
import signal
import time as clock
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from crumple.recording.files import read_file
from crumple.runtime.errors import CrumpleError, InputError, SimulationError
from crumple.runtime.packages import load_package
from crumple.studies.sweeping.identity import identity, loose_mismatch, mismatch

ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
"""Numba's is not among them: a worker of a script that imports crumple has started its threads when these are set, and
would refuse to compile; `perform` uses one of them."""
CONNECT_TIMEOUT = 10.0
"""How long a scheduler may take to answer [s]."""
FILE_PATIENCE = 30.0
"""How long the file of a scheduler may take to be there [s]."""
MOST_WORKERS = 1024
LOCAL_SETTINGS = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.admin.log-length": 100,
    "distributed.admin.low-level-log-length": 100,
    "distributed.admin.system-monitor.log-length": 60,
    "distributed.diagnostics.computations.max-history": 1,
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.worker-ttl": None,
}
"""Dask's settings for workers on this machine: its web servers have no pages, logs that nobody reads stay short, and no
profiler samples the stacks of worker and leader, whose trees of every second are kept: or the memory of a long sweep
would grow with every run, by 150 kB in the worker and 12 kB in the leader. Workers that have not been heard of are not
given up: Dask takes the time of day for that, which jumps when a computer wakes up, and its nannies see a worker that
has died."""

Say = Callable[[str], None]


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def local_workers(count: int | None) -> Iterator[Any]:
    """A Dask client with `count` new processes of one thread each on this machine, one per core by default.

    They talk over the loopback address, which every user of this machine can reach, and run what they are sent: so
    both sides of every connection must show a certificate that is made here, never leaves the memory of these
    processes and ends with them. There is no dashboard. The memory is shared out evenly, and a worker that takes much
    more than its share is restarted.
    """
    distributed, dask = (load_package(name, "crumple sweep", "sweep") for name in ("distributed", "dask"))
    load_package("cryptography", "crumple sweep", "sweep")
    number = available_cores() if count is None else count
    if not 1 <= number <= MOST_WORKERS:
        raise InputError("--workers", f"must be 1 to {MOST_WORKERS}", number)
    with _quiet(), dask.config.set(LOCAL_SETTINGS):
        try:
            with _unheard_by_children():
                cluster = distributed.LocalCluster(
                    n_workers=number, threads_per_worker=1, processes=True, host="127.0.0.1", protocol="tls://",
                    security=distributed.Security.temporary(), dashboard_address="127.0.0.1:0",
                    scheduler_kwargs={"dashboard": False}, silence_logs=logging.CRITICAL, env=ONE_THREAD,
                )  # fmt: skip
        except (RuntimeError, OSError) as error:
            remedy = 'a script that calls crumple.sweep needs the line `if __name__ == "__main__":` before it'
            raise SimulationError(f"the workers did not start: {_line(error)} ({remedy})") from None
        try:
            with distributed.Client(cluster, timeout=CONNECT_TIMEOUT) as client:
                yield client
        finally:
            with suppress(Exception):  # what is to be told has been told
                cluster.close(timeout=5.0)


@contextmanager
def joined_workers(address: str, say: Say) -> Iterator[Any]:
    """A Dask client of the scheduler at `address`, once it has a worker; `InputError` when nobody answers there.

    `address` is as Dask has it, tcp://host:8786, or the path of the .json file that `dask scheduler --scheduler-file`
    writes. How far the scheduler trusts others is its own affair; certificates are taken from Dask's configuration.
    """
    distributed = load_package("distributed", "crumple sweep")
    if address.endswith(".json"):
        address = _filed_address(Path(address))
    with _quiet():
        try:
            client = distributed.Client(address, timeout=CONNECT_TIMEOUT, set_as_default=False)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            remedy = f"no Dask scheduler answers there; start one with `dask scheduler` ({_line(error)})"
            raise InputError("--scheduler", remedy, address) from None
        with client:
            if not client.nthreads():
                say(f"no worker has joined {address} yet; waiting (`dask worker {address} --nthreads 1` starts one)")
                client.wait_for_workers(1)
            yield client


def _filed_address(path: Path) -> str:
    """The address in the file of a scheduler, which may have been started just now."""
    end = clock.monotonic() + FILE_PATIENCE
    while True:
        try:
            return str(json.loads(read_file(path))["address"])
        except (CrumpleError, ValueError, LookupError, TypeError, RecursionError) as error:
            if clock.monotonic() > end:
                remedy = (
                    f"is not the file of a Dask scheduler; `dask scheduler --scheduler-file` writes it ({_line(error)})"
                )
                raise InputError("--scheduler", remedy, str(path)) from None
        clock.sleep(0.2)


def check_sendable(name: str, thing: Any) -> None:
    """`InputError` when a metric or term of the user cannot be sent to another process."""
    load_package("distributed", "crumple sweep")
    from distributed.protocol.pickle import dumps

    try:
        dumps(thing)
    except Exception as error:  # whatever a pickler comes upon
        remedy = f"cannot be sent to workers ({_line(error)}); make what it needs inside of it"
        raise InputError(f"crumple.sweep: {name}", remedy) from None


def check_workers(client: Any, files: Sequence[str], say: Say) -> None:
    """`InputError` unless all workers have this crumple, and the files that the scenes name."""
    here = identity()
    try:
        answers = client.run(_probe, list(files))
    except (ImportError, AttributeError) as error:
        remedy = "install the same version everywhere, with 'crumple[sweep]'"
        raise InputError("--scheduler", f"a worker cannot load this crumple ({_line(error)}); {remedy}") from None
    for address, found in answers.items():
        there, threads, missing = found
        problem = mismatch(here, there)
        if problem:
            raise InputError(f"worker {address}", f"{problem}; install the same version everywhere")
        if missing:
            remedy = "which the scene needs; copy it to the same place on every machine"
            raise InputError(f"worker {address}", f"cannot read {missing}, {remedy}")
        if threads > 1:
            say(f"worker {address} has {threads} threads, of which one is used; start it with --nthreads 1")
        loose = loose_mismatch(here, there)
        if loose:
            say(f"worker {address} has {loose}: the last bits of its runs may differ")


def _probe(files: list[str]) -> tuple[dict[str, str], int, str]:
    """On a worker: which crumple it has, its threads, and the first of `files` that it cannot read."""
    from distributed import get_worker

    missing = next((name for name in files if not os.access(name, os.R_OK)), "")
    try:
        threads = get_worker().state.nthreads
    except ValueError:
        threads = 1
    return identity(), threads, missing


@contextmanager
def _unheard_by_children() -> Iterator[None]:
    """Ctrl-C in a terminal reaches all processes that it started; threads and workers that begin here do not hear it,
    and this process does afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # which would let signals through again, where it is not running yet
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _quiet() -> Iterator[None]:
    """Dask, and asyncio for it, tell at length of every connection that ends; what matters is told by the sweep."""
    loggers = [logging.getLogger(name) for name in ("distributed", "asyncio")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
