"""Write docs/tuning.md: every tuned number with its unit, its reason, where it was chosen and what breaks without it.

    python docs/tuning.py

All of it stands in the modules `tuning` of the packages.
"""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import Any

import crumple
from crumple.runtime.tuned import NOT_RECORDED, Tuned

DOCS = Path(__file__).parent
PACKAGES = tuple(sorted(path.parent.name for path in Path(crumple.__file__).parent.glob("*/tuning.py")))


def entries(package: str) -> dict[str, Tuned[Any]]:
    """The tuned numbers of `package` by name, in the order in which they are declared."""
    tuning = import_module(f"crumple.{package}.tuning").TUNING
    return {field.name: getattr(tuning, field.name) for field in fields(tuning)}


def page() -> str:
    """The tuned numbers as Markdown."""
    found = {package: entries(package) for package in PACKAGES}
    count = sum(map(len, found.values()))
    known = sum(entry.chosen_on != NOT_RECORDED for those in found.values() for entry in those.values())
    lines = [
        "# Tuned numbers",
        "",
        "Numbers that experience chose, not mathematics and not the user (whose options are in the",
        "[scene reference](scene-reference.md)). Each stands once, in the module `tuning` of its package, under a name",
        "that no other package uses. After changing one, run `make recompile`: compiled kernels hold it as a constant.",
        "",
        f"There are {count}. Where {known} of them were chosen is known; where a column says *{NOT_RECORDED}*, nobody",
        "wrote it down: measure before you trust the number elsewhere, and say in its module what you found. The unit",
        "of a ratio is 1.",
        "",
        "This page is made by `python docs/tuning.py`.",
    ]
    for package, those in found.items():
        lines += ["", f"## {package}", "", import_module(f"crumple.{package}.tuning").__doc__ or "", ""]
        lines += ["| name | value | unit | why | chosen on | what breaks |", "|---|---|---|---|---|---|"]
        lines += [_row(name, entry) for name, entry in those.items()]
    return "\n".join(lines) + "\n"


def _row(name: str, entry: Tuned[Any]) -> str:
    texts = [f"`{name}`", _value(entry.value), entry.unit, entry.why, entry.chosen_on, entry.breaks]
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


def _value(value: Any) -> str:
    return ", ".join(map(_value, value)) if isinstance(value, tuple) else f"{value:.8g}"


if __name__ == "__main__":
    (DOCS / "tuning.md").write_text(page(), encoding="utf-8")
