"""Runs what a page of the documentation shows: files are written, Python is executed, commands are called."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from crumple.cli.app import app

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"# ([\w-]+\.\w+)\n")


@dataclass(frozen=True)
class Block:
    """A block of code: its language ("" for commands) and text."""

    language: str
    text: str

    @property
    def file(self) -> str | None:
        """The file that the first line names, if it does."""
        found = _FILE.match(self.text)
        return found[1] if found else None

    @property
    def commands(self) -> list[list[str]]:
        """The arguments of every line that calls crumple."""
        lines = self.text.splitlines() if self.language == "" else []
        return [shlex.split(line.split(" #")[0])[1:] for line in lines if line.startswith("crumple ")]


def page_blocks(name: str, changes: Mapping[str, str] | None = None) -> list[Block]:
    """The blocks of a page in order, with texts changed that make it quicker; every one of them must be there."""
    text = (DOCS / name).read_text(encoding="utf-8")
    for old, new in (changes or {}).items():
        assert old in text, f"{name} does not say {old!r} any more"
        text = text.replace(old, new)
    return [Block(language, code) for language, code in _BLOCK.findall(text)]


def run_blocks(blocks: Iterable[Block], name: str) -> dict[str, Any]:
    """Run blocks in the working folder, and return the names that Python has at the end."""
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks:
        if block.file is not None:
            Path(block.file).write_text(block.text, encoding="utf-8")
        if block.language == "python":
            exec(compile(block.text, name, "exec"), names)
        for arguments in block.commands:
            result = CliRunner().invoke(app, arguments)
            assert result.exit_code == 0, f"{name}: crumple {' '.join(arguments)}\n{result.output}"
    return names
