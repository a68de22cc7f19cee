"""`crumple render`."""

from __future__ import annotations

import re
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from crumple.errors import InputError
from crumple.recording.recording import Recording
from crumple.rendering import render_film, render_frame
from crumple.rendering.spaces import named_spaces

LARGEST = 8192
"""Pixels along a side that renderers still accept."""


def render_recording(
    folder: Path,
    output: Path | None,
    *,
    frame: int,
    size: str,
    camera: str,
    color_by: str | None,
    edges: bool,
    fps: float | None,
    space: str = "world",
) -> None:
    """Write a picture or, when `output` ends in .mp4, a film; say where it is."""
    recording = Recording(folder)
    named_spaces(space)
    path = output if output is not None else folder / "last_frame.png"
    suffix, pixels = path.suffix.lower(), parse_size(size)
    if suffix not in (".png", ".mp4"):
        raise InputError("render --output", "must end in .png or .mp4", str(path))
    if fps is not None and not 0 < fps <= 1000:
        raise InputError("render --fps", "must be > 0 and at most 1000", fps)
    if not path.absolute().parent.is_dir():
        raise InputError("render --output", "its folder does not exist", str(path))
    console = Console(stderr=True)
    if suffix == ".png":
        render_frame(recording, frame, path, size=pixels, camera=camera, color_by=color_by, edges=edges, space=space)
    else:
        with Progress(console=console, disable=not console.is_terminal) as bar:
            task = bar.add_task("rendering", total=len(recording))
            render_film(
                recording, path, size=pixels, camera=camera, color_by=color_by, edges=edges, space=space, fps=fps,
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )  # fmt: skip
    console.print(f"wrote {path}", highlight=False, markup=False, soft_wrap=True)


def parse_size(text: str) -> tuple[int, int]:
    """Width and height of `1280x960`."""
    match = re.fullmatch(r"(\d{1,5})[x×](\d{1,5})", text)
    size = (int(match[1]), int(match[2])) if match else (0, 0)
    if not (min(size) >= 16 and max(size) <= LARGEST):
        raise InputError("render --size", f"must be WIDTHxHEIGHT, each 16 to {LARGEST} pixels", text)
    return size
