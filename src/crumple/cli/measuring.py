"""`crumple validate` and `crumple bench`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from crumple.cli.consoles import make_console
from crumple.cli.exits import FAILED
from crumple.cli.reporting import show_table
from crumple.recording.log import plain, strict_json

if TYPE_CHECKING:
    from crumple.studies.benchmarking import Entry, Report
    from crumple.studies.validation import CaseResult

MOST_COLUMNS = 8
"""Of a table on the terminal."""


def validate_cases(names: Sequence[str], recordings: Path | None, as_json: bool, figures: Path | None) -> None:
    """Run validation cases (all without `names`, see `run_cases`); exit 1 when one fails.

    `recordings`: folder of the recordings that some need;  `figures`: folder for a figure of each case and the report
    page, index.html.
    """
    from crumple.studies.benchmarking import describe_machine
    from crumple.studies.validation import RECORDED, run_cases, write_report

    console = make_console()
    results = []
    for result in run_cases(names, recordings=recordings, figures=figures):
        results.append(result)
        if not as_json:
            _show_case(console, result)
    page = None if figures is None else write_report(results, figures, describe_machine())
    if as_json:
        typer.echo(strict_json([_case_record(result) for result in results]))
    elif page is not None:
        console.print(f"report: {page}", markup=False, soft_wrap=True)
    left_out = [] if names else [name for name in RECORDED if name not in {result.case for result in results}]
    if left_out and not as_json:
        console.print(f"not run, as --recordings is needed: {', '.join(left_out)}", markup=False, soft_wrap=True)
    if not all(result.passed for result in results):
        raise typer.Exit(FAILED)


def _show_case(console: Console, result: CaseResult) -> None:
    columns = (f"{result.case} ({result.seconds:.1f} s)", "expected", "measured", "tolerance", "verdict")
    rows = [
        (
            check.quantity,
            f"{check.expected:.4g}",
            f"{check.measured:.4g}",
            f"± {check.tolerance:.2g}",
            "passed" if check.passed else "FAILED",
        )
        for check in result.checks
    ]
    show_table(console, "", columns, rows)
    if result.picture is not None:
        console.print(f"figure: {result.picture}", markup=False, soft_wrap=True)


def _case_record(result: CaseResult) -> dict[str, Any]:
    """What `--json` says about a case."""
    return {
        "case": result.case,
        "passed": result.passed,
        "seconds": result.seconds,
        "figure": None if result.picture is None else str(result.picture),
        "checks": [plain(check) | {"passed": check.passed} for check in result.checks],
    }


def measure_speed(
    names: Sequence[str], as_json: bool, quick: bool, history: Path | None = None, against: Path | None = None
) -> None:
    """Run the benchmarks (all without `names`).

    `history`: file to which the run is added;  `against`: file with an earlier one, with which it is compared.
    """
    from crumple.studies.benchmarking import append_entry, describe_machine, make_entry, read_history, run_benchmarks

    console = make_console()
    before = () if against is None else read_history(against)
    machine, reports = describe_machine(), {}
    for name, report in run_benchmarks(names, quick=quick):
        reports[name] = report
        if not as_json:
            show_records(console, report.title, report.records)
    entry = make_entry(reports, machine, quick=quick)
    compared = {name: _compare(name, report, before, entry) for name, report in reports.items() if before}
    if history is not None:
        append_entry(history, entry)
    if as_json:
        typer.echo(strict_json(plain(entry) | ({"against": compared} if compared else {})))
        return
    for comparison in compared.values():
        show_records(console, comparison["title"], comparison["records"])
    console.print(", ".join(f"{name}: {value}" for name, value in machine.items()), markup=False)


def _compare(name: str, report: Report, history: Sequence[Entry], now: Entry) -> dict[str, Any]:
    """A report beside the last one of the history: `title` and `records` of the table of ratios, and what `differs`."""
    from crumple.studies.benchmarking import compare, differences, find_entry

    before = find_entry(history, name, quick=now.quick)
    if before is None:
        return {"title": f"{name}: not in the history{' as --quick' if now.quick else ''}", "records": []}
    differs = differences(before.machine, now.machine)
    said = "; ".join(f"{key} {change}" for key, change in differs.items())
    title = f"{report.title}: times what it was on {before.date} ({said or 'the same machine and versions'})"
    return {"title": title, "records": compare(report, before.records[name]), "differs": differs}


def show_records(console: Console, title: str, records: Sequence[Mapping[str, Any]]) -> None:
    """Records as a table: one row each, or one column each when they have many keys."""
    keys = list(dict.fromkeys(key for record in records for key in record))
    cells = [[_cell(record.get(key, "")) for key in keys] for record in records]
    names = [key.replace("_", " ") for key in keys]
    if len(keys) <= MOST_COLUMNS:
        show_table(console, title, names, cells)
    else:
        rows = [[name, *row] for name, row in zip(names[1:], list(zip(*cells, strict=True))[1:], strict=True)]
        show_table(console, title, [names[0], *(row[0] for row in cells)], rows)


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_cell(item)}" for key, item in value.items())
    return ", ".join(map(_cell, value)) if isinstance(value, list) else str(value)
