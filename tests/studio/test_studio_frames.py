"""Frames as packets, fields and the values of a face."""

from __future__ import annotations

import shutil
from importlib.resources import files

import numpy as np
import pytest
from packets import decode_packet
from recording_samples import frame_report, make_recording, sample_model, sample_state

from crumple.recording import Recording, create_recording
from crumple.runtime.errors import InputError
from crumple.studio.frames import FrameStore, describe_face, lay_out
from crumple.studio.packets import encode_packet


def test_packets_round_trip_and_stay_aligned():
    arrays = {"x": np.arange(6.0).reshape(2, 3), "faces": np.array([[0, 1, 2]], np.int32), "none": np.zeros((0, 3))}
    for text in ("", "é", "four", "a longer text"):
        message = encode_packet({"text": text, "gap": np.inf}, arrays)
        values, decoded = decode_packet(message)
        assert values == {"text": text, "gap": None}
        assert len(message) % 4 == 0
        for name, array in arrays.items():
            np.testing.assert_array_equal(decoded[name], array)
            assert decoded[name].shape == array.shape
    with pytest.raises(ValueError, match="no packet"):
        decode_packet(b"HTTP" + bytes(8))


def test_a_frame_has_what_the_state_has(recorded):
    store, state = FrameStore(Recording(recorded)), Recording(recorded).load(3)
    values, arrays = decode_packet(store.packet(3, "damage"))
    assert (values["frame"], values["time"], values["faces"]) == (3, state.time, state.mesh.face_count)
    np.testing.assert_allclose(arrays["x"], state.x, rtol=1e-6)
    np.testing.assert_array_equal(arrays["vertex_node"][arrays["faces"]], state.mesh.face_nodes)
    np.testing.assert_allclose(arrays["field"], state.damage, rtol=1e-6)
    np.testing.assert_allclose(arrays["obstacle_x"], state.obstacle_x, rtol=1e-6)
    assert arrays["obstacle_faces"].shape == (4, 3)
    assert values["field"]["low"] == state.damage.min()
    assert np.median(state.damage) < values["field"]["high"] <= state.damage.max()


def test_what_the_page_knows_is_not_sent_again(recorded):
    store = FrameStore(Recording(recorded))
    first, arrays = decode_packet(store.packet(0))
    again, fewer = decode_packet(store.packet(1, None, {first["topology"], first["obstacles"]}))
    assert {"faces", "pattern", "obstacle_x"} <= set(arrays)
    assert set(fewer) == {"x"}
    assert (again["topology"], again["obstacles"]) == (first["topology"], first["obstacles"])


def test_a_changed_mesh_has_another_key(tmp_path):
    with create_recording(tmp_path / "run", "name = 'x'\n") as recorder:
        recorder.on_start(sample_model(), sample_state(4, 4))
        finer = sample_state(5, 4, frame=1)
        recorder.on_frame(sample_model(), finer, frame_report(finer))
    store = FrameStore(Recording(tmp_path / "run"))
    first, _ = decode_packet(store.packet(0))
    second, arrays = decode_packet(store.packet(1, None, {first["topology"]}))
    assert second["topology"] != first["topology"]
    assert len(arrays["faces"]) == finer.mesh.face_count


def test_a_replaced_frame_is_read_anew_and_few_are_kept(recorded, tmp_path):
    folder = shutil.copytree(recorded, tmp_path / "copy")
    store = FrameStore(Recording(folder), most_bytes=1)
    before = store.state(1)
    assert store.state(1) is before
    store.state(2)
    assert store.state(1) is not before  # only one is kept
    other = make_recording(tmp_path / "other", 3, obstacle=False)
    kept = store.state(1)
    shutil.copy(Recording(other).frame_path(1), Recording(folder).frame_path(1))
    assert store.state(1) is not kept


def test_damaged_and_missing_frames_are_named(recorded, tmp_path):
    folder = shutil.copytree(recorded, tmp_path / "copy")
    path = Recording(folder).frame_path(2)
    path.write_bytes(path.read_bytes()[:-100])
    store = FrameStore(Recording(folder))
    with pytest.raises(InputError, match=r"frame_000002.*truncated or corrupt"):
        store.packet(2)
    with pytest.raises(InputError, match=r"= 9 .has no such frame"):
        store.packet(9)
    with pytest.raises(InputError, match=r"'dmage' .*damage, plastic_curvature"):
        store.packet(1, "dmage")


def test_the_values_of_a_face():
    state = sample_state()
    face = describe_face(state, 7)
    values = {one["name"]: one["value"] for one in face["values"]}
    assert values["damage"] == state.damage[7]
    assert values["speed"] == pytest.approx(np.linalg.norm(state.v[state.mesh.face_nodes[7]], axis=1).mean())
    np.testing.assert_allclose(face["x"], state.x[state.mesh.face_nodes[7]].mean(axis=0))
    with pytest.raises(InputError, match="faces 0 to 39"):
        describe_face(state, 40)


def test_patterns_of_several_sheets_do_not_overlap():
    u = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    placed = lay_out(u, np.array([[0, 1, 2], [3, 4, 5]], np.int32), np.array([0, 1], np.int32))
    np.testing.assert_array_equal(placed[:3], u[:3])
    assert placed[3:, 0].min() > placed[:3, 0].max()
    np.testing.assert_allclose(placed[3:] - placed[3], u[3:] - u[3])


def test_damaged_obstacles_are_told_and_the_sheets_are_shown(recorded, tmp_path):
    folder = shutil.copytree(recorded, tmp_path / "copy")
    path = Recording(folder).obstacle_path(0)
    path.write_bytes(path.read_bytes()[:200])
    values, arrays = decode_packet(FrameStore(Recording(folder)).packet(1))
    assert "obstacles_000000.vtkhdf" in values["note"]
    assert len(arrays["x"])
    assert len(arrays["obstacle_faces"]) == 0


def test_what_is_vendored_is_small_and_has_its_licence():
    vendor = files("crumple.studio").joinpath("page", "vendor")
    assert len(vendor.joinpath("three.min.js").read_bytes()) < 1_000_000
    assert "The MIT License" in vendor.joinpath("three.LICENSE").read_text(encoding="utf-8")
