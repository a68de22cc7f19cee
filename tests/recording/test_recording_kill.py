"""`kill -9` at any moment leaves every finished frame intact, and a recording that goes on to the same bytes."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from recording_samples import record_frames, sample_state

from crumple.recording import Recording, create_recording, resume_recording, state_digest

WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from recording_samples import record_frames
from crumple.recording import create_recording, resume_recording
if sys.argv[3] == "new":
    recorder, first = create_recording(sys.argv[1], "name = 'sample'"), 0
else:
    state, recorder = resume_recording(sys.argv[1])
    first = state.frame + 1
print("ready", flush=True)
record_frames(recorder, range(first, 100000))
"""

KILLS = 6


def write_and_kill(folder: Path, how: str, delay: float) -> None:
    """Let another process write into `folder` and kill it `delay` seconds after its first new frame."""
    before = set(folder.glob("frames/*.vtkhdf"))
    command = [sys.executable, "-c", WRITER, str(folder), str(Path(__file__).parents[1] / "samples"), how]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        while process.poll() is None and not set(folder.glob("frames/*.vtkhdf")) - before:
            time.sleep(0.002)
        time.sleep(delay)
        process.kill()


def test_killed_writer_leaves_only_whole_frames(tmp_path):
    folder, moments = tmp_path / "run", random.Random(0)
    written = 0
    for kill in range(KILLS):
        write_and_kill(folder, "new" if not written else "resume", moments.uniform(0.0, 0.08))
        recording = Recording(folder)
        assert recording.frames == list(range(len(recording)))
        for frame in recording.frames:
            assert state_digest(recording.load(frame)) == state_digest(sample_state(frame=frame)), (kill, frame)
        assert len(recording.steps()) >= 2 * (len(recording) - 1)
        written = len(recording)
    assert written >= KILLS
    state, recorder = resume_recording(folder)
    with recorder:
        record_frames(recorder, range(state.frame + 1, written + 3))
    with create_recording(tmp_path / "whole", "name = 'sample'") as recorder:
        record_frames(recorder, range(written + 3))
    for name in ("run.vtkhdf.series", "log.jsonl", f"frames/frame_{written + 2:06d}.vtkhdf"):
        assert (folder / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
