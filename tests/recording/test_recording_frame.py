"""A frame file holds the state bit by bit, and a surface that VTK reads."""

from __future__ import annotations

import io
import time
from dataclasses import fields
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recording_samples import sample_state

from crumple.recording.codec import digest, flatten, restore
from crumple.recording.files import write_atomically
from crumple.recording.frame import decode_frame, encode_frame, frame_time, state_digest
from crumple.runtime.errors import InputError
from crumple.state import State, initial_state


def assert_same_bits(a: State, b: State) -> None:
    left, right = flatten(a), flatten(b)
    assert left.keys() == right.keys()
    for path, value in left.items():
        other = right[path]
        assert type(other) is type(value), path
        assert np.asarray(other).dtype == np.asarray(value).dtype, path
        assert np.shape(other) == np.shape(value), path
        assert np.asarray(other).tobytes() == np.asarray(value).tobytes(), path


@settings(deadline=None, max_examples=25)
@given(
    columns=st.integers(1, 6),
    rows=st.integers(1, 6),
    seed=st.integers(0, 9),
    moment=st.floats(allow_nan=False, allow_infinity=False),
    odd=st.sampled_from([-0.0, 5e-324, np.nextafter(1.0, 2.0), np.inf, np.nan]),
)
def test_round_trip_is_bit_identical(tmp_path_factory, columns, rows, seed, moment, odd):
    state = sample_state(columns, rows, seed=seed, obstacle=bool(seed % 2)).replaced(time=moment)
    state.x[0, 1] = odd
    path = tmp_path_factory.mktemp("frame") / "frame.vtkhdf"
    path.write_bytes(encode_frame(state))
    loaded = decode_frame(path)
    assert_same_bits(state, loaded)
    assert state_digest(loaded) == state_digest(state)
    assert frame_time(path) == moment


def test_every_field_of_the_state_is_recorded():
    table = flatten(sample_state())
    for field in fields(State):
        assert any(path == field.name or path.startswith(field.name + "/") for path in table), field.name


def test_same_state_gives_same_bytes_at_any_time():
    first = encode_frame(sample_state(frame=3))
    time.sleep(1.1)  # HDF5 time stamps have a resolution of a second
    assert encode_frame(sample_state(frame=3)) == first
    assert encode_frame(sample_state(frame=4)) != first


@pytest.mark.parametrize("path", ["x", "pins/anchor", "mesh/u", "time", "frame"])
def test_digest_sees_every_field(path):
    table = flatten(sample_state())
    before = digest(table)
    table[path] = np.nextafter(table[path], np.inf) if path != "frame" else table[path] + 1
    assert digest(table) != before


def test_missing_field_takes_its_default_and_required_one_is_named():
    table = flatten(sample_state())
    del table["steps"]
    assert restore(State, table).steps == 0
    del table["damage"]
    with pytest.raises(KeyError, match="damage"):
        restore(State, table)


def test_vtk_reads_points_faces_and_fields(tmp_path):
    reading = pytest.importorskip("vtkmodules.vtkIOHDF")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    state = sample_state(frame=2)
    (tmp_path / "frame.vtkhdf").write_bytes(encode_frame(state))
    reader = reading.vtkHDFReader()
    assert reader.CanReadFile(str(tmp_path / "frame.vtkhdf"))
    reader.SetFileName(str(tmp_path / "frame.vtkhdf"))
    reader.Update()
    surface = reader.GetOutputDataObject(0)
    assert surface.GetClassName() == "vtkPolyData"
    np.testing.assert_array_equal(vtk_to_numpy(surface.GetPoints().GetData()), state.x)
    corners = vtk_to_numpy(surface.GetPolys().GetConnectivityArray()).reshape(-1, 3)
    np.testing.assert_array_equal(corners, state.mesh.face_nodes)
    expected = {
        "v": state.v,
        "y": state.y,
        "node_label": state.mesh.node_label,
        "pattern": state.mesh.u,
        "texture": state.mesh.u / 0.1,
        "damage": state.damage,
        "plastic_curvature": state.plastic_curvature,
        "material": state.mesh.face_material,
        "sheet": state.mesh.face_sheet,
    }
    for name, values in expected.items():
        array = surface.GetPointData().GetArray(name) or surface.GetCellData().GetArray(name)
        np.testing.assert_array_equal(vtk_to_numpy(array), values, err_msg=name)
    assert surface.GetPointData().GetTCoords().GetName() == "texture"
    assert surface.GetFieldData().GetArray("TimeValue").GetValue(0) == state.time


def test_seams_show_nodes_not_vertices(tmp_path):
    pyvista = pytest.importorskip("pyvista")
    from crumple.mesh.sheet_mesh import make_sheet_mesh

    u = np.array([[0, 0], [1, 0], [0, 1], [2, 0], [3, 0], [2, 1]], float)
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], float)
    mesh = make_sheet_mesh(u, [[0, 1, 2], [3, 4, 5]], vertex_node=np.array([0, 1, 2, 1, 3, 2]), node_rest=x)
    state = initial_state(mesh, x)
    (tmp_path / "seam.vtkhdf").write_bytes(encode_frame(state))
    seen = pyvista.read(tmp_path / "seam.vtkhdf")
    np.testing.assert_array_equal(seen.points, x)
    np.testing.assert_array_equal(seen.regular_faces, [[0, 1, 2], [1, 3, 2]])
    shown = {tuple(point) for point in seen["pattern"]}
    assert len(shown) == 4
    assert shown <= {tuple(point) for point in u}
    assert_same_bits(decode_frame(tmp_path / "seam.vtkhdf"), state)


def test_frame_of_a_large_sheet_is_small_and_fast(tmp_path):
    state = sample_state(60, 59)
    encode_frame(state)
    begin = time.perf_counter()
    for _ in range(5):
        content = encode_frame(state)
        write_atomically(tmp_path / "frame.vtkhdf", content)
    assert len(content) < 2_000_000
    assert (time.perf_counter() - begin) / 5 < 0.5  # 0.02 s on an idle machine


def test_damage_is_an_input_error_or_harmless(tmp_path):
    """Truncation anywhere is noticed; a flipped byte is noticed or lies where nothing is stored."""
    state, path = sample_state(frame=1), tmp_path / "frame.vtkhdf"
    content, random = encode_frame(state), np.random.default_rng(0)
    for length in [0, 1, 8, 100, *random.integers(0, len(content), 30), len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(InputError, match=r"frame\.vtkhdf: truncated or corrupt"):
            decode_frame(path)
    noticed = 0
    for position in random.integers(0, len(content), 150):
        broken = bytearray(content)
        broken[position] ^= 0x55
        path.write_bytes(broken)
        try:
            assert_same_bits(decode_frame(path), state)
        except InputError as error:
            noticed += str(error).count("\n") == 0
    assert noticed > 50


def test_foreign_files_are_input_errors(tmp_path):
    path = tmp_path / "frame.vtkhdf"
    with pytest.raises(InputError, match="cannot be read"):
        decode_frame(path)
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        file["other"] = 1
    path.write_bytes(buffer.getvalue())
    with pytest.raises(InputError, match="not a file of a recording"):
        decode_frame(path)


def test_newer_format_asks_for_an_upgrade(tmp_path, monkeypatch):
    monkeypatch.setattr("crumple.recording.frame.FORMAT", 99)
    (tmp_path / "frame.vtkhdf").write_bytes(encode_frame(sample_state()))
    monkeypatch.undo()
    with pytest.raises(InputError, match="newer crumple"):
        decode_frame(Path(tmp_path / "frame.vtkhdf"))
