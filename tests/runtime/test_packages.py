"""Optional packages come with the extras that messages name."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from crumple.runtime.errors import InputError
from crumple.runtime.packages import EXTRAS, load_package

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("package", EXTRAS)
def test_each_extra_brings_its_package(package):
    pytest.importorskip(package)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = project["optional-dependencies"][EXTRAS[package]]
    brought = {re.split(r"[^\w-]", line)[0].lower() for line in lines}
    assert brought & {name.lower() for name in packages_distributions().get(package, [package])}


def test_messages_name_a_known_extra():
    known = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    texts = [path.read_text(encoding="utf-8") for path in (*ROOT.glob("src/**/*.py"), *ROOT.glob("docs/*.md"))]
    named = {name for text in texts for name in re.findall(r"crumple\[(\w+)\]", text)}
    assert {"studio", "learn", "notebook"} <= named <= set(known)


def test_missing_package_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyvista", None)
    with pytest.raises(InputError, match=r"export --to vtk: needs .* pip install 'crumple\[notebook\]'"):
        load_package("pyvista", "export --to vtk")
    with pytest.raises(InputError, match=r"crumple\[sweep\]"):
        load_package("pyvista", "crumple sweep", "sweep")


def test_packages_are_there_after_import_crumple_and_not_loaded_before():
    code = (
        "import sys, crumple\n"
        "assert 'crumple.recording' not in sys.modules\n"
        "assert crumple.recording.Recording is crumple.Recording\n"
        "assert all(hasattr(getattr(crumple, name), '__path__') for name in crumple._PACKAGES)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
