"""The one place where consoles are made: text is shown as it is, never taken for markup.

Names of folders, sheets and phases come from users and files; rich would take `[/x]` in them for a tag and fail.
"""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.progress import TextColumn


def make_console(*, stderr: bool = False, **options: Any) -> Console:
    """A console without markup and emoji codes; other `options` as rich has them."""
    return Console(stderr=stderr, markup=False, emoji=False, **options)


def text_column(text: str) -> TextColumn:
    """A column of a progress bar that shows `text` as it is."""
    return TextColumn(text, markup=False)
