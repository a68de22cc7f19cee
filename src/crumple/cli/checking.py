"""`crumple check`."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from crumple.cli.exits import BAD_INPUT
from crumple.cli.notices import show_notes
from crumple.scenes import check_scene


def check_source(source: str, overrides: Sequence[str]) -> None:
    """Tell everything that is wrong, a line each, or how large the scene is; exit 2 when something is wrong."""
    report = check_scene(source, overrides)
    show_notes(report.notes)
    for error in report.errors:
        typer.echo(f"crumple: {error}", err=True)
    if report.size is not None:
        typer.echo(f"{report.source}: {'' if report.exact else 'about '}{report.size}")
    if not report.ok:
        raise typer.Exit(BAD_INPUT)
