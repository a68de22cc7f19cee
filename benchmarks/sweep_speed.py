"""What a sweep costs beside its runs: 32 short runs with one and with two workers, and the same with `crumple run`.

    python benchmarks/sweep_speed.py                    # demo --quick, 32 runs, 4 of them with `crumple run` as well
    python benchmarks/sweep_speed.py squeeze --runs 8

Needs a machine that does nothing else, and as many cores as workers. Everything runs with one thread and compiled
kernels. Three numbers are printed. Two workers over one: wall time of the whole command, start and end included.
Overhead per run: wall time of the sweep with one worker, from its first run on, per run, over that of `crumple run`
from its first frame on. Whole command: the same with starting and ending, where a sweep saves what every `crumple run`
spends on loading Python.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

KEY = "contact.friction"
ONE_THREAD = {name: "1" for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scene", nargs="?", default="demo")
    parser.add_argument("--runs", type=int, default=32)
    parser.add_argument("--alone", type=int, default=4, help="runs that are done with `crumple run` as well")
    options = parser.parse_args()
    values = [f"{0.1 + 0.3 * k / options.runs:.4f}" for k in range(options.runs)]
    with tempfile.TemporaryDirectory(prefix="crumple-sweep-") as place:
        folder = Path(place)
        crumple("run", options.scene, "--quick", "--out", folder / "first")  # compiles what is not compiled yet
        one, after_start = time_sweep(options.scene, values, 1, folder / "one")
        two, _ = time_sweep(options.scene, values, 2, folder / "two")
        step = max(1, len(values) // options.alone)
        alone = [time_run(options.scene, value, folder / f"alone{value}") for value in values[::step]]
    whole = sum(wall for wall, _ in alone) / len(alone)
    stepping = sum(seconds for _, seconds in alone) / len(alone)
    count = options.runs
    print(f"{count} runs of {options.scene} --quick: one worker {one:.1f} s, two {two:.1f} s")
    print(f"two workers over one: {two / one:.3f}")
    print(f"overhead per run: {100 * (after_start / count / stepping - 1):.1f} %", end=" ")
    print(f"({after_start / count:.3f} s in the sweep, {stepping:.3f} s in `crumple run` from its first frame on)")
    print(f"whole command: {one / count:.3f} s per run in the sweep, {whole:.3f} s with `crumple run`")
    return 0


def crumple(*arguments: object) -> float:
    """Seconds that a command takes."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "crumple.cli", *map(str, arguments)]
    subprocess.run(command, check=True, env=os.environ | ONE_THREAD, capture_output=True)
    return time.perf_counter() - begin


def time_sweep(scene: str, values: list[str], workers: int, out: Path) -> tuple[float, float]:
    """Seconds of the whole command, and from when its workers were there to the end of its last run."""
    vary = f"{KEY}={','.join(values)}"
    whole = crumple("sweep", scene, "--quick", "--vary", vary, "--workers", workers, "--out", out)
    lines = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    failed = [line for line in lines if line["event"] == "run" and line["outcome"] != "done"]
    assert not failed, failed
    times = [datetime.fromisoformat(line["at"]) for line in lines if line["event"] in ("begin", "run")]
    return whole, (max(times) - min(times)).total_seconds()


def time_run(scene: str, value: str, out: Path) -> tuple[float, float]:
    """Seconds of `crumple run`, and from its first frame on disk to its last."""
    whole = crumple("run", scene, "--quick", "--set", f"{KEY}={value}", "--threads", 1, "--out", out)
    files = [path.stat().st_mtime for path in out.glob("frames/*.vtkhdf")]
    return whole, max(files) - min(files)


if __name__ == "__main__":
    sys.exit(main())
