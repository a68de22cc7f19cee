"""Optional libraries, imported when they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from crumple.errors import InputError


def load_package(module: str, extra: str, purpose: str) -> Any:
    """The imported `module`; `InputError` that names crumple's `extra` when it is not installed."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(purpose, f"needs an optional package: pip install 'crumple[{extra}]' ({error})") from None
