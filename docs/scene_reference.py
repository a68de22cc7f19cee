"""Write docs/scene-reference.md: every key of a scene file with its meaning, values, unit and default, and examples.

    python docs/scene_reference.py

Names, values, units, bounds and defaults are those of the schema (`crumple.scenes`). What an option means says its
declaration (`crumple.options`); what any other key means, and the examples, are in docs/scene_reference.toml. A key
that has no meaning in either is an error.
"""

from __future__ import annotations

import tomllib
import types
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from crumple.options.options import meaning
from crumple.options.quantities import Quantity, Whole
from crumple.scenes import Scene
from crumple.scenes.quantities import ExistingFile, ExistingRecording, Name, Vector

DOCS = Path(__file__).parent
TEXTS: dict[str, dict[str, Any]] = tomllib.loads((DOCS / "scene_reference.toml").read_text(encoding="utf-8"))
"""By class: `intro`, `keys` (key → meaning, of those that are not declared with one), `examples` (TOML texts)."""
Tables = dict[type[BaseModel], list[str]]
"""Every table of the format, with the places in a file where it may stand."""


def find_tables(table: type[BaseModel] = Scene, place: str = "", found: Tables | None = None) -> Tables:
    """All tables below `table`, in the order of the keys that hold them."""
    found = {} if found is None else found
    if table in found:
        found[table].append(place)
        return found
    found[table] = [place]
    for key, field in table.model_fields.items():
        annotation = field.rebuild_annotation()
        brackets = "[]" if _holds(annotation, list) else ".NAME" if _holds(annotation, dict) else ""
        for below in _tables_in(annotation):
            find_tables(below, f"{place}.{key}{brackets}".lstrip("."), found)
    return found


def page() -> str:
    """The reference as Markdown."""
    lines = [
        "# Scene files, key by key",
        "",
        "A scene is a [TOML](https://toml.io) file. All quantities are in SI units, angles of rotation in degrees.",
        "Unknown keys are errors. A key without a default is needed; one with the default – may be left out. The class",
        "of the same name in `crumple.scenes` makes the table in Python, with the same keys",
        "([examples](api.md#scenes-in-python)).",
        "[Scenes](scenes.md) explains how the parts go together.",
        "",
        "This page is made from the schema by `python docs/scene_reference.py`.",
    ]
    for table, places in find_tables().items():
        lines += ["", *section(table, places)]
    return "\n".join(lines) + "\n"


def section(table: type[BaseModel], places: list[str]) -> list[str]:
    """Heading, where it stands, what it is, its keys and its examples."""
    text = TEXTS[table.__name__]
    kind = table.model_fields.get("kind")
    where = " or ".join(f"`{place}`" for place in dict.fromkeys(places) if place) or "the file itself"
    if kind is not None:
        where += f' with `kind = "{kind.default}"`'
    lines = [f"## {table.__name__}", "", f"In a file: {where}. {text['intro']}", ""]
    lines += ["| key | meaning | value | unit | default |", "|---|---|---|---|---|"]
    for key, field in table.model_fields.items():
        if key == "kind":
            continue
        annotation = field.rebuild_annotation()
        value, unit = describe(annotation)
        means = meaning(annotation) or text["keys"][key]
        lines.append(f"| `{key}` | {means} | {value} | {unit or '–'} | {_default(field)} |")
    if len(lines) == 6:
        lines = [*lines[:4], "It has no other keys."]
    for example in text["examples"]:
        lines += ["", "```toml", example.strip(), "```"]
    return lines


def describe(annotation: Any) -> tuple[str, str]:
    """What values a key takes, with bounds, and in which unit."""
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        for mark in marks:
            if isinstance(mark, Quantity):
                return f"number{_bounds(mark)}", mark.unit
            if isinstance(mark, Vector):
                single = "one number or " if mark.repeat else ""
                numbers = f"{single}list of {mark.size} numbers{_bounds(mark.component)}"
                return numbers + (", not all 0" if mark.nonzero else ""), mark.component.unit
            if isinstance(mark, Whole):
                return f"whole number, {mark.least} to {mark.most}", ""
            if isinstance(mark, Name):
                return "name", ""
            if isinstance(mark, ExistingFile):
                return "file name", ""
            if isinstance(mark, ExistingRecording):
                return "recording", ""
        return describe(inner)
    if get_origin(annotation) in (Union, types.UnionType):
        members = [member for member in get_args(annotation) if member is not type(None)]
        described = [describe(member) for member in members]
        return " or ".join(value for value, _ in described), described[0][1]
    if get_origin(annotation) is Literal:
        return " or ".join(f'`"{choice}"`' for choice in get_args(annotation)), ""
    if get_origin(annotation) is list:
        value, unit = describe(get_args(annotation)[0])
        return f"list, each: {value}", unit
    if get_origin(annotation) is dict:
        value, unit = describe(get_args(annotation)[1])
        return f"tables by name, each: {value}", unit
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})", ""
    return {bool: "`true` or `false`", str: "text"}[annotation], ""


def _bounds(quantity: Quantity) -> str:
    """`, > 0, ≤ 10000`."""
    signs = (("> ", quantity.above), ("≥ ", quantity.least), ("< ", quantity.below), ("≤ ", quantity.most))
    return "".join(f", {sign}{bound:g}" for sign, bound in signs if bound is not None)


def _default(field: FieldInfo) -> str:
    """The default as TOML would write it."""
    if field.default_factory is not None:
        return "empty"
    default = field.default
    if default is PydanticUndefined:
        return "**needed**"
    if isinstance(default, BaseModel):
        return "its defaults"
    if default in (None, "", inf):
        return "–"
    if isinstance(default, tuple):
        return f"`[{', '.join(f'{number:g}' for number in default)}]`"
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return f'`"{default}"`' if isinstance(default, str) else f"`{default:g}`"


def _tables_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [table for below in get_args(annotation) for table in _tables_in(below)]


def _holds(annotation: Any, kind: type) -> bool:
    return get_origin(annotation) is kind or any(_holds(below, kind) for below in get_args(annotation))


if __name__ == "__main__":
    (DOCS / "scene-reference.md").write_text(page(), encoding="utf-8")
