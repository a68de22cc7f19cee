"""Scene files in TOML: reading, validation, and writing of resolved scenes."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from importlib import resources
from math import inf
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import ValidationError

from crumple.runtime.errors import InputError
from crumple.scenes.arcsim.conversion import read_arcsim
from crumple.scenes.messages import SceneError, one_line, suggest, validation_messages
from crumple.scenes.overrides import apply_overrides, parse_override, quick_overrides
from crumple.scenes.pattern_scene import pattern_tables
from crumple.scenes.schema.scene import Scene
from crumple.scenes.text import read_text

LARGEST_SCENE = 10_000_000
"""Scene files above this size are refused before they are read [bytes]."""
MOST_DOTS = 100
"""In a key; longer ones are nonsense and take tomllib quadratic time."""


def load_scene(source: Scene | str | Path, overrides: Sequence[str] = (), *, quick: bool = False) -> Scene:
    """The scene of a built-in name or a file, or a scene itself, with `key=value` overrides applied, after `[quick]` if
    asked.

    Files named in it are looked up beside the scene file and made absolute. Raises SceneError, which holds all
    that is wrong, one line each.
    """
    if isinstance(source, Scene):
        if not overrides and not quick:
            return source
        return scene_from_tables(source.tables(), source=source.source, overrides=overrides, quick=quick)
    tables, label, folder = read_scene(source)
    return scene_from_tables(tables, source=label, folder=folder, overrides=overrides, quick=quick)


def read_scene(source: str | Path) -> tuple[dict[str, Any], str, Path]:
    """The raw tables of a built-in scene or a file, what errors call it, and the folder of its files."""
    name = str(source)
    if name in _builtin_names() and not Path(name).is_file():
        text = resources.files("crumple.scenes.builtin").joinpath(f"{name}.toml").read_text("utf-8")
        return parse_toml(text, f"{name}.toml"), f"{name}.toml", Path.cwd()
    label = one_line(name, 300) or "scene"
    path = Path(name)
    _check_file(path, label)
    return READERS[path.suffix.lower()](path, label), label, path.resolve().parent


def scene_from_tables(
    tables: dict[str, Any],
    *,
    source: str = "scene",
    folder: str | Path = ".",
    overrides: Sequence[str] = (),
    quick: bool = False,
) -> Scene:
    """A validated scene from plain tables (as a TOML file gives them); `source` is what errors call it."""
    given = [parse_override(text) for text in overrides]
    notes = getattr(tables, "notes", ())
    settle = getattr(tables, "settle", None)  # what follows from other keys, which overrides may change
    try:
        tables = _copied(tables)
        shortened = tables.pop("quick", None)
        if quick:
            if shortened is None:
                remedy = "has no table [quick] that says what --quick means; add one, or use --set and --frames instead"
                raise InputError(source, remedy)
            apply_overrides(tables, quick_overrides(shortened, source), f"{source}: quick")
        apply_overrides(tables, [(path, _copied(value)) for path, value in given], "--set")
        if settle is not None:
            notes = (*notes, *settle(tables, [path for path, _ in given]))
        return Scene.model_validate(tables, context={"folder": str(folder), "source": source, "notes": notes})
    except ValidationError as error:
        raise SceneError(validation_messages(error, source, Scene, [path for path, _ in given])) from None
    except RecursionError:
        raise SceneError([f"{source}: tables are nested too deeply"]) from None


def dump_scene(scene: Scene) -> str:
    """The resolved scene as TOML: every default written out, files by absolute path; loads back to the same."""
    return tomli_w.dumps(scene.tables())


def builtin_scenes() -> dict[str, str]:
    """Names and descriptions of the scenes that come with the package."""
    return {name: load_scene(name).description for name in _builtin_names()}


def parse_toml(text: str, label: str) -> dict[str, Any]:
    """The tables of a TOML text; syntax errors name the line."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.count(".") > MOST_DOTS and line.partition("=")[0].count(".") > MOST_DOTS:
            raise InputError(f"{label}: line {number}", "tables are nested too deeply")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, _, where = str(error).rpartition(" (at ")
        spot = where.rstrip(")") if message else "end of document"
        raise InputError(f"{label}: {spot}", one_line(message or where, 200)) from None
    except RecursionError:
        raise InputError(label, "values are nested too deeply") from None
    except ValueError as error:
        raise InputError(label, one_line(str(error), 200)) from None


def _read_toml(path: Path, label: str) -> dict[str, Any]:
    return parse_toml(read_text(path, label).replace("\r\n", "\n"), label)


READERS: dict[str, Callable[[Path, str], dict[str, Any]]] = {
    ".toml": _read_toml,
    ".json": read_arcsim,
    ".fold": pattern_tables,
    ".svg": pattern_tables,
}
"""How a scene file is read into tables, by suffix: (path, what errors call it) -> tables."""


def _check_file(path: Path, label: str) -> None:
    """Refuse what is not a scene file before opening it."""
    try:
        if path.is_dir():
            raise InputError(label, "is a directory, not a scene file")
        if not path.exists():
            names = sorted(_builtin_names())
            raise InputError(label, "there is no such file or built-in scene" + suggest(label, names))
        if not path.is_file():
            raise InputError(label, "is not a regular file")
        if path.suffix.lower() not in READERS:
            raise InputError(label, f"scene files end in {', '.join(READERS)}")
        if path.stat().st_size > LARGEST_SCENE:
            raise InputError(label, f"is larger than {LARGEST_SCENE // 10**6} MB; is this a scene file?")
    except (OSError, ValueError) as error:
        raise InputError(label, f"cannot be read: {one_line(str(error), 200)}") from None


def _builtin_names() -> list[str]:
    folder = resources.files("crumple.scenes.builtin")
    return sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml"))


def _copied(value: Any) -> Any:
    """Tables and lists copied, so that overrides leave the caller's alone; whole numbers beyond TOML's 64 bits
    become infinite, which every key refuses (to print them can fail)."""
    if isinstance(value, dict):
        return {key: _copied(below) for key, below in value.items()}
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return inf if value > 0 else -inf
    return [_copied(below) for below in value] if isinstance(value, list) else value
