"""One instant of a run as one file: the complete `State`, and a surface that ParaView shows.

`/VTKHDF` holds the sheets: nodes as points, faces as polygons, fields as point and cell data.
`/crumple` holds the State, field by field; arrays that both need are stored once and linked.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np

from crumple.errors import InputError
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.mesh.texture import at_nodes, texture_coordinates
from crumple.recording.codec import Table, digest, flatten, restore
from crumple.recording.vtkhdf import HdfImage, open_hdf, put_surface
from crumple.state import State
from crumple.typing import Floats

FORMAT = 1
"""Version of the `/crumple` group; raised when an old reader would misunderstand a new file."""

POINT_DATA = {"v": "v", "y": "y", "node_label": "mesh/node_label"}
CELL_DATA = {
    "damage": "damage",
    "plastic_curvature": "plastic_curvature",
    "plastic_strain": "plastic_strain",
    "material": "mesh/face_material",
    "sheet": "mesh/face_sheet",
}


def state_digest(state: State) -> str:
    """A fingerprint of every bit of the state: two runs agree exactly if and only if their digests do."""
    return digest(flatten(state))


def encode_frame(state: State) -> bytes:
    """The file content for `state`; the same state gives the same bytes."""
    table = flatten(state)
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
        | _pattern_data(state.mesh),
        cell_data={name: stored[path] for name, path in (CELL_DATA | _own_data(state, "face")).items()},
        field_data={"TimeValue": np.array([state.time]), "frame": np.array([state.frame])},
    )
    image.group("VTKHDF/PointData")["texture"].attrs["Attribute"] = np.bytes_("TCoords")
    return image.close()


def decode_frame(path: Path) -> State:
    """The state in the frame file `path`; `InputError` when the file is damaged or from a newer crumple."""
    with open_hdf(path) as file:
        table, expected = _read(path, file["crumple"]), file["crumple"].attrs["digest"]
        if digest(table) != expected.decode():
            raise ValueError("checksum does not match")
        return restore(State, table)


def frame_time(path: Path) -> float:
    """The simulated time of a frame file [s], without loading the state."""
    with open_hdf(path) as file:
        return float(file["crumple"].attrs["time"])


def _own_data(state: State, where: str) -> dict[str, str]:
    """Fields of the user's that ParaView can show: numbers or vectors on nodes or faces."""
    shown = {name for name, own in state.own.items() if own.where == where and own.values.ndim <= 2}
    return {name: f"own/{name}/values" for name in sorted(shown) if state.own[name].values.dtype.kind in "fiu"}


def _pattern_data(mesh: SheetMesh) -> dict[str, Floats]:
    """Pattern coordinates [m] and texture coordinates (the pattern scaled to 0..1) of the nodes, for viewing.

    A node on a seam shows one of its vertices; `crumple export --to vtk` writes all of them.
    """
    return {"pattern": at_nodes(mesh, mesh.u), "texture": at_nodes(mesh, texture_coordinates(mesh))}


def _store(image: HdfImage, path: str, value: Any) -> h5py.Dataset | None:
    """An array becomes a dataset, a scalar an attribute of its group."""
    if isinstance(value, np.ndarray):
        return image.put(f"crumple/{path}", value)
    folder, _, name = path.rpartition("/")
    image.group(f"crumple/{folder}").attrs[name] = np.bytes_(value.encode()) if isinstance(value, str) else value
    return None


def _read(path: Path, root: h5py.Group) -> Table:
    """The table of fields below `/crumple`."""
    if int(root.attrs["format"]) > FORMAT:
        raise InputError(str(path), "written by a newer crumple; upgrade to read it", int(root.attrs["format"]))
    table: Table = {}

    def collect(group: h5py.Group, prefix: str) -> None:
        for name, value in group.attrs.items():
            if prefix or name not in ("format", "digest"):
                table[prefix + name] = _scalar(value)
        for name, item in group.items():
            if isinstance(item, h5py.Group):
                collect(item, f"{prefix}{name}/")
            else:
                table[prefix + name] = item[()]

    collect(root, "")
    return table


def _scalar(value: Any) -> Any:
    """A Python scalar from an attribute."""
    return value.decode() if isinstance(value, bytes) else value.item()
