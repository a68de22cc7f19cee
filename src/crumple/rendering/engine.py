"""The optional packages that read and write pictures and films, loaded on demand."""

from __future__ import annotations

import importlib
from typing import Any

from crumple.errors import InputError

REMEDY = "needs the rendering packages: pip install 'crumple[render]'"


def load_imageio(film: bool = False) -> Any:
    """The `imageio` module, for films with its encoder; `InputError` with the remedy when one is not installed."""
    try:
        import imageio.v2

        if film:
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
