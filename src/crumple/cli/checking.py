"""`crumple check`."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from crumple.cli.consoles import make_console
from crumple.cli.exits import BAD_INPUT
from crumple.cli.notices import show_notes
from crumple.cli.waiting import told_when_long
from crumple.scenes import Report, check_scene


def check_source(source: str, overrides: Sequence[str]) -> None:
    """Tell everything that is wrong, a line each, or how large the scene is; exit 2 when something is wrong."""
    with told_when_long(make_console(stderr=True), f"checking {source}"):
        report = check_scene(source, overrides)
    show_notes(report.notes)
    for error in report.errors:
        typer.echo(f"crumple: {error}", err=True)
    if report.size is not None:
        typer.echo(f"{report.source}: {'' if report.exact else 'about '}{report.size}{_strain(report)}")
    if not report.ok:
        raise typer.Exit(BAD_INPUT)


def _strain(report: Report) -> str:
    """How far the sheets are from their natural size at the start; nothing when they are not."""
    if report.strain is None or report.strain < 1e-6:
        return ""
    return f"; strained by up to {100.0 * report.strain:.2g} % at the start"
