"""ARCSim scene files (JSON) read into scene tables, so that everything that takes a scene takes them.

See docs/arcsim.md for what each key becomes. Stiffnesses are converted, not copied (`crumple.materials.measured`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from crumple.runtime.errors import InputError
from crumple.scenes.arcsim.boundaries import handle_tables, obstacle_tables
from crumple.scenes.arcsim.cloths import check_cloths, cloth_table, remeshing_tables
from crumple.scenes.arcsim.files import Files
from crumple.scenes.arcsim.json import Entry, Notes, Tables, read_json
from crumple.scenes.arcsim.motions import motion_tables
from crumple.scenes.arcsim.settings import (
    OBSTACLE_FRICTION,
    close_magic,
    contact_table,
    disabled_parts,
    environment_table,
    handle_stiffness,
    jitter_table,
    relax_table,
    rest_table,
    run_table,
    sizing_table,
)
from crumple.scenes.arcsim.tearing import refinement, tearing_table


def read_arcsim(path: Path, label: str) -> Tables:
    """The scene tables of an ARCSim scene file, with notes; `label` is what errors call it."""
    record = read_json(path, label)
    if not isinstance(record, dict):
        raise InputError(label, "must be a JSON object with cloths; is this an ARCSim scene?")
    notes = Notes()
    tables = Tables(_translate(Entry(record, (), label, notes), Files(path.resolve().parent)))
    tables["name"] = re.sub(r"[^A-Za-z0-9_\-]", "-", path.stem)[:64] or "scene"
    tables.notes = notes.lines
    return tables


def _translate(scene: Entry, files: Files) -> dict[str, Any]:
    """All tables; every key of the file is read or noted."""
    cloths = check_cloths(scene)
    run, off, magic = run_table(scene), disabled_parts(scene), scene.entry("magic")
    sizing = sizing_table(magic)
    remeshing = [table | sizing for table in remeshing_tables(cloths)] if "remeshing" not in off else []
    motions, count = motion_tables(scene, files)
    handles, attachments = handle_tables(scene, cloths, count, handle_stiffness(magic))
    tables: dict[str, Any] = {
        "run": run | relax_table(magic),
        "contact": contact_table(scene, magic, off, remeshing),
        "environment": environment_table(scene),
        "sheets": _sheets(cloths, remeshing, jitter_table(magic) | rest_table(magic), files, off),
        "motions": motions,
        "handles": handles,
        "attachments": attachments,
        "obstacles": obstacle_tables(
            scene, count, scene.number("obs_friction", OBSTACLE_FRICTION), run["frame_time"], files
        ),
    }
    tables |= tearing_table(tables["sheets"], *refinement(cloths))
    if remeshing:
        tables["remeshing"] = remeshing[0] | {"projection": "popfilter" not in off}
    if "plasticity" in off:
        tables["plasticity"] = {"rule": "none"}
    scene.ignore("hylc", "homogenised yarns belong to another program; the materials of the file are used")
    if scene.has("handlebars"):
        raise scene.error("not part of ARCSim's format; name the nodes in handles", key="handlebars")
    close_magic(magic)
    scene.close()
    return tables


def _sheets(
    cloths: list[Entry], remeshing: list[dict[str, Any]], common: dict[str, Any], files: Files, off: set[str]
) -> list[dict[str, Any]]:
    """The cloths; one whose remeshing differs from that of the first keeps its own."""
    sheets = []
    for k, cloth in enumerate(cloths):
        own = remeshing[k] if remeshing and remeshing[k] != remeshing[0] else None
        finest = remeshing[k]["size_min"] if remeshing else None
        sheets.append(common | cloth_table(cloth, k, files, own, off, finest))
    return sheets
