"""Kill a run at random moments, resume it each time, and compare the end with an undisturbed run.

    python benchmarks/kill_and_resume.py demo --kills 20 --set "sheets[0].shape.size=0.01"

Every frame that was finished must be intact after every kill, and the last states must agree bit by bit.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from crumple.recording import Recording, state_digest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scene")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--frames", type=int, default=20)
    parser.add_argument("--set", action="append", default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        whole, killed = Path(folder) / "whole", Path(folder) / "killed"
        begin = time.perf_counter()
        process = subprocess.Popen(run_command(options, whole), stderr=subprocess.DEVNULL)
        while process.poll() is None and not (whole / "frames" / "frame_000000.vtkhdf").exists():
            time.sleep(0.01)
        start = time.perf_counter() - begin
        if process.wait():
            return 1
        kill_repeatedly(options, killed, start, time.perf_counter() - begin - start)
        subprocess.run(resume_command(options, killed), check=True, stderr=subprocess.DEVNULL)
        ends = [Recording(path) for path in (whole, killed)]
        frames = ends[0].frames
        same = all(state_digest(ends[0].load(k)) == state_digest(ends[1].load(k)) for k in frames)
    print(f"{options.kills} kills, {len(frames)} frames: {'same bits' if same else 'DIFFERENT'}")
    return 0 if same else 1


def kill_repeatedly(options: argparse.Namespace, folder: Path, start: float, length: float) -> None:
    """Start or resume, kill at a random moment, check all finished frames; as often as asked for.

    `start`: seconds until a run starts stepping, `length`: seconds that all its steps take.
    """
    rng = random.Random(options.seed)
    for kill in range(options.kills):
        command = resume_command(options, folder) if (folder / "scene.toml").exists() else run_command(options, folder)
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.9 * start, start + 3.0 * length / options.kills))
        process.kill()
        process.wait()
        frames = []
        if (folder / "scene.toml").exists():
            recording = Recording(folder)
            frames = recording.frames
            for frame in frames:
                recording.load(frame)  # raises when a frame is torn
        print(f"kill {kill + 1}: {len(frames)} frames, all intact", flush=True)


def run_command(options: argparse.Namespace, folder: Path) -> list[str]:
    overrides = [word for item in options.set for word in ("--set", item)]
    frames = ["--frames", str(options.frames)]
    return [*crumple(), "run", options.scene, "--out", str(folder), *frames, *threads(options), *overrides]


def resume_command(options: argparse.Namespace, folder: Path) -> list[str]:
    return [*crumple(), "resume", str(folder), *threads(options)]


def threads(options: argparse.Namespace) -> list[str]:
    return ["--threads", str(options.threads)]


def crumple() -> list[str]:
    return [sys.executable, "-m", "crumple.cli"]


if __name__ == "__main__":
    sys.exit(main())
