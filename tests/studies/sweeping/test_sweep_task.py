"""What a worker does, without Dask: new runs, unfinished ones, those that fail, those that another process is at."""

from __future__ import annotations

import errno
import io
import threading
import zipfile

import numba
import pytest
from sweep_scenes import write_scene

import crumple
from crumple.recording import Recording, recorder, state_digest
from crumple.recording.files import lock_folder
from crumple.runtime.errors import InputError
from crumple.studies.sweeping import task as module
from crumple.studies.sweeping.packing import pack, unpack
from crumple.studies.sweeping.plan import make_plan
from crumple.studies.sweeping.task import Task, allow, ask_to_stop, own_folder, perform


@pytest.fixture
def scene(tmp_path):
    plan = make_plan(write_scene(tmp_path), frames=4)
    return plan.load(plan.runs[0])


@pytest.fixture
def alone(tmp_path, scene) -> list[str]:
    """Digests of the frames of an undisturbed run."""
    crumple.simulate(scene, out=tmp_path / "alone")
    return digests(tmp_path / "alone")


def digests(folder) -> list[str]:
    recording = Recording(folder)
    return [state_digest(recording.load(frame)) for frame in recording.frames]


def test_a_new_run(tmp_path, scene, alone):
    outcome = perform(Task("s", "0000", scene, str(tmp_path / "runs" / "0000"), ("radius",)))
    assert (outcome.outcome, outcome.reason, outcome.frames, outcome.resumed) == ("done", "", 4, None)
    assert outcome.time == pytest.approx(0.04)
    assert outcome.seconds > 0.0
    assert outcome.metrics["radius"] > 0.03
    assert digests(tmp_path / "runs" / "0000") == alone


def test_a_run_has_one_thread_however_the_worker_was_started(tmp_path, scene, monkeypatch):
    seen = []

    def spied(model, state):
        seen.append(numba.get_num_threads())
        return real(model, state)

    real, before = module.PhysicsEngine, numba.get_num_threads()
    monkeypatch.setattr(module, "PhysicsEngine", spied)
    assert perform(Task("s", "0000", scene, str(tmp_path / "run"))).outcome == "done"
    assert seen == [1]
    assert numba.get_num_threads() == before


def test_an_unfinished_run_goes_on_from_its_last_frame(tmp_path, scene, alone):
    folder = tmp_path / "run"
    crumple.simulate(scene, out=folder, frames=2)
    before = (folder / "frames" / "frame_000001.vtkhdf").stat().st_mtime_ns
    outcome = perform(Task("s", "0000", scene, str(folder)))
    assert (outcome.outcome, outcome.resumed, outcome.frames) == ("done", 2, 4)
    assert digests(folder) == alone
    assert (folder / "frames" / "frame_000001.vtkhdf").stat().st_mtime_ns == before
    again = perform(Task("s", "0000", scene, str(folder), ("radius",)))
    assert (again.outcome, again.resumed) == ("done", 4), "a run that is done is only measured"
    assert again.metrics["radius"] > 0.0


def test_a_recording_of_another_scene_is_left_alone(tmp_path, scene):
    folder = tmp_path / "run"
    crumple.simulate(write_scene(tmp_path), out=folder, frames=1, overrides=["contact.friction=0.7"])
    before = digests(folder)
    outcome = perform(Task("s", "0000", scene, str(folder)))
    assert outcome.outcome == "failed"
    assert "holds a recording of another scene" in outcome.reason
    assert digests(folder) == before


def test_a_full_disk_is_told_and_can_be_resumed(tmp_path, scene, alone, monkeypatch):
    real, count = recorder.write_atomically, 0

    def full(path, content):
        nonlocal count
        count += path.suffix == ".vtkhdf"
        if count > 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(path, content)

    monkeypatch.setattr(recorder, "write_atomically", full)
    outcome = perform(Task("s", "0000", scene, str(tmp_path / "run")))
    assert (outcome.outcome, outcome.is_disk_full) == ("failed", True)
    assert outcome.reason == "No space left on device"
    monkeypatch.undo()
    assert perform(Task("s", "0000", scene, str(tmp_path / "run"))).outcome == "done"
    assert digests(tmp_path / "run") == alone


def test_a_metric_that_fails_does_not_fail_the_run(tmp_path, scene):
    def broken(recording):
        raise ZeroDivisionError("of mine")

    outcome = perform(Task("s", "0000", scene, str(tmp_path / "run"), (), {"mine": broken}))
    assert outcome.outcome == "done"
    assert outcome.reason == "metrics: internal error: ZeroDivisionError: of mine"


def test_a_run_waits_for_whoever_writes_its_recording(tmp_path, scene, alone):
    folder = tmp_path / "run"
    crumple.simulate(scene, out=folder, frames=1)
    lock = lock_folder(folder)
    threading.Timer(1.0, lock.close).start()
    outcome = perform(Task("s", "0000", scene, str(folder)))
    assert (outcome.outcome, outcome.resumed) == ("done", 1)
    assert digests(folder) == alone


def test_it_does_not_wait_for_ever(tmp_path, scene, monkeypatch):
    monkeypatch.setattr(module, "LOCK_PATIENCE", 0.2)
    folder = tmp_path / "run"
    crumple.simulate(scene, out=folder, frames=1)
    with lock_folder(folder):
        outcome = perform(Task("s", "0000", scene, str(folder)))
    assert outcome.outcome == "failed"
    assert "another process is writing this recording" in outcome.reason


def test_a_stopped_sweep_begins_nothing(tmp_path, scene):
    ask_to_stop("s")
    try:
        assert perform(Task("s", "0000", scene, str(tmp_path / "run"))).outcome == "stopped"
        assert not (tmp_path / "run").exists()
    finally:
        allow("s")


def test_another_version_is_refused(tmp_path, scene):
    asker = Task("s", "0", scene, "").asker
    for key, value, said in (
        ("crumple", "9.9", "has crumple"),
        ("Python", "2.7", "has Python"),
        ("sources", "x", "other sources"),
    ):
        outcome = perform(Task("s", "0000", scene, str(tmp_path / "run"), asker=asker | {key: value}))
        assert outcome.outcome == "failed"
        assert said in outcome.reason


def test_without_a_shared_folder_the_recording_is_sent_back(tmp_path, scene, alone, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    outcome = perform(Task("s", "0000", scene, str(tmp_path / "there"), mark=str(tmp_path / "nowhere" / "sweep.toml")))
    assert not (tmp_path / "there").exists()
    assert own_folder("s", "0000").is_dir()
    unpack(outcome.packed, tmp_path / "runs" / "0000")
    assert digests(tmp_path / "runs" / "0000") == alone
    module.discard("s", "0000")
    assert not own_folder("s", "0000").exists()


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "frames/../../evil", "other/x", "frames/a/b"])
def test_only_files_of_a_recording_are_unpacked(tmp_path, name):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(name, b"x")
    with pytest.raises(InputError, match="not a recording"):
        unpack(content.getvalue(), tmp_path / "runs" / "0000")
    assert not list(tmp_path.rglob("evil"))
    assert not (tmp_path / "runs" / "0000").exists()


def test_packing_leaves_out_the_lock(tmp_path, scene):
    crumple.simulate(scene, out=tmp_path / "run", frames=1)
    unpack(pack(tmp_path / "run"), tmp_path / "copy")
    one, other = ({p.relative_to(f).as_posix() for p in f.rglob("*")} for f in (tmp_path / "run", tmp_path / "copy"))
    assert one - other == {".lock"}
