"""Notes about a scene file on stderr."""

from __future__ import annotations

from collections.abc import Sequence

import typer


def show_notes(notes: Sequence[str]) -> None:
    """Say what a scene file contains in vain, a line each."""
    for note in notes:
        typer.echo(f"note: {note}", err=True)


def show_warning(message: str) -> None:
    """Say what the user should know, in one line."""
    typer.echo(f"warning: {message}", err=True)
