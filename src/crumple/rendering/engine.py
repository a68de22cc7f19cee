"""The optional packages that read and write pictures and films, loaded on demand."""

from __future__ import annotations

import importlib
from typing import Any

from crumple.errors import InputError

REMEDY = "needs the rendering packages: pip install 'crumple[render]'"


def load_pillow() -> Any:
    """The module `PIL.Image`, for pictures; `InputError` with the remedy when it is not installed."""
    try:
        import PIL.Image
    except ImportError as error:
        raise InputError("render", f"{REMEDY} ({error})") from None
    return PIL.Image


def load_imageio() -> Any:
    """The `imageio` module with its encoder, for films; `InputError` with the remedy when one is not installed."""
    try:
        import imageio.v2

        importlib.import_module("imageio_ffmpeg")
    except ImportError as error:
        raise InputError("render", f"{REMEDY} ({error})") from None
    return imageio.v2


def load_matplotlib() -> Any:
    """The `matplotlib` module; `InputError` with the remedy when it is not installed."""
    try:
        import matplotlib
    except ImportError as error:
        raise InputError("render --color-by", f"{REMEDY} ({error})") from None
    return matplotlib
