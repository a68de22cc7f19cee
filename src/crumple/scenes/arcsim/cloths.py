"""Cloths, materials and remeshing of an ARCSim scene as tables."""

from __future__ import annotations

from math import isfinite, sqrt
from pathlib import Path
from typing import Any

from crumple.materials.measured import DEFAULT_THICKNESS
from crumple.runtime.errors import InputError
from crumple.scenes.arcsim.files import Files
from crumple.scenes.arcsim.json import Entry, read_json
from crumple.scenes.arcsim.motions import transform_table
from crumple.scenes.arcsim.tearing import tear_keys

_NO_LIMIT = 1e9
"""Refinement by velocity that never acts [m/s]."""


def cloth_table(
    entry: Entry, k: int, files: Files, own: dict[str, Any] | None, off: set[str], finest: float | None = None
) -> dict[str, Any]:
    """A sheet, with its `own` remeshing if it differs from that of the others.

    `off`: what the file switches off;  `finest`: the smallest edge [m], if it is remeshed.
    The scale of the transform enlarges pattern and world alike, so it does not strain the sheet.
    """
    table: dict[str, Any] = {"name": f"cloth{k}", "shape": {"kind": "file", "mesh": files.find(entry, "mesh")}}
    table["shape"]["pattern"] = "uv"  # ARCSim's material space, in m
    if entry.has("transform"):
        table["transform"] = transform_table(entry.entry("transform"))
    velocity = entry.take("velocity")
    if isinstance(velocity, dict):
        table["velocity"] = _steady(entry.entry("velocity"))
    elif velocity is not None:
        table["velocity"] = entry.vector("velocity", 3)
    given = [entry.entry("materials")] if isinstance(entry.take("materials"), dict) else entry.entries("materials")
    materials = [material_table(one, files, off, finest) for one in given]
    if not materials:
        raise entry.error("needs a list with at least one material", key="materials")
    table.update({"material": materials[0]} if len(materials) == 1 else {"materials": materials})
    if max(material.get("thickness", 0.0) for material in materials) > DEFAULT_THICKNESS:
        table["contact_thickness"] = DEFAULT_THICKNESS  # ARCSim's surfaces are thin whatever the plate is
    if entry.text("reference", "linear") != "linear":  # a surface that the mesh lies on
        table["rest"] = "start"
    if own is not None:
        table["remeshing"] = own
    for key in ("remeshing", "handles"):
        entry.has(key)  # read by remeshing_tables and handle_tables
    if entry.has("stitches"):
        raise entry.error("not part of ARCSim's format; a handle of type glue joins nodes", key="stitches")
    entry.close()
    return table


def _steady(entry: Entry) -> list[float]:
    """The velocity [m/s] of {translate: …} or {linear: …}; a sheet cannot start turning or growing."""
    for key in ("rotate", "angular", "scale"):
        if entry.has(key):
            raise entry.error("a sheet starts with a translation velocity only", key=key)
    velocity = entry.vector("linear" if entry.has("linear") else "translate", 3, [0.0, 0.0, 0.0])
    entry.close()
    return velocity


def material_table(entry: Entry, files: Files, off: set[str], finest: float | None = None) -> dict[str, Any]:
    """A material from a file of measurements, or from moduli given here or in that file.

    `off`: what the file switches off;  `finest`: the smallest edge [m], if the sheet is remeshed.
    """
    table: dict[str, Any] = {}
    file, source = None, entry
    if entry.has("data"):
        file = Path(files.find(entry, "data"))
        record = read_json(file, file.name)
        if isinstance(record, dict) and "elastic_modulus" in record:
            source = Entry(record, (), file.name, entry.notes)
        else:
            thickness = _plate_thickness(record)
            table = {"file": str(file)} | ({"thickness": thickness} if thickness else {})
    if not table:
        table = _elastic(source)
        if source is not entry:
            _plastic(source, table)
            source.close()
    elif entry.has("thickness"):
        table["thickness"] = entry.number("thickness")
    _plastic(entry, table)
    _multiply(entry, table)
    if "strainlimiting" not in off:
        _limit_strain(entry, table)
    else:
        entry.has("strain_limits")  # switched off by the file itself
    tear_keys(entry, table, finest, is_off="fracture" in off)
    entry.close()
    return table


def _elastic(entry: Entry) -> dict[str, Any]:
    """Moduli [Pa], thickness [m], density per volume [kg/m³]: E h, E h³/(12 (1−ν²)) × bending_factor, ρ h."""
    if not entry.has("elastic_modulus"):
        raise entry.error("needs data (a material file) or elastic_modulus, thickness and density")
    thickness = entry.number("thickness")
    return {
        "young": entry.number("elastic_modulus"),
        "poisson": entry.number("poisson_ratio", 0.0),
        "thickness": thickness,
        "density": entry.number("density") * thickness,
        "bend_factor": entry.number("bending_factor", 1.0),
    }


def _plastic(entry: Entry, table: dict[str, Any]) -> None:
    """Damping [s], yield curvature [1/m] and weakening are the same here and there."""
    for key, ours in (("damping", "damping"), ("yield_curv", "yield_curvature"), ("weakening", "weakening")):
        value = entry.optional_number(key)
        if value is not None and (key != "yield_curv" or isfinite(value)):
            table[ours] = value


def _limit_strain(entry: Entry, table: dict[str, Any]) -> None:
    """The upper of the `strain_limits`, a stretch; compression is not limited: a thin sheet buckles instead."""
    if not entry.has("strain_limits"):
        return
    least, most = entry.vector("strain_limits", 2)
    if not most > 1.0:
        raise entry.error("must be [least, largest] stretch, 1 = at rest, the largest > 1", most, key="strain_limits")
    if isfinite(most):
        table["strain_limit"] = most
    if least > 0.0:
        entry.notes.add((*entry.path, "strain_limits"), f"compression to {least:g} is not limited: thin sheets buckle")


def _multiply(entry: Entry, table: dict[str, Any]) -> None:
    thicken = entry.number("thicken", 1.0)
    for key, ours in (
        ("density_mult", "density_factor"),
        ("stretching_mult", "stretch_factor"),
        ("bending_mult", "bend_factor"),
    ):
        factor = entry.number(key, 1.0) * thicken
        if factor != 1.0:
            table[ours] = table.get(ours, 1.0) * factor


def _plate_thickness(record: Any) -> float | None:
    """h = √(12 k_b / k_s) [m], the uniform plate with the file's stiffnesses, if thinner than is assumed otherwise.

    Material files have no thickness, but contact needs one: a foil must be allowed to pack as a foil. Fabrics are
    limp for their thickness in other ways; for them this gives too much. Bad files are refused when they are used.
    """
    try:
        stretching, bending = float(record["stretching"][0][0]), float(record["bending"][0][0])
        thickness = sqrt(12.0 * bending / stretching)
    except (TypeError, ValueError, KeyError, IndexError, ZeroDivisionError, OverflowError):
        return None
    return float(f"{thickness:.3g}") if 1e-6 < thickness < DEFAULT_THICKNESS else None


def remeshing_tables(cloths: list[Entry]) -> list[dict[str, Any]]:
    """The remeshing table of each cloth; none when no cloth has one."""
    given = [cloth.has("remeshing") for cloth in cloths]
    if any(given) and not all(given):
        raise cloths[given.index(False)].error("this key is missing; other cloths have it", key="remeshing")
    return [_remeshing(cloth.entry("remeshing")) for cloth in cloths] if all(given) else []


def _remeshing(entry: Entry) -> dict[str, Any]:
    """Sizes [m] and bounds; refinement by velocity acts only where it is given."""
    table: dict[str, Any] = {"refine_velocity": min(entry.number("refine_velocity", _NO_LIMIT), _NO_LIMIT)}
    for key in ("refine_angle", "refine_compression", "aspect_min"):
        if entry.has(key):
            table[key] = entry.number(key)
    table["size_min"], table["size_max"] = entry.vector("size", 2)
    if table["size_min"] > table["size_max"]:
        raise entry.error("must be [smallest, largest], in m", entry.take("size"), key="size")
    entry.has("refine_fracture")  # read with the fracture of the materials
    entry.ignore("boundary_detail_mult", "the border is meshed as finely as the rest")
    entry.close()
    return table


def check_cloths(scene: Entry) -> list[Entry]:
    """The cloths; a file without any is not a scene."""
    if not scene.has("cloths"):
        raise InputError(scene.label, "has no cloths; is this an ARCSim scene?")
    cloths = scene.entries("cloths")
    if not cloths:
        raise scene.error("needs at least one cloth", key="cloths")
    return cloths
