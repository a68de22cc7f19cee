"""What a release consists of besides code: one version everywhere, citation, policies, a workflow that can be read."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.markers import Marker

import crumple

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read_yaml(name: str) -> dict:
    return pytest.importorskip("yaml").safe_load((ROOT / name).read_text(encoding="utf-8"))


def pythons_with_lock() -> set[str]:
    """Versions of Python that have a lock file: those that the tests are run with."""
    names = [path.name for path in (ROOT / "requirements").glob("lock-py3*.txt")]
    return {re.sub(r"lock-py3(\d+)-.*", r"3.\1", name) for name in names}


def test_the_version_is_the_same_everywhere():
    assert crumple.__version__ == PROJECT["version"]
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    version, date = headings[1].split(" - ")
    assert headings[0] == "Unreleased"
    assert version == PROJECT["version"]
    assert date == str(read_yaml("CITATION.cff")["date-released"])
    said = subprocess.run([sys.executable, "-m", "crumple", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["crumple", PROJECT["version"]]


def test_classifiers_and_workflow_name_the_pythons_that_are_tested():
    prefix = "Programming Language :: Python :: "
    named = {line.removeprefix(prefix) for line in PROJECT["classifiers"] if re.fullmatch(prefix + r"3\.\d+", line)}
    matrix = read_yaml(".github/workflows/test.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert named == pythons_with_lock() == set(matrix["python"])


def test_the_citation_is_of_this_version():
    citation = read_yaml("CITATION.cff")
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert {"cff-version", "message", "title", "authors"} <= set(citation)


def test_the_workflow_builds_and_tests_on_three_systems():
    job = read_yaml(".github/workflows/test.yml")["jobs"]["test"]
    assert len(job["strategy"]["matrix"]["os"]) == 3
    assert any("build --wheel" in step.get("run", "") for step in job["steps"])
    assert any("pytest" in step.get("run", "") for step in job["steps"])


def test_the_accelerated_solver_is_asked_for_only_where_it_has_wheels():
    (line,) = (entry for entry in PROJECT["dependencies"] if entry.startswith("pypardiso"))
    marker = Marker(line.partition(";")[2])
    systems = {
        ("x86_64", "linux"): True,
        ("AMD64", "win32"): True,
        ("x86_64", "darwin"): False,
        ("arm64", "darwin"): False,
        ("aarch64", "linux"): False,
    }
    for (machine, system), wanted in systems.items():
        assert marker.evaluate({"platform_machine": machine, "sys_platform": system}) is wanted


def test_policies_are_there_and_name_each_other():
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for name in ("CODE_OF_CONDUCT.md", "SECURITY.md"):
        assert name in contributing
        assert len((ROOT / name).read_text(encoding="utf-8")) > 500
    assert "docs/security.md" in (ROOT / "SECURITY.md").read_text(encoding="utf-8")
