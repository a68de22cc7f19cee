"""What is wrong with a command line itself, in one line as everything else: the flag, its value, what is allowed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

PLAIN = {
    "Input should be greater than or equal to ": "must be at least ",
    "Input should be less than or equal to ": "must be at most ",
    "Input should be a valid integer": "must be a whole number",
    "Input should be a valid number": "must be a number",
}
"""Words of the library that reads command lines, and ours."""


class OneLineGroup(TyperGroup):
    """The commands, whose usage errors are one line on stderr with exit code 2."""

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, standalone_mode: bool = True, **extra: Any
    ) -> Any:
        given = list(sys.argv[1:] if args is None else args)
        if not standalone_mode:
            return super().main(args=given, standalone_mode=False, **extra)
        try:
            code = super().main(args=given, standalone_mode=False, **extra)
        except typer.Abort:
            sys.exit(1)
        except Exception as error:
            if not hasattr(error, "format_message"):
                raise
            if not error.format_message().strip() or type(error).__name__ == "NoArgsIsHelpError":
                error.show()  # type: ignore[attr-defined]
            else:
                typer.echo(f"crumple: {describe_usage(error, given)}", err=True)
            sys.exit(getattr(error, "exit_code", 2))
        sys.exit(code if isinstance(code, int) else 0)


def describe_usage(error: Any, given: Sequence[str]) -> str:
    """The line for a usage `error` of the arguments `given`: flag, value and range where a flag is wrong."""
    command = getattr(getattr(error, "ctx", None), "command_path", "crumple").split()[1:]
    helping = " ".join(["crumple", *command, "--help"])
    parameter, message = getattr(error, "param", None), " ".join(error.format_message().split())
    flags = [flag for flag in getattr(parameter, "opts", ()) if flag.startswith("-")]
    if not flags:
        return f"{message.rstrip('.')} ({helping} tells more)"
    reason = " ".join(str(getattr(error, "message", "") or message).split()).rstrip(".")
    for theirs, ours in PLAIN.items():
        reason = reason.replace(theirs, ours)
    value = _value(flags, given)
    return f"{flags[-1]}{'' if value is None else f' = {value}'} ({reason}; {helping} tells more)"


def _value(flags: Sequence[str], given: Sequence[str]) -> str | None:
    """What was given for one of the `flags`, None when that cannot be seen."""
    for k, word in enumerate(given):
        if word in flags and k + 1 < len(given):
            return given[k + 1]
        flag, equals, value = word.partition("=")
        if equals and flag in flags:
            return value
    return None
