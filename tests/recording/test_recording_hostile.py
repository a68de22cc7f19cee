"""Crafted files: nothing outside of the file is opened, the memory is not filled, and kernels get valid indices."""

from __future__ import annotations

import io
from pathlib import Path

import h5py
import numpy as np
import pytest
from recording_samples import make_recording, sample_state

from crumple.recording import Recording
from crumple.recording.codec import digest, flatten
from crumple.recording.frame import decode_frame, encode_frame, frame_table, frame_time
from crumple.recording.obstacles import decode_obstacles
from crumple.recording.vtkhdf import DamagedFile
from crumple.runtime.errors import InputError

SECRET = np.arange(90.0).reshape(30, 3)


def rewritten(tmp_path: Path, change) -> Path:
    """A frame file that `change(crumple_group)` was applied to, with a digest that matches its content."""
    buffer = io.BytesIO(encode_frame(sample_state(frame=1)))
    path = tmp_path / "frame.vtkhdf"
    with h5py.File(buffer, "r+") as file:
        change(file["crumple"])
    path.write_bytes(buffer.getvalue())
    return path


def with_array(tmp_path: Path, name: str, array: np.ndarray) -> Path:
    """A frame file with another array and the digest that goes with it."""

    def change(root):
        table = frame_table(sample_state(frame=1)) | {name: array}
        root.attrs["digest"] = np.bytes_(digest(table))
        del root[name]
        root[name] = array

    return rewritten(tmp_path, change)


def external_link(root, folder):
    del root["x"]
    root["x"] = h5py.ExternalLink(str(folder / "other.h5"), "/secret")


def soft_link(root, folder):
    root.file["elsewhere"] = root["x"][()]
    del root["x"]
    root["x"] = h5py.SoftLink("/elsewhere")


def external_storage(root, folder):
    del root["x"]
    root.create_dataset("x", (30, 3), "f8", external=[(str(folder / "raw"), 0, 720)])


def virtual_dataset(root, folder):
    del root["x"]
    layout = h5py.VirtualLayout((30, 3), "f8")
    layout[:] = h5py.VirtualSource(str(folder / "other.h5"), "secret", (30, 3))
    root.create_virtual_dataset("x", layout)


def compressed(root, folder):
    x = root["x"][()]
    del root["x"]
    root.create_dataset("x", data=x, compression="gzip")


def group_in_itself(root, folder):
    root["mesh/again"] = root


def variable_length(root, folder):
    root.attrs["text"] = "of variable length"


@pytest.mark.parametrize(
    "trick",
    [external_link, soft_link, external_storage, virtual_dataset, compressed, group_in_itself, variable_length],
)
def test_what_crumple_does_not_write_is_refused(tmp_path, trick):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["secret"] = SECRET
    (tmp_path / "raw").write_bytes(SECRET.tobytes())
    path = rewritten(tmp_path, lambda root: trick(root, tmp_path))
    with pytest.raises(DamagedFile) as error:
        decode_frame(path)
    assert "checksum" not in str(error.value)  # refused before it was read


def test_the_whole_group_may_not_be_elsewhere(tmp_path):
    path = rewritten(tmp_path, lambda root: None)
    with h5py.File(tmp_path / "link.vtkhdf", "w") as file:
        file["crumple"] = h5py.ExternalLink(str(path), "/crumple")
    for read in (decode_frame, frame_time):
        with pytest.raises(DamagedFile, match="link to elsewhere"):
            read(tmp_path / "link.vtkhdf")


@pytest.mark.parametrize("options", [{"compression": "gzip", "chunks": (10**6, 3)}, {}])
def test_a_small_file_that_inflates_is_refused_before_it_is_read(tmp_path, options, monkeypatch):
    def change(root):
        del root["x"]
        root.create_dataset("x", (140_000_000, 3), "f8", **options)  # 3.4 GB of zeros that take no room

    path = rewritten(tmp_path, change)
    assert path.stat().st_size < 100_000
    read = []
    monkeypatch.setattr(
        h5py.Dataset,
        "__getitem__",
        lambda self, key, plain=h5py.Dataset.__getitem__: (read.append(self.size), plain(self, key))[1],
    )
    with pytest.raises(DamagedFile):
        decode_frame(path)
    assert max(read, default=0) < 10_000


@pytest.mark.parametrize("name", ["x", "v", "y", "damage", "plastic_curvature", "plastic_strain", "mesh/node_rest"])
@pytest.mark.parametrize(
    "edit", [lambda a: a[:-1], lambda a: np.concatenate([a, a[:1]]), lambda a: a.astype(np.float32)]
)
def test_fields_of_wrong_length_or_type_are_refused(tmp_path, name, edit):
    path = with_array(tmp_path, name, np.ascontiguousarray(edit(flatten(sample_state(frame=1))[name])))
    with pytest.raises(DamagedFile, match=f"{name} has shape"):
        decode_frame(path)


@pytest.mark.parametrize("name", ["mesh/faces", "mesh/vertex_node", "mesh/face_sheet", "pins/node"])
@pytest.mark.parametrize("value", [-1, 2**31 - 1])
def test_indices_out_of_range_are_refused(tmp_path, name, value):
    array = flatten(sample_state(frame=1))[name].copy()
    array.flat[0] = value
    with pytest.raises(DamagedFile, match=f"{name} points outside"):
        decode_frame(with_array(tmp_path, name, array))


def test_numbers_of_the_wrong_type_are_refused(tmp_path):
    def change(root):
        table = frame_table(sample_state(frame=1)) | {"frame": 1.0}
        root.attrs["digest"] = np.bytes_(digest(table))
        root.attrs["frame"] = 1.0

    with pytest.raises(DamagedFile, match="frame is of the wrong type"):
        decode_frame(rewritten(tmp_path, change))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("VTKHDF/Polygons/Connectivity", 99),
        ("VTKHDF/Polygons/Connectivity", -1),
        ("VTKHDF/CellData/obstacle", 7),
        ("crumple/node_obstacle", 2),
        ("VTKHDF/Polygons/Offsets", 5),
    ],
)
@pytest.mark.parametrize("with_digest", [True, False])
def test_damaged_obstacles_are_refused_with_and_without_checksum(tmp_path, name, value, with_digest):
    folder = make_recording(tmp_path / "run", 1)
    path = folder / "obstacles/obstacles_000000.vtkhdf"
    with h5py.File(path, "r+") as file:
        file[name][0] = value
        if not with_digest:
            del file["crumple"].attrs["digest"]
    with pytest.raises(DamagedFile, match="points outside|Offsets" if not with_digest else "checksum"):
        decode_obstacles(path)
    with pytest.raises(InputError):
        _ = Recording(folder).obstacles


def test_a_pipe_in_the_place_of_a_frame_is_no_trap(recorded):
    import os

    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes")
    path = recorded / "frames/frame_000005.vtkhdf"
    os.mkfifo(path)
    with pytest.raises(InputError, match="not a regular file"):
        decode_frame(path)


def test_nor_is_one_in_the_place_of_the_index(recorded):
    import os

    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes")
    (recorded / "run.vtkhdf.series").unlink()
    os.mkfifo(recorded / "run.vtkhdf.series")
    assert len(Recording(recorded).times()) == 5
