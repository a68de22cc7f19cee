"""In Blender the texture stays where it was while the mesh changes, and the add-on runs scenes (needs `bpy`).

`bpy` is Blender's module on PyPI. It asks for packages of its own versions: CRUMPLE_BLENDER_PYTHON may name the
interpreter of another environment.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from export_samples import FRAME_TIME, FRAMES, HEIGHT, WIDTH, page_positions

import crumple
from crumple.export import export_recording
from crumple.export.blender import write_blender_addon

PYTHON = os.environ.get("CRUMPLE_BLENDER_PYTHON", sys.executable)
SPAN, CENTRE = 0.34, (0.14, HEIGHT / 2)
COLORS = np.array([[230, 40, 40], [40, 180, 40], [50, 70, 230], [235, 220, 40], [40, 210, 220], [220, 50, 210]])
COLUMNS, ROWS = 4, 6


def cell_colors() -> np.ndarray:
    """Number of the colour of each cell of the picture, (ROWS, COLUMNS), rows from the bottom; neighbours differ."""
    row, column = np.indices((ROWS, COLUMNS))
    return (row + 2 * column + (row // 2)) % len(COLORS)


@pytest.fixture
def picture(tmp_path) -> Path:
    imageio = pytest.importorskip("imageio.v2")
    cells = np.kron(cell_colors()[::-1], np.ones((64, 64), int))
    path = tmp_path / "cells.png"
    imageio.imwrite(path, COLORS[cells].astype(np.uint8))
    return path


def render(path: Path, output: Path, times: list[float]) -> list[np.ndarray]:
    """Pictures of the page from above at the times [s]."""
    import imageio.v2 as imageio

    script = Path(__file__).with_name("blender_script.py")
    arguments = [path, output, round(1 / FRAME_TIME), *CENTRE, SPAN, *times]
    done = subprocess.run([PYTHON, str(script), *map(str, arguments)], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return [imageio.imread(f"{output}{k}.png")[..., :3].astype(float) for k in range(len(times))]


def seen_color(image: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Number of the colour that is nearest to what the picture shows at points x (n, 2) [m]."""
    pixel = ((x - CENTRE) / SPAN + 0.5) * image.shape[0]
    color = image[image.shape[0] - 1 - pixel[:, 1].astype(int), pixel[:, 0].astype(int)]
    unit = COLORS / np.linalg.norm(COLORS, axis=1, keepdims=True)
    return np.argmax((color / np.linalg.norm(color, axis=1, keepdims=True)) @ unit.T, axis=1)


@pytest.fixture
def bpy_is_there() -> None:
    if subprocess.run([PYTHON, "-c", "import bpy"], capture_output=True).returncode:
        pytest.skip("bpy is not installed")


@pytest.mark.long
@pytest.mark.parametrize("kind", ["USD", "GLTF"])
def test_the_addon_runs_a_scene_and_loads_it(bpy_is_there, tmp_path, kind):
    addon = write_blender_addon(tmp_path / "crumple_blender.py")
    script = Path(__file__).with_name("blender_addon_script.py")
    done = subprocess.run([PYTHON, script, addon, tmp_path, kind], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert not found["error"], found["message"]
    assert found["collections"] == ["drape-fixed"]
    assert any(line.startswith("frame 2/3") for line in found["shown"])
    assert found["rate"] == pytest.approx(25.0)
    assert np.ptp(found["first"]) < 1e-3, "flat at the start"
    assert found["last"][0] < found["first"][0] - 0.02, "the corners have fallen"
    assert "loaded" in found["again"]
    assert found["wrong_is_error"]
    assert found["wrong"].startswith("no-such-scene: there is no such file or built-in scene")
    assert found["cancelled"] == "cancelled"


def test_the_addon_holds_the_command_of_this_environment(tmp_path):
    """Without Blender: one file that Python takes, of this version, with nothing but the standard library and bpy."""
    path = write_blender_addon(tmp_path)
    assert path == tmp_path / "crumple_blender.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    values = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and node.targets[0].id in ("COMMAND", "bl_info")
    }
    assert values["COMMAND"] == [sys.executable, "-m", "crumple"]
    assert ".".join(map(str, values["bl_info"]["version"])) == crumple.__version__
    names = {alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in tree.body if isinstance(node, ast.ImportFrom)}
    assert names - {"bpy"} <= set(sys.stdlib_module_names)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "topology"), [("t.usdc", "changing"), ("t.usda", "constant"), ("t.glb", "constant"), ("t.glb", "changing")]
)
def test_texture_stays_where_it_was(bpy_is_there, changing, picture, tmp_path, name, topology):
    if name.startswith("t.usd"):
        pytest.importorskip("pxr")
    path = export_recording(changing, output=tmp_path / name, topology=topology, texture=picture)[0]
    times = [0.0, FRAME_TIME * (FRAMES - 1)]
    images = render(path, tmp_path / "view", times)
    middle = (np.indices((COLUMNS, ROWS)).reshape(2, -1).T + 0.5) / [COLUMNS, ROWS]
    offsets = 0.25 * np.array([[0, 0], [1, 1], [-1, 1], [1, -1], [-1, -1]]) / [COLUMNS, ROWS]
    u = (middle[:, None] + offsets).reshape(-1, 2) * [WIDTH, HEIGHT]
    expected = np.repeat(cell_colors().T.ravel(), len(offsets))
    for image, time in zip(images, times, strict=True):
        assert (seen_color(image, page_positions(u, time)[:, :2]) == expected).mean() > 0.97
    # the page has moved by about a cell, so that the colours are elsewhere
    assert (seen_color(images[1], u) == expected).mean() < 0.6
