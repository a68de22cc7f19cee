"""Handles and obstacles of an ARCSim scene as tables."""

from __future__ import annotations

from math import isfinite
from typing import Any

from crumple.scenes.arcsim.files import Files, is_numbered
from crumple.scenes.arcsim.json import Entry
from crumple.scenes.arcsim.motions import motion_name, transform_table
from crumple.scenes.messages import suggest

LATEST = 1e6
"""Times beyond this are never [s]."""
_TYPES = ("node", "circle", "soft", "glue")

Rows = list[dict[str, Any]]


def handle_tables(scene: Entry, cloths: list[Entry], motion_count: int, stiffness: float) -> tuple[Rows, Rows]:
    """Handles, and attachments for those of type glue; some files give handles with their cloth."""
    given = [(entry, 0) for entry in scene.entries("handles")]
    for k, one in enumerate(cloths):
        given += [(entry, k) for entry in one.entries("handles")]
    handles: Rows = []
    attachments: Rows = []
    for k, (entry, cloth) in enumerate(given):
        kind = entry.text("type", "node")
        if kind not in _TYPES:
            raise entry.error("is not supported" + suggest(kind, _TYPES), kind, key="type")
        own = entry.number("stiffness", stiffness)
        common = {"name": f"handle{k}", "stiffness": own} | _fade(entry)
        if kind == "glue":
            attachments.append(_glue(entry, cloth, len(cloths)) | _times(entry) | common)
        else:
            row = {"sheet": _sheet(entry, "cloth", cloth, len(cloths)), "select": _selection(entry)}
            handles.append(row | _active(entry, motion_count) | common | _circle(entry, kind))
        entry.close()
    return handles, attachments


def _sheet(entry: Entry, key: str, default: int, cloth_count: int) -> str:
    return _cloth_name(entry, key, entry.whole(key, default), cloth_count)


def _cloth_name(entry: Entry, key: str, cloth: int, cloth_count: int) -> str:
    if not 0 <= cloth < cloth_count:
        raise entry.error(f"there are {cloth_count} cloths, numbered from 0", cloth, key=key)
    return f"cloth{cloth}"


def _fade(entry: Entry) -> dict[str, Any]:
    fade = entry.number("fade_time", 0.0)
    return {"fade": fade} if fade else {}


def _circle(entry: Entry, kind: str) -> dict[str, Any]:
    """Wrapped around a circle, if that is the kind."""
    if kind != "circle":
        return {}
    circle = {
        "center": entry.vector("center", 3, [0.0, 0.0, 0.0]),
        "axis0": entry.vector("axis0", 3, [1.0, 0.0, 0.0]),
        "axis1": entry.vector("axis1", 3, [0.0, 1.0, 0.0]),
        "direction": entry.vector("u", 2, [1.0, 0.0]),
        "circumference": entry.number("circumference"),
    }
    return {"circle": circle}


def _glue(entry: Entry, cloth: int, cloth_count: int) -> dict[str, Any]:
    """Nodes drawn together: pairs of numbers one after the other, or the nodes of two labels, nearest pairs."""
    if entry.has("cloths"):
        sheets = [_cloth_name(entry, "cloths", number, cloth_count) for number in _two_wholes(entry, "cloths")]
    else:
        sheets = [_sheet(entry, "cloth", cloth, cloth_count)] * 2
    entry.ignore("motion", "glued nodes move with the sheet")
    if entry.has("labels"):
        labels = _two_wholes(entry, "labels")
        return {"sheets": sheets} | {
            side: {"kind": "label", "label": label} for side, label in zip(("first", "second"), labels, strict=True)
        }
    key = "vertices" if entry.has("vertices") else "nodes"
    nodes = entry.items(key)
    if not nodes or len(nodes) % 2:
        raise entry.error("glue needs pairs of nodes [a, b, …] or labels: [a, b]", nodes, key=key)
    sides = {side: {"kind": "indices", "indices": nodes[k::2]} for k, side in enumerate(("first", "second"))}
    return {"sheets": sheets, **sides, "pairing": "order"}


def _two_wholes(entry: Entry, key: str) -> list[int]:
    values = entry.vector(key, 2)
    if not all(isfinite(value) and value == int(value) for value in values):
        raise entry.error("must be two whole numbers", values, key=key)
    return [int(value) for value in values]


def _selection(entry: Entry) -> dict[str, Any]:
    """Nodes by number (`nodes`, formerly `vertices`) or by the label of the mesh file."""
    given = [key for key in ("nodes", "vertices", "label") if entry.has(key)]
    if len(given) != 1:
        raise entry.error(f"needs exactly one of nodes, vertices, label, not {' and '.join(given) or 'none'}")
    if given[0] == "label":
        return {"kind": "label", "label": entry.whole("label")}
    return {"kind": "indices", "indices": entry.items(given[0])}


def _active(entry: Entry, motion_count: int) -> dict[str, Any]:
    """Motion and the times between which a handle or an obstacle is there."""
    motion = motion_name(entry, motion_count)
    return ({} if motion is None else {"motion": motion}) | _times(entry)


def _times(entry: Entry) -> dict[str, Any]:
    """Start and end [s], where given."""
    table: dict[str, Any] = {}
    start, end = entry.number("start_time", 0.0), entry.number("end_time", LATEST)
    if start > 0:
        table["start"] = start
    if end < LATEST:
        table["end"] = end
    return table


def obstacle_tables(
    scene: Entry, motion_count: int, friction: float, frame_time: float, files: Files
) -> list[dict[str, Any]]:
    """Obstacles from a list, or one per numbered file with the motion of the same number."""
    if isinstance(scene.take("obstacles"), str):
        tables = [{"shape": {"kind": "file", "mesh": file}} for file in files.find_numbered(scene, "obstacles")]
        for k, table in enumerate(tables[:motion_count]):
            table["motion"] = f"motion{k}"  # type: ignore[assignment]
    else:
        tables = [_obstacle(entry, motion_count, frame_time, files) for entry in scene.entries("obstacles")]
    return [{"name": f"obstacle{k}", "friction": friction, **table} for k, table in enumerate(tables)]


def _obstacle(entry: Entry, motion_count: int, frame_time: float, files: Files) -> dict[str, Any]:
    """An obstacle; a numbered file name is a surface that deforms, one file per frame (or 1/fps)."""
    table = _active(entry, motion_count)
    if is_numbered(entry.text("mesh")):
        rate = entry.number("fps", 1.0 / frame_time)
        if not rate > 0:
            raise entry.error("must be > 0, in 1/s", rate, key="fps")
        shape = {"kind": "sequence", "meshes": files.find_numbered(entry, "mesh"), "interval": 1.0 / rate}
        table["shape"] = shape | ({"start": table["start"]} if "start" in table else {})
    else:
        table["shape"] = {"kind": "file", "mesh": files.find(entry, "mesh")}
    if entry.has("transform"):
        table["transform"] = transform_table(entry.entry("transform"))
    entry.ignore("proxy", "the obstacle is the surface in its file")
    entry.close()
    return table
