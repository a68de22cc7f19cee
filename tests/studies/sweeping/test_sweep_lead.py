"""A whole sweep with a worker in this process: table, failures, resumption, full disk, bad input."""

from __future__ import annotations

import errno
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest
from sweep_scenes import write_scene
from typer.testing import CliRunner

import crumple
from crumple.cli.app import app
from crumple.recording import recorder
from crumple.recording.files import lock_folder
from crumple.runtime.errors import InputError
from crumple.studies.sweeping import SweepFolder, is_sweep, read_sweep, recordings, sweep
from crumple.studies.sweeping import task as module

distributed = pytest.importorskip("distributed")


@pytest.fixture
def here(monkeypatch):
    """Workers are threads of this process: quick, and what is replaced in it is replaced for them, too."""

    @contextmanager
    def workers(count):
        with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
            yield client

    monkeypatch.setattr(sweep, "local_workers", workers)


def run_cli(*arguments):
    return CliRunner().invoke(app, ["sweep", *map(str, arguments)])


def test_the_table(tmp_path, here):
    table = crumple.sweep(
        write_scene(tmp_path), vary={"contact.friction": [0.1, 0.5]}, seeds=2, frames=2, out=tmp_path / "s",
        metrics={"frames_twice": lambda recording: 2.0 * len(recording.frames)},
    )  # fmt: skip
    assert list(table["contact.friction"]) == [0.1, 0.1, 0.5, 0.5]
    assert list(table["seed"]) == [0, 1, 0, 1]
    assert list(table["outcome"]) == ["done"] * 4
    assert list(table["frames_twice"]) == [6.0] * 4
    assert table["radius"].between(0.03, 0.04).all()
    assert table["mileage"].isna().all(), "what is not there is empty, not a number"
    for place in table["recording"]:
        assert crumple.Recording(place).frames == [0, 1, 2]
    import pandas

    stored = pandas.read_parquet(tmp_path / "s" / "table.parquet")
    assert list(stored["radius"]) == list(table["radius"])
    assert pandas.read_csv(tmp_path / "s" / "table.csv")["recording"][3] == "runs/0003"
    assert len(recordings(tmp_path / "s")) == 4


def test_a_run_that_fails_is_a_row_and_is_tried_again(tmp_path, here, monkeypatch):
    scene, out = write_scene(tmp_path), tmp_path / "s"
    real = module.PhysicsEngine

    def failing(model, state):
        if model.contact.friction.max() == 0.5:
            raise crumple.SimulationError("it is torn to pieces")
        return real(model, state)

    monkeypatch.setattr(module, "PhysicsEngine", failing)
    first = run_cli(scene, "--vary", "contact.friction=0.1,0.5,0.9", "--frames", 1, "--out", out)
    assert first.exit_code == 1, first.output
    assert "run 0001 (friction = 0.5) failed: it is torn to pieces" in first.output
    assert "2 of 3 runs done" in first.output
    table = read_sweep(out)
    assert list(table["outcome"]) == ["done", "failed", "done"]
    assert table["reason"].iloc[1] == "it is torn to pieces"
    monkeypatch.setattr(module, "PhysicsEngine", real)
    written = (out / "runs" / "0000" / "log.jsonl").stat().st_mtime_ns
    again = run_cli("--resume", "--out", out)
    assert again.exit_code == 0, again.output
    assert "2 runs were done before" in again.output
    assert list(read_sweep(out)["outcome"]) == ["done"] * 3
    assert (out / "runs" / "0000" / "log.jsonl").stat().st_mtime_ns == written, "what is done is not done again"


def test_a_full_disk_stops_the_sweep_in_one_line_and_loses_nothing(tmp_path, here, monkeypatch):
    scene, out = write_scene(tmp_path), tmp_path / "s"
    real, frames = recorder.write_atomically, 0

    def full(path, content):
        nonlocal frames
        frames += path.name.startswith("frame_")
        if frames > 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(path, content)

    monkeypatch.setattr(recorder, "write_atomically", full)
    result = run_cli(scene, "--vary", "contact.friction=0.1,0.2,0.3,0.4", "--frames", 2, "--out", out)
    assert result.exit_code == 1
    line = result.output.strip().splitlines()[-1]
    assert line.startswith(f"crumple: {out}: No space left on device; 1 of 4 runs are done; make room, then go on with")
    monkeypatch.setattr(recorder, "write_atomically", real)
    assert run_cli("--resume", "--out", out).exit_code == 0
    assert list(read_sweep(out)["frames"]) == [2] * 4


def test_a_torn_log_is_no_obstacle(tmp_path, here):
    scene, out = write_scene(tmp_path), tmp_path / "s"
    assert run_cli(scene, "--vary", "contact.friction=0.1,0.2", "--frames", 1, "--out", out).exit_code == 0
    lines = (out / "log.jsonl").read_bytes().splitlines(keepends=True)
    (out / "log.jsonl").write_bytes(b"".join(lines[:2]) + lines[2][:40])  # killed while the second run was noted
    assert list(read_sweep(out)["outcome"]) == ["done", "unfinished"]
    assert run_cli("--resume", "--out", out).exit_code == 0
    table = read_sweep(out)
    assert list(table["outcome"]) == ["done", "done"]
    assert table["radius"].notna().all()


def test_a_sweep_is_resumed_only_as_what_it_is(tmp_path, here):
    scene, out = write_scene(tmp_path), tmp_path / "s"
    options = ["--vary", "contact.friction=0.1", "--frames", 1, "--out", out]
    assert run_cli(scene, *options).exit_code == 0
    assert "already holds a sweep; --resume goes on with it" in run_cli(scene, *options).output
    assert run_cli(scene, *options, "--resume").exit_code == 0
    other = run_cli(scene, "--vary", "contact.friction=0.2", "--frames", 2, "--out", out, "--resume")
    assert other.exit_code == 2
    assert "was begun with another vary, frames" in other.output
    with lock_folder(out):
        both = run_cli("--resume", "--out", out)
    assert both.exit_code == 2
    assert "another sweep is writing this folder" in both.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--vary", "contact.fricton=0.1,0.2"], "--vary: contact.fricton: unknown key; did you mean 'friction'?"),
        (["--vary", "contact.friction=0.1,0.1"], "the same value is there twice"),
        (["--vary", "contact.friction=1:0:5"], "the range is empty"),
        (["--vary", "contact.friction=0.1,x"], "contact.friction"),
        (["--sample", "8", "halton", "--vary", "contact.friction=0:1"], "must be one of sobol, lhs, random"),
        (["--metric", "radios"], "did you mean 'radius'?"),
        (["--scheduler", "tcp://127.0.0.1:9"], "no Dask scheduler answers there"),
        (["--scheduler", "nonsense"], "no Dask scheduler answers there"),
        (["--scheduler", "nowhere.json"], "is not the file of a Dask scheduler"),
        (["--scheduler", "tcp://127.0.0.1:9", "--workers", "2"], "give only one of them"),
        (["--frames", "1", "--until", "2"], "give only one of them"),
        (["--seeds", "2", "--set", "sheets[0].jitter.seed=3", "--vary", "sheets[0].jitter.seed=1,2"], "given twice"),
        (["--resume"], "holds no sweep to resume"),
    ],
)
def test_bad_input_is_one_line(tmp_path, options, said, monkeypatch):
    monkeypatch.setattr("crumple.studies.sweeping.cluster.CONNECT_TIMEOUT", 0.5)
    monkeypatch.setattr("crumple.studies.sweeping.cluster.FILE_PATIENCE", 0.3)
    out = tmp_path / "s"
    if options == ["--resume"]:
        out.mkdir()
    result = run_cli(write_scene(tmp_path), *options, "--out", out)
    assert result.exit_code == 2, result.output
    lines = [line for line in result.output.strip().splitlines() if line.startswith("crumple: ")]
    assert len(lines) == 1
    assert said in lines[0]
    assert not is_sweep(out), "nothing was begun"


def test_foreign_folders_are_left_alone(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("x")
    assert "holds other files (notes.txt)" in run_cli(write_scene(tmp_path), "--out", tmp_path / "mine").output
    assert "is a file" in run_cli(write_scene(tmp_path), "--out", tmp_path / "mine" / "notes.txt").output
    assert "--out DIR" in run_cli(write_scene(tmp_path)).output
    assert "name a scene" in run_cli("--out", tmp_path / "new").output
    with pytest.raises(InputError, match="is not a sweep"):
        SweepFolder(tmp_path)


def test_a_disk_that_is_too_small_is_told_before(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 1000})())
    result = run_cli(write_scene(tmp_path), "--vary", "contact.friction=0.1,0.2", "--out", tmp_path / "s")
    assert result.exit_code == 2
    assert "the runs need at least" in result.output
    assert not (tmp_path / "s").exists()


def test_a_dry_run_tells_and_starts_nothing(tmp_path):
    options = ["--vary", "contact.friction=0.1:0.5:5", "--seeds", 3, "--quick", "--out", tmp_path / "s", "--dry-run"]
    result = run_cli(write_scene(tmp_path), *options)
    assert result.exit_code == 0, result.output
    assert "15 runs with 30 frames in all" in result.output
    assert not (tmp_path / "s").exists()


def test_missing_packages_are_named(tmp_path, monkeypatch):
    def missing(name):
        raise ImportError(f"No module named '{name}'")

    monkeypatch.setattr("crumple.runtime.packages.import_module", missing)
    result = run_cli(write_scene(tmp_path), "--out", tmp_path / "s")
    assert result.exit_code == 2
    assert "pip install 'crumple[sweep]'" in result.output


def test_analysis(tmp_path, here):
    pytest.importorskip("matplotlib")
    scene, out = write_scene(tmp_path), tmp_path / "s"
    options = ["--vary", "sheets[0].material.thickness=1e-4,2e-4", "--vary", "contact.friction=0.1,0.4", "--seeds", 2]
    assert (
        run_cli(scene, *options, "--frames", 1, "--metric", "mass", "--metric", "radius", "--out", out).exit_code == 0
    )
    result = run_cli("--resume", "--analyze", "--out", out)
    assert result.exit_code == 0, result.output
    target = tmp_path / "s-analysis"
    assert {path.name for path in target.iterdir()} == {
        "table.csv", "means.csv", "means.md", "curves.png", "pictures.png",
    }  # fmt: skip
    rows = (target / "means.md").read_text().splitlines()
    assert rows[0] == "| thickness | friction | mass [kg] | radius [m] |"
    assert len(rows) == 6
    assert rows[2].startswith("| 0.0001 | 0.1 | ")
    import pandas

    means = pandas.read_csv(target / "means.csv")
    assert len(means) == 8
    assert set(means["count"]) == {2}
    mass = means[means["metric"] == "mass"]
    assert mass["error"].max() < 1e-12
    assert mass["mean"].max() == pytest.approx(2.0 * mass["mean"].min(), rel=1e-6)
    table = read_sweep(out)
    chosen = table[(table["sheets[0].material.thickness"] == 1e-4) & (table["contact.friction"] == 0.1)]["radius"]
    first = means[means["metric"] == "radius"].iloc[0]
    assert first["mean"] == pytest.approx(chosen.mean(), rel=1e-12)
    assert first["error"] == pytest.approx(chosen.std(ddof=1) / 2**0.5, rel=1e-6)


SCRIPT = """
import crumple
from crumple.energies.traced import dot

@crumple.energy(elements="nodes", parameters={"k": ()})
def pull(x, k):
    return 0.5 * k * dot(x, x)

def energy(recording):
    last = recording.load(-1)
    return float(sum(pull.on(last.mesh, {"k": 3.0}).value(last.x)))

if __name__ == "__main__":
    table = crumple.sweep(
        "tiny.toml", vary={"contact.friction": [0.1, 0.4]}, frames=2, workers=1, out="s",
        metrics={"energy": energy}, terms=[pull.term(lambda mesh: {"k": 3.0})],
    )
    model, state, _ = crumple.build(crumple.load_scene("tiny.toml", ["contact.friction=0.4"]))
    alone = crumple.run(model.with_energy(pull, {"k": 3.0}), state, frames=2)
    last = crumple.Recording(table["recording"].iloc[1]).load(-1)
    assert (last.x == alone.x).all() and list(table["outcome"]) == ["done"] * 2, table
    assert abs(table["energy"].iloc[1] - sum(pull.on(alone.mesh, {"k": 3.0}).value(alone.x))) < 1e-12
    again = crumple.sweep(out="s", resume=True, terms=[pull.term({"k": 3.0})], workers=1)
    assert len(again) == 2
"""


@pytest.mark.slow
def test_energies_of_ones_own_in_a_script_go_to_workers(tmp_path):
    """As a term of every run and in a metric; the workers cannot import the script."""
    write_scene(tmp_path)
    (tmp_path / "study.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "study.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    result = run_cli("--resume", "--out", tmp_path / "s")
    assert result.exit_code == 2
    assert "was begun with the terms pull; crumple.sweep(" in result.output


def test_what_cannot_be_sent_to_workers_is_told_before_anything_starts(tmp_path):
    lock = threading.Lock()
    with pytest.raises(InputError, match=r"crumple\.sweep: locked: cannot be sent to workers"):
        crumple.sweep(write_scene(tmp_path), out=tmp_path / "s", metrics={"locked": lambda recording: lock.locked()})
    assert not (tmp_path / "s").exists()


def test_the_studio_gets_the_grid(tmp_path, here):
    from crumple.cli.viewing import sweep_recordings

    scene, out = write_scene(tmp_path), tmp_path / "s"
    assert (
        run_cli(scene, "--vary", "contact.friction=0.1,0.4", "--seeds", 1, "--frames", 1, "--out", out).exit_code == 0
    )
    assert sweep_recordings(out) == [
        (out / "runs" / "0000", "friction = 0.1, seed 0"),
        (out / "runs" / "0001", "friction = 0.4, seed 0"),
    ]


@pytest.mark.slow
def test_two_processes_give_the_bits_of_crumple_run(tmp_path):
    from crumple.recording import state_digest

    scene, out = write_scene(tmp_path), tmp_path / "s"
    crumple.sweep(scene, vary={"contact.friction": [0.1, 0.5]}, frames=3, workers=2, out=out)
    result = CliRunner().invoke(
        app, ["run", str(scene), "--set", "contact.friction=0.5", "--frames", "3", "--out", str(tmp_path / "r")]
    )
    assert result.exit_code == 0
    one, other = crumple.Recording(out / "runs" / "0001"), crumple.Recording(tmp_path / "r")
    assert one.scene_path.read_bytes() == other.scene_path.read_bytes()
    assert [state_digest(one.load(k)) for k in one.frames] == [state_digest(other.load(k)) for k in other.frames]


def test_python_of_the_page_on_sweeps(tmp_path, here, monkeypatch, capsys):
    from pathlib import Path

    text = (Path(__file__).parents[3] / "docs" / "sweeps.md").read_text(encoding="utf-8")
    code = text.split("```python\n")[1].split("```")[0]
    assert "quick=True" in code
    monkeypatch.chdir(tmp_path)
    exec(compile(code.replace("quick=True", "quick=True, frames=1"), "study.py", "exec"), {"__name__": "__main__"})
    assert "mean" in capsys.readouterr().out
    assert len(read_sweep("out/study")) == 8
