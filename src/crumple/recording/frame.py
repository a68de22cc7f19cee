"""One instant of a run as one file: the complete `State`, and a surface that ParaView shows.

`/VTKHDF` holds the sheets: nodes as points, faces as polygons, fields as point and cell data.
`/crumple` holds the State, field by field; arrays that both need are stored once and linked.
"""

from __future__ import annotations

import io
from dataclasses import fields
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from crumple.mesh.texture import at_nodes, texture_coordinates
from crumple.recording.codec import Table, digest, flatten, restore
from crumple.recording.plain_hdf import read_table
from crumple.recording.vtkhdf import HdfContent, HdfImage, open_hdf, put_surface
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.state import Ledger, State, state_fields

FORMAT = 1
"""Version of the `/crumple` group; raised when an old reader would misunderstand a new file."""

POINT_DATA = {"v": "v", "y": "y", "node_label": "mesh/node_label"}
CELL_DATA = {
    "damage": "damage",
    "plastic_curvature": "plastic_curvature",
    "plastic_strain": "plastic_strain",
    "crease": "crease",
    "material": "mesh/face_material",
    "sheet": "mesh/face_sheet",
}
SELDOM = ("sizing_floor",)
"""Fields that are left out where they are 0 everywhere, which is what they count as when they are missing."""
SHAPES: dict[str, tuple[str, tuple[str | int, ...]]] = {
    "mesh/u": ("f8", ("vertex", 2)),
    "mesh/vertex_node": ("i4", ("vertex",)),
    "mesh/faces": ("i4", ("face", 3)),
    "mesh/face_material": ("i4", ("face",)),
    "mesh/face_sheet": ("i4", ("face",)),
    "mesh/edge_label": ("i4", ("face", 3)),
    "mesh/node_label": ("i4", ("node",)),
    "mesh/node_rest": ("f8", ("node", 3)),
    **{one.name: ("f8", (one.where,) if one.width == 1 else (one.where, one.width)) for one in state_fields()},
    "obstacle_x": ("f8", ("obstacle node", 3)),
    "obstacle_lag": ("f8", ("obstacle",)),
    "obstacle_force": ("f8", ("pushing node", 3)),
    "handle_load": ("f8", ("pulling handle", 4, 3)),
    "pins/node": ("i4", ("pin",)),
    "pins/handle": ("i4", ("pin",)),
    "pins/anchor": ("f8", ("pin", 3)),
    "bonds/nodes": ("i4", ("bond", 2)),
    "bonds/attachment": ("i4", ("bond",)),
    "creases/sheet": ("i4", ("crease row",)),
    "creases/label": ("i4", ("crease row",)),
    "creases/kind": ("i4", ("crease row",)),
    "creases/place": ("f8", ("crease row", 2)),
    "creases/moment": ("f8", ("crease row", 3)),
    "creases/shift": ("f8", ("crease row",)),
    "creases/status": ("i4", ("crease row",)),
    "tips/node": ("i4", ("tip",)),
    "tips/heading": ("f8", ("tip", 2)),
    "tips/last": ("f8", ("tip", 2)),
    "tips/crack": ("i4", ("tip",)),
    "tips/pace": ("f8", ("tip",)),
    "tips/fall": ("f8", ("tip",)),
    "torn/points": ("f8", ("torn", 2)),
    "torn/crack": ("i4", ("torn",)),
    "torn/sheet": ("i4", ("torn",)),
}
"""Type and shape of the arrays of a State; a word stands for the same number wherever it appears."""
INDICES = {
    "mesh/faces": "vertex",
    "mesh/vertex_node": "node",
    "mesh/face_sheet": "face",  # every sheet has a face
    "mesh/face_material": "",
    "pins/node": "node",
    "pins/handle": "",
    "bonds/nodes": "node",
    "bonds/attachment": "",
    "tips/node": "node",
    "tips/crack": "",
    "torn/crack": "",
    "torn/sheet": "",
}
"""What an array of indices points into; "": into a list of the model, which a frame does not know."""
NUMBERS: dict[str, tuple[type, ...]] = {
    "time": (int, float),
    "step_size": (int, float),
    "frame": (int,),
    "steps": (int,),
    "iterations": (int,),
    "dense_steps": (int,),
    "has_acceleration": (bool,),
    "fracture_work": (int, float),
    **{f"ledger/{one.name}": (bool,) if one.name.startswith(("has_", "is_")) else (float,) for one in fields(Ledger)},
}


def state_digest(state: State) -> str:
    """A fingerprint of every bit of the state: two runs agree exactly if and only if their digests do."""
    return digest(flatten(state))


def encode_frame(state: State) -> bytes:
    """The file content for `state`; the same state gives the same bytes."""
    table = frame_table(state)
    image = HdfImage()
    root = image.group("crumple")
    root.attrs["format"] = FORMAT
    root.attrs["digest"] = np.bytes_(digest(table))
    stored = {path: _store(image, path, value) for path, value in table.items()}
    put_surface(
        image,
        stored["x"],
        state.mesh.face_nodes,
        point_data={name: stored[path] for name, path in (POINT_DATA | _own_data(state, "node")).items()}
        | _pattern_data(state),
        cell_data={name: stored[path] for name, path in (CELL_DATA | _own_data(state, "face")).items()},
        field_data={"TimeValue": np.array([state.time]), "frame": np.array([state.frame])},
    )
    image.group("VTKHDF/PointData")["texture"].attrs["Attribute"] = np.bytes_("TCoords")
    return image.close()


def frame_table(state: State) -> Table:
    """What a frame holds of a state, by path."""
    return {path: value for path, value in flatten(state).items() if path not in SELDOM or np.any(value)}


def decode_frame(path: Path, number: int | None = None) -> State:
    """The state in the frame file `path`, which has to be frame `number` if given.

    `DamagedFile` when its content is not what crumple wrote, `InputError` when a newer crumple wrote it,
    `StorageError` when the disk does not give it.
    """
    with open_hdf(path) as content:
        state = _restore(path, content)
        if number is not None and state.frame != number:
            raise ValueError(f"it holds frame {state.frame}, not {number}")
        return state


def check_view(path: Path) -> tuple[str, ...]:
    """What ParaView would show otherwise than the state in the frame file `path`, a line each."""
    with open_hdf(path) as content:
        shown = content.table("VTKHDF")
        image = encode_frame(_restore(path, content))
    with h5py.File(io.BytesIO(image), "r") as file:
        wanted = read_table(file["VTKHDF"], len(image))
    wrong = [name for name, value in wanted.items() if name in shown and not _same_bits(shown[name], value)]
    # Data that an older crumple did not write yet may be missing, the surface itself may not.
    wrong += [name for name in wanted if name not in shown and "Data/" not in name]
    return tuple(f"VTKHDF/{name} does not show the state" for name in sorted(wrong))


def frame_time(path: Path) -> float:
    """The simulated time of a frame file [s], without loading the state."""
    with open_hdf(path) as content:
        return float(content.attribute("crumple", "time"))


def _restore(path: Path, content: HdfContent) -> State:
    """The checked state in an open file; ValueError and others when something is wrong."""
    version = int(content.attribute("crumple", "format"))
    if version > FORMAT:
        raise InputError(str(path), "written by a newer crumple; upgrade to read it", version)
    table = content.table("crumple")
    expected = table.pop("digest").decode()
    del table["format"]
    table = {name: value if isinstance(value, np.ndarray) else _scalar(value) for name, value in table.items()}
    if digest(table) != expected:
        raise ValueError("checksum does not match")
    _check_table(table)
    return restore(State, table)


def _check_table(table: Table) -> None:
    """ValueError unless arrays fit each other and indices point at something: kernels do not look again."""
    counts: dict[str | int, int] = {}
    for name, (kind, shape) in SHAPES.items():
        if name not in table:
            continue
        array = np.asarray(table[name])
        if array.ndim == len(shape):
            counts |= {word: n for word, n in zip(shape, array.shape, strict=True) if word not in counts}
        wanted = tuple(word if isinstance(word, int) else counts.get(word, 0) for word in shape)
        if array.shape != wanted or array.dtype.str[1:] != kind:
            raise ValueError(f"{name} has shape {array.shape} of {array.dtype}, must be {wanted} of {kind}")
    for name, target in INDICES.items():
        array = np.asarray(table.get(name, np.zeros(0, np.int32)))
        limit = counts.get(target, np.iinfo(np.int32).max)
        if array.size and (array.min() < 0 or array.max() >= limit):
            raise ValueError(f"{name} points outside of what is there")
    for name, types in NUMBERS.items():
        if name in table and type(table[name]) not in types:
            raise ValueError(f"{name} is of the wrong type")


def _own_data(state: State, where: str) -> dict[str, str]:
    """Fields of the user's that ParaView can show: numbers or vectors on nodes or faces."""
    shown = {name for name, own in state.own.items() if own.where == where and own.values.ndim <= 2}
    return {name: f"own/{name}/values" for name in sorted(shown) if state.own[name].values.dtype.kind in "fiu"}


def _pattern_data(state: State) -> dict[str, Floats]:
    """Pattern coordinates [m] and texture coordinates (those of the sheet's file, or the pattern scaled to 0..1) of the
    nodes, for viewing.

    A node on a seam shows one of its vertices; `crumple export --to vtk` writes all of them.
    """
    mesh = state.mesh
    texture = texture_coordinates(mesh, given=state.texture)
    return {"pattern": at_nodes(mesh, mesh.u), "texture": at_nodes(mesh, texture)}


def _store(image: HdfImage, path: str, value: Any) -> h5py.Dataset | None:
    """An array becomes a dataset, a scalar an attribute of its group."""
    if isinstance(value, np.ndarray):
        return image.put(f"crumple/{path}", value)
    folder, _, name = path.rpartition("/")
    image.group(f"crumple/{folder}").attrs[name] = np.bytes_(value.encode()) if isinstance(value, str) else value
    return None


def _scalar(value: Any) -> Any:
    """A Python scalar from an attribute."""
    return value.decode() if isinstance(value, bytes) else value.item()


def _same_bits(a: Any, b: Any) -> bool:
    """Whether two arrays agree in type, shape and every bit."""
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
