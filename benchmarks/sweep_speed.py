"""What a sweep costs beside its runs: 32 short runs with one and with two workers, and the same with `crumple run`.

    python benchmarks/sweep_speed.py                    # demo --quick, 32 runs, each with `crumple run` as well
    python benchmarks/sweep_speed.py squeeze --runs 8

Needs a machine that does nothing else, and as many cores as workers. Everything runs with one thread and compiled
kernels. A shared machine is now faster, now slower, so the ways take turns: blocks of eight runs, each done by all of
them, and the ratios are those of the sums. Printed are:

- two workers over one: wall time of the whole command, start and end included, each twice, and what the machine allows:
  half of the time that two `crumple run` beside each other take over that of one.
- overhead per run: wall time of the sweep with one worker from its first run on, without the worker's first loading
  of kernels, over that of `crumple run` from the first frame on its disk.
- whole command: the same with starting and ending, where a sweep saves what every `crumple run` spends on loading.
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
    parser.add_argument("--block", type=int, default=8, help="runs that one way does before it is the turn of the next")
    options = parser.parse_args()
    scene, count = options.scene, options.runs
    values = [f"{0.1 + 0.3 * k / count:.4f}" for k in range(count)]
    alone: list[tuple[float, float]] = []
    swept, beside = 0.0, []
    with tempfile.TemporaryDirectory(prefix="crumple-sweep-") as place:
        folder = Path(place)
        crumple("run", scene, "--quick", "--out", folder / "first")  # compiles what is not compiled yet
        for first in range(0, count, options.block):
            block = values[first : first + options.block]
            swept += time_sweep(scene, block, 1, folder / f"block{first}")[1]
            alone += [time_run(scene, value, folder / f"alone{value}") for value in block]
            beside.append(time_two_runs(scene, block[0], folder / f"beside{first}"))
        ways = [time_sweep(scene, values, n, folder / f"{n}workers{k}")[0] for k in range(2) for n in (1, 2)]
    one, two = sum(ways[::2]) / 2, sum(ways[1::2]) / 2
    whole = sum(wall for wall, _ in alone) / count
    stepping = sum(seconds for _, seconds in alone) / count
    limit = sum(beside) / len(beside) / whole / 2
    print(f"{count} runs of {scene} --quick: one worker {one:.1f} s, two {two:.1f} s")
    each = " and ".join(f"{b / a:.3f}" for a, b in zip(ways[::2], ways[1::2], strict=True))
    print(f"two workers over one: {two / one:.3f} ({each}); two `crumple run` at once allow {limit:.3f}")
    print(f"overhead per run: {100 * (swept / count / stepping - 1):.1f} %", end=" ")
    print(f"({swept / count:.3f} s in the sweep, {stepping:.3f} s in `crumple run` from its first frame on)")
    print(f"whole command: {one / count:.3f} s per run in the sweep, {whole:.3f} s with `crumple run`")
    return 0


def crumple(*arguments: object) -> float:
    """Seconds that a command takes."""
    begin = time.perf_counter()
    _finish(_start(*arguments))
    return time.perf_counter() - begin


def _start(*arguments: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "crumple.cli", *map(str, arguments)]
    return subprocess.Popen(command, env=os.environ | ONE_THREAD, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _finish(process: subprocess.Popen[bytes]) -> None:
    if process.wait() != 0:
        raise SystemExit(f"{process.args} ended with {process.returncode}")


def time_two_runs(scene: str, value: str, out: Path) -> float:
    """Seconds of two `crumple run` beside each other, until both have ended."""
    begin = time.perf_counter()
    common = ("run", scene, "--quick", "--set", f"{KEY}={value}", "--threads", 1, "--out")
    for process in [_start(*common, f"{out}a"), _start(*common, f"{out}b")]:
        _finish(process)
    return time.perf_counter() - begin


def time_sweep(scene: str, values: list[str], workers: int, out: Path) -> tuple[float, float]:
    """Seconds of the whole command, and of its runs: from the first frame of the first one to the end of the last,
    with what comes before a first frame counted for the first one as for the second."""
    vary = f"{KEY}={','.join(values)}"
    whole = crumple("sweep", scene, "--quick", "--vary", vary, "--workers", workers, "--out", out)
    lines = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    runs = [line for line in lines if line["event"] == "run"]
    failed = [line for line in runs if line["outcome"] != "done"]
    assert not failed, failed
    ends = sorted(datetime.fromisoformat(line["at"]).timestamp() for line in runs)
    begins = sorted(min(_frame_times(folder)) for folder in (out / "runs").iterdir())
    before_first = begins[1] - ends[0] if len(begins) > 1 else 0.0
    return whole, ends[-1] - begins[0] + before_first


def time_run(scene: str, value: str, out: Path) -> tuple[float, float]:
    """Seconds of `crumple run`, and from its first frame on disk to its last."""
    whole = crumple("run", scene, "--quick", "--set", f"{KEY}={value}", "--threads", 1, "--out", out)
    files = _frame_times(out)
    return whole, max(files) - min(files)


def _frame_times(recording: Path) -> list[float]:
    """When the frames of a recording were written."""
    return [path.stat().st_mtime for path in recording.glob("frames/*.vtkhdf")]


if __name__ == "__main__":
    sys.exit(main())
