"""Resuming never loses a frame: what cannot be used is moved aside, and what may be mended elsewhere stops it."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest
from recording_samples import sample_state

from crumple.recording import Recording, files, resume_recording, state_digest
from crumple.recording.files import StorageError
from crumple.recording.frame import encode_frame
from crumple.recording.recorder import repair_if_idle
from crumple.recording.recording import read_series
from crumple.runtime.errors import InputError


def content(folder: Path) -> dict[str, bytes]:
    """Every file below `folder`, except for the lock."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def frame(folder: Path, number: int) -> Path:
    return folder / f"frames/frame_{number:06d}.vtkhdf"


def test_frames_of_a_newer_crumple_stop_it_and_nothing_is_touched(recorded, monkeypatch):
    monkeypatch.setattr("crumple.recording.frame.FORMAT", 99)
    for number in (3, 4):
        frame(recorded, number).write_bytes(encode_frame(sample_state(frame=number)))
    monkeypatch.undo()
    (recorded / "frames/frame_000005.vtkhdf.part").write_bytes(b"half")
    before = content(recorded)
    with pytest.raises(InputError, match="newer crumple"):
        resume_recording(recorded)
    assert content(recorded) == before


@pytest.mark.parametrize("code", [errno.EIO, errno.EACCES, errno.ESTALE])
def test_an_error_of_the_disk_stops_it_and_nothing_is_touched(recorded, monkeypatch, code):
    before, real = content(recorded), files.read_regular

    def read(path: Path, most: int) -> bytes:
        if path.name in ("frame_000003.vtkhdf", "frame_000004.vtkhdf"):
            raise OSError(code, "the disk says no")
        return real(path, most)

    monkeypatch.setattr(files, "read_regular", read)
    with pytest.raises(StorageError, match=r"frame_000004\.vtkhdf: the disk says no \(check the disk"):
        resume_recording(recorded)
    monkeypatch.undo()
    assert content(recorded) == before


def test_a_frame_copied_over_another_is_set_aside(recorded):
    shutil.copy(frame(recorded, 1), frame(recorded, 4))
    with pytest.raises(InputError, match="it holds frame 1, not 4"):
        Recording(recorded).load(4)
    told: list[str] = []
    state, recorder = resume_recording(recorded, warn=told.append)
    recorder.close()
    assert state.frame == 3
    assert "it holds frame 1, not 4" in told[0]
    aside = recorded / "set-aside/frame_000004.damaged.vtkhdf"
    assert aside.read_bytes() == frame(recorded, 1).read_bytes()


def test_nothing_set_aside_is_overwritten(recorded):
    for attempt in (b"first", b"second"):
        frame(recorded, 4).write_bytes(attempt)
        resume_recording(recorded)[1].close()
    kept = {path.name: path.read_bytes() for path in (recorded / "set-aside").iterdir()}
    assert kept == {"frame_000004.damaged.vtkhdf": b"first", "frame_000004.damaged-2.vtkhdf": b"second"}


def test_an_old_damaged_frame_without_index_is_set_aside_too(recorded):
    (recorded / "run.vtkhdf.series").unlink()
    frame(recorded, 1).write_bytes(b"nonsense")
    told: list[str] = []
    state, recorder = resume_recording(recorded, warn=told.append)
    recorder.close()
    assert state.frame == 4
    assert "frame 1 is damaged" in told[0]
    assert [name for name, _ in read_series(recorded / "run.vtkhdf.series")] == [
        f"frames/frame_{k:06d}.vtkhdf" for k in (0, 2, 3, 4)
    ]


def test_nothing_intact_leaves_everything_as_it_is(recorded):
    for path in (recorded / "frames").iterdir():
        path.write_bytes(b"")
    before = content(recorded)
    with pytest.raises(InputError, match="no intact frame"):
        resume_recording(recorded)
    assert content(recorded) == before


def test_a_check_that_fails_leaves_everything_as_it_is(recorded):
    frame(recorded, 4).write_bytes(b"nonsense")
    before = content(recorded)

    def refuse(state):
        raise InputError("scene.toml", "does not fit")

    with pytest.raises(InputError, match="does not fit"):
        resume_recording(recorded, check=refuse)
    assert content(recorded) == before
    resume_recording(recorded)[1].close()  # the lock was given free


def test_a_bad_line_of_the_log_is_left_out_and_the_log_kept(recorded):
    log = recorded / "log.jsonl"
    good = log.read_text()
    log.write_text(good + "nonsense\n")
    told: list[str] = []
    state, recorder = resume_recording(recorded, warn=told.append)
    recorder.close()
    assert state.frame == 4
    assert "log.jsonl:9" in told[0]
    assert log.read_text() == good
    assert (recorded / "set-aside/log.damaged.jsonl").read_text() == good + "nonsense\n"
    assert Recording(recorded).frames == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    "repair", [lambda path: resume_recording(path)[1].close(), lambda p: repair_if_idle(Recording(p))]
)
def test_an_index_that_a_kill_left_short_is_repaired(recorded, repair):
    whole = {name: (recorded / name).read_bytes() for name in ("run.vtkhdf.series", "obstacles.vtkhdf.series")}
    for name in whole:
        lines = (recorded / name).read_text().splitlines()
        (recorded / name).write_text("\n".join([*lines[:-3], lines[-3].rstrip(","), lines[-1]]) + "\n")
        assert len(read_series(recorded / name)) == 4
    repair(recorded)
    for name, bytes_ in whole.items():
        assert (recorded / name).read_bytes() == bytes_


def test_repair_leaves_a_running_recording_alone(recorded):
    _, recorder = resume_recording(recorded)
    with recorder:
        (recorded / "run.vtkhdf.series").unlink()
        repair_if_idle(Recording(recorded))
        assert not (recorded / "run.vtkhdf.series").exists()


def test_names_with_surplus_zeros_are_no_frames(recorded):
    shutil.copy(frame(recorded, 2), recorded / "frames/frame_0000002.vtkhdf")
    assert Recording(recorded).frames == [0, 1, 2, 3, 4]
    assert state_digest(Recording(recorded).load(2)) == state_digest(sample_state(frame=2))
