"""The tutorials work as they stand, and come out as they say."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from pages import page_blocks, run_blocks
from typer.testing import CliRunner

import crumple
from crumple.cli.app import app
from crumple.recording.verify import verify_recording

SMALL = "--size 160x120 --quality draft"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_quickstart(folder, capsys):
    pytest.importorskip("imageio")
    changes = {
        "size = 0.005": "size = 0.025",
        "napkin.png": f"napkin.png {SMALL}",
        "crumple run napkin.toml\n": "crumple run napkin.toml --frames 3\n",
        "crumple run ball\n": "crumple run ball --quick --frames 1\n",
        "crumple render out/ball\n": f"crumple render out/ball {SMALL}\n",
        "--out out/tissue": "--out out/tissue --frames 2",
    }
    blocks = page_blocks("quickstart.md", changes)
    names = run_blocks(blocks, "quickstart.md")
    assert (folder / "napkin.png").stat().st_size > 1000
    assert (folder / "out" / "ball.mp4").stat().st_size > 1000
    assert crumple.Recording("out/tissue").frames == [0, 1, 2]
    weight = 9.81 * 0.2**2 * crumple.preset("cotton").density
    assert -names["sim"].forces("obstacle")[2] == pytest.approx(weight, rel=0.1)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="an interruption is a signal here")
def test_newcomer_stops_and_goes_on(folder):
    pytest.importorskip("imageio")
    changes = {"run ball --quick": "run ball --quick --frames 12", "--frame 28": f"--frame 11 {SMALL}"}
    start, *rest = page_blocks("tutorials/newcomer.md", changes)
    command = [sys.executable, "-m", "crumple.cli", *start.commands[0]]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 300
    while not (folder / "out/ball/frames/frame_000002.vtkhdf").exists():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    told = process.communicate(timeout=120)[1]
    assert process.returncode == 130, told
    assert "resume" in told
    stopped = crumple.Recording("out/ball").frames
    assert 3 <= len(stopped) < 13
    run_blocks([block for block in rest if block.language == ""], "newcomer.md")
    assert len(crumple.Recording("out/ball")) > len(stopped)
    assert (folder / "ball.png").stat().st_size > 1000


@pytest.mark.slow
def test_artist_takes_a_textured_page_elsewhere(folder):
    for module in ("PIL", "imageio", "pxr", "pygltflib"):
        pytest.importorskip(module)
    changes = {
        "duration = 0.8": "duration = 0.4",
        "size_min = 0.012": "size_min = 0.025",
        "-o page.png": f"-o page.png {SMALL}",
    }
    blocks = page_blocks("tutorials/artist.md", changes)
    run_blocks(blocks, "artist.md")
    checked = CliRunner().invoke(app, ["check", "page.toml"])
    assert "texture" in checked.output.lower(), checked.output

    recording = crumple.Recording("out/page")
    states = [recording.load(frame) for frame in recording.frames]
    assert len({state.mesh.face_count for state in states}) > 2, "the mesh changes"
    assert np.ptp(states[0].mesh.u, axis=0) == pytest.approx([0.297, 0.210], rel=1e-3)
    assert np.ptp(states[-1].x, axis=0).max() < 0.9 * 0.297, "the page is pressed together"
    assert verify_recording(recording).passed

    check_usd(folder / "out" / "page.usdc", states)
    check_gltf(folder / "out" / "page.glb")


def check_usd(path: Path, states: list) -> None:
    """Every frame has its own mesh, textured where the sheet's pattern is."""
    from pxr import Usd, UsdGeom, UsdShade

    stage = Usd.Stage.Open(str(path))
    mesh = next(UsdGeom.Mesh(prim) for prim in stage.Traverse() if prim.GetName() == "page" and prim.IsA(UsdGeom.Mesh))
    assert any(prim.IsA(UsdShade.Shader) for prim in stage.Traverse())
    for state in (states[0], states[-1]):
        moment = Usd.TimeCode(state.frame)
        points = np.array(mesh.GetPointsAttr().Get(moment))
        assert points == pytest.approx(state.x, abs=1e-6)
        texture = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("st")
        corners = np.array(texture.ComputeFlattened(moment)).reshape(-1, 3, 2)
        pattern = state.mesh.u - states[0].mesh.u.min(axis=0)
        wanted = (pattern / np.ptp(states[0].mesh.u, axis=0))[state.mesh.faces]
        assert corners == pytest.approx(wanted, abs=1e-5)


def check_gltf(path: Path) -> None:
    """One animated, textured mesh, with the picture inside."""
    import pygltflib

    document = pygltflib.GLTF2().load(str(path))
    assert len(document.images) == 1
    assert len(document.animations) == 1
    assert [mesh.primitives[0].attributes.TEXCOORD_0 is not None for mesh in document.meshes] == [True]


@pytest.mark.slow
def test_physicist_sweeps_the_thickness(folder, capsys):
    pytest.importorskip("pandas")
    names = run_blocks(page_blocks("tutorials/physicist.md"), "physicist.md")
    sweep = names["sweep"]
    ratio = (sweep.thickness / sweep.thickness[0]).to_numpy()
    assert sweep.bending_stiffness.to_numpy() / sweep.bending_stiffness[0] == pytest.approx(ratio**3)
    assert sweep.mass.to_numpy() / sweep.mass[0] == pytest.approx(ratio)
    assert sweep.mass[1] == pytest.approx(np.pi * 0.05**2 * names["sim"].model.materials[0].density, rel=0.02)
    assert names["sim"].model.materials[0].bending[0] == pytest.approx(sweep.bending_stiffness[1])
    for column in ("bending_energy", "pressure"):
        assert sweep[column].is_monotonic_increasing, sweep
    mileage = np.nan_to_num(sweep.mileage.to_numpy())  # none where nothing has yielded
    assert 0.0 <= mileage[0] < mileage[1] < mileage[2]
    assert (folder / "sweep.csv").is_file()
    assert 0.0 < names["summary"]["volume_fraction"] < 0.02
    assert "energy_bending" in capsys.readouterr().out


@pytest.mark.slow
def test_robotics_collects_episodes(folder):
    blocks = page_blocks("tutorials/robotics.md")
    names = run_blocks(blocks[:2], "robotics.md")
    episodes = np.load("episodes.npz")
    positions, actions, forces = episodes["positions"], episodes["actions"], episodes["forces"]
    assert positions.shape[:2] == (20, 6)
    assert np.isfinite(positions).all()
    assert positions[..., 2].min() > 0.0, "nothing is below the table"
    held = names["sim"].state.pins.node
    moved = positions[:, -1, held].mean(axis=1) - positions[:, 0, held].mean(axis=1)
    assert moved == pytest.approx(actions.sum(axis=1), abs=2e-3), "the gripper went where it was told to go"
    assert (np.ptp(positions[:, 0], axis=0).max()) > 1e-6, "every episode starts differently"
    weight = 9.81 * 0.1**2 * crumple.preset("paper80").density
    assert 0.1 * weight < -forces[:, -1, 2].mean() < 2.0 * weight, "it carries a part of the sheet"


@pytest.mark.slow
def test_robotics_in_several_processes(folder):
    program = next(block for block in page_blocks("tutorials/robotics.md") if block.file == "many.py")
    (folder / "many.py").write_text(program.text.replace("range(4)", "range(2)"), encoding="utf-8")
    done = subprocess.run([sys.executable, "many.py"], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    lowest = json.loads(done.stdout)
    assert len(lowest) == 2
    assert all(-0.05 < height < 0.06 for height in lowest)


def test_origami_keeps_its_folds(folder, capsys):
    pytest.importorskip("imageio")
    names = run_blocks(page_blocks("tutorials/origami.md", {"leporello.png": f"leporello.png {SMALL}"}), "origami.md")
    assert names["angles"] == pytest.approx([70.0] * 3, abs=1.0)
    assert max(names["angles"]) < 70.0, "its weight opens the card"
    assert names["state"].x[:, 2].min() == pytest.approx(-0.03, abs=2e-3)
