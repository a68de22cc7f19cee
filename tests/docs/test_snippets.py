"""Snippets outside of the tutorials: scenes are valid and can be built, commands and options exist, Python runs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pages import DOCS, page_blocks
from PIL import Image
from typer.main import get_command
from typer.testing import CliRunner

import crumple
from crumple.cli.app import app
from crumple.scenes import Disk, Run, Scene, Sheet, build, builtin_scenes, scene_from_tables

README = DOCS.parent / "README.md"
MADE = {"scene-reference.md", "gallery.md"}
"""Made by scripts, which have tests of their own."""
PAGES = [README, *(path for path in sorted(DOCS.rglob("*.md")) if path.name not in MADE)]


def name_of(path: Path) -> str:
    return str(path.relative_to(DOCS.parent))


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


SNIPPETS = [pytest.param(text, id=name_of(path)) for path in PAGES for text in blocks(path, "toml")]


FOLDED = """<svg xmlns="http://www.w3.org/2000/svg" width="100mm" height="60mm" viewBox="0 0 100 60">
<rect x="0" y="0" width="100" height="60" fill="none" stroke="black"/>
<line x1="50" y1="0" x2="50" y2="60" stroke="red"/>
</svg>"""
"""A sheet with one mountain fold."""


def completed(tables: dict[str, Any]) -> dict[str, Any]:
    """A whole scene around what a snippet shows."""
    sheets = tables.setdefault("sheets", [{"name": "front"}, {"name": "back"}])
    for number, sheet in enumerate(sheets):
        if "history" not in sheet:
            sheet.setdefault("shape", {"kind": "rectangle", "width": 0.21, "height": 0.297, "size": 0.05})
        sheet.setdefault("transform", {"translate": [0, 0, 0.05 * number]})
        sheet.setdefault("material", "paper80")
    return tables


@pytest.mark.parametrize("text", SNIPPETS)
def test_scenes_can_be_built(text, tmp_path):
    (tmp_path / "page.obj").write_text("v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nf 1 2 3\n")
    (tmp_path / "box.svg").write_text(FOLDED)
    for name in ("worn.png", "pins.png"):
        Image.linear_gradient("L").save(tmp_path / name)
    tables = completed(tomllib.loads(text))
    scene = scene_from_tables(tables, folder=tmp_path)
    if not any(crease.label for sheet in scene.sheets for crease in sheet.creases):  # only a mesh file has labels
        model, state, _ = build(scene)
        assert state.mesh.face_count > 0
        assert len(model.sheet_names) == len(scene.sheets)


def command_lines(path: Path) -> list[str]:
    text = path.read_text(encoding="utf-8")
    shown = [line for block in blocks(path, "") for line in block.splitlines() if line.startswith("crumple ")]
    return shown + re.findall(r"`(crumple [a-z]+ [^`]*)`", text)


@pytest.mark.parametrize("path", [path for path in PAGES if command_lines(path)], ids=name_of)
def test_commands_options_and_scenes_exist(path):
    commands = get_command(app).commands  # type: ignore[attr-defined]
    for line in command_lines(path):
        words = line.split("#")[0].split()
        assert words[1] in commands, line
        options = {
            name for parameter in commands[words[1]].params for name in (*parameter.opts, *parameter.secondary_opts)
        }
        for option in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", " ".join(words[2:])):
            assert option in options, f"{line}: {option}"
        if words[1] == "run" and re.fullmatch(r"[a-z-]+", words[2]):
            assert words[2] in builtin_scenes(), line


@pytest.fixture
def small(tmp_path, monkeypatch) -> Path:
    """A folder with small recordings under the names of the pages."""
    monkeypatch.chdir(tmp_path)
    scene = Scene(run=Run(duration=0.08), sheets=[Sheet(shape=Disk(radius=0.05, size=0.02), material="narain-foil")])
    for name in ("foil-ball", "napkin"):
        crumple.simulate(scene, out=tmp_path / "out" / name)
    return tmp_path


def test_python_of_the_page_on_analysis(small, capsys):
    pytest.importorskip("matplotlib")
    (text,) = blocks(DOCS / "analysis.md", "python")
    names: dict[str, Any] = {"folder": small / "found"}
    exec(compile(text, "analysis.md", "exec"), names)
    assert (small / "found" / "summary.json").is_file()
    assert (small / "found" / "density.png").is_file()
    assert "volume fraction" in capsys.readouterr().out


@pytest.mark.slow
def test_commands_of_the_page_on_rendering(small):
    pytest.importorskip("imageio")
    shown = page_blocks("rendering.md", {"--frame 12": "--frame 1", "--frames 10:40:2": "--frames 0:1"})[0].commands
    assert len(shown) == 6
    for arguments in shown:
        result = CliRunner().invoke(app, [*arguments, "--size", "80x60", "--quality", "draft"])
        assert result.exit_code == 0, result.output
    for name in ("out/napkin.mp4", "napkin.png", "napkin.gif", "napkin.0002.png", "turn.mp4"):
        assert (small / name).stat().st_size > 100, name


def test_messages_of_troubleshooting_are_those_of_the_program():
    """Every message that the page quotes stands in the source, piece by piece."""
    text = (DOCS / "troubleshooting.md").read_text(encoding="utf-8")
    quoted = re.findall(r"^(?:\| |- )`([^`]*(?:…|in m)[^`]*|another process[^`]*)`", text, re.MULTILINE)
    assert len(quoted) > 14
    source = "".join(path.read_text(encoding="utf-8") for path in (DOCS.parent / "src").rglob("*.py"))
    source = re.sub(r"\{[^{}]*\}", " ", source)
    for message in quoted:
        for piece in re.split("…|;", message):
            piece = piece.strip(" :,.")
            if piece != "must be > 0, in m":  # made of a bound and a unit
                assert piece in source, f"{message}: {piece}"
