"""A scene that the studio simulates: paused, continued, stopped, ended with the studio."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("aiohttp")
from recording_samples import make_recording
from typer.testing import CliRunner

from crumple.cli.app import app
from crumple.recording import Recording
from crumple.runtime.errors import InputError
from crumple.scenes import load_scene
from crumple.studio.runs import SceneRun, StudioRun

SCENE = """
[run]
frame_time = 0.01
duration = 100.0
[[sheets]]
shape = { kind = "rectangle", width = 0.1, height = 0.08, size = 0.04 }
material = "cotton"
"""


@pytest.fixture
def scene(tmp_path) -> Path:
    (tmp_path / "falling.toml").write_text(SCENE)
    return tmp_path / "falling.toml"


def wait_for(run: StudioRun, wanted, seconds: float = 120.0) -> dict:
    """The status as soon as `wanted(status)` holds."""
    end = time.monotonic() + seconds
    while not wanted(status := run.refresh()):
        assert time.monotonic() < end, status
        assert status["simulation"]["state"] != "failed", status
        time.sleep(0.05)
    return status


def simulated(status: dict) -> str:
    return status["simulation"]["state"]


@pytest.mark.slow
def test_pause_continue_and_stop(scene, tmp_path):
    run = StudioRun(tmp_path / "out", SceneRun(load_scene(scene), tmp_path / "out", False))
    run.start()
    try:
        assert simulated(run.refresh()) == "preparing"
        assert run.frames_after(-1)["frames"] == []
        with pytest.raises(InputError, match="has no frame yet"):
            _ = run.store
        wait_for(run, lambda status: status["count"] > 2)
        run.command("pause")
        held = wait_for(run, lambda status: simulated(status) == "paused")["count"]
        time.sleep(0.5)
        assert run.refresh()["count"] == held
        run.command("continue")
        wait_for(run, lambda status: status["count"] > held + 2)
        with pytest.raises(InputError, match="must be one of pause, continue, stop"):
            run.command("explode")
        run.command("stop")
        stopped = wait_for(run, lambda status: simulated(status) == "stopped")
        assert stopped["count"] == len(Recording(tmp_path / "out"))
        with pytest.raises(InputError, match="is over"):
            run.command("continue")
    finally:
        message = run.close()
    assert message.startswith("stopped after frame")
    assert "crumple resume" in message


@pytest.mark.slow
def test_a_scene_that_cannot_be_recorded_says_why(scene, tmp_path):
    (tmp_path / "out").write_text("a file")
    run = StudioRun(tmp_path / "out", SceneRun(load_scene(scene), tmp_path / "out", False))
    run.start()
    end = time.monotonic() + 120.0
    while simulated(status := run.refresh()) != "failed":
        assert time.monotonic() < end
        time.sleep(0.1)
    assert "is a file; choose a folder" in status["simulation"]["message"]
    assert run.close() == status["simulation"]["message"]


def group_is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_the_studio_and_its_simulation(scene, tmp_path, number):
    command = [sys.executable, "-m", "crumple.cli", "view", str(scene), "--out", "out", "--no-browser", "--port", "0"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        url = said.split()[2]
        assert url.startswith("http://127.0.0.1:")
        end = time.monotonic() + 120.0
        while len(list((tmp_path / "out").glob("frames/*.vtkhdf"))) < 3:
            assert time.monotonic() < end
            time.sleep(0.1)
        with urllib.request.urlopen(url + "api/runs/0") as answer:
            assert b'"frames": [0, 1' in answer.read()
        os.killpg(process.pid, number)  # as a terminal does: everything of the command gets it
        _, rest = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0, rest
    assert "Traceback" not in rest
    assert "stopped after frame" in rest
    end = time.monotonic() + 20.0
    while group_is_alive(process.pid):
        assert time.monotonic() < end
        time.sleep(0.1)
    assert len(Recording(tmp_path / "out")) >= 3


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere"], "nowhere"),
        (["."], "not a recording"),
        (["falling.toml", "--frames", "1", "--until", "1"], "give only one of them"),
        (["falling.toml", "other/falling.toml"], "two scenes would be recorded in one folder"),
        (["falling.toml", "other/falling.toml", "--out", "x"], "is for one scene"),
    ],
)
def test_bad_arguments_get_one_clear_line(scene, tmp_path, monkeypatch, arguments, says):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "falling.toml").write_text(SCENE)
    result = CliRunner().invoke(app, ["view", *arguments, "--no-browser"])
    assert result.exit_code == 2
    assert says in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_an_existing_recording_is_not_replaced_unasked(scene, recorded, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["view", "falling.toml", "--out", str(recorded), "--no-browser"])
    assert result.exit_code == 2
    assert "--force replaces them" in result.stderr
    assert len(Recording(recorded)) == 5


def test_a_taken_port_leaves_the_recording_that_would_be_replaced(scene, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_recording(tmp_path / "out", 3)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        result = CliRunner().invoke(app, ["view", "falling.toml", "--out", "out", "--force", "--port", port])
    assert result.exit_code == 2
    assert "leave --port out" in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert len(Recording(tmp_path / "out")) == 3


def test_without_its_package_the_extra_is_named(recorded, monkeypatch):
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    result = CliRunner().invoke(app, ["view", str(recorded), "--no-browser"])
    assert result.exit_code == 2
    assert "pip install 'crumple[studio]'" in result.stderr


def test_a_folder_of_recordings_shows_all_of_them(tmp_path, monkeypatch):
    for name in ("second", "first"):
        make_recording(tmp_path / "runs" / name, 2)
    (tmp_path / "runs" / "notes").mkdir()
    shown = []
    monkeypatch.setattr("crumple.studio.serve.serve_studio", lambda runs, **options: shown.extend(runs))
    result = CliRunner().invoke(app, ["view", str(tmp_path / "runs"), "--no-browser"])
    assert result.exit_code == 0, result.output
    assert [run.name for run in shown] == ["first", "second"]
