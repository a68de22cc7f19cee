"""`crumple convert`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from crumple.cli.notices import show_notes
from crumple.recording.files import write_output
from crumple.runtime.errors import InputError
from crumple.scenes import dump_scene, load_scene


def convert_scene(source: str, target: Path, overrides: Sequence[str], force: bool) -> None:
    """Write the scene `source` as TOML, every default written out; an existing file is kept unless `force`."""
    if target.suffix.lower() != ".toml":
        raise InputError(str(target), "must end in .toml")
    if target.is_dir():
        raise InputError(str(target), "is a directory")
    if not target.parent.is_dir():
        raise InputError(str(target), "there is no such folder")
    if target.exists() and not force:
        raise InputError(str(target), "exists; --force replaces it")
    scene = load_scene(source, overrides)
    show_notes(scene.notes)
    write_output(target, dump_scene(scene).encode())
    typer.echo(f"{target}: {len(scene.sheets)} sheets, {len(scene.handles)} handles, {len(scene.obstacles)} obstacles")
