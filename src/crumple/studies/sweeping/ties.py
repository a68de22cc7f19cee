"""Keys that follow a varied one: `obstacles[0].shape.radius = 1.1*sheets[0].shape.radius` lets a sphere grow with the
sheet in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crumple.runtime.errors import InputError
from crumple.scenes.overrides import parse_path
from crumple.studies.sweeping.axes import NUMBER, number_text

_TIE = re.compile(rf"\s*([^=]+?)\s*=\s*({NUMBER})\s*\*\s*(\S+)\s*")


@dataclass(frozen=True)
class Tie:
    """A `key` of the scene whose value is `factor` times that of the varied key `leader`."""

    key: str
    factor: float
    leader: str

    def override(self, values: Mapping[str, Any]) -> str:
        """`key=value` for a run with the varied `values` by key."""
        value = values[self.leader]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"--tie {self.key}", f"{self.leader} is not a number", value)
        return f"{self.key}={number_text(self.factor * value)}"


def parse_tie(text: str) -> Tie:
    """The tie that a text after `--tie` describes."""
    found = _TIE.fullmatch(text)
    if found is None:
        raise InputError("--tie", "must have the form key=factor*key, with a key that --vary varies", text)
    for key in (found[1], found[3]):
        try:
            parse_path(key)
        except InputError as error:
            raise InputError("--tie", error.remedy, key) from None
    return Tie(found[1], float(found[2]), found[3])
