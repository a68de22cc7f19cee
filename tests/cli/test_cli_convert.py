"""`crumple convert`, and ARCSim files on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from arcsim_files import scene, write
from typer.testing import CliRunner

from crumple.cli.app import app
from crumple.scenes import load_scene


def invoke(*arguments: object):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write(tmp_path, scene())


def test_convert(source, tmp_path):
    target = tmp_path / "b.toml"
    result = invoke("convert", source, target, "--set", "run.duration=0.5")
    assert result.exit_code == 0, result.output
    assert "note: frame_steps" in result.stderr
    made = load_scene(target)
    assert made.run.duration == 0.5
    assert made.sheets == load_scene(source).sheets


def test_convert_keeps_what_exists(source, tmp_path):
    target = tmp_path / "b.toml"
    target.write_text("mine")
    result = invoke("convert", source, target)
    assert (result.exit_code, target.read_text()) == (2, "mine")
    assert invoke("convert", source, target, "--force").exit_code == 0
    assert target.read_text() != "mine"


@pytest.mark.parametrize("target", ["b.json", "none/b.toml"])
def test_convert_refuses_targets(source, tmp_path, target):
    result = invoke("convert", source, tmp_path / target)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith("crumple: ")


def test_check_tells_notes(source):
    result = invoke("check", source)
    assert result.exit_code == 0, result.output
    assert "note: frame_steps" in result.stderr
    assert "4 faces" in result.stdout


def test_run_tells_notes_once(source, tmp_path):
    result = invoke("run", source, "--frames", 1, "--out", tmp_path / "run")
    assert result.exit_code == 0, result.output
    assert result.stderr.count("note: frame_steps") == 1
