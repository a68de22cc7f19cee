"""Triangle surfaces in the VTKHDF file format (type PolyData), which ParaView, VTK and PyVista open.

Specification: https://docs.vtk.org/en/latest/vtk_file_formats/ ; version 2.0 is read since ParaView 5.12.
A top-level group beside `/VTKHDF` is outside of the specification and free for our own use.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from crumple.recording.codec import Table
from crumple.recording.files import read_file, told_errors
from crumple.recording.plain_hdf import child, read_attribute, read_table
from crumple.runtime.errors import InputError
from crumple.runtime.reading import MOST_BYTES, begins_with
from crumple.runtime.typing import Floats, Ints

VERSION = (2, 0)
BROKEN = (OSError, LookupError, ValueError, RuntimeError, TypeError, AttributeError, ArithmeticError)
"""What h5py raises, depending on which byte is wrong."""
SIGNATURE = b"\x89HDF\r\n\x1a\n"
"""How an HDF5 file begins."""
DAMAGED = "truncated or corrupt, not a file of a recording"


class DamagedFile(InputError):  # noqa: N818
    """The content of a file is not what crumple wrote; the disk gave it without complaint."""


CELL_KINDS = ("Vertices", "Lines", "Strips", "Polygons")


class HdfImage:
    """An HDF5 file built in memory: the same content gives the same bytes.

    Times are not tracked, and object headers carry checksums (format ≥ 1.8), so damage is noticed on reading.
    """

    def __init__(self) -> None:
        # Not the core driver and its file image: before HDF5 2.0 the checksum in such an image is wrong (hdf5#1915).
        self._content = io.BytesIO()
        self.file = h5py.File(self._content, "w", libver=("v108", "v110"), track_order=False)
        self._groups: dict[str, h5py.Group] = {"": self.file["/"]}

    def put(self, path: str, array: Any) -> h5py.Dataset:
        """A dataset at `path`; groups on the way are created."""
        folder, _, name = path.rpartition("/")
        return self.group(folder).create_dataset(name, data=array, track_times=False)

    def group(self, path: str) -> h5py.Group:
        """The group at `path`, created without time stamps if it is not there."""
        path = path.strip("/")
        if path not in self._groups:
            folder, _, name = path.rpartition("/")
            parent = self.group(folder)
            properties = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
            properties.set_obj_track_times(False)
            h5py.h5g.create(parent.id, name.encode(), gcpl=properties)
            self._groups[path] = parent[name]
        return self._groups[path]

    def link(self, path: str, dataset: h5py.Dataset) -> None:
        """A second name for `dataset`: stored once, found twice."""
        folder, _, name = path.rpartition("/")
        self.group(folder)[name] = dataset

    def close(self) -> bytes:
        """The bytes of the file."""
        self.file.close()
        return self._content.getvalue()


def put_surface(
    image: HdfImage,
    points: Floats | h5py.Dataset,
    triangles: Ints,
    *,
    point_data: Mapping[str, Any],
    cell_data: Mapping[str, Any],
    field_data: Mapping[str, Any],
) -> None:
    """Write the `/VTKHDF` group: `points` (n, 3), `triangles` (m, 3); data are arrays or datasets to link to."""
    root = image.group("VTKHDF")
    root.attrs.create("Version", VERSION, dtype=np.int64)
    root.attrs.create("Type", np.bytes_("PolyData"))  # readers expect a fixed-length ASCII string
    _put_or_link(image, "VTKHDF/Points", points)
    image.put("VTKHDF/NumberOfPoints", np.array([len(points)], np.int64))
    for kind in CELL_KINDS:
        corners = triangles if kind == "Polygons" else np.zeros((0, 3), np.int64)
        image.put(f"VTKHDF/{kind}/NumberOfCells", np.array([len(corners)], np.int64))
        image.put(f"VTKHDF/{kind}/NumberOfConnectivityIds", np.array([corners.size], np.int64))
        image.put(f"VTKHDF/{kind}/Offsets", np.arange(0, corners.size + 1, 3, dtype=np.int64))
        image.put(f"VTKHDF/{kind}/Connectivity", np.asarray(corners, np.int64).ravel())
    for group, arrays in (("PointData", point_data), ("CellData", cell_data), ("FieldData", field_data)):
        image.group(f"VTKHDF/{group}")
        for name, array in arrays.items():
            _put_or_link(image, f"VTKHDF/{group}/{name}", array)


@dataclass(frozen=True)
class HdfContent:
    """An HDF5 file in memory, for reading; see `plain_hdf` for what is refused."""

    file: h5py.File
    size: int

    def table(self, name: str) -> Table:
        """The arrays and attributes of a top-level group, by path."""
        return read_table(child(self.file, name), self.size)

    def attribute(self, group: str, name: str) -> Any:
        """An attribute of a top-level group."""
        return read_attribute(child(self.file, group), name)


@contextmanager
def open_hdf(path: Path) -> Iterator[HdfContent]:
    """The HDF5 file at `path`, read into memory first (no lock stays on it).

    `DamagedFile` for whatever is wrong with the content, also for what is found wrong while it is open.
    """
    with told_errors(path):
        is_hdf = begins_with(path, SIGNATURE)
    if not is_hdf:  # before it is read: it may be large
        raise DamagedFile(str(path), f"{DAMAGED}: file signature not found")
    content = read_file(path, MOST_BYTES)
    try:
        with h5py.File(io.BytesIO(content), "r") as file:
            yield HdfContent(file, len(content))
    except BROKEN as error:
        reason = " ".join(str(error).split())[:120]
        raise DamagedFile(str(path), f"{DAMAGED}: {reason}") from None


def _put_or_link(image: HdfImage, path: str, array: Any) -> None:
    """Store an array, or give a dataset that is already stored a second name."""
    if isinstance(array, h5py.Dataset):
        image.link(path, array)
    else:
        image.put(path, array)
