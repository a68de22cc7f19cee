"""Compilation: what is missing is compiled, here and in a second process, and shown."""

from __future__ import annotations

import io
import time

import pytest
from rich.console import Console
from typer.testing import CliRunner

from crumple.cli import compiling
from crumple.cli.app import app


@pytest.fixture
def compiled(monkeypatch):
    """The stages that were compiled in this process; nothing is in the cache."""
    done: list[str] = []
    monkeypatch.setattr(compiling, "kernels_compiled", lambda package: False)
    monkeypatch.setattr(compiling, "compile_stage", done.append)
    return done


def console() -> Console:
    return Console(file=io.StringIO(), width=200)


class Beside:
    """Stands for the second process."""

    started: tuple[str, ...] = ()
    waited: tuple[str, ...] = ()

    def __init__(self, stages, tally):
        Beside.started, Beside.waited = tuple(stages), ()

    def wait(self, stage):
        Beside.waited = (*Beside.waited, stage)


def test_a_scene_compiles_what_it_needs_and_no_more(compiled, monkeypatch):
    monkeypatch.setattr(compiling, "Helper", Beside)
    monkeypatch.setattr(compiling, "_helper", [])
    compiling.compile_with_notice(console(), remeshing=False)
    assert compiled == ["steps"]
    assert Beside.started == ()
    compiling.compile_large_with_notice(console(), 100)
    assert compiled == ["steps"]
    compiling.compile_large_with_notice(console(), 100_000)
    assert compiled == ["steps", "large"]


def test_edits_are_compiled_beside_the_steps_and_waited_for(compiled, monkeypatch):
    monkeypatch.setattr(compiling, "Helper", Beside)
    monkeypatch.setattr(compiling, "_helper", [])
    compiling.compile_with_notice(console(), remeshing=True)
    assert compiled == ["steps", "remeshing"]
    assert Beside.started == ("edits", "large")
    assert Beside.waited == ("edits",)
    compiling.compile_large_with_notice(console(), 100_000)
    assert Beside.waited == ("edits", "large"), "the other process has it in hand"


def test_the_second_process_tells_when_it_is_done_and_can_be_stopped():
    helper = compiling.Helper(["edits"], compiling.Tally(5))
    helper.wait("edits")
    helper.wait("unknown")
    helper.stop()
    assert helper._process.returncode is not None


def test_lines_tell_how_far_it_is(monkeypatch):
    monkeypatch.setattr(compiling, "HEARTBEAT", 0.02)
    shown, tally = console(), compiling.Tally(3)
    with compiling.shown(shown, tally):
        tally.add("solving.newton.step")
        time.sleep(0.15)
        for _ in range(4):
            tally.add("contact.pairs")
    text = shown.file.getvalue()
    assert "compiling about 3 kernels" in text
    assert "compiling: 1 of about 3 kernels, now solving.newton.step" in text
    assert tally.total == 5, "never fewer than were seen"
    assert "compiled 5 kernels in 0 s" in text


def test_the_command(compiled, monkeypatch):
    assert CliRunner().invoke(app, ["compile", "steps", "rendering"]).exit_code == 0
    assert compiled == ["steps", "rendering"]
    bad = CliRunner().invoke(app, ["compile", "everything"])
    assert bad.exit_code == 2
    assert "compile STAGE = 'everything' (must be one of steps, edits" in bad.stderr
    monkeypatch.setattr(compiling, "kernels_compiled", lambda package: True)
    assert "all kernels are compiled" in CliRunner().invoke(app, ["compile"]).stderr
