"""Optional packages, imported when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from crumple.errors import InputError


def need(name: str) -> Any:
    """The module `name`; `InputError` with the command that installs it when it is missing."""
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError("crumple sweep", f"needs optional packages: pip install 'crumple[sweep]' ({error})") from None
