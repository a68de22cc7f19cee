"""The folder of a recording: what in it is crumple's own, and when it may be written.

Only what has a name of a recording in a marked folder is ever replaced; everything else belongs to the user.
"""

from __future__ import annotations

import os
from pathlib import Path

from crumple.recording.files import TEMPORARY_SUFFIX, read_file, refuse_link, sync_folder, write_atomically
from crumple.recording.mark import MARK
from crumple.recording.model_file import MODEL
from crumple.recording.recording import FRAME_INDEX, OBSTACLE_INDEX, Recording
from crumple.runtime.errors import InputError
from crumple.runtime.reading import MOST_BYTES

LOCK, SCENE, LOG, SET_ASIDE = ".lock", "scene.toml", "log.jsonl", "set-aside"
FOLDERS = ("frames", "obstacles")
OWN_FILES = (MARK, LOCK, SCENE, MODEL, LOG, FRAME_INDEX, OBSTACLE_INDEX)
OWN_NAMES = frozenset((*FOLDERS, SET_ASIDE, *OWN_FILES, *(name + TEMPORARY_SUFFIX for name in OWN_FILES)))
OUTPUT_SUFFIXES = (
    *(".png", ".jpg", ".gif", ".mp4", ".webm", ".csv", ".json"),
    *(".obj", ".ply", ".stl", ".vtk", ".vtp", ".usd", ".usda", ".usdc", ".usdz", ".glb", ".gltf", ".abc"),
)
"""Pictures, films, tables and exports that crumple's commands may write beside a recording's files; left alone."""


def is_marked(folder: Path) -> bool:
    """Whether crumple made `folder`: it has the mark, or, from before there was one, lock and frames."""
    if (folder / MARK).is_file():
        return True
    lock = folder / LOCK
    return lock.is_file() and lock.stat().st_size == 0 and (folder / FOLDERS[0]).is_dir()


def check_vacant(folder: Path, force: bool) -> None:
    """`InputError` unless a new recording may be written into `folder`; `force`: also in the place of an old one."""
    if folder.exists() and not folder.is_dir():
        raise InputError(str(folder), "is a file; choose a folder for the recording")
    content = {item.name for item in folder.iterdir()} if folder.is_dir() else set()
    if content <= {LOCK, MARK + TEMPORARY_SUFFIX}:  # empty, or a run was killed before it had marked the folder
        return
    if not is_marked(folder):
        raise InputError(str(folder), f"holds other files ({_some(content)}); choose a new folder for the recording")
    foreign = {name for name in content - OWN_NAMES if not name.lower().endswith((*OUTPUT_SUFFIXES, "summary.txt"))}
    if foreign:
        raise InputError(str(folder), f"holds other files ({_some(foreign)}); move them or choose a new folder")
    refuse_links(folder)
    frames = Recording(folder).frames if (folder / FOLDERS[0]).is_dir() else []
    if frames and not force:
        known = f"{frames[0]} to {frames[-1]}"
        remedy = f"already holds frames {known}; --force replaces them, `crumple resume` continues"
        raise InputError(str(folder), remedy)


def refuse_links(folder: Path) -> None:
    """`InputError` when a part of the recording is a symbolic link: writing would change what is elsewhere."""
    for name in (*FOLDERS, SET_ASIDE, LOG, LOCK):
        refuse_link(folder / name)


def set_aside(folder: Path, path: Path, why: str, *, copy: bool = False) -> Path:
    """Move (or copy) a file of the recording in `folder` out of the way, and give its new place.

    `set-aside/frame_000004.damaged.vtkhdf`; nothing that is there already is overwritten.
    """
    target = folder / SET_ASIDE
    refuse_link(target)
    target.mkdir(exist_ok=True)
    stem, dot, suffix = path.name.partition(".")
    moved, number = target / f"{stem}.{why}{dot}{suffix}", 1
    while os.path.lexists(moved):
        number += 1
        moved = target / f"{stem}.{why}-{number}{dot}{suffix}"
    if copy:
        write_atomically(moved, read_file(path, MOST_BYTES))
        return moved
    os.rename(path, moved)
    sync_folder(target)
    sync_folder(path.parent)
    return moved


def set_aside_files(folder: Path) -> list[Path]:
    """What was set aside in the recording in `folder`, by name."""
    aside = folder / SET_ASIDE
    return sorted(aside.iterdir()) if aside.is_dir() else []


def _some(names: set[str], most: int = 3) -> str:
    """The first few of `names`."""
    shown = sorted(names)
    return ", ".join(shown[:most]) + (f" and {len(shown) - most} more" if len(shown) > most else "")
