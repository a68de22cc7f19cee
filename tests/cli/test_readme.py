"""What the README shows works as written (on a coarser and shorter scene)."""

from __future__ import annotations

import re
from pathlib import Path

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
    for fine, coarse in (("size = 0.005", "size = 0.04"), ("duration = 1.0", "duration = 0.08")):
        assert fine in text
        text = text.replace(fine, coarse)
    (tmp_path / "napkin.toml").write_text(text)
    return tmp_path / "napkin.toml"


def test_scene_is_valid(napkin):
    result = CliRunner().invoke(app, ["check", "napkin.toml"])
    assert result.exit_code == 0, result.output


def test_python_example_runs(napkin, capsys):
    exec(compile(block("python"), "README.md", "exec"), {})
    assert capsys.readouterr().out.strip().endswith("[0, 1, 2]")


def test_commands_and_options_are_those_of_the_program():
    listed = re.findall(r"^crumple (\w+) ", README.split("## Command line")[1].split("## Recordings")[0], re.MULTILINE)
    known = CliRunner().invoke(app, ["--help"]).stdout.split("Commands:")[1]
    assert sorted(listed) == sorted(line.split()[0] for line in known.splitlines() if line.strip())
    for option in re.findall(r"--[a-z-]+", README.split("crumple run SCENE")[1].split("\n")[0]):
        assert option in CliRunner().invoke(app, ["run", "--help"]).stdout
