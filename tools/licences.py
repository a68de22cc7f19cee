"""Lists the licences of all packages that crumple installs, for LICENCES.md: python tools/licences.py [--write]

They are taken from the metadata of the packages in the environment that runs this, `make licences` uses that of
`make test`. Packages are listed where they first appear: needed by crumple itself, then by one of its extras.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
MARK = "<!-- Below: written by tools/licences.py -->\n"
LONGEST = 60
"""Characters of a licence field; longer ones hold the text of a licence instead of its name."""
KNOWN = {"ipctk": "MIT", "cvxopt": "GPL-3.0-or-later", "atheris": "Apache-2.0"}
"""Licences of packages whose metadata names none, or that are not installed for development, from their own files."""


def licence_name(package: Distribution) -> str:
    """What the metadata says: the licence expression, else the field if it is short, else the classifiers."""
    metadata = package.metadata
    field = metadata.get("License") or ""
    classifiers = [
        line.split(" :: ")[-1] for line in metadata.get_all("Classifier") or [] if line.startswith("License")
    ]
    short = field if len(field) <= LONGEST and "\n" not in field else ""
    return metadata.get("License-Expression") or short or ", ".join(classifiers) or "not stated"


def needed(lines: list[str]) -> Iterator[Requirement]:
    """The requirements among `lines` that apply to this machine, each with the extras that it asks for."""
    for requirement in map(Requirement, lines):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield requirement


def gather(lines: list[str], seen: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    """Name, version and licence of everything that `lines` require and that was not `seen`, dependencies included."""
    for requirement in needed(lines):
        key = canonicalize_name(requirement.name)
        if key == "crumple" or key in seen:
            continue
        try:
            package = distribution(requirement.name)
        except PackageNotFoundError:
            seen[key] = "not installed"
            yield requirement.name, "not installed here", KNOWN.get(key, "unknown")
            continue
        seen[key] = package.version
        stated = licence_name(package)
        yield package.name, package.version, KNOWN.get(key, stated) if stated == "not stated" else stated
        yield from gather(package.requires or [], seen)


def tables() -> str:
    """One Markdown table for crumple itself and one for each extra that adds packages."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    groups = {"Needed by crumple": project["dependencies"]}
    groups |= {f"Extra `{name}`": extras[name] for name in extras}
    seen: dict[str, str] = {}
    text = []
    for title, lines in groups.items():
        rows = sorted(gather(lines, seen), key=lambda row: row[0].lower())
        table = [f"| {name} | {version} | {licence} |" for name, version, licence in rows]
        text += [f"## {title}", "", "| package | version | licence |", "|---|---|---|", *table, ""] if rows else []
    return "\n".join(text)


if __name__ == "__main__":
    if "--write" not in sys.argv:
        print(tables())
        sys.exit()
    path = ROOT / "LICENCES.md"
    kept = path.read_text(encoding="utf-8").partition(MARK)[0]
    path.write_text(f"{kept}{MARK}\n{tables()}", encoding="utf-8")
