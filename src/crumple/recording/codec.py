"""Dataclasses as flat tables `{"mesh/u": array, "time": 0.04, …}` and back, bit by bit.

Written from the type annotations, so a field added to `State` is recorded without a line of code here.
"""

from __future__ import annotations

import hashlib
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar

import numpy as np

Scalar = int | float | bool | str
Table = dict[str, Any]
"""Field path → array or scalar."""

LENGTH = "length"
"""Under this name a tuple tells how many items it has."""
MOST_ITEMS = 100_000
"""In a tuple."""

T = TypeVar("T")


def flatten(record: Any, prefix: str = "") -> Table:
    """The fields of a dataclass by path; nested ones, and mappings of them, give paths with `/`; `None` is left out.

    A tuple gives its `…/length`, and its items under their numbers.
    """
    table: Table = {}
    for field in fields(record):
        value, path = getattr(record, field.name), prefix + field.name
        if isinstance(value, Mapping):
            for name, item in value.items():
                table |= _flat(item, f"{path}/{name}")
        else:
            table |= _flat(value, path)
    return table


def _flat(value: Any, path: str) -> Table:
    """One value by path."""
    if is_dataclass(value):
        return flatten(value, path + "/")
    if isinstance(value, tuple | list):
        table: Table = {f"{path}/{LENGTH}": len(value)}
        for k, item in enumerate(value):
            table |= _flat(item, f"{path}/{k}")
        return table
    if isinstance(value, np.ndarray):
        return {path: np.ascontiguousarray(value)}
    if isinstance(value, np.generic):
        return {path: value.item()}
    if isinstance(value, Scalar):
        return {path: value}
    if value is not None:
        raise TypeError(f"{path}: cannot record a {type(value).__name__}")
    return {}


def restore(kind: type[T], table: Mapping[str, Any]) -> T:
    """The dataclass `kind` from its table; a field that the table lacks takes its default.

    Raises `KeyError` with the path when a field is missing and has no default.
    """
    places = {"/".join(parts[:k]) for parts in (path.split("/") for path in table) for k in range(1, len(parts) + 1)}
    return _restored(kind, table, places, "")


def _restored(hint: Any, table: Mapping[str, Any], places: set[str], path: str) -> Any:
    """The value of the type `hint` at `path`; `places` are all paths of the table, and those above them."""
    if path in table:
        return table[path]
    if is_dataclass(hint):
        return _restored_fields(typing.cast(type, hint), table, places, path + "/" if path else "")
    length = table[f"{path}/{LENGTH}"]
    return tuple(_restored(item, table, places, f"{path}/{k}") for k, item in enumerate(item_hints(hint, length)))


def _restored_fields(kind: type[T], table: Mapping[str, Any], places: set[str], prefix: str) -> T:
    """The dataclass `kind` whose paths begin with `prefix`."""
    hints = _type_hints(typing.cast(typing.Hashable, kind))
    values: dict[str, Any] = {}
    for field in fields(kind):  # type: ignore[arg-type]
        path, hint = prefix + field.name, without_none(hints[field.name])
        if typing.get_origin(hint) is Mapping:
            names = sorted({key[len(path) + 1 :].split("/")[0] for key in table if key.startswith(path + "/")})
            item = typing.get_args(hint)[1]
            values[field.name] = {name: _restored(item, table, places, f"{path}/{name}") for name in names}
        elif path in places:
            values[field.name] = _restored(hint, table, places, path)
        elif hint is not hints[field.name]:
            values[field.name] = None
        elif field.default is MISSING and field.default_factory is MISSING:
            raise KeyError(path)
    return kind(**values)


@cache
def _type_hints(kind: typing.Hashable) -> dict[str, Any]:
    """The types of the fields of a dataclass, looked up once."""
    return typing.get_type_hints(kind)


def item_hints(hint: Any, length: int) -> list[Any]:
    """The types of the items of a tuple type that has `length` of them; `ValueError` when it cannot."""
    args = typing.get_args(hint)
    if typing.get_origin(hint) is not tuple or not isinstance(length, int) or not 0 <= length <= MOST_ITEMS:
        raise ValueError(f"{hint} has no {length} items")
    kinds = [args[0]] * length if args[1:] == (Ellipsis,) else list(args)
    if len(kinds) != length:
        raise ValueError(f"{hint} has no {length} items")
    return kinds


def without_none(hint: Any) -> Any:
    """The type X of an optional `X | None`; any other type as it is."""
    kinds = [kind for kind in typing.get_args(hint) if kind is not type(None)]
    is_optional = typing.get_origin(hint) in (types.UnionType, typing.Union) and len(kinds) == 1
    return kinds[0] if is_optional else hint


def digest(table: Mapping[str, Any]) -> str:
    """A fingerprint of names, types, shapes and bits, 32 hexadecimal digits."""
    fingerprint = hashlib.blake2b(digest_size=16)
    for path in sorted(table):
        value = np.asarray(table[path])
        if value.dtype.kind == "U":
            value = np.frombuffer(str(value).encode(), np.uint8)
        fingerprint.update(f"{path}:{value.dtype.str}:{value.shape};".encode())
        fingerprint.update(np.ascontiguousarray(value).data)
    return fingerprint.hexdigest()
