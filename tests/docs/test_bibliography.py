"""Every key in square brackets, in the code and on the pages, has its line in the bibliography."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
KEY = re.compile(r"\b[A-Z][a-z]+(?:19|20)\d\d[a-z]?\b")
BRACKETS = re.compile(r"\[[^\[\]\n]*\]")
SPACED = re.compile(r"\[(?:after )?[A-Z][a-z]+ (?:19|20)\d\d\b")


def cited() -> dict[str, Path]:
    """The keys in square brackets and a file in which each stands."""
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md")]
    pages = [file for file in files if file.name != "bibliography.md"]
    return {
        key: file
        for file in pages
        for bracket in BRACKETS.findall(file.read_text(encoding="utf-8"))
        for key in KEY.findall(bracket)
    }


def listed() -> list[str]:
    """The keys that the page explains."""
    return re.findall(r"^\| \[(\w+)\]", (ROOT / "docs/bibliography.md").read_text(encoding="utf-8"), re.MULTILINE)


def test_every_key_is_listed_once_and_used() -> None:
    keys, used = listed(), cited()
    assert len(keys) == len(set(keys)) > 30
    missing = {key: str(file.relative_to(ROOT)) for key, file in used.items() if key not in keys}
    assert not missing
    sources = {"Schreck2015"}  # its own page speaks of it
    assert set(keys) - set(used) <= sources


def test_keys_are_written_in_one_way() -> None:
    odd = [file for file in (ROOT / "src").rglob("*.py") if SPACED.search(file.read_text(encoding="utf-8"))]
    assert not odd
