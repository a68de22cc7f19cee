"""The report page: all cases with their numbers and figures in one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import inspect
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path

from crumple.runtime.reading import read_regular
from crumple.studies.validation.cases import CASES, RECORDED
from crumple.studies.validation.result import CaseResult, Check

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: .8rem 0; }
th, td { padding: .2rem .9rem .2rem 0; text-align: left; border-bottom: 1px solid #ddd; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.passed { color: #176b2c; } .failed { color: #b00020; font-weight: bold; } .open { color: #666; }
pre { white-space: pre-wrap; background: #f6f6f4; padding: .8rem; font-size: 13px; }
img { max-width: 100%; }
"""


def write_report(results: Sequence[CaseResult], folder: Path, machine: Mapping[str, str]) -> Path:
    """Write `folder`/index.html, figures included, and return its path; `machine` says what the results were made on.

    Figures are taken from the pictures that the results name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "index.html"
    parts = [_head(results, machine), _summary(results), *map(_section, results), "</body></html>\n"]
    page.write_text("\n".join(parts), encoding="utf-8")
    return page


def _head(results: Sequence[CaseResult], machine: Mapping[str, str]) -> str:
    checks = [check for result in results for check in result.checks]
    passed = sum(check.passed for check in checks)
    facts = {"date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")} | dict(machine)
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in facts.items())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>crumple: validation</title>'
        f"<style>{STYLE}</style></head><body>\n<h1>crumple: validation</h1>\n"
        f"<p>{len(results)} cases, {passed} of {len(checks)} checks passed.</p>\n<table>{rows}</table>"
    )


def _summary(results: Sequence[CaseResult]) -> str:
    """One row per case, then the names of those that were not run."""
    rows = [
        f'<tr><td><a href="#{escape(result.case)}">{escape(result.case)}</a></td>'
        f'<td class="number">{sum(check.passed for check in result.checks)} of {len(result.checks)}</td>'
        f'<td class="number">{result.seconds:.1f}</td>{_verdict(result.passed)}</tr>'
        for result in results
    ]
    head = "<tr><th>case</th><th>checks passed</th><th>seconds</th><th>verdict</th></tr>"
    shown = {result.case for result in results}
    others = ", ".join(name for name in [*CASES, *RECORDED] if name not in shown)
    rest = f'\n<p class="open">Not in this run: {escape(others)}.</p>' if others else ""
    return f"<h2>Cases</h2>\n<table>{head}{''.join(rows)}</table>{rest}"


def _section(result: CaseResult) -> str:
    head = "<tr><th>quantity</th><th>expected</th><th>measured</th><th>tolerance</th><th>verdict</th></tr>"
    rows = "".join(map(_row, result.checks))
    return (
        f'<h2 id="{escape(result.case)}">{escape(result.case)}</h2>\n<pre>{escape(_description(result.case))}</pre>\n'
        f"<table>{head}{rows}</table>\n{_picture(result)}"
    )


def _row(check: Check) -> str:
    numbers = (f"{check.expected:.4g}", f"{check.measured:.4g}", f"± {check.tolerance:.2g}")
    cells = "".join(f'<td class="number">{number}</td>' for number in numbers)
    return f"<tr><td>{escape(check.quantity)}</td>{cells}{_verdict(check.passed)}</tr>"


def _verdict(passed: bool) -> str:
    return '<td class="passed">passed</td>' if passed else '<td class="failed">FAILED</td>'


def _description(name: str) -> str:
    """What the case's module says about it."""
    case = RECORDED[name].validate if name in RECORDED else CASES.get(name)
    module = None if case is None else inspect.getmodule(case)
    return "" if module is None else inspect.getdoc(module) or ""


def _picture(result: CaseResult) -> str:
    if result.picture is None:
        return ""
    data = base64.b64encode(read_regular(result.picture)).decode("ascii")
    return f'<img alt="{escape(result.case)}" src="data:image/png;base64,{data}">'
