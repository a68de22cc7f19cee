"""For mkdocstrings: lines of docstrings that begin with >>> are code."""

from __future__ import annotations

import re
from typing import Any

import griffe

_LINES = re.compile(r"^>>> .*(?:\n(?!\n).+)*", re.MULTILINE)
_FLAGS = re.compile(r"\s*# doctest: .*$", re.MULTILINE)


class Doctests(griffe.Extension):
    """Puts examples in fences."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            fenced = _LINES.sub(lambda found: f"```pycon\n{found[0]}\n```", obj.docstring.value)
            obj.docstring.value = _FLAGS.sub("", fenced)
