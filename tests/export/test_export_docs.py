"""What docs/export.md shows works as written."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from crumple.cli.app import app
from crumple.export.export import FORMATS

TEXT = (Path(__file__).parents[2] / "docs" / "export.md").read_text(encoding="utf-8")


@pytest.fixture
def napkin(changing, tmp_path, monkeypatch) -> Path:
    """A folder with a recording out/napkin and a picture."""
    imageio = pytest.importorskip("imageio.v2")
    shutil.copytree(changing.path, tmp_path / "out" / "napkin")
    imageio.imwrite(tmp_path / "tartan.png", np.zeros((8, 8, 3), np.uint8))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands(napkin):
    pytest.importorskip("pxr")
    lines = [line for line in TEXT.split("```")[1].splitlines() if line.startswith("crumple ")]
    assert len(lines) == 5
    for line in lines:
        result = CliRunner().invoke(app, line.split("#")[0].split()[1:])
        assert result.exit_code == 0, result.output
    for name in ("out/napkin.usdc", "out/napkin.glb", "last.stl", "frames/napkin_000000.obj"):
        assert (napkin / name).exists(), name
    assert not (napkin / "frames" / "napkin.obj").exists()


@pytest.mark.parametrize("number", [0, 1])
def test_python(napkin, number):
    for module in ("pandas", "trimesh", "meshio", "pyvista", "matplotlib"):
        pytest.importorskip(module)
    block = re.findall(r"^```python\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)[number]
    names: dict = {}
    exec(compile(block, "export.md", "exec"), names)
    if number == 0:
        assert (napkin / "napkin.glb").exists()
    else:
        assert (len(names["steps"]), len(names["frames"])) == (8, 4)


def test_every_format_is_listed():
    rows = dict(re.findall(r"^\| [^|]+ \| `(\w+)` \| ([^|]+) \|", TEXT, re.MULTILINE))
    assert {name: tuple(re.findall(r"\.\w+", suffixes)) for name, suffixes in rows.items()} == {
        name: kind.suffixes for name, kind in FORMATS.items()
    }
