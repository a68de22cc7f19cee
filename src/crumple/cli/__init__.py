"""The command line, `crumple`."""

from __future__ import annotations


def main() -> None:
    """Entry point of the `crumple` command."""
    from crumple.cli.app import app
    from crumple.cli.streams import secure_streams

    secure_streams()
    app(prog_name="crumple")


__all__ = ["main"]
