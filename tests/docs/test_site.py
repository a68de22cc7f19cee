"""The site builds without a warning: every link, anchor and documented name is there, every page is in the menu."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import crumple
from crumple import contract, export, recording, state

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    for module in ("mkdocs", "mkdocstrings"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def test_it_builds(site):
    assert (site / "index.html").is_file()
    assert (site / "validation.html").is_file()
    assert "<title>crumple: validation" in (site / "validation" / "index.html").read_text(encoding="utf-8").lower()


def test_public_names_are_documented(site):
    pages = "".join(path.read_text(encoding="utf-8") for path in (site / "reference").glob("*.html"))
    documented = set(re.findall(r'id="(crumple[\w.]+)"', pages))
    assert {f"crumple.{name}" for name in crumple.__all__} <= documented
    for module in (contract, export, recording, state):
        for name in module.__all__:
            if isinstance(getattr(module, name), type):
                assert {f"crumple.{name}", f"{module.__name__}.{name}"} & documented, name


def test_nothing_is_fetched_from_elsewhere(site):
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(?:https?:)?//[^"]+', text), page


def test_every_example_in_a_docstring_is_code(site):
    assert "&gt;&gt;&gt;" not in re.sub(
        r"<code>.*?</code>", "", (site / "reference/recording.html").read_text(), flags=re.S
    )


def test_the_search_works_from_files(site):
    """The page finds a key of scene files without a server."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--virtual-time-budget=5000",
    ]
    address = (site / "search.html").as_uri() + "?q=crease_strength"
    done = subprocess.run([chromium, *flags, "--dump-dom", address], capture_output=True, text=True, timeout=120)
    results = done.stdout.split('id="mkdocs-search-results"')[1]
    assert 'href="./scene-reference.html' in results or 'href="scene-reference.html' in results
    assert "crease_strength" in results
