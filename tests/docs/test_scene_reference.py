"""The scene reference is that of the schema, explains every key, and its examples are valid."""

from __future__ import annotations

import importlib.util
import tomllib
from pathlib import Path

import pytest

from crumple.options.options import meaning
from crumple.scenes import Scene, scene_from_tables

DOCS = Path(__file__).parents[2] / "docs"
FILES = ("shirt.obj", "worn.obj", "page.obj", "panels.obj", "body.obj", "body1.obj", "gray-interlock.json", "body.usda")
FILES += ("crane.fold", "worn.png", "pins.png", "out/crumpled/frames/frame_000000.vtkhdf")


def load():
    spec = importlib.util.spec_from_file_location("scene_reference", DOCS / "scene_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


REFERENCE = load()
TABLES = list(REFERENCE.find_tables())


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_every_key_has_a_meaning_and_stands_in_an_example_that_is_valid(table, tmp_path):
    text = REFERENCE.TEXTS[table.__name__]
    fields = {key: field for key, field in table.model_fields.items() if key != "kind"}
    keys = {key for key, field in fields.items() if not meaning(field.rebuild_annotation())}
    assert keys == set(text.get("keys", ())), "a key has its meaning in its declaration, or else in the texts"
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    examples = [tomllib.loads(example) for example in text["examples"]]
    for example in examples:
        table.model_validate(example, context={"folder": str(tmp_path)})
    assert keys <= {key for example in examples for key in example}


def test_the_example_of_a_whole_scene_builds():
    tables = tomllib.loads(REFERENCE.TEXTS["Scene"]["examples"][0])
    from crumple.scenes import build

    model, state, _ = build(scene_from_tables(tables))
    assert (len(model.handles), len(model.attachments), len(model.obstacles)) == (1, 1, 1)
    assert state.bonds.nodes.shape[0] > 3


def test_texts_are_of_tables_that_exist():
    assert set(REFERENCE.TEXTS) == {table.__name__ for table in TABLES}
    assert TABLES[0] is Scene


def test_the_page_is_that_of_the_schema():
    page = (DOCS / "scene-reference.md").read_text(encoding="utf-8")
    assert page == REFERENCE.page(), "run: python docs/scene_reference.py"
