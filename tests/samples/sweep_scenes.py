"""A scene of a few faces for sweeps, and a Dask cluster of separate processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

TINY = """
name = "tiny"
[run]
frame_time = 0.01
duration = 0.1
[[sheets]]
shape = { kind = "rectangle", width = 0.06, height = 0.04, size = 0.02 }
transform = { translate = [0, 0, 0.01] }
material = "paper80"
jitter = { amplitude = 1e-5, seed = 1 }
[[obstacles]]
shape = { kind = "plane", width = 0.3, height = 0.3 }
[quick]
"run.duration" = 0.02
"""
SETTINGS = os.environ | {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def write_scene(folder: Path, text: str = TINY) -> Path:
    path = folder / "tiny.toml"
    path.write_text(text)
    return path


class Cluster:
    """A scheduler and workers, each a process of its own, which talk over the loopback address."""

    def __init__(self, folder: Path) -> None:
        self._file, self._folder = folder / "scheduler.json", folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self.start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        deadline = time.monotonic() + 60
        while not self._file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.address = json.loads(self._file.read_text())["address"]

    def start(self, what: str, *options: str, **settings: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", "--scheduler-file", str(self._file), *options]
        with open(self._folder / f"{what}-{len(self.processes)}.log", "wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=SETTINGS | settings, cwd=self._folder)
        self.processes.append(process)
        return process

    def start_worker(self, **settings: str) -> subprocess.Popen[bytes]:
        return self.start(
            "worker", "--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1", **settings
        )

    def close(self) -> None:
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def crumple(*arguments: object, **options: object) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "crumple.cli", *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=SETTINGS, **options
    )


def finished(process: subprocess.Popen[str], timeout: float = 240.0) -> str:
    """What it said, when it has ended well."""
    said = process.communicate(timeout=timeout)[0]
    assert process.returncode == 0, said
    return said


def wait_until(condition, timeout: float = 180.0) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
