"""Writes the constraints in `requirements/`: what `make demo` and `make test` install, and the oldest allowed versions.

python tools/lock.py newest    resolve everything anew in a clean environment, write requirements/lock-PYTHON-SYSTEM.txt
python tools/lock.py oldest    write requirements/oldest.txt, the lower bounds of pyproject.toml
python tools/lock.py name      print the name of the lock file for this Python and this system
"""

from __future__ import annotations

import platform
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "requirements"
REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(\[[\w,]+\])?\s*>=\s*(?P<version>[0-9.]+)[^;]*(;.*)?")


def lock_path() -> Path:
    """The lock file for this version of Python, this system and this processor."""
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    return FOLDER / f"lock-{version}-{platform.system()}-{platform.machine()}.txt".lower()


def resolved_versions() -> list[str]:
    """What pip installs for development in a clean environment, as lines `name==version`."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        pip = [str(python), "-m", "pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--quiet", f"{ROOT}[dev]"], check=True)
        frozen = subprocess.run([*pip, "freeze", "--exclude", "crumple"], check=True, capture_output=True, text=True)
    lines = frozen.stdout.splitlines()
    if odd := [line for line in lines if not re.fullmatch(r"[\w.-]+==[\w.!+-]+", line)]:
        sys.exit(f"cannot be locked by version: {', '.join(odd)}")
    return lines


def lower_bounds() -> list[str]:
    """The lower bounds of all dependencies in pyproject.toml, as lines `name==version`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    named = [line for group in groups for line in group if not line.startswith("crumple[")]
    matches = [REQUIREMENT.fullmatch(line) for line in named]
    if None in matches:
        sys.exit(f"pyproject.toml: {named[matches.index(None)]} has no lower bound")
    return sorted({f"{match['name']}=={match['version']}" for match in matches if match})


def write(path: Path, lines: list[str], what: str) -> None:
    """Write constraints with a line that says what they are."""
    FOLDER.mkdir(exist_ok=True)
    path.write_text("\n".join([f"# {what}, written by tools/lock.py", *lines, ""]), encoding="utf-8")
    print(path.relative_to(ROOT))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["newest"]:
            write(lock_path(), resolved_versions(), "What crumple is tested with")
        case ["oldest"]:
            write(FOLDER / "oldest.txt", lower_bounds(), "The oldest allowed versions")
        case ["name"]:
            print(lock_path().relative_to(ROOT))
        case _:
            sys.exit(__doc__)
