"""The command line, `crumple`."""

from __future__ import annotations


def main() -> None:
    """Entry point of the `crumple` command."""
    from crumple.cli.app import app

    app()


__all__ = ["main"]
