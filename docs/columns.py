"""Write docs/columns.md: every column of every table, with unit and meaning.

    python docs/columns.py

All of it stands in `crumple.analysis.columns` and, for sweeps, in `crumple.studies.sweeping.plan`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from crumple.analysis.columns import FAMILIES, LOG, QUANTITIES, TABLES, Column
from crumple.studies.sweeping.plan import COLUMNS

DOCS = Path(__file__).parent


def page() -> str:
    """The columns as Markdown."""
    families = {f"{name}…": column for name, column in FAMILIES.items()}
    lines = [
        "# Columns of all tables",
        "",
        "Lengths, areas and angles are those of the pattern where it says so, else those of the world. A unit of t is the",
        "thickness of the sheet. `crumple analyze` writes the same as `columns.csv` beside its tables.",
        "",
        *_section(
            "Numbers of a frame or a run", "Of `summary.json`, `comparison.csv` and the metrics of sweeps.", QUANTITIES
        ),
        *_section("The log", "Of `Recording.table`: a row per step, or per frame.", LOG | families),
        *_section("Sweeps", "Of `table.csv`, beside the varied keys and the metrics.", COLUMNS),
        "## Files of `crumple analyze`",
        "",
    ]
    for name, columns in TABLES.items():
        lines += [f"### {name}.csv", "", *_table(columns), ""]
    return "\n".join(lines)


def _section(title: str, text: str, columns: Mapping[str, Column]) -> list[str]:
    return [f"## {title}", "", text, "", *_table(columns), ""]


def _table(columns: Mapping[str, Column]) -> list[str]:
    rows = [
        f"| `{name}` | {unit or '–'} | {meaning.replace('|', '&#124;')} |" for name, (unit, meaning) in columns.items()
    ]
    return ["| column | unit | meaning |", "|---|---|---|", *rows]


if __name__ == "__main__":
    (DOCS / "columns.md").write_text(page(), encoding="utf-8")
