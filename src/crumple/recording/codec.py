"""Dataclasses as flat tables `{"mesh/u": array, "time": 0.04, …}` and back, bit by bit.

Written from the type annotations, so a field added to `State` is recorded without a line of code here.
"""

from __future__ import annotations

import hashlib
import typing
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

Scalar = int | float | bool | str
Table = dict[str, Any]
"""Field path → array or scalar."""

T = TypeVar("T")


def flatten(record: Any, prefix: str = "") -> Table:
    """The fields of a dataclass by path; nested ones, and mappings of them, give paths with `/`; `None` is left out."""
    table: Table = {}
    for field in fields(record):
        value, path = getattr(record, field.name), prefix + field.name
        if is_dataclass(value):
            table |= flatten(value, path + "/")
        elif isinstance(value, Mapping):
            for name, item in value.items():
                table |= flatten(item, f"{path}/{name}/")
        elif isinstance(value, np.ndarray):
            table[path] = np.ascontiguousarray(value)
        elif isinstance(value, np.generic):
            table[path] = value.item()
        elif isinstance(value, Scalar):
            table[path] = value
        elif value is not None:
            raise TypeError(f"{type(record).__name__}.{field.name}: cannot record a {type(value).__name__}")
    return table


def restore(kind: type[T], table: Mapping[str, Any], prefix: str = "") -> T:
    """The dataclass `kind` from its table; a field that the table lacks takes its default.

    Raises `KeyError` with the path when a field is missing and has no default.
    """
    hints = typing.get_type_hints(kind)
    values: dict[str, Any] = {}
    for field in fields(kind):  # type: ignore[arg-type]
        path, hint = prefix + field.name, hints[field.name]
        if typing.get_origin(hint) is Mapping:
            item = typing.get_args(hint)[1]
            names = sorted({key[len(path) + 1 :].split("/")[0] for key in table if key.startswith(path + "/")})
            values[field.name] = {name: restore(item, table, f"{path}/{name}/") for name in names}
        elif is_dataclass(hint) and any(key.startswith(path + "/") for key in table):
            values[field.name] = restore(typing.cast(type, hint), table, path + "/")
        elif path in table:
            values[field.name] = table[path]
        elif type(None) in typing.get_args(hint):
            values[field.name] = None
        elif field.default is MISSING and field.default_factory is MISSING:
            raise KeyError(path)
    return kind(**values)


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
