"""Files that an ARCSim scene names: looked up beside it, in the folder above and in the working folder."""

from __future__ import annotations

import re
from pathlib import Path

from crumple.scenes.arcsim.json import Entry

MOST_FILES = 100_000
_NUMBER = re.compile(r"%(0?\d{0,2})[di]")


class Files:
    """Finds files by the names that a scene in `folder` uses.

    ARCSim runs from the folder above conf/, so conf/x.json says meshes/y.obj.
    """

    def __init__(self, folder: Path) -> None:
        self.folders = list(dict.fromkeys([folder, folder.parent, Path.cwd()]))

    def look(self, name: str) -> str | None:
        """The absolute path of a file, or None."""
        if not name or len(name) > 4000 or not name.isprintable():
            return None
        for folder in self.folders:
            try:
                if (folder / name).is_file():
                    return str((folder / name).resolve())
            except (OSError, ValueError, RuntimeError):
                return None
        return None

    def find(self, entry: Entry, key: str) -> str:
        """The file that a key names; raises InputError when there is none."""
        name = entry.text(key)
        found = self.look(name)
        if found is None:
            places = ", ".join(str(folder) for folder in self.folders)
            raise entry.error(f"there is no such file in {places}", name, key=key)
        return found

    def find_numbered(self, entry: Entry, key: str) -> list[str]:
        """All files name % 0, name % 1, … up to the first that does not exist."""
        name = entry.text(key)
        if not is_numbered(name):
            raise entry.error("must be a file name with one field for a number, such as body%02d.obj", name, key=key)
        found: list[str] = []
        while len(found) < MOST_FILES and (path := self.look(_numbered(name, len(found)))) is not None:
            found.append(path)
        if not found:
            first = _numbered(name, 0)
            places = ", ".join(str(folder) for folder in self.folders)
            raise entry.error(f"there is no file {first} in {places}", name, key=key)
        return found


def is_numbered(name: str) -> bool:
    """Whether a name has exactly one printf field for a whole number."""
    plain = name.replace("%%", "")
    return len(_NUMBER.findall(plain)) == 1 and plain.count("%") == 1


def _numbered(name: str, number: int) -> str:
    """`name` with the number filled in, as printf does."""
    return name % number
