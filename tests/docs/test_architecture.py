"""The architecture page tells the rows of the import contract, names every package, and no module that is not there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from crumple.simulation.frame import END, STEP

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/crumple"
PAGE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
PACKAGES = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
PATHS = sorted(set(re.findall(r"`((?:\w+/)+\w+(?:\.py)?)`", PAGE)))


def contract() -> list[str]:
    """The packages as the import contract has them, from the top down."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (layers,) = [one["layers"] for one in settings["contracts"] if one["type"] == "layers"]
    return [layer.removeprefix("crumple.") for layer in layers]


def test_the_picture_is_the_contract() -> None:
    picture = re.search(r"^```text\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert picture is not None
    lines = [re.split(r"\s{2,}", line.strip(), maxsplit=1)[1] for line in picture[1].splitlines()]
    assert [name for line in lines for name in line.split(" │ ")] == contract()


def test_every_package_has_its_line_in_the_same_order() -> None:
    assert set(contract()) == PACKAGES
    assert re.findall(r"^\| `(\w+)` \| \S.*\. \|$", PAGE, re.MULTILINE) == contract()


@pytest.mark.parametrize("path", PATHS)
def test_every_module_that_is_named_exists(path: str) -> None:
    place = ROOT if path.startswith("src/") else PACKAGE
    assert (place / path).exists()


def test_the_phases_are_those_of_the_frame() -> None:
    for name, phases in (("STEP", STEP), ("END", END)):
        line = re.search(rf"^- `{name}`.*$", PAGE, re.MULTILINE)
        assert line is not None
        assert re.findall(r"`(\w+_\w+)`", line[0]) == [phase.__name__ for phase in phases]
