"""`crumple validate` and `crumple bench`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import typer
from rich.console import Console

from crumple.cli.exits import FAILED
from crumple.cli.reporting import show_table
from crumple.recording.log import plain


def validate_cases(names: Sequence[str], as_json: bool) -> None:
    """Run validation cases (all without `names`); exit 1 when one fails."""
    from crumple.validation import run_cases

    results = [plain(result) | {"passed": bool(result.passed)} for result in run_cases(names)]
    if as_json:
        typer.echo(json.dumps(results))
    else:
        show_records(Console(), "validation", results)
    if not all(result["passed"] for result in results):
        raise typer.Exit(FAILED)


def measure_speed(as_json: bool) -> None:
    """Run the benchmarks."""
    from crumple.benchmarking import run_benchmarks

    results = [plain(result) for result in run_benchmarks()]
    if as_json:
        typer.echo(json.dumps(results))
    else:
        show_records(Console(), "benchmarks", results)


def show_records(console: Console, title: str, records: Sequence[Mapping[str, Any]]) -> None:
    """Records as a table with a column for every key."""
    keys = list(dict.fromkeys(key for record in records for key in record))
    rows = [[_cell(record.get(key, "")) for key in keys] for record in records]
    show_table(console, title, [key.replace("_", " ") for key in keys], rows)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_cell(item)}" for key, item in value.items())
    return ", ".join(map(_cell, value)) if isinstance(value, list) else str(value)
