"""Arrays of a dataset, which are compressed: opened only if they lie in their own file and are no larger than that can
be."""

from __future__ import annotations

import h5py

from crumple.recording.plain_hdf import child

MOST_PACKED = 1100
"""Bytes that a byte on the disk can stand for: deflate comes to 1032 at most."""
SLACK = 65_536
"""Bytes that any array may have."""


def packed_array(group: h5py.Group, name: str) -> h5py.Dataset:
    """The array `name` in `group`; KeyError when it is missing, ValueError for what crumple does not write: links and
    storage elsewhere, and arrays that claim to be larger than what lies in the file can fill."""
    item = child(group, name)
    if not isinstance(item, h5py.Dataset) or item.dtype.kind not in "iuf":
        raise ValueError(f"{name} is no array of numbers")
    stored = item.id.get_create_plist()
    if stored.get_layout() == h5py.h5d.VIRTUAL or stored.get_external_count():
        raise ValueError(f"{name} is stored elsewhere, which crumple does not write")
    if item.size * item.dtype.itemsize > MOST_PACKED * item.id.get_storage_size() + SLACK:
        raise ValueError(f"{name} claims to be larger than the file can hold")
    return item
