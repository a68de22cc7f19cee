"""What the README shows works as written (on a coarser and shorter scene)."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from crumple.cli.app import app

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    """The first code block in a language."""
    found = re.search(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


@pytest.fixture
def napkin(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    text = block("toml")
    assert "size = 0.005" in text
    (tmp_path / "napkin.toml").write_text(text.replace("size = 0.005", "size = 0.02"))
    return tmp_path / "napkin.toml"


def test_scene_is_valid(napkin):
    result = CliRunner().invoke(app, ["check", "napkin.toml"])
    assert result.exit_code == 0, result.output


@pytest.mark.slow
def test_the_napkin_comes_to_rest_on_the_ball(napkin, capsys):
    """The Python example runs as written: its middle stays on the ball, its corners hang down beside it."""
    names: dict = {}
    exec(compile(block("python"), "README.md", "exec"), names)
    assert capsys.readouterr().out.strip().endswith(f"{[*range(26)]}")
    final = names["final"]
    middle = np.linalg.norm(final.mesh.u - 0.1, axis=1).argmin()
    corners = [np.linalg.norm(final.mesh.u - [u, v], axis=1).argmin() for u in (0.0, 0.2) for v in (0.0, 0.2)]
    assert np.linalg.norm(final.x[middle, :2]) < 0.02
    assert 0.045 < final.x[middle, 2] < 0.055
    assert final.x[corners, 2].max() < 0.0
    assert np.linalg.norm(final.x, axis=1).min() > 0.045


def test_commands_and_options_are_those_of_the_program():
    listed = re.findall(r"^crumple (\w+) ", README.split("## Command line")[1].split("## Recordings")[0], re.MULTILINE)
    known = CliRunner().invoke(app, ["--help"]).stdout.split("Commands:")[1]
    assert sorted(listed) == sorted(line.split()[0] for line in known.splitlines() if line.strip())
    for option in re.findall(r"--[a-z-]+", README.split("crumple run SCENE")[1].split("\n")[0]):
        assert option in CliRunner().invoke(app, ["run", "--help"]).stdout
