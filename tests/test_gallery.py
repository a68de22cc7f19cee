"""The gallery: its page is that of its script, its pictures are there, and its commands are those of the program."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from crumple.cli.app import app
from crumple.scenes import builtin_scenes

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def gallery():
    spec = importlib.util.spec_from_file_location("gallery", DOCS / "gallery.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_that_of_the_script(gallery):
    assert (DOCS / "gallery.md").read_text(encoding="utf-8") == gallery.page()


def test_pictures_are_there_and_light_enough_for_a_telephone(gallery):
    for _, _, pictures in gallery.GALLERY:
        for name, _, _ in pictures:
            assert 10_000 < (DOCS / "images" / name).stat().st_size < 3_200_000


def test_scenes_and_options_are_known(gallery):
    known = set(re.findall(r"--[a-z-]+", CliRunner().invoke(app, ["render", "--help"]).stdout))
    for scene, _, pictures in gallery.GALLERY:
        assert scene in builtin_scenes()
        for _, wishes, _ in pictures:
            assert set(re.findall(r"--[a-z-]+", wishes)) <= known
