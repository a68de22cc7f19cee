"""`verify` finds what is wrong outside of the states as well: missing and swapped frames, views, obstacles, index."""

from __future__ import annotations

import dataclasses
import shutil
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
from recording_samples import frame_report, make_recording, record_frames, sample_model, sample_state

from crumple.recording import Recording, create_recording, resume_recording
from crumple.recording.codec import digest, flatten
from crumple.recording.verify import Verification, verify_recording
from crumple.state import Ledger

OLD = {
    0: "65fa8cafb41c89be0b235a285359ece3",
    1: "f2ced63c57eeaa1500030b5e8beb5fbc",
    2: "063de40b58a92098e362d27fff1a274d",
}
"""Digests of the frames in the recording that version 0.1.0 wrote."""
"""Fields that states did not have then: they are zero."""


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    return make_recording(tmp_path / "run", 3)


def verified(folder: Path) -> Verification:
    return verify_recording(Recording(folder))


def only_line(result: Verification) -> str:
    assert not result.passed
    assert len(result.describe()) == 1, result.describe()
    return result.describe()[0]


def test_sound(recorded):
    assert verified(recorded).passed
    assert verified(recorded).describe() == []


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_missing_frame(recorded, number):
    (recorded / f"frames/frame_{number:06d}.vtkhdf").unlink()
    result = verified(recorded)
    assert not result.passed
    assert result.missing == (range(number, number + 1),)
    assert f"frame {number}: is missing" in result.describe()


@pytest.mark.parametrize("damage", [0.0, 5.0])
def test_creases_that_were_never_worked(tmp_path, damage):
    """What a sheet is given at the start may be unworked, but it does not get more of it."""
    paper = dataclasses.replace(sample_model().materials[0], yield_curvature=100.0)
    model = dataclasses.replace(sample_model(), materials=(paper, paper))
    with create_recording(tmp_path / "run", "name = 'sample'\n") as recorder:
        for frame, bent in enumerate((200.0, 150.0, 500.0)):
            state = sample_state(frame=frame)
            faces = state.mesh.face_count
            curvature, worked = np.tile([bent, 0.0, 0.0], (faces, 1)), np.full(faces, damage)
            state = state.replaced(plastic_curvature=curvature, damage=worked)
            if frame == 0:
                recorder.on_start(model, state)
            else:
                recorder.on_frame(model, state, frame_report(state))
    result = verified(tmp_path / "run")
    if damage == 0.0:
        assert "frame 2: " in only_line(result)
        assert "of creases have come from nowhere" in only_line(result)
    else:
        assert result.passed, result.describe()


def test_a_frame_replaced_by_another(recorded):
    shutil.copy(recorded / "frames/frame_000002.vtkhdf", recorded / "frames/frame_000001.vtkhdf")
    assert "it holds frame 2, not 1" in only_line(verified(recorded))


@pytest.mark.parametrize(
    "name", ["Polygons/Connectivity", "Polygons/Offsets", "Polygons/NumberOfCells", "FieldData/TimeValue"]
)
def test_a_surface_that_does_not_show_the_state(recorded, name):
    with h5py.File(recorded / "frames/frame_000001.vtkhdf", "r+") as file:
        file["VTKHDF"][name][-1] += 1
    assert f"VTKHDF/{name} does not show the state" in only_line(verified(recorded))
    assert verified(recorded).summary()["invalid_views"] == 1


def test_points_of_their_own(recorded):
    with h5py.File(recorded / "frames/frame_000001.vtkhdf", "r+") as file:
        points = file["VTKHDF/Points"][()]
        del file["VTKHDF/Points"]
        file["VTKHDF/Points"] = points + 1e-3
    assert "VTKHDF/Points" in only_line(verified(recorded))


@pytest.mark.parametrize(
    "name", ["VTKHDF/Polygons/Connectivity", "VTKHDF/Points", "VTKHDF/CellData/active", "crumple/end"]
)
def test_damaged_obstacles(recorded, name):
    with h5py.File(recorded / "obstacles/obstacles_000000.vtkhdf", "r+") as file:
        file[name][-1] = 0
    result = verified(recorded)
    assert not result.passed
    assert "checksum" in result.problems[0]


def test_obstacles_of_another_recording(recorded, tmp_path):
    model, state = sample_model(), sample_state()
    with create_recording(tmp_path / "other", "") as recorder:
        recorder.on_start(model, state.replaced(obstacle_x=state.obstacle_x + 0.01))
    name = "obstacles/obstacles_000000.vtkhdf"
    shutil.copy(tmp_path / "other" / name, recorded / name)
    assert "shows the obstacles elsewhere than frame 0" in only_line(verified(recorded))


def test_obstacles_that_are_gone(recorded):
    (recorded / "obstacles/obstacles_000000.vtkhdf").unlink()
    result = verified(recorded)
    assert not result.passed
    assert "the obstacles are missing" in result.describe()[0]


def test_an_index_with_wrong_times(recorded):
    index = recorded / "run.vtkhdf.series"
    index.write_text(index.read_text().replace('"time": 0.04}', '"time": 0.05}'))
    assert "gives another time to frame 1" in only_line(verified(recorded))


@pytest.fixture
def old(tmp_path: Path) -> Path:
    with zipfile.ZipFile(Path(__file__).parent / "data/recording_0.1.0.zip") as archive:
        archive.extractall(tmp_path / "old")
    return tmp_path / "old"


def test_recordings_of_version_0_1_load_and_verify(old):
    recording = Recording(old)
    since = {"a", "dense_steps", "half_rate", "half_turn", "has_acceleration", "texture", "crease", "sizing_floor"}
    since |= {"obstacle_force", "handle_load"}
    since |= {"fracture_work"}
    since |= {f"tips/{name}" for name in ("node", "heading", "last", "crack", "pace", "fall", "due")}
    since |= {"torn/points", "torn/crack", "torn/sheet"}
    since |= {f"creases/{name}" for name in ("sheet", "label", "kind", "place", "moment", "shift", "status")}
    since |= {f"ledger/{one.name}" for one in dataclasses.fields(Ledger)}
    for frame, expected in OLD.items():
        fields = flatten(recording.load(frame))
        assert digest({path: value for path, value in fields.items() if path not in since}) == expected
        assert not any(np.any(fields[path]) for path in since)
    assert recording.frames == list(OLD)
    assert recording.obstacles is not None
    assert recording.obstacles.names == ("block",)
    assert verify_recording(recording).passed


def test_recordings_of_version_0_1_resume_and_are_replaced(old, tmp_path):
    state, recorder = resume_recording(old)
    with recorder:
        record_frames(recorder, range(state.frame + 1, 5))
    np.testing.assert_array_equal(Recording(old).frames, range(5))
    assert verified(old).passed
    create_recording(old, "", force=True).close()
    assert Recording(old).frames == []
