"""FOLD files (version 1.2, https://github.com/edemaine/fold) in and out.

FOLD counts valleys as positive and in degrees; a missing angle is ±180° for mountains and valleys. Coordinates may
have a unit (`frame_unit`); without one the caller says how long the pattern is.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from crumple.patterns.fold_frames import inherited_frames, load_record
from crumple.patterns.lengths import DEFAULT_WIDTH, fitted_scale
from crumple.patterns.pattern import ASSIGNMENTS, JOIN, MOST_EDGES, CreasePattern, make_pattern, usual_angle
from crumple.patterns.planar import crossing_edges, pattern_from_segments
from crumple.patterns.unfolding import folded_angles, unfold_faces
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints

LARGEST_COORDINATE = 1e9
FLATNESS = 1e-6
"""Spread of a coordinate over that of all, up to which it is the same for all vertices."""
UNITS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "nm": 1e-9, "in": 0.0254, "pt": 0.0254 / 72.0}
"""The units of FOLD [m]; "unit" is none."""
SNAP = 1e-3
"""Vertices nearer than this fraction of the width are joined where lines cross without a vertex."""
OWN_KEYS = frozenset(
    [
        "file_spec",
        "file_creator",
        "frame_unit",
        "vertices_coords",
        "edges_vertices",
        "edges_assignment",
        "edges_foldAngle",
        "faces_vertices",
        "frame_inherit",
        "frame_parent",
        "crumple:edges_group",
        "crumple:groups",
    ]
)
"""Keys that are written anew; all others are kept as they were read."""


def read_fold(
    path: str | Path, *, unit: float | None = None, width: float | None = None, frame: int | None = None
) -> CreasePattern:
    """The crease pattern in a FOLD file.

    `unit`: length of its unit [m], instead of what the file says; `width`: length of the longer side [m], instead of
    either. `frame`: number of the frame, by default the first flat crease pattern. Folded forms with faces are laid
    flat.
    """
    name = Path(path).name
    try:
        return _read(Path(path), name, unit, width, frame)
    except RecursionError:
        raise InputError(name, "values are nested too deeply") from None


def _read(path: Path, name: str, unit: float | None, width: float | None, frame: int | None) -> CreasePattern:
    frames = inherited_frames(load_record(path, name), name)
    if frame is not None and not 0 <= frame < len(frames):
        raise InputError(f"{name}: frame", f"the file has {len(frames)} frames, numbered from 0", frame)
    chosen = _choose(frames) if frame is None else frame
    return _pattern(frames[chosen], name if chosen == 0 else f"{name}: file_frames[{chosen - 1}]", unit, width)


def _choose(frames: list[dict[str, Any]]) -> int:
    """The first flat frame that says that it is a crease pattern, else the first flat one that does not say that it is
    folded, else the first that can be laid flat, else the first of all."""
    flat = [k for k, frame in enumerate(frames) if isinstance(frame.get("vertices_coords"), list) and _is_flat(frame)]
    named = [k for k in flat if "creasePattern" in _classes(frames[k])]
    unfolded = [k for k in flat if not _is_folded(frames[k])]
    faced = [k for k, frame in enumerate(frames) if frame.get("vertices_coords") and frame.get("faces_vertices")]
    return (named or unfolded or faced or [0])[0]


def _is_folded(frame: dict[str, Any]) -> bool:
    """Whether a frame says that it is a folded form."""
    return "foldedForm" in _classes(frame) and "creasePattern" not in _classes(frame)


def _classes(frame: dict[str, Any]) -> list[Any]:
    classes = frame.get("frame_classes")
    return classes if isinstance(classes, list) else []


def _is_flat(frame: dict[str, Any]) -> bool:
    """Whether points have no third coordinate, or y or z is the same for all."""
    try:
        return _flat_points(_points(frame, "")) is not None
    except InputError:
        return False


def _pattern(frame: dict[str, Any], place: str, unit: float | None, width: float | None) -> CreasePattern:
    """The pattern of one frame."""
    points = _points(frame, place)
    faces = _faces(frame, place, len(points))
    edges = _edges(frame, place, len(points), faces)
    vertices = None if _is_folded(frame) and faces else _flat_points(points)
    measured = np.full(len(edges), np.nan)
    if vertices is None and not faces:
        raise InputError(f"{place}: vertices_coords", "is not flat; choose the frame with the flat crease pattern")
    if vertices is None:
        vertices, measured = unfold_faces(points, faces, place), folded_angles(points, faces, edges)
    measured, notes = _agreeing(frame, measured)
    assignment, angle, signed = _assigned(frame, place, edges, faces, measured)
    scale, told = _scale(frame, place, vertices, edges, unit, width)
    notes += signed + told
    group, names = _groups(frame, place, len(edges))
    extra = {key: value for key, value in frame.items() if key not in OWN_KEYS}
    if "file_frames" in extra:
        extra["file_frames"] = [_rescaled(below, scale) for below in extra["file_frames"]]
    pattern = make_pattern(
        vertices * scale, edges, assignment, angle, group=group, group_names=names, extra=extra, notes=notes
    )
    return _planar(pattern)


def _rescaled(frame: dict[str, Any], scale: float) -> dict[str, Any]:
    """A further frame in m; it is kept as it is when it has a unit of its own, or coordinates that are none."""
    coords = frame.get("vertices_coords")
    if "frame_unit" in frame or not isinstance(coords, list):
        return frame
    if not all(isinstance(point, list) and all(_is_coordinate(c) for c in point) for point in coords):
        return frame
    return {**frame, "vertices_coords": [[c * scale for c in point] for point in coords]}


def _planar(pattern: CreasePattern) -> CreasePattern:
    """The pattern, with vertices where edges cross or lie on each other; then what the file said per edge is lost."""
    repeated = len(np.unique(np.sort(pattern.edges, axis=1), axis=0)) < pattern.edge_count
    used = np.unique(pattern.edges)
    doubled = len(np.unique(pattern.vertices[used], axis=0)) < len(used)
    if not (repeated or doubled or len(crossing_edges(pattern.vertices, pattern.edges)[0])):
        return pattern
    flat = pattern_from_segments(
        pattern.vertices[pattern.edges],
        pattern.assignment,
        pattern.angle,
        snap=SNAP * float(pattern.extent.max()),
        group=pattern.group,
        group_names=pattern.group_names,
        notes=(*pattern.notes, "edges cross, touch or repeat; they got vertices there, and new numbers"),
    )
    kept = ("file_", "frame_title", "frame_author", "frame_description", "frame_classes")
    dropped = ("file_frames",)
    extra = {key: value for key, value in pattern.extra.items() if key.startswith(kept) and key not in dropped}
    return replace(flat, extra=extra)


def _list(frame: dict[str, Any], key: str, place: str, length: int | None = None) -> list[Any] | None:
    """The list under a key, None when there is none."""
    value = frame.get(key)
    if value is None:
        return None
    if not isinstance(value, list):
        raise InputError(f"{place}: {key}", "must be a list", value)
    if length is not None and len(value) != length:
        raise InputError(f"{place}: {key}", f"must have {length} entries", len(value))
    return value


def _points(frame: dict[str, Any], place: str) -> Floats:
    """Coordinates (n, 3) in the unit of the file, z = 0 where there is none."""
    coords = _list(frame, "vertices_coords", place)
    if not coords:
        raise InputError(f"{place}: vertices_coords", "this key is missing or empty")
    if len(coords) > 2 * MOST_EDGES:
        raise InputError(f"{place}: vertices_coords", f"at most {2 * MOST_EDGES} vertices are possible", len(coords))
    for k, point in enumerate(coords):
        if not isinstance(point, list) or not 2 <= len(point) <= 3 or not all(_is_coordinate(c) for c in point):
            raise InputError(f"{place}: vertices_coords[{k}]", "must be two or three finite numbers", point)
    return np.array([[*point, 0.0][:3] for point in coords], np.float64)


def _flat_points(points: Floats) -> Floats | None:
    """Flat coordinates (n, 2) of points (n, 3) in a plane of constant z or y, None for others."""
    reach = FLATNESS * float(np.ptp(points, axis=0).max())
    if np.ptp(points[:, 2]) <= reach:
        return points[:, :2].copy()
    if np.ptp(points[:, 1]) <= reach:  # Origami Simulator draws in the plane of x and z
        return np.stack([points[:, 0], -points[:, 2]], axis=1)
    return None


def _is_coordinate(value: object) -> bool:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) <= LARGEST_COORDINATE  # which NaN is not
    )


def _faces(frame: dict[str, Any], place: str, count: int) -> list[list[int]]:
    """Loops of vertices, possibly none."""
    faces = _list(frame, "faces_vertices", place) or []
    if len(faces) > 2 * MOST_EDGES:
        raise InputError(f"{place}: faces_vertices", f"at most {2 * MOST_EDGES} faces are possible", len(faces))
    for k, face in enumerate(faces):
        if not isinstance(face, list) or len(face) < 3 or not all(_is_number(v, count) for v in face):
            remedy = f"must be three or more vertex numbers within 0…{count - 1}"
            raise InputError(f"{place}: faces_vertices[{k}]", remedy, face)
    return faces


def _is_number(value: object, count: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < count


def _edges(frame: dict[str, Any], place: str, count: int, faces: list[list[int]]) -> Ints:
    """Vertices of the edges (n, 2); those of the faces when the file names none."""
    edges = _list(frame, "edges_vertices", place)
    if edges is None:
        pairs = {tuple(sorted(pair)) for face in faces for pair in zip(face, face[1:] + face[:1], strict=True)}
        edges = [list(pair) for pair in sorted(pairs) if pair[0] != pair[1]]
    if not edges:
        raise InputError(f"{place}: edges_vertices", "this key is missing or empty")
    if len(edges) > MOST_EDGES:
        raise InputError(f"{place}: edges_vertices", f"at most {MOST_EDGES} edges are possible", len(edges))
    for k, edge in enumerate(edges):
        if not isinstance(edge, list) or len(edge) != 2 or not all(_is_number(v, count) for v in edge):
            raise InputError(f"{place}: edges_vertices[{k}]", f"must be two vertex numbers within 0…{count - 1}", edge)
        if edge[0] == edge[1]:
            raise InputError(f"{place}: edges_vertices[{k}]", "must join two different vertices", edge)
    return np.array(edges, np.int32)


def _agreeing(frame: dict[str, Any], measured: Floats) -> tuple[Floats, tuple[str, ...]]:
    """The `measured` angles (n,) [rad] of a folded form with the signs that its letters say, and a note where they do
    not agree: all folds of a form that is mirrored, or seen from its back, go the other way."""
    letters = frame.get("edges_assignment")
    if not isinstance(letters, list) or len(letters) != len(measured):
        return measured, ()
    sign = np.array([{"M": 1.0, "V": -1.0}.get(str(letter).upper(), 0.0) for letter in letters])
    bent = (sign != 0.0) & (np.abs(np.nan_to_num(measured)) > 1e-6)
    wrong = bent & (sign * np.nan_to_num(measured) < 0.0)
    if not wrong.any():
        return measured, ()
    if 2 * np.count_nonzero(wrong) > np.count_nonzero(bent):
        note = "the folded form is the mirror image of what its letters (M, V) say; the letters are taken"
    else:
        count = np.count_nonzero(wrong)
        note = (
            f"{count} of {np.count_nonzero(bent)} folds go the other way than their letters (M, V) say, which are taken"
        )
    return np.where(sign == 0.0, measured, sign * np.abs(measured)), (note,)


def _assigned(
    frame: dict[str, Any], place: str, edges: Ints, faces: list[list[int]], measured: Floats
) -> tuple[np.ndarray, Floats, tuple[str, ...]]:
    """Assignment and fold angle (n,) [rad], positive = mountain, of the edges, and what is to be told of them.

    `measured`: angles (n,) [rad] of a folded form, NaN where there are none, instead of those that the file does not
    give.
    """
    count = len(edges)
    letters = _list(frame, "edges_assignment", place, count)
    angles = _list(frame, "edges_foldAngle", place, count)
    if letters is not None:
        letters = [letter.upper() if isinstance(letter, str) else letter for letter in letters]
        for k, letter in enumerate(letters):
            if not isinstance(letter, str) or letter not in ASSIGNMENTS:
                raise InputError(f"{place}: edges_assignment[{k}]", f"must be one of {', '.join(ASSIGNMENTS)}", letter)
    degrees = np.full(count, np.nan)
    for k, angle in enumerate(angles or []):
        if angle is None:
            continue
        if isinstance(angle, bool) or not isinstance(angle, int | float) or not abs(angle) <= 180.0 + 1e-6:
            raise InputError(f"{place}: edges_foldAngle[{k}]", "must be within -180…180, in degrees, or null", angle)
        degrees[k] = -float(angle)  # mountains are positive here
    degrees = np.where(np.isnan(degrees), np.degrees(measured), degrees) if angles is None else degrees
    assignment = _guessed(degrees, edges, faces) if letters is None else np.array(letters, "<U1")
    sign = (assignment == "M").astype(float) - (assignment == "V")
    wrong = int(np.count_nonzero(sign * np.nan_to_num(degrees) < -1e-6))
    degrees = np.where(sign == 0.0, degrees, sign * np.abs(degrees))
    angle = np.where(np.isnan(degrees), usual_angle(assignment), np.radians(degrees))
    note = f"the signs of {wrong} angles contradict their letters (in FOLD valleys are positive), which are taken"
    return assignment, np.where(np.isin(assignment, ("B", "C", "J")), 0.0, angle), (note,) if wrong else ()


def _guessed(degrees: Floats, edges: Ints, faces: list[list[int]]) -> np.ndarray:
    """Assignments by the signs of the angles; edges of one face only are the boundary."""
    letters = np.where(degrees > 0.0, "M", np.where(degrees < 0.0, "V", np.where(degrees == 0.0, "F", "U")))
    if faces:
        count: dict[tuple[int, int], int] = {}
        for face in faces:
            for a, b in zip(face, face[1:] + face[:1], strict=True):
                key = (min(a, b), max(a, b))
                count[key] = count.get(key, 0) + 1
        single = [count.get((min(a, b), max(a, b)), 0) == 1 for a, b in edges.tolist()]
        letters[np.array(single, bool)] = "B"
    return letters


def _scale(
    frame: dict[str, Any], place: str, vertices: Floats, edges: Ints, unit: float | None, width: float | None
) -> tuple[float, tuple[str, ...]]:
    """Metres per unit of the file, and a note when it had to be guessed."""
    longest = float(np.ptp(vertices[np.unique(edges)], axis=0).max())
    name = frame.get("frame_unit", "unit")
    if not isinstance(name, str):
        raise InputError(f"{place}: frame_unit", f"must be one of unit, {', '.join(UNITS)}", name)
    if width is None and unit is None and name in UNITS:
        unit = UNITS[name]
    elif width is None and unit is None and name != "unit":
        raise InputError(f"{place}: frame_unit", f"must be one of unit, {', '.join(UNITS)}", name)
    if width is None and unit is None:
        note = f"the file has no unit of length; its longer side is taken as {DEFAULT_WIDTH:g} m (key width)"
        return fitted_scale(place, longest, None, DEFAULT_WIDTH), (note,)
    return fitted_scale(place, longest, unit, width), ()


def _groups(frame: dict[str, Any], place: str, count: int) -> tuple[Ints | None, tuple[str, ...]]:
    """The groups of creases in files of ours."""
    names = _list(frame, "crumple:groups", place)
    group = _list(frame, "crumple:edges_group", place, count)
    if names is None or group is None:
        return None, ()
    if not all(isinstance(name, str) and len(name) <= 64 for name in names):
        raise InputError(f"{place}: crumple:groups", "must be names")
    for k, number in enumerate(group):
        if isinstance(number, bool) or not isinstance(number, int) or not -1 <= number < len(names):
            raise InputError(f"{place}: crumple:edges_group[{k}]", f"must be within -1…{len(names) - 1}", number)
    return np.array(group, np.int32), tuple(names)


def fold_record(pattern: CreasePattern) -> dict[str, Any]:
    """The pattern as a FOLD object, in m; what the file that it came from said beside it is kept."""
    record: dict[str, Any] = {"file_spec": 1.2, "file_creator": "crumple"}
    record |= {key: value for key, value in pattern.extra.items() if key not in ("file_frames", *record)}
    record.setdefault("frame_classes", ["creasePattern"])
    record["frame_unit"] = "m"
    record["vertices_coords"] = pattern.vertices.tolist()
    record["edges_vertices"] = pattern.edges.tolist()
    record["edges_assignment"] = pattern.assignment.tolist()
    record["edges_foldAngle"] = fold_degrees(pattern.angle)
    joined = (pattern.assignment == JOIN).any()  # a facet is then several faces of FOLD
    if not joined and all(len(rings) == 1 for rings in pattern.facets.rings):  # FOLD knows no holes in faces
        record["faces_vertices"] = [face.tolist() for face in pattern.faces]
    if pattern.group_names:
        record["crumple:groups"] = list(pattern.group_names)
        record["crumple:edges_group"] = pattern.group.tolist()
    return record


def fold_degrees(angle: Floats) -> list[float | None]:
    """Fold angles [rad] as FOLD writes them: degrees, valleys positive, null for those that are free."""
    return [None if math.isnan(a) else -math.degrees(a) + 0.0 for a in angle.tolist()]


def encode_fold(pattern: CreasePattern, frames: list[dict[str, Any]] | None = None) -> bytes:
    """The text of a FOLD file; `frames` are further frames, by default those of the file that it came from."""
    record = fold_record(pattern)
    more = pattern.extra.get("file_frames", []) if frames is None else frames
    if more:
        record["file_frames"] = more
    try:
        return json.dumps(record, allow_nan=False).encode()
    except (ValueError, TypeError) as error:
        raise InputError("pattern.extra", f"cannot be written as JSON: {error}") from None


def write_fold(path: str | Path, pattern: CreasePattern, frames: list[dict[str, Any]] | None = None) -> None:
    """Write a pattern as a FOLD 1.2 file, with further `frames` such as folded forms."""
    Path(path).write_bytes(encode_fold(pattern, frames))
