"""`crumple export`."""

from __future__ import annotations

from pathlib import Path

from rich.progress import Progress

from crumple.cli.consoles import make_console
from crumple.export.export import export_recording
from crumple.recording.recording import Recording


def export_folder(
    folder: Path,
    to: str | None,
    output: Path | None,
    *,
    frames: str | None,
    topology: str | None,
    obstacles: bool,
    texture: Path | None,
) -> None:
    """Write the files and say where they are."""
    recording, console = Recording(folder), make_console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("exporting", total=len(recording))
        written = export_recording(
            recording, to, output, frames=frames, topology=topology, obstacles=obstacles, texture=texture,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )  # fmt: skip
    others = "" if len(written) == 1 else f" and {len(written) - 1} more beside it"
    console.print(f"wrote {written[0]}{others}", highlight=False, markup=False, soft_wrap=True)
