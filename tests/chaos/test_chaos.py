"""A recorder that is killed, or let down by the disk, around every system call: no finished frame is ever lost.

The ordinary tests take every 23rd call; `make chaos` takes them all and sends signals to real runs besides.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("needs fork and signals", allow_module_level=True)

from mishaps import FAILED, SPARED, Mishap, befall
from recording_samples import record_frames, sample_model, sample_state
from test_cli_running import SCENE, crumple, wait_for_frames

from crumple.recording import Recording, create_recording, recorder, resume_recording, state_digest
from crumple.recording.files import lock_folder
from crumple.recording.frame import encode_frame
from crumple.recording.model_file import encode_model
from crumple.recording.recording import read_series
from crumple.runtime.errors import CrumpleError, InputError

LAST = 3
FRAMES = {number: encode_frame(sample_state(frame=number)) for number in range(LAST + 1)}
SCENE_TEXT = "name = 'sample'\n"
ENCODED = {state_digest(sample_state(frame=number)): content for number, content in FRAMES.items()}
MODEL = encode_model(sample_model(), SCENE_TEXT)
Report = Callable[[int], None]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Without fsync, which matters for power cuts only; frames and the model are put into bytes once, which takes half
    of the time and touches no file."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setattr(recorder, "encode_frame", lambda state: ENCODED[state_digest(state)])
    monkeypatch.setattr(recorder, "encode_model", lambda model, text: MODEL if text == SCENE_TEXT else b"")


def record(writer, first: int, report: Report) -> None:
    with writer:
        for number in range(first, LAST + 1):
            record_frames(writer, range(number, number + 1))
            report(number)


def record_new(folder: Path, report: Report) -> None:
    record(create_recording(folder, SCENE_TEXT), 0, report)


def record_over(folder: Path, report: Report) -> None:
    record(create_recording(folder, SCENE_TEXT, force=True), 0, report)


def go_on(folder: Path, report: Report) -> None:
    state, writer = resume_recording(folder)
    writer.on_start(sample_model(), state)
    record(writer, state.frame + 1, report)


def go_back(folder: Path, report: Report) -> None:
    state, writer = resume_recording(folder, frame=1)
    writer.on_start(sample_model(), state)
    record(writer, state.frame + 1, report)


def nothing(folder: Path) -> None:
    pass


def whole(folder: Path) -> None:
    record_new(folder, lambda number: None)


def torn(folder: Path) -> None:
    """The last frame damaged, another half-written, a bad line and a torn one in the log, no index."""
    whole(folder)
    (folder / f"frames/frame_{LAST:06d}.vtkhdf").write_bytes(FRAMES[LAST][:9000])
    (folder / f"frames/frame_{LAST + 1:06d}.vtkhdf.part").write_bytes(b"half")
    (folder / "run.vtkhdf.series").unlink()
    with open(folder / "log.jsonl", "a") as log:
        log.write('nonsense\n{"frame": 9')


SCENARIOS = {
    "new": (nothing, record_new, ()),
    "over": (whole, record_over, ()),
    "resume": (torn, go_on, range(LAST)),
    "back": (whole, go_back, range(LAST + 1)),
}
"""What is there before, what is being done, and which frames of before must survive, here or set aside."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    """The same recording without a mishap."""
    folder = tmp_path_factory.mktemp("sound") / "run"
    whole(folder)
    return folder


def suffer(folder: Path, kind: str, at: int, scenario: str) -> tuple[str, list[int]]:
    """A fresh folder with what the scenario begins with, and the mishap during its work."""
    before, work, _ = SCENARIOS[scenario]
    template = folder.with_name(f"before-{scenario}")
    if not template.exists():
        before(template)
    shutil.rmtree(folder, ignore_errors=True)
    if template.exists():
        shutil.copytree(template, folder)
    mishap = Mishap(kind, at, folder)
    return befall(mishap, lambda report: work(folder, report), (CrumpleError, OSError))


def check_nothing_lost(folder: Path, reported: list[int], survivors: tuple[int, ...] | range) -> None:
    """Every frame that was finished is there, bit by bit; those of before at least set aside."""
    there = Recording(folder).frames if (folder / "frames").is_dir() else []
    assert set(reported) <= set(there)
    for number in there:
        content = (folder / f"frames/frame_{number:06d}.vtkhdf").read_bytes()
        assert content == FRAMES[number] or content == FRAMES[LAST][:9000]
    aside = {path.read_bytes() for path in folder.glob("set-aside/*.vtkhdf")}
    for number in survivors:
        assert number in there or FRAMES[number] in aside


def check_goes_on(folder: Path, sound: Path) -> None:
    """The next command finishes the recording, which is then like one without a mishap."""
    try:
        go_on(folder, lambda number: None)
    except InputError:
        record_over(folder, lambda number: None)
    for number, content in FRAMES.items():
        assert (folder / f"frames/frame_{number:06d}.vtkhdf").read_bytes() == content
    for name in ("run.vtkhdf.series", "obstacles.vtkhdf.series", "log.jsonl", "scene.toml", "model.h5", ".crumple"):
        assert (folder / name).read_bytes() == (sound / name).read_bytes(), name
    assert list(folder.rglob("*.part")) == []


def run_through(folder: Path, kind: str, scenario: str, sound: Path, stride: int) -> int:
    """Let the mishap happen at every `stride`-th call, until the work is done before it; how often it did."""
    at, mishaps = stride, 0
    while True:
        end, reported = suffer(folder, kind, at, scenario)
        if end == SPARED:
            return mishaps
        if kind != "vanish":
            check_nothing_lost(folder, reported, SCENARIOS[scenario][2])
            check_goes_on(folder, sound)
        mishaps += 1
        at += stride


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("kind", ["within", "after", "full", "vanish"])
def test_mishaps_at_some_calls(tmp_path, sound, kind, scenario):
    assert run_through(tmp_path / "run", kind, scenario, sound, 23) >= 3


@pytest.mark.long
@pytest.mark.parametrize("kind", ["before", "within", "after", "full", "error", "vanish"])
def test_mishaps_at_every_call(tmp_path, sound, kind):
    mishaps = {scenario: run_through(tmp_path / "run", kind, scenario, sound, 1) for scenario in SCENARIOS}
    print(kind, mishaps)
    assert sum(mishaps.values()) >= 100


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    whole(tmp_path / "run")
    real = os.open

    def read_only(path, flags, *rest, **options):
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(30, "Read-only file system", str(path))
        return real(path, flags, *rest, **options)

    monkeypatch.setattr(os, "open", read_only)
    for write in (
        lambda: resume_recording(tmp_path / "run"),
        lambda: create_recording(tmp_path / "run", "", force=True),
    ):
        with pytest.raises((OSError, CrumpleError), match="Read-only file system"):
            write()
    monkeypatch.undo()
    check_nothing_lost(tmp_path / "run", list(range(LAST + 1)), ())


def test_two_writers(tmp_path):
    whole(tmp_path / "run")
    with lock_folder(tmp_path / "run"):
        for work in (go_on, record_over):
            end, _ = befall(
                Mishap("none", 0, tmp_path), lambda report, work=work: work(tmp_path / "run", report), (InputError,)
            )
            assert end == FAILED
    check_nothing_lost(tmp_path / "run", list(range(LAST + 1)), ())


@pytest.mark.long
def test_signals_at_random_moments_of_a_real_run(tmp_path):
    """Kills, interrupts and terminations of `crumple run` and `resume`; the end is the same, bit by bit."""
    (tmp_path / "napkin.toml").write_text(SCENE)
    subprocess.run(crumple("run", "napkin.toml", "--out", "whole", "--threads", 1), cwd=tmp_path, check=True)
    folder, chance = tmp_path / "part", random.Random(7)
    command = crumple("run", "napkin.toml", "--out", folder, "--threads", 1)
    for _ in range(12):
        before = len(list(folder.glob("frames/*.vtkhdf")))
        with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
            if chance.random() < 0.7:
                wait_for_frames(folder, before + 1, process)
            time.sleep(chance.uniform(0.0, 0.3))
            process.send_signal(chance.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM]))
            process.wait(timeout=120)
        frames = Recording(folder).frames if (folder / "frames").is_dir() else []
        assert len(frames) >= before
        for frame in frames:
            Recording(folder).load(frame)
        if frames:
            command = crumple("resume", folder, "--threads", 1)
    subprocess.run(command, cwd=tmp_path, check=True)
    sound, part = Recording(tmp_path / "whole"), Recording(folder)
    assert part.frames == sound.frames
    for frame in sound.frames:
        assert state_digest(part.load(frame)) == state_digest(sound.load(frame))
    assert {name for name, _ in read_series(folder / "run.vtkhdf.series")} == {
        f"frames/frame_{frame:06d}.vtkhdf" for frame in sound.frames
    }
