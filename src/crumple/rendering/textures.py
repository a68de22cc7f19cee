"""Pictures on sheets: image files, or ruled, squared and checked paper drawn to scale."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crumple.runtime.errors import InputError
from crumple.runtime.packages import load_package
from crumple.runtime.reading import read_regular
from crumple.runtime.typing import Floats, Ints

RESOLUTION = 1536
"""Pixels along the longer side of a generated texture."""
LARGEST = 4096
"""Pixels along a side beyond which an image is taken at half its size, again and again."""
LEVELS = 13


def _ruled(x: Floats, y: Floats) -> Floats:
    """Writing paper: blue lines every 8 mm, a red margin at 25 mm."""
    color = np.ones((*x.shape, 3))
    _line(color, y, 8e-3, 0.35e-3, (0.30, 0.48, 0.72))
    color[np.abs(x - 25e-3) < 0.3e-3] = (0.80, 0.22, 0.22)
    return color


def _squared(x: Floats, y: Floats) -> Floats:
    """Squared paper, 5 mm."""
    color = np.ones((*x.shape, 3))
    _line(color, x, 5e-3, 0.3e-3, (0.42, 0.56, 0.74))
    _line(color, y, 5e-3, 0.3e-3, (0.42, 0.56, 0.74))
    return color


def _checked(x: Floats, y: Floats) -> Floats:
    """A checkerboard of 20 mm."""
    dark = (np.floor(x / 0.02) + np.floor(y / 0.02)) % 2 == 1
    return np.where(dark[..., None], (0.16, 0.24, 0.36), (1.0, 1.0, 1.0))


def _line(color: Floats, place: Floats, distance: float, width: float, ink: tuple[float, float, float]) -> None:
    """Draw lines at the multiples of `distance` [m] but 0."""
    near = np.abs((place + distance / 2) % distance - distance / 2) < width / 2
    color[near & (place > distance / 2)] = ink


PATTERNS: dict[str, Callable[[Floats, Floats], Floats]] = {"ruled": _ruled, "squared": _squared, "checked": _checked}


class TextureAtlas:
    """Textures of a stage packed for compiled code: `texel` (n, 3) linear light, `level` (textures, LEVELS, 3) start,
    width and height of the image and of its halves."""

    def __init__(self) -> None:
        self._texels: list[NDArray[np.float32]] = [np.ones((1, 3), np.float32)]
        self._levels: list[Ints] = []
        self._known: dict[tuple[str, tuple[float, float]], int] = {}

    def add(self, name: str, extent: tuple[float, float], place: str) -> int:
        """The number of the texture `name`, a pattern or a file, on a sheet of `extent` (width, height) [m]."""
        key = (name, extent if name in PATTERNS else (0.0, 0.0))
        if key not in self._known:
            self._known[key] = self._store(load_texture(name, extent, place))
        return self._known[key]

    def _store(self, image: Floats) -> int:
        level = np.zeros((LEVELS, 3), np.int32)
        for k in range(LEVELS):
            level[k] = sum(len(part) for part in self._texels), image.shape[1], image.shape[0]
            self._texels.append(image.reshape(-1, 3).astype(np.float32))
            image = _halved(image)
        self._levels.append(level)
        return len(self._levels) - 1

    @property
    def texel(self) -> NDArray[np.float32]:
        return np.concatenate(self._texels)

    @property
    def level(self) -> Ints:
        return np.array(self._levels, np.int32).reshape(-1, LEVELS, 3)


def load_texture(name: str, extent: tuple[float, float], place: str) -> Floats:
    """The image as linear light (height, width, 3), first row at the top of the sheet."""
    if name in PATTERNS:
        width, height = extent
        pixel = max(width, height) / RESOLUTION
        columns, rows = max(round(width / pixel), 1), max(round(height / pixel), 1)
        x, y = np.meshgrid((np.arange(columns) + 0.5) * pixel, (np.arange(rows)[::-1] + 0.5) * pixel)
        return PATTERNS[name](x, y)
    if not Path(name).is_file():
        raise InputError(place, f"must be an image file or one of {', '.join(PATTERNS)}", name)
    try:
        with load_package("PIL.Image", "render").open(io.BytesIO(read_regular(name))) as file:
            image = np.asarray(file.convert("RGBA"), np.float64) / 255.0
    except (OSError, ValueError, SyntaxError) as error:
        raise InputError(place, f"cannot be read as an image ({' '.join(str(error).split())[:80]})", name) from None
    alpha = image[..., 3:]
    srgb = alpha * image[..., :3] + (1.0 - alpha)  # where it is transparent the sheet shows
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    while max(linear.shape[:2]) > LARGEST:
        linear = _halved(linear)
    return linear


def _halved(image: Floats) -> Floats:
    """Half as many pixels each way, at least one, each the mean of those below it."""
    for axis in (0, 1):
        count = image.shape[axis]
        if count > 1:
            even = np.take(image, range(0, count - count % 2, 2), axis=axis)
            odd = np.take(image, range(1, count, 2), axis=axis)
            image = 0.5 * (even + odd)
    return image
