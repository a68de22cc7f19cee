"""Tables on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from crumple.recording.info import RecordingInfo
    from crumple.recording.verify import Verification


def show_info(console: Console, info: RecordingInfo) -> None:
    """Size, cost and phases of a recording."""
    _show_pairs(
        console,
        "recording",
        {
            "frames": f"{info.frames}, the first at the start",
            "simulated time": f"{info.time:.4g} s",
            "faces (last, mean)": f"{info.faces_last}, {info.faces_mean:.0f}",
            "steps": f"{info.steps} ({info.retries} retries)",
            "Newton iterations": f"{info.newton_iterations}",
            "contacts at most": f"{info.contacts_max}",
            "linear solver": info.linear_solver or "unknown",
            "wall time": f"{info.seconds:.1f} s ({info.seconds_per_frame:.3g} s per frame)",
        },
    )
    rows = sorted(info.phases.items(), key=lambda item: -item[1])
    share = 100.0 / info.seconds if info.seconds else 0.0
    if rows:
        cells = [(phase, f"{seconds:.2f}", f"{seconds * share:.0f} %") for phase, seconds in rows]
        show_table(console, "time per phase", ("phase", "seconds", "share"), cells)
    if info.energies:
        _show_pairs(console, "energy at the end", {name: f"{joule:.4g} J" for name, joule in info.energies.items()})
    for warning in (*info.warnings, *info.problems):
        console.print(warning, style="yellow", markup=False)


def show_verification(console: Console, result: Verification) -> None:
    """What is wrong, frame by frame, and the totals."""
    for line in result.describe():
        console.print(line, style="red", markup=False)
    totals = {name.replace("_", " "): f"{count}" for name, count in result.summary().items()}
    _show_pairs(console, "verification: " + ("passed" if result.passed else "FAILED"), totals)


def show_table(console: Console, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table whose first column is text and whose others are right-aligned."""
    table = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _show_pairs(console: Console, title: str, pairs: Mapping[str, str]) -> None:
    table = Table(title=title, title_justify="left", show_header=False)
    for name, value in pairs.items():
        table.add_row(name, value)
    console.print(table)
