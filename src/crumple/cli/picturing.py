"""`crumple render`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from rich.progress import Progress

from crumple.cli.consoles import make_console
from crumple.export.clip import parse_frames
from crumple.recording.recording import Recording
from crumple.rendering import Style, View, render_film, render_frame
from crumple.rendering.spaces import named_spaces
from crumple.rendering.writers import FILMS, PICTURES, is_sequence
from crumple.runtime.errors import InputError

LARGEST = 8192
"""Pixels along a side."""


def render_recording(
    folder: Path,
    output: Path | None,
    *,
    frame: int,
    size: str,
    space: str,
    fps: float | None,
    turntable: bool,
    frames: str | None,
    view: View,
    style: dict[str, Any],
) -> None:
    """Write a film or a picture, as the name of `output` tells; say where it is."""
    recording = Recording(folder)
    named_spaces(space)
    Style(**style)
    path = output if output is not None else folder.absolute().parent / f"{folder.absolute().name}.mp4"
    pixels = parse_size(size)
    film = is_sequence(path) or path.suffix.lower() in FILMS
    if not film and path.suffix.lower() not in PICTURES:
        known = ", ".join((*FILMS, *PICTURES))
        raise InputError("render --output", f"must end in {known}, or be numbered pictures x.%04d.png", str(path))
    if fps is not None and not 0 < fps <= 1000:
        raise InputError("render --fps", "must be > 0 and at most 1000", fps)
    if not path.absolute().parent.is_dir():
        raise InputError("render --output", "its folder does not exist", str(path))
    if turntable and not film:
        raise InputError("render --turntable", "makes a film: --output must end in " + ", ".join(FILMS), str(path))
    recording.frame_number(frame, "render --frame")
    if frames is not None and (turntable or not film):
        raise InputError("render --frames", "is for films and numbered pictures; --frame chooses one frame", frames)
    chosen = parse_frames(recording, frames, "render --frames") if film else None
    console = make_console(stderr=True)
    if film:
        with Progress(console=console, disable=not console.is_terminal) as bar:
            task = bar.add_task("rendering", total=len(chosen or recording))
            render_film(
                recording, path, size=pixels, camera=view, space=space, fps=fps,
                turntable=frame if turntable else None, frames=chosen,
                progress=lambda done, total: bar.update(task, completed=done, total=total), **style,
            )  # fmt: skip
    else:
        render_frame(recording, frame, path, size=pixels, camera=view, space=space, **style)
    console.print(f"wrote {_shown(path)}", highlight=False, markup=False, soft_wrap=True)


def make_view(
    camera: str, target: str | None, orbit: float, follow: bool | None, zoom: float, lens: float | None
) -> View:
    """The view that the options describe; `camera` is a name or a position X,Y,Z [m]."""
    position = parse_point("render --camera", camera) if "," in camera else None
    return View(
        direction="auto" if position else camera,
        position=position,
        target=parse_point("render --target", target) if target is not None else None,
        orbit=orbit,
        follow=follow,
        zoom=zoom,
        lens=lens,
    )


def parse_point(place: str, text: str) -> tuple[float, float, float]:
    """Three numbers of `0.1,-0.4,0.3`."""
    try:
        x, y, z = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(place, "must be three numbers X,Y,Z in m", text) from None
    return x, y, z


def parse_size(text: str) -> tuple[int, int]:
    """Width and height of `1280x960`."""
    match = re.fullmatch(r"(\d{1,5})[x×](\d{1,5})", text)
    size = (int(match[1]), int(match[2])) if match else (0, 0)
    if not (min(size) >= 16 and max(size) <= LARGEST):
        raise InputError("render --size", f"must be WIDTHxHEIGHT, each 16 to {LARGEST} pixels", text)
    return size


def _shown(path: Path) -> Path:
    """The path as seen from here, where it is below this folder."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_absolute() and path.is_relative_to(here) else path
