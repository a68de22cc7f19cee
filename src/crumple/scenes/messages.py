"""One-line messages: key paths, and pydantic's findings in the form `file: key = value (remedy)`."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from crumple.runtime.errors import InputError

Path = tuple[str | int, ...]

MOST_PROBLEMS = 200
"""Problems of a file that are reported one by one; more are counted."""
LONGEST_NAME = 100
"""Names beyond this many characters are not compared with known ones, which takes time that grows with their square."""
_BARE = re.compile(r"[A-Za-z0-9_\-]{1,64}")


class SceneError(InputError):
    """Everything wrong with a scene: `problems` are all the one-line messages, the text is the first."""

    def __init__(self, problems: Sequence[str]) -> None:
        Exception.__init__(self, problems[0])
        self.problems = tuple(problems)
        self.place, self.remedy = problems[0], ""


class Problems:
    """Collects problems so that all of them can be reported at once."""

    def __init__(self, source: str) -> None:
        self.source, self.messages, self.notes = source, list[str](), list[str]()

    def add(self, path: Path, remedy: str, *value: object) -> None:
        """Note a problem at a key path, with the value if given."""
        self.messages.append(_line(place(self.source, path), remedy, *value))

    def note(self, path: Path, text: str) -> None:
        """Keep a remark about a key that is no problem, if it says anything."""
        if text:
            self.notes.append(one_line(f"{place('', path).removeprefix(': ')}: {text}"))

    @contextmanager
    def catch(self, path: Path) -> Iterator[None]:
        """Note an InputError or an unreadable file that comes up inside, at a key path, and go on after it."""
        try:
            yield
        except InputError as error:
            self.messages.append(f"{place(self.source, path)}: {one_line(str(error))}")
        except (OSError, UnicodeError, MemoryError) as error:
            self.messages.append(f"{place(self.source, path)}: {type(error).__name__}: {one_line(str(error))}")

    def stop(self) -> None:
        """Raise what was collected, if anything."""
        if self.messages:
            raise SceneError(self.messages)


def place(source: str, path: Path) -> str:
    """`scene.toml: sheets[0].material.thickness`"""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            shown = key if _BARE.fullmatch(key) else one_line(repr(key), 70)
            text += f".{shown}" if text else shown
    return f"{source}: {text}" if text else source


def one_line(text: str, limit: int = 500) -> str:
    """`text` on one line, at most `limit` characters."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def validation_messages(
    error: ValidationError, source: str, root: type[BaseModel], overrides: Sequence[Path] = ()
) -> list[str]:
    """What pydantic found, one line each, in the order of the file; what came from `overrides` names `--set`."""
    lines = []
    all_found = error.errors(include_url=False)
    for found in all_found[:MOST_PROBLEMS]:
        path, table, kinds = _resolve(found["loc"], root)
        changed = any(path == given[: len(path)] or given == path[: len(given)] for given in overrides)
        lines.append(_translate(found, place("--set" if changed else source, path), path, table, kinds))
    if len(all_found) > MOST_PROBLEMS:
        lines.append(f"{source}: {len(all_found) - MOST_PROBLEMS} more problems of this kind")
    return lines


def suggest(name: str, known: Sequence[str]) -> str:
    """`; did you mean 'x'?` when a known name is close, the known names when they are few, else nothing."""
    close = get_close_matches(name, known, n=1, cutoff=0.6) if len(name) <= LONGEST_NAME else []
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; known here: {', '.join(known)}" if 0 < len(known) <= 20 else ""


def _translate(found: Any, where: str, path: Path, table: type[BaseModel] | None, kinds: Sequence[str]) -> str:
    """One line for one pydantic error."""
    kind, context, value = found["type"], found.get("ctx", {}), found["input"]
    if kind == "extra_forbidden":
        known = list(table.model_fields) if table else []
        return _line(where, "unknown key" + suggest(str(path[-1]), known))
    if kind == "missing":
        return _line(where, "this key is missing")
    if kind == "union_tag_not_found":
        return _line(f"{where}.kind", f"this key is missing; known: {', '.join(kinds)}")
    if kind == "union_tag_invalid":
        tag = str(context.get("tag"))
        return _line(f"{where}.kind", "unknown kind" + suggest(tag, kinds), tag)
    table_name = f"must be a {context.get('class_name')}" if isinstance(value, BaseModel) else "must be a table"
    remedy = {
        "model_type": table_name,
        "model_attributes_type": "must be a table",
        "dict_type": "must be a table",
        "list_type": _list_remedy(where, value),
        "bool_type": "must be true or false",
        "string_type": "must be a text",
        "string_too_long": f"must have at most {context.get('max_length')} characters",
        "literal_error": f"must be one of {context.get('expected')}",
        "too_short": f"must have at least {context.get('min_length')} entries",
        "too_long": f"must have at most {context.get('max_length')} entries",
        "refused": context.get("remedy", ""),
    }.get(kind, found["msg"])
    return _line(where, str(remedy), value)


def _list_remedy(where: str, value: object) -> str:
    """What to do where a list is missing; a table of TOML that lacks its second brackets is the usual reason."""
    key = where.rpartition(": ")[2].rpartition(".")[2]
    return f"must be a list of tables: write [[{key}]], not [{key}]" if isinstance(value, dict) else "must be a list"


def _line(where: str, remedy: str, *value: object) -> str:
    """The text of an InputError that never fails, whatever the value."""
    try:
        return one_line(str(InputError(where, remedy, *(_tame(v) for v in value))))
    except (ValueError, RecursionError):
        return one_line(str(InputError(where, remedy)))


def _tame(value: object) -> object:
    """A value whose `repr` is cheap and cannot fail."""
    if isinstance(value, int) and abs(value) >= 10**18:
        return float("inf") if value > 0 else float("-inf")
    if isinstance(value, str | bytes):
        return value[:200]
    if isinstance(value, list | tuple):
        return [_tame(v) for v in value[:20]]
    if isinstance(value, dict):
        return {str(key)[:80]: _tame(v) for key, v in list(value.items())[:20]}
    return value


def table_path(loc: Path, root: type[BaseModel]) -> Path:
    """The key path of a pydantic location."""
    return _resolve(loc, root)[0]


def _resolve(loc: Path, root: type[BaseModel]) -> tuple[Path, type[BaseModel] | None, list[str]]:
    """The key path of a pydantic location (which also names union members), the table type that holds the key,
    and the kinds there are when the path ends at a table that needs a `kind`."""
    path: list[str | int] = []
    holder: type[BaseModel] | None = root
    current: Any = root
    for step in loc:
        current = _unwrap(current)
        if isinstance(current, dict):  # a union distinguished by `kind`: pydantic puts the kind into the location
            current = current.get(step)
            holder = current
            continue
        if step == "[key]":  # a bad key of a dictionary: the key itself comes before
            continue
        path.append(step)
        if isinstance(current, type) and issubclass(current, BaseModel):
            holder = current
            field = current.model_fields.get(str(step))
            current = field.rebuild_annotation() if field else None
        elif get_origin(current) is list:
            current = get_args(current)[0]
        elif get_origin(current) is dict:
            holder, current = None, get_args(current)[1]
        else:
            current = None
    last = _unwrap(current)
    return tuple(path), holder, list(last) if isinstance(last, dict) else []


def _unwrap(annotation: Any) -> Any:
    """The type inside Annotated and Optional; for a union of tables a dictionary from kind to table."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, types.UnionType):
        members = [member for member in get_args(annotation) if member is not type(None)]
        if len(members) == 1:
            return _unwrap(members[0])
        return {get_args(member.model_fields["kind"].annotation)[0]: member for member in members}
    return annotation
