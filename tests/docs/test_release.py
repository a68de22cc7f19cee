"""What a release consists of besides code: one version everywhere, citation, policies, a workflow that can be read."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from packaging.markers import Marker

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read_yaml(name: str) -> dict:
    return pytest.importorskip("yaml").safe_load((ROOT / name).read_text(encoding="utf-8"))


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
