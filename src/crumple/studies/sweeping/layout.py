"""The names of the files in a sweep's folder; quick to import."""

from __future__ import annotations

from pathlib import Path

PLAN, SCENE, LOG, RUNS, LOCK = "sweep.toml", "scene.toml", "log.jsonl", "runs", ".lock"
TABLES = ("table.csv", "table.parquet")


def is_sweep(path: str | Path) -> bool:
    """Whether a folder is that of a sweep."""
    return (Path(path) / PLAN).is_file() and (Path(path) / RUNS).is_dir()
