"""Recordings as one piece, for workers that do not share a file system with the sweep's folder."""

from __future__ import annotations

import io
import os
import re
import shutil
import zipfile
from pathlib import Path

from crumple.recording.files import sync_folder
from crumple.recording.folder import LOCK
from crumple.runtime.errors import InputError

_NAME = re.compile(r"(?:(?:frames|obstacles|set-aside)/)?[\w.\-]{1,200}")


def pack(folder: Path) -> bytes:
    """The files of a recording as a zip archive."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.is_symlink() and path.name != LOCK:
                archive.write(path, path.relative_to(folder).as_posix())
    return content.getvalue()


def unpack(content: bytes, folder: Path) -> None:
    """Put a packed recording at `folder`: all of it, or nothing when the disk is full.

    An unfinished recording that is there is replaced; only names that a recording has are written.
    """
    part = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                if not _NAME.fullmatch(name) or ".." in name.split("/"):
                    raise InputError(str(folder), "a worker sent back what is not a recording", name)
                target = part / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(name))
        if folder.exists():
            shutil.rmtree(folder)
        os.rename(part, folder)
        sync_folder(folder.parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)
