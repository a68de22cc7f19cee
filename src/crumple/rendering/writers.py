"""Pictures and films as files."""

from __future__ import annotations

import errno
import importlib
import io
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crumple.recording.files import staged, write_output
from crumple.rendering.style import QUALITIES
from crumple.runtime.errors import InputError
from crumple.runtime.packages import load_package

Write = Callable[[NDArray[np.uint8]], None]

PICTURES, FILMS = (".png", ".jpg", ".jpeg"), (".mp4", ".webm", ".gif")
GIF_RATE = 50.0
"""Frames per second beyond which viewers of GIF slow down."""
DITHER = 7.0
"""Amplitude of the dithering of a GIF [levels of 256]."""


def save_picture(image: NDArray[np.uint8], path: Path) -> None:
    """Write a picture in the format that the name ends with."""
    kind, options = ("PNG", {}) if path.suffix.lower() == ".png" else ("JPEG", {"quality": 93})
    content = io.BytesIO()
    load_package("PIL.Image", "render").fromarray(image).save(content, kind, **options)
    write_output(path, content.getvalue())


def is_sequence(path: Path) -> bool:
    """Whether a name stands for numbered pictures, such as `x.%04d.png`."""
    return path.suffix.lower() in PICTURES and "%" in path.name


@contextmanager
def open_writer(path: Path, fps: float, quality: str) -> Iterator[Write]:
    """A function that adds a picture to the film (or the sequence of pictures) `path`."""
    suffix = path.suffix.lower()
    if is_sequence(path):
        yield _sequence(path)
        return
    if suffix == ".gif":
        frames: list[NDArray[np.uint8]] = []
        yield frames.append
        _write_gif(path, frames, min(fps, GIF_RATE))
        return
    if suffix not in FILMS:
        raise InputError("render --output", f"must end in {', '.join(FILMS)} or in a number, x.%04d.png", str(path))
    crf = str(QUALITIES[quality].crf + (14 if suffix == ".webm" else 0))
    codec = ("libvpx-vp9", ["-crf", crf, "-b:v", "0", "-row-mt", "1", "-cpu-used", "4"])
    if suffix == ".mp4":
        codec = ("libx264", ["-crf", crf, "-movflags", "+faststart"])
    with staged(path) as place:
        load_package("imageio_ffmpeg", "render")
        writer = load_package("imageio.v2", "render").get_writer(
            place, format="FFMPEG", fps=fps, codec=codec[0], quality=None, macro_block_size=2, pixelformat="yuv420p",
            output_params=codec[1],
        )  # fmt: skip
        try:
            yield writer.append_data
        except OSError as error:
            raise _plain_error(error, place) from None
        finally:
            writer.close()
        check_film(place)


def check_film(path: Path) -> None:
    """`OSError` unless ffmpeg can read the film to its end: it does not tell when the disk takes no more."""
    program = importlib.import_module("imageio_ffmpeg").get_ffmpeg_exe()
    command = [program, "-v", "error", "-i", str(path), "-c", "copy", "-f", "null", "-"]
    told = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if told.returncode != 0 or told.stderr.strip():
        raise OSError(errno.EIO, "the film is not complete; is the disk full?", str(path))


def _plain_error(error: OSError, path: Path) -> OSError:
    """The error without the log of ffmpeg, which imageio puts into it."""
    return error if error.strerror else OSError(errno.EIO, "ffmpeg has stopped; is the disk full?", str(path))


def _sequence(path: Path) -> Write:
    """A function that writes pictures with the numbers 0, 1, 2, …"""
    try:
        if path.name % 0 == path.name % 1:
            raise ValueError
    except (TypeError, ValueError):
        raise InputError("render --output", "must hold one number, as in x.%04d.png", str(path)) from None
    count = 0

    def write(image: NDArray[np.uint8]) -> None:
        nonlocal count
        save_picture(image, path.with_name(path.name % count))
        count += 1

    return write


def _write_gif(path: Path, frames: list[NDArray[np.uint8]], fps: float) -> None:
    """An endless GIF with one palette for all frames, so that still parts stay still."""
    if not frames:
        return
    Image = load_package("PIL.Image", "render")
    few = [frames[k] for k in np.unique(np.linspace(0, len(frames) - 1, 9).round().astype(int))]
    palette = Image.fromarray(np.concatenate(few)).quantize(256, method=Image.Quantize.MEDIANCUT)
    images = [Image.fromarray(_dithered(frame)).quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    content = io.BytesIO()
    duration = max(round(1000 / fps), 20)
    images[0].save(content, "GIF", save_all=True, append_images=images[1:], duration=duration, loop=0, optimize=False)
    write_output(path, content.getvalue())


def _dithered(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The image with a fixed pattern on it, so that few colours show as gradients (ordered dithering, Bayer 1973)."""
    pattern = np.zeros((1, 1))
    for _ in range(3):
        pattern = np.block([[4 * pattern, 4 * pattern + 2], [4 * pattern + 3, 4 * pattern + 1]])
    height, width = image.shape[:2]
    step = (pattern / 64.0 - 0.5) * DITHER
    tiled = np.tile(step, (-(-height // 8), -(-width // 8)))[:height, :width, None]
    return np.clip(np.round(image + tiled), 0, 255).astype(np.uint8)
