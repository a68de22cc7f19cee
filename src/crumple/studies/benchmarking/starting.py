"""start: how long `crumple run` takes to its first step, on a fresh machine (compilation included) and afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from crumple.runtime.errors import SimulationError
from crumple.studies.benchmarking.report import Record, Report

SCENE = ("demo", "--quick")
PATIENCE = 600.0
"""A run that takes longer has failed [s]."""
LOOK = 0.02
"""Between two looks at the log of a run [s]."""


def measure_start(repeats: int = 2) -> Report:
    """Seconds to the first step and to the end of a short scene: with an empty cache of kernels, then a full one."""
    records: list[Record] = []
    with tempfile.TemporaryDirectory(prefix="crumple-benchmark-") as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": str(Path(folder) / "kernels")}
        for number in range(1 + repeats):
            first, whole = _time_run(Path(folder) / f"out{number}", environment)
            records.append(
                {"start": f"warm {number}" if number else "cold", "first step [s]": first, "whole scene [s]": whole}
            )
    compiling = float(records[0]["whole scene [s]"]) - min(float(record["whole scene [s]"]) for record in records[1:])
    records.append({"start": "compilation", "whole scene [s]": compiling})
    title = f"start of `crumple run {' '.join(SCENE)}`"
    return Report(title, tuple(records), ("start",), ("first step [s]", "whole scene [s]"))


def _time_run(out: Path, environment: dict[str, str]) -> tuple[float, float]:
    """Seconds from the start of the process to its first logged step and to its end."""
    command = [sys.executable, "-m", "crumple.cli", "run", *SCENE, "--out", str(out)]
    begin, first = time.perf_counter(), float("nan")
    with open(f"{out}.txt", "wb") as text:
        process = subprocess.Popen(command, env=environment, stdout=text, stderr=subprocess.STDOUT)
        while process.poll() is None:
            log = out / "log.jsonl"
            if first != first and log.exists() and log.stat().st_size > 0:
                first = time.perf_counter() - begin
            if time.perf_counter() - begin > PATIENCE:
                process.kill()
            time.sleep(LOOK)
    whole = time.perf_counter() - begin
    if process.returncode != 0:
        said = Path(f"{out}.txt").read_text(encoding="utf-8", errors="replace").strip().splitlines()
        raise SimulationError(f"`{' '.join(command[1:])}` ended with {process.returncode}: {said[-1] if said else ''}")
    return first, whole
