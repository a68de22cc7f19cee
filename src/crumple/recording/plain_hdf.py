"""Reads from an HDF5 file only what crumple itself writes: plain arrays and small attributes, reached by hard links.

HDF5 can do far more, which a file from elsewhere could use to open other files or to fill the memory: links to other
places, storage in other files, virtual datasets, compression. All of it is refused before any data is read.
"""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np

from crumple.recording.codec import Table

MOST_DEPTH = 4
"""Groups within groups; a group may even contain itself."""
MOST_ITEMS = 10_000
"""Datasets, groups and attributes in all."""
LARGEST_ATTRIBUTE = 65536
"""[bytes]; names of obstacles are the largest that there are."""
PLAIN_LAYOUTS = (h5py.h5d.CONTIGUOUS, h5py.h5d.COMPACT)


def read_table(group: h5py.Group, limit: int) -> Table:
    """Arrays and attributes below `group` by path; together at most `limit` bytes, the size of the file.

    Nothing that crumple writes is compressed, so arrays that are larger than their file are no crumple's.
    Raises ValueError for everything that crumple does not write.
    """
    table: Table = {}
    _collect(group, "", 0, table, [limit])
    return table


def child(group: h5py.Group, name: str) -> h5py.Group | h5py.Dataset:
    """The object `name` in `group`; KeyError when it is missing, ValueError when it is a link to elsewhere."""
    link = group.get(name, getlink=True)
    if link is None:
        raise KeyError(name)
    if not isinstance(link, h5py.HardLink):
        raise ValueError(f"{name} is a link to elsewhere, which crumple does not write")
    return group[name]


def read_attribute(owner: h5py.Group, name: str) -> Any:
    """A number, bytes or a small array; ValueError for anything else."""
    kept = owner.attrs.get_id(name)
    if kept.dtype.kind not in "biufS" or kept.dtype.itemsize * int(np.prod(kept.shape)) > LARGEST_ATTRIBUTE:
        raise ValueError(f"attribute {name} is of a kind that crumple does not write")
    return owner.attrs[name]


def _collect(group: h5py.Group, prefix: str, depth: int, table: Table, budget: list[int]) -> None:
    """Add what is in `group` to `table`; `budget` holds the bytes that may still be read."""
    if depth > MOST_DEPTH:
        raise ValueError("groups are nested too deeply")
    for name in group.attrs:
        table[prefix + name] = read_attribute(group, name)
    for name in group:
        if len(table) > MOST_ITEMS:
            raise ValueError("too many datasets")
        item = child(group, name)
        if isinstance(item, h5py.Group):
            _collect(item, f"{prefix}{name}/", depth + 1, table, budget)
        else:
            table[prefix + name] = _read_array(item, prefix + name, budget)


def _read_array(item: Any, path: str, budget: list[int]) -> np.ndarray:
    if not isinstance(item, h5py.Dataset) or item.dtype.kind not in "biuf":
        raise ValueError(f"{path} is no array of numbers")
    stored = item.id.get_create_plist()
    if stored.get_layout() not in PLAIN_LAYOUTS or stored.get_external_count():
        raise ValueError(f"{path} is compressed, virtual or stored elsewhere, which crumple does not write")
    budget[0] -= item.dtype.itemsize * int(np.prod([int(n) for n in item.shape], dtype=object))
    if budget[0] < 0:
        raise ValueError(f"{path} claims to be larger than the file")
    return np.asarray(item[()])
