"""Pictures as maps: how bright an image file is at points of a sheet that it lies on as a texture does."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from crumple.runtime.errors import InputError
from crumple.runtime.packages import load_package
from crumple.runtime.reading import read_regular
from crumple.runtime.typing import Floats

LUMINANCE = (0.2126, 0.7152, 0.0722)
"""Shares of red, green and blue in the brightness."""
WHITE_OF_16_BITS = 65535.0


def read_brightness(file: str, place: str) -> Floats:
    """The brightness of each pixel as it is stored, 0 black to 1 white, (height, width), first row at the top.

    A map is data, so no gamma is taken off. Transparent pixels are black. Grey pictures may have 16 bits or be floats.
    """
    pillow = load_package("PIL.Image", place)
    try:
        with pillow.open(io.BytesIO(read_regular(file))) as image:
            return _brightness(image)
    except (OSError, ValueError, SyntaxError, pillow.DecompressionBombError) as error:
        raise InputError(place, f"cannot be read as an image ({' '.join(str(error).split())[:80]})", file) from None


def _brightness(image: Any) -> Floats:
    if image.mode == "F":
        return np.clip(np.nan_to_num(np.asarray(image, np.float64)), 0.0, 1.0)
    if image.mode.startswith("I"):
        return np.clip(np.asarray(image, np.float64) / WHITE_OF_16_BITS, 0.0, 1.0)
    pixels = np.asarray(image.convert("RGBA"), np.float64) / 255.0
    return np.asarray((pixels[..., :3] @ LUMINANCE) * pixels[..., 3])


def brightness_at(picture: Floats, texture: Floats) -> Floats:
    """The brightness at texture coordinates (…, 2), linear between the centres of pixels, at the border that of it.

    The first coordinate runs from 0 at the left to 1 at the right, the second from 0 at the bottom to 1 at the top.
    """
    height, width = picture.shape
    column = np.clip(texture[..., 0] * width - 0.5, 0.0, width - 1.0)
    row = np.clip((1.0 - texture[..., 1]) * height - 0.5, 0.0, height - 1.0)
    left, top = np.floor(column).astype(np.intp), np.floor(row).astype(np.intp)
    right, bottom = np.minimum(left + 1, width - 1), np.minimum(top + 1, height - 1)
    across, down = column - left, row - top
    upper = (1.0 - across) * picture[top, left] + across * picture[top, right]
    lower = (1.0 - across) * picture[bottom, left] + across * picture[bottom, right]
    return np.asarray((1.0 - down) * upper + down * lower)
