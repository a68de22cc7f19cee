"""The command line as a user meets it: output, exit codes, one-line errors."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import typer
from recording_samples import make_recording, sample_model, sample_state
from typer.testing import CliRunner

from crumple.cli.app import app
from crumple.cli.exits import guarded
from crumple.cli.picturing import parse_size
from crumple.recording import Recording, create_recording
from crumple.runtime.errors import InputError, SimulationError
from crumple.scenes import builtin_scenes
from crumple.scenes.builtin import ABOUT

COMMANDS = [
    "run",
    "resume",
    "sweep",
    "compile",
    "scenes",
    "materials",
    "check",
    "convert",
    "info",
    "verify",
    "analyze",
    "validate",
]
COMMANDS += ["bench", "render", "view", "play", "export", "blender", "dataset"]


def invoke(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return make_recording(tmp_path / "run")


def assert_one_line_error(result, code: int, *words: str) -> None:
    assert result.exit_code == code, result.output
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("crumple: ")
    for word in words:
        assert word in lines[0]


def test_help_lists_the_commands():
    result = invoke("--help")
    assert result.exit_code == 0
    listed = [line.split()[0] for line in result.stdout.split("Commands:")[1].splitlines() if line.strip()]
    assert listed == COMMANDS
    for command in COMMANDS:
        assert invoke(command, "--help").exit_code == 0


def test_help_is_fast_and_loads_nothing_heavy():
    code = (
        "import crumple.cli.app, sys; print(sorted({'numpy', 'numba', 'h5py', 'pyvista', 'scipy'} & set(sys.modules)))"
    )
    begin = time.perf_counter()
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.strip() == "[]"
    assert time.perf_counter() - begin < 3.0  # 0.15 s on an idle machine


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (InputError("scene.toml: a", "must be > 0", -1), 2, ["scene.toml: a = -1"]),
        (SimulationError("frame 3: no room left"), 1, ["frame 3: no room left"]),
        (KeyboardInterrupt(), 130, ["interrupted"]),
        (ZeroDivisionError("two\nlines"), 1, ["internal error: ZeroDivisionError: two lines", "CRUMPLE_DEBUG=1"]),
        (MemoryError(), 1, ["out of memory"]),
        (PermissionError(13, "Permission denied", "/x"), 1, ["/x: Permission denied"]),
    ],
)
def test_errors_are_one_line_with_an_exit_code(error, code, words, monkeypatch, capsys):
    monkeypatch.delenv("CRUMPLE_DEBUG", raising=False)

    @guarded
    def command() -> None:
        raise error

    with pytest.raises(typer.Exit) as exit_info:
        command()
    assert exit_info.value.exit_code == code
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    for word in words:
        assert word in told


def test_debug_shows_the_traceback(monkeypatch):
    monkeypatch.setenv("CRUMPLE_DEBUG", "1")

    @guarded
    def command() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        command()


def test_wrong_usage_exits_with_2():
    assert invoke("run").exit_code == 2
    assert invoke("nonsense").exit_code == 2
    assert invoke("run", "demo", "--frames", "0").exit_code == 2


def test_info_json(recorded):
    result = invoke("info", recorded, "--json")
    assert result.exit_code == 0
    info = json.loads(result.stdout)
    for key in ("faces_last", "faces_mean", "seconds_per_frame", "phases"):
        assert key in info
    assert (info["frames"], info["newton_iterations"], info["contacts_max"]) == (5, 40, 12)
    assert info["phases"] == pytest.approx({"contact": 0.2, "factor": 0.4})


def test_info_table(recorded):
    output = invoke("info", recorded).stdout
    for word in ("frames", "Newton iterations", "contact", "factor"):
        assert word in output


def test_info_of_nothing(tmp_path):
    assert_one_line_error(invoke("info", tmp_path / "absent"), 2, "absent", "no such recording")


def test_verify_passes_and_fails(recorded):
    result = invoke("verify", recorded, "--json")
    assert json.loads(result.stdout) == {
        "frames": 5, "intersections": 0, "nonfinite": 0, "invalid_meshes": 0, "unreadable": 0,
        "invalid_views": 0, "missing": 0, "problems": 0,
    }  # fmt: skip
    assert result.exit_code == 0
    assert "passed" in invoke("verify", recorded).stdout
    path = Recording(recorded).frame_path(2)
    path.write_bytes(path.read_bytes()[:1000])
    result = invoke("verify", recorded, "--json")
    assert json.loads(result.stdout)["unreadable"] == 1
    assert result.exit_code == 1
    assert "frame 2" in invoke("verify", recorded).stdout


def test_verify_counts_what_is_wrong(tmp_path):
    good = sample_state()
    pierced, infinite = good.x.copy(), good.x.copy()
    pierced[7] = [0.02, 0.02, 0.01]  # into the block
    infinite[3, 1] = np.nan
    twisted = sample_state().replaced(frame=4)
    twisted.mesh.faces[0] = twisted.mesh.faces[0, ::-1]
    with create_recording(tmp_path / "run", "") as recorder:
        recorder.on_start(sample_model(), good)
        for frame, x in enumerate((pierced, infinite), 1):
            recorder.on_frame(sample_model(), good.replaced(frame=frame, time=0.04 * frame, x=x), None)
        recorder.on_frame(sample_model(), twisted, None)
    result = invoke("verify", tmp_path / "run", "--json")
    summary = json.loads(result.stdout)
    assert result.exit_code == 1
    assert summary["frames"] == 4
    assert summary["intersections"] > 0
    assert summary["nonfinite"] == 1
    assert summary["invalid_meshes"] >= 1


def test_verify_of_no_frames_fails(tmp_path):
    create_recording(tmp_path / "run", "").close()
    assert invoke("verify", tmp_path / "run", "--json").exit_code == 1


@pytest.mark.parametrize("text", ["", "12", "1280x", "axb", "8x8", "99999x100", "-5x20", "1280x960x3"])
def test_sizes_that_are_refused(text):
    with pytest.raises(InputError, match="WIDTHxHEIGHT"):
        parse_size(text)


def test_render_writes_a_picture_and_refuses_nonsense(recorded, tmp_path):
    pytest.importorskip("imageio")
    result = invoke("render", recorded, "-o", tmp_path / "a.png", "--size", "64x48")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    assert_one_line_error(invoke("render", recorded, "-o", tmp_path / "a.avi"), 2, ".mp4, .webm, .gif")
    picture = ("-o", tmp_path / "b.png")
    assert_one_line_error(invoke("render", recorded, *picture, "--frame", 99), 2, "has frames 0 to 4")
    assert_one_line_error(invoke("render", recorded, *picture, "--camera", "1,2"), 2, "three numbers X,Y,Z")
    assert_one_line_error(invoke("render", recorded, *picture, "--turntable"), 2, "makes a film")
    assert_one_line_error(invoke("render", recorded, *picture, "--look", "velvet"), 2, "paper, card")
    assert_one_line_error(invoke("render", recorded, *picture, "--texture", "no.png"), 2, "ruled, squared")
    assert not (tmp_path / "b.png").exists()
    assert_one_line_error(invoke("render", recorded, "--camera", "up"), 2, "auto")
    assert_one_line_error(invoke("render", recorded, "--color-by", "mood"), 2, "damage")
    assert_one_line_error(invoke("render", recorded, "-o", tmp_path / "no" / "a.png"), 2, "folder does not exist")


def test_render_writes_beside_the_recording(recorded, tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    folder = tmp_path / "napkin"
    shutil.copytree(recorded, folder)
    before = sorted(folder.rglob("*"))
    result = invoke("render", folder, "--size", "64x48", "--quality", "draft")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "napkin.mp4").stat().st_size > 1000
    assert sorted(folder.rglob("*")) == before


def test_threads_are_set_before_numba_is_loaded():
    code = "from crumple.cli.threads import set_threads; set_threads(1); import numba; print(numba.get_num_threads())"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.strip() == "1"


def test_reader_that_goes_away_is_no_error(recorded):
    command = f"{sys.executable} -m crumple.cli info {recorded} | true"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, env=dict(os.environ), check=False)
    assert "Traceback" not in result.stderr
    assert "Error" not in result.stderr


def test_scenes_show_frames_and_times(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    result = invoke("scenes")
    assert result.exit_code == 0
    lines = [re.split(r"\s{2,}", line.strip()) for line in result.stdout.splitlines()]
    rows = {name: cells for name, *cells in lines if name in builtin_scenes()}
    assert set(rows) == set(builtin_scenes())
    assert rows["drape"][1:] == ["50", "26 s", "14 s"]
    assert rows["foil-ball"][1:] == ["112", "30 min", "34 s"]
    assert rows["demo"][2] == "–", "not measured, not invented"
    assert all(10 < len(cells[0]) <= 38 for cells in rows.values()), "one line each, in 80 columns"


def test_times_are_those_of_the_documentation():
    text = (Path(__file__).parents[2] / "docs" / "scenes.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| \[([\w-]+)\]\([^)]*\) \|[^|]* (\d+) (s|min) \|[^|]* (\d+) s \|", text, re.MULTILINE)
    stated = {name: (float(full) * (60 if unit == "min" else 1), float(quick)) for name, full, unit, quick in found}
    assert len(stated) == 23
    assert stated == {name: about[1:] for name, about in ABOUT.items() if about.quick_seconds is not None}
    assert set(ABOUT) == set(builtin_scenes())


def test_check():
    result = invoke("check", "demo")
    assert result.exit_code == 0, result.output
    assert "faces" in result.stdout


def test_check_tells_everything(tmp_path):
    scene = tmp_path / "bad.toml"
    scene.write_text("colour = 1\n[run]\nduration = -1\n[[sheets]]\n")
    result = invoke("check", scene)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) >= 3
    assert all(line.startswith("crumple: ") for line in result.stderr.splitlines())
    assert_one_line_error(invoke("run", scene), 2, "crumple check")


def test_materials_are_listed_with_their_values():
    shown = CliRunner().invoke(app, ["materials"], env={"COLUMNS": "160"})
    assert shown.exit_code == 0
    assert all(name in shown.stdout for name in ("paper80-md", "card", "cardboard", "tissue", "aluminium-can"))
    listed = json.loads(CliRunner().invoke(app, ["materials", "--json"]).stdout)
    foil = listed["kitchen-foil"]
    assert foil["area_density"] == pytest.approx(foil["density"] * foil["thickness"])
    assert listed["cotton"]["yield_curvature"] is None
    assert listed["cotton"]["tear_energy"] is None, "Infinity is no JSON"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["analyze", "{}", "--frame", 99], "analyze --frame = 99 ("),
        (["render", "{}", "-o", "x.png", "--frame", 99], "render --frame = 99 ("),
        (["render", "{}", "-o", "x.png", "--frame", -99], "render --frame = -99 ("),
        (["resume", "{}", "--frame", 99], "resume --frame = 99 ("),
        (["analyze", "{}", "--ridge-curvature", -4], "analyze --ridge-curvature = -4.0 (must be > 0"),
        (["run", "ball", "--frames", 0], "--frames = 0 ("),
        (["run", "ball", "--frames=x"], "--frames = x (must be a whole number"),
        (["run", "ball", "--threads", 0], "--threads = 0 (must be at least 1"),
        (["view", "{}", "--port", 70000], "--port = 70000 ("),
        (["run", "ball", "--nonsense"], "--nonsense"),
        (["nonsense"], "nonsense"),
    ],
)
def test_every_message_of_a_flag_names_it_its_value_and_what_is_allowed(recorded, arguments, says):
    result = invoke(*(str(recorded) if word == "{}" else word for word in arguments))
    assert_one_line_error(result, 2, says)


def test_a_table_that_should_be_a_list_says_how_to_write_it(tmp_path):
    path = tmp_path / "scene.toml"
    path.write_text('[sheets]\nmaterial = "cotton"\n')
    assert_one_line_error(invoke("run", path), 2, "must be a list of tables: write [[sheets]], not [sheets]")
