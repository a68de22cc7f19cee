"""The optional rendering library, loaded on demand and ready to draw without a screen."""

from __future__ import annotations

import importlib
from typing import Any

from crumple.errors import InputError

REMEDY = "needs the rendering packages: pip install 'crumple[render]'"


def load_pyvista() -> Any:
    """The `pyvista` module; `InputError` with the remedy when it is not installed."""
    try:
        import pyvista
        from vtkmodules.vtkCommonCore import vtkLogger
    except ImportError as error:
        raise InputError("render", f"{REMEDY} ({error})") from None
    # Without a screen VTK tries X first, then EGL, then OSMesa, and warns about each one that it skips.
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)
    return pyvista


def load_imageio() -> Any:
    """The `imageio` module with a film encoder; `InputError` with the remedy when one is not installed."""
    try:
        import imageio.v2

        importlib.import_module("imageio_ffmpeg")
    except ImportError as error:
        raise InputError("render", f"{REMEDY} ({error})") from None
    return imageio.v2


def check_drawing(plotter: Any) -> None:
    """`InputError` when this machine has no OpenGL at all, which VTK would otherwise answer with a crash."""
    if not plotter.render_window.SupportsOpenGL():
        plotter.close()
        raise InputError("render", "no OpenGL found; install Mesa's software renderer (libegl1 or libosmesa6)")
