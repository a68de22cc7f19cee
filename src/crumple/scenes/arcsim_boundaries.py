"""Handles and obstacles of an ARCSim scene as tables."""

from __future__ import annotations

from typing import Any

from crumple.scenes.arcsim_files import Files, is_numbered
from crumple.scenes.arcsim_json import Entry
from crumple.scenes.arcsim_motions import motion_name, transform_table
from crumple.scenes.messages import suggest

LATEST = 1e6
"""Times beyond this are never [s]."""
_TYPES = ("node", "circle")


def handle_table(entry: Entry, k: int, motion_count: int, cloth_count: int, stiffness: float) -> dict[str, Any]:
    """A handle that grips nodes, or wraps them around a circle."""
    kind = entry.text("type", "node")
    if kind == "glue":
        raise entry.error("gluing nodes together is not supported; sew them in the mesh instead", kind, key="type")
    if kind not in _TYPES:
        raise entry.error("is not supported" + suggest(kind, _TYPES), kind, key="type")
    cloth = entry.whole("cloth", 0)
    if not 0 <= cloth < cloth_count:
        raise entry.error(f"there are {cloth_count} cloths, numbered from 0", cloth, key="cloth")
    table: dict[str, Any] = {"name": f"handle{k}", "sheet": f"cloth{cloth}", "select": _selection(entry)}
    table |= _active(entry, motion_count)
    fade = entry.number("fade_time", 0.0)
    if fade:
        table["fade"] = fade
    table["stiffness"] = stiffness
    if kind == "circle":
        table["circle"] = {
            "center": entry.vector("center", 3, [0.0, 0.0, 0.0]),
            "axis0": entry.vector("axis0", 3, [1.0, 0.0, 0.0]),
            "axis1": entry.vector("axis1", 3, [0.0, 1.0, 0.0]),
            "direction": entry.vector("u", 2, [1.0, 0.0]),
            "circumference": entry.number("circumference"),
        }
    entry.close()
    return table


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
    table: dict[str, Any] = {}
    motion = motion_name(entry, motion_count)
    if motion is not None:
        table["motion"] = motion
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
    entry.close()
    return table
