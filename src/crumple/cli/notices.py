"""Notes about a scene file on stderr."""

from __future__ import annotations

from collections.abc import Sequence

import typer


def show_notes(notes: Sequence[str]) -> None:
    """Say what a scene file contains in vain, a line each."""
    for note in notes:
        typer.echo(f"note: {note}", err=True)
