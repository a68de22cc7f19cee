"""Lower bounds, lock files and the list of licences agree with pyproject.toml."""

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LOCKS = sorted((ROOT / "requirements").glob("lock-*.txt"))


def bounds():
    """Names and lower bounds of all dependencies, extras included."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    lines = [line for group in groups for line in group if not line.startswith("crumple[")]
    return {re.split(r"[\[>=]", line)[0]: re.search(r">=([0-9.]+)", line)[1] for line in lines}


def pins(path):
    """Versions by normalised name in a constraints file."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in (line.split("==") for line in lines)}


def numbers(version):
    return [int(part) for part in re.findall(r"[0-9]+", version)]


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_lock_files_hold_every_dependency_above_its_bound(path):
    locked = pins(path)
    for name, bound in bounds().items():
        if name in ("cvxopt", "atheris"):  # extras that are not installed for development
            continue
        assert numbers(locked[name]) >= numbers(bound), name


def test_there_is_a_lock_file_and_it_names_no_server():
    assert LOCKS
    for path in LOCKS:
        assert "/" not in re.sub(r"#.*", "", path.read_text(encoding="utf-8"))


def test_the_oldest_versions_are_the_lower_bounds():
    """Fails when pyproject.toml was changed without `make lock`."""
    path = ROOT / "tools" / "lock.py"
    spec = importlib.util.spec_from_file_location("lock", path)
    lock = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(lock)
    assert pins(ROOT / "requirements" / "oldest.txt") == dict(line.split("==") for line in lock.lower_bounds())


def test_the_licence_of_every_dependency_is_listed():
    text = (ROOT / "LICENCES.md").read_text(encoding="utf-8")
    rows = {re.sub(r"[-_.]+", "-", row.split(" | ")[0][2:]).lower() for row in text.splitlines() if row[:2] == "| "}
    assert set(bounds()) <= rows
    assert "not stated" not in text
    assert "unknown" not in text
