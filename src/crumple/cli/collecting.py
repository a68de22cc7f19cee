"""`crumple dataset`."""

from __future__ import annotations

from pathlib import Path

from rich.progress import Progress

from crumple.cli.consoles import make_console
from crumple.studies.datasets import datasheet_path, load_dataset, write_dataset


def collect_dataset(
    folders: list[Path],
    output: Path,
    *,
    frames: str | None,
    topology: str,
    contacts: bool | None,
    precision: str,
    force: bool,
) -> None:
    """Write the dataset and say what is in it."""
    console = make_console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("collecting", total=None)
        path = write_dataset(
            folders, output, frames=frames, topology=topology, contacts=contacts, precision=precision, force=force,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )  # fmt: skip
    with load_dataset(path) as data:
        count = sum(len(run) for run in data)
        size = path.stat().st_size / 1e6
        said = f"wrote {path}: {len(data)} runs, {count} frames, {size:.3g} MB; datasheet {datasheet_path(path)}"
    console.print(said, highlight=False, markup=False, soft_wrap=True)
