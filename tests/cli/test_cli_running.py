"""`run` and `resume` with a stand-in for the simulator, then with the real one and `kill -9`."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from recording_samples import frame_report, step_report
from typer.testing import CliRunner

from crumple.analysis.analyze import recording_model
from crumple.cli.app import app
from crumple.contract import EnergyTerm
from crumple.export.clip import sheet_names
from crumple.recording import Recording, state_digest
from crumple.recording.resume import find_beginning
from crumple.rendering.sheets import sheet_kinds
from crumple.runtime.errors import SimulationError
from crumple.scenes import build, dump_scene, load_scene
from crumple.scenes.length import load_with_length
from crumple.session.simulation import Simulation
from crumple.simulation.engine import PhysicsEngine

SCENE = """
[run]
frame_time = 0.02
duration = 0.2
[[sheets]]
shape = { kind = "rectangle", width = 0.1, height = 0.08, size = 0.02 }
transform = { translate = [-0.05, -0.04, 0.035] }
material = "cotton"
[[obstacles]]
shape = { kind = "sphere", radius = 0.03, size = 0.015 }
"""


@pytest.fixture
def scene(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "napkin.toml").write_text(SCENE)
    return tmp_path / "napkin.toml"


def stand_in(trouble: dict[int, BaseException] | None = None):
    """An engine that moves the sheet up by 1 mm per frame and raises `trouble[frame]` before that frame."""

    class Rising(PhysicsEngine):
        def advance(self, until, observer):
            if trouble and self.state.frame + 1 in trouble:
                raise trouble[self.state.frame + 1]
            self.change(self.model, self.state.replaced(time=until, x=self.state.x + 1e-3))
            report = step_report(until)
            observer.on_step(self.model, self.state, report)
            return report

        def close_frame(self, observer):
            self.change(self.model, self.state.replaced(frame=self.state.frame + 1))
            report = frame_report(self.state)
            observer.on_frame(self.model, self.state, report)
            return report

    return Rising


def invoke(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def simulator(monkeypatch):
    """Call it with trouble to replace the simulator."""

    def replace(trouble: dict[int, BaseException] | None = None) -> None:
        monkeypatch.setattr("crumple.cli.running.PhysicsEngine", stand_in(trouble))

    replace()
    return replace


def test_run_writes_to_the_default_folder_and_says_so(scene, simulator):
    result = invoke("run", scene)
    assert result.exit_code == 0, result.output
    assert Recording("out/napkin").frames == list(range(11))
    assert "out/napkin" in result.stderr
    assert "frame 10/10" in result.stderr


def test_run_refuses_to_overwrite_without_force(scene, simulator):
    assert invoke("run", scene, "--out", "here", "--frames", 2).exit_code == 0
    again = invoke("run", scene, "--out", "here")
    assert again.exit_code == 2
    assert "--force" in again.stderr
    assert len(Recording("here")) == 3
    assert invoke("run", scene, "--out", "here", "--force").exit_code == 0
    assert len(Recording("here")) == 11


def test_length_options(scene, simulator):
    assert invoke("run", scene, "--out", "a", "--frames", 3).exit_code == 0
    assert Recording("a").frames[-1] == 3
    assert invoke("run", scene, "--out", "b", "--until", 0.1).exit_code == 0
    assert Recording("b").frames[-1] == 5
    both = invoke("run", scene, "--out", "c", "--until", 0.1, "--frames", 3)
    assert both.exit_code == 2
    assert "only one" in both.stderr
    assert not Path("c").exists()


def test_overrides_reach_the_scene(scene, simulator):
    assert invoke("run", scene, "--out", "a", "--set", "run.duration=0.04").exit_code == 0
    assert Recording("a").frames[-1] == 2
    bad = invoke("run", scene, "--out", "b", "--set", "run.duration=nonsense")
    assert bad.exit_code == 2
    assert len(bad.stderr.splitlines()) == 1
    assert not Path("b").exists()


def test_interrupted_run_says_how_to_go_on_and_resume_finishes(scene, simulator):
    invoke("run", scene, "--out", "whole")
    simulator({6: KeyboardInterrupt()})
    result = invoke("run", scene, "--out", "part")
    assert result.exit_code == 130
    assert "crumple resume part" in result.stderr
    assert Recording("part").frames[-1] == 5
    simulator()
    assert invoke("resume", "part").exit_code == 0
    assert state_digest(Recording("part").load()) == state_digest(Recording("whole").load())
    assert (Path("part") / "log.jsonl").read_text() == (Path("whole") / "log.jsonl").read_text()
    done = invoke("resume", "part")
    assert done.exit_code == 0
    assert "complete" in done.stderr


def test_limit_survives_an_interruption_and_can_be_extended(scene, simulator):
    simulator({3: KeyboardInterrupt()})
    invoke("run", scene, "--out", "part", "--frames", 4)
    simulator()
    assert invoke("resume", "part").exit_code == 0
    assert Recording("part").frames[-1] == 4
    assert invoke("resume", "part", "--until", 0.12).exit_code == 0
    assert Recording("part").frames[-1] == 6
    assert invoke("resume", "part", "--frame", 2).exit_code == 0
    assert Recording("part").frames == list(range(7))


def test_failing_run_exits_with_1_and_keeps_its_frames(scene, simulator):
    simulator({4: SimulationError("no room left")})
    result = invoke("run", scene, "--out", "part")
    assert result.exit_code == 1
    assert "no room left" in result.stderr.splitlines()[-1]
    assert Recording("part").frames == [0, 1, 2, 3]


def test_resume_needs_a_scene_or_a_model(scene, simulator):
    invoke("run", scene, "--out", "part", "--frames", 2)
    (Path("part") / "scene.toml").unlink()
    assert invoke("resume", "part", "--frames", 3).exit_code == 0
    assert Recording("part").frames[-1] == 3
    (Path("part") / "model.h5").unlink()
    result = invoke("resume", "part")
    assert result.exit_code == 2
    assert "scene.toml" in result.stderr


@pytest.fixture
def no_meshing(monkeypatch):
    """Building a scene is an error from when it is called."""

    def refuse(*arguments, **options):
        raise AssertionError("the scene is built again")

    def forbid() -> None:
        for place in ("cli.running", "analysis.analyze"):
            monkeypatch.setattr(f"crumple.{place}.build", refuse)

    return forbid


def test_a_recording_is_not_meshed_again(scene, simulator, no_meshing):
    simulator({3: KeyboardInterrupt()})
    invoke("run", scene, "--out", "part", "--frames", 4)
    simulator()
    no_meshing()
    assert invoke("resume", "part").exit_code == 0
    assert invoke("resume", "part", "--frames", 6).exit_code == 0
    assert Recording("part").frames == list(range(7))
    assert Recording("part").model().duration == pytest.approx(0.12)
    assert recording_model(Recording("part")).part_names == ("sheet", "obstacle")


def test_an_edited_scene_is_built_again_and_stored(scene, simulator):
    invoke("run", scene, "--out", "part", "--frames", 2)
    text = Path("part/scene.toml").read_text()
    Path("part/scene.toml").write_text(text.replace("motion_tolerance = 0.001", "motion_tolerance = 0.002"))
    assert Path("part/scene.toml").read_text() != text
    assert Recording("part").present_model() is None
    assert recording_model(Recording("part")).solver.motion_tolerance == 0.002
    assert invoke("resume", "part", "--frames", 3).exit_code == 0
    assert Recording("part").model().solver.motion_tolerance == 0.002


def test_a_run_with_a_term_of_ones_own_is_only_resumed_in_python(scene, simulator):
    model, state, _ = build(str(scene))
    term = EnergyTerm("magnet", lambda state: [])
    Simulation(model=model.with_term(term), state=state).save("own")
    result = invoke("resume", "own")
    assert result.exit_code == 2
    assert "magnet" in result.stderr
    assert "Simulation.resume" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_commands_serve_a_model_built_by_hand(scene, simulator, no_meshing):
    model, state, _ = build(str(scene))
    Simulation(model=replace(model, sheet_names=("silver foil",)), state=state).save("own")
    no_meshing()
    assert not Path("own/scene.toml").exists()
    assert invoke("resume", "own", "--until", 0.04).exit_code == 0
    assert Recording("own").frames == [0, 1, 2]
    assert invoke("info", "own").exit_code == 0
    assert invoke("verify", "own").exit_code == 0
    assert invoke("analyze", "own", "--frame", -1, "--out", "numbers").exit_code == 0
    assert invoke("export", "own", "-o", "own.glb").exit_code == 0
    assert sheet_names(Recording("own"), 1) == ["silver foil"]
    assert sheet_kinds(Recording("own"))[0].look == "cloth"  # the material is cotton


def test_the_length_changes_a_scene_that_is_read_once(scene, monkeypatch):
    wanted = load_scene(str(scene), ["run.duration=0.06"])
    calls = []
    monkeypatch.setattr("crumple.scenes.length.load_scene", lambda *a, **k: calls.append(a) or load_scene(*a, **k))
    found = load_with_length(str(scene), 3, None)
    assert len(calls) == 1
    assert dump_scene(found) == dump_scene(wanted)
    assert found.source == wanted.source


def crumple(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "crumple.cli", *map(str, arguments)]


def wait_for_frames(folder: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until a run has written so many frames (its first ones may need compiled kernels)."""
    while process.poll() is None and len(list(folder.glob("frames/*.vtkhdf"))) < count:
        time.sleep(0.01)


@pytest.mark.slow
def test_killed_runs_resume_to_the_same_bits(scene, tmp_path):
    subprocess.run(crumple("run", scene, "--out", "whole", "--threads", 1), cwd=tmp_path, check=True)
    folder, moments = tmp_path / "part", random.Random(1)
    command = crumple("run", scene, "--out", folder, "--threads", 1)
    for _ in range(3):
        with subprocess.Popen(command, cwd=tmp_path) as process:
            wait_for_frames(folder, len(list(folder.glob("frames/*.vtkhdf"))) + 1, process)
            time.sleep(moments.uniform(0.0, 0.1))
            process.kill()
        find_beginning(Recording(folder))
        command = crumple("resume", folder, "--threads", 1)
    subprocess.run(command, cwd=tmp_path, check=True)
    whole, part = Recording(tmp_path / "whole"), Recording(folder)
    assert part.frames == whole.frames
    for frame in whole.frames:
        assert state_digest(part.load(frame)) == state_digest(whole.load(frame)), frame
    assert subprocess.run(crumple("verify", folder), cwd=tmp_path, check=False).returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_interrupt_ends_a_real_run_politely(scene, tmp_path):
    command = crumple("run", scene, "--out", "part", "--set", "run.duration=50")
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE) as process:
        wait_for_frames(tmp_path / "part", 3, process)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert b"crumple resume part" in told
    assert b"Traceback" not in told
    find_beginning(Recording(tmp_path / "part"))


def test_first_run_on_a_machine_announces_compilation(scene, simulator, monkeypatch):
    monkeypatch.setattr("crumple.cli.compiling.kernels_compiled", lambda package: False)
    told = invoke("run", scene, "--out", "a", "--frames", 2).stderr.splitlines()
    assert "compiling about 212 kernels, once on this machine" in told[0]
    assert re.fullmatch(r"compiled \d+ kernels in \d+ s", told[1])
    monkeypatch.setattr("crumple.cli.compiling.kernels_compiled", lambda package: True)
    assert "compil" not in invoke("run", scene, "--out", "b", "--frames", 2).stderr
