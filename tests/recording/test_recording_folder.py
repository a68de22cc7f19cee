"""Folders of frames: writing, reading, refusing, resuming."""

from __future__ import annotations

import json

import numpy as np
import pytest
from recording_samples import record_frames, sample_model, sample_state

from crumple.recording import Recorder, Recording, create_recording, resume_recording, state_digest
from crumple.recording.info import summarise_recording
from crumple.recording.log import read_log
from crumple.runtime.errors import InputError


def test_layout_and_index(recorded):
    assert sorted(path.name for path in recorded.iterdir()) == [
        ".crumple",
        ".lock",
        "frames",
        "log.jsonl",
        "model.h5",
        "obstacles",
        "obstacles.vtkhdf.series",
        "run.vtkhdf.series",
        "scene.toml",
    ]
    assert [path.name for path in sorted((recorded / "frames").iterdir())] == [
        f"frame_{k:06d}.vtkhdf" for k in range(5)
    ]
    series = json.loads((recorded / "run.vtkhdf.series").read_text())
    assert series["file-series-version"] == "1.0"
    assert [(recorded / entry["name"]).is_file() for entry in series["files"]] == [True] * 5
    assert [entry["time"] for entry in series["files"]] == [0.04 * k for k in range(5)]


def test_loads_every_frame(recorded):
    recording = Recording(recorded)
    assert recording.frames == [0, 1, 2, 3, 4]
    assert len(recording) == 5
    for frame in recording.frames:
        assert state_digest(recording.load(frame)) == state_digest(sample_state(frame=frame))
    assert recording.load().frame == 4
    assert recording.times() == {k: 0.04 * k for k in range(5)}
    with pytest.raises(InputError, match="has frames 0 to 4"):
        recording.load(17)


def test_times_without_index(recorded):
    (recorded / "run.vtkhdf.series").write_text("{ torn")
    assert Recording(recorded).times() == {k: 0.04 * k for k in range(5)}


def test_obstacles_are_written_once_when_they_rest(recorded):
    recording = Recording(recorded)
    assert recording.obstacle_frames == [0]
    series = json.loads((recorded / "obstacles.vtkhdf.series").read_text())["files"]
    assert len(series) == 5
    assert {entry["name"] for entry in series} == {"obstacles/obstacles_000000.vtkhdf"}
    surface, model = recording.obstacles, sample_model()
    assert surface.names == ("block",)
    np.testing.assert_array_equal(surface.faces, model.obstacles[0].faces)
    assert surface.active_faces(0.0).all()


def test_moving_obstacles_are_written_again(tmp_path):
    pyvista = pytest.importorskip("pyvista")
    model, state = sample_model(), sample_state()
    moved = state.replaced(frame=1, time=0.04, obstacle_x=state.obstacle_x + 0.01)
    with create_recording(tmp_path / "run", "") as recorder:
        recorder.on_start(model, state)
        recorder.on_frame(model, moved, None)
    recording = Recording(tmp_path / "run")
    assert recording.obstacle_frames == [0, 1]
    seen = pyvista.read(recording.obstacle_path(1))
    np.testing.assert_array_equal(seen.points, moved.obstacle_x)
    np.testing.assert_array_equal(seen.regular_faces, model.obstacles[0].faces)


def test_without_obstacles(tmp_path):
    with create_recording(tmp_path / "run", "") as recorder:
        record_frames(recorder, range(2), obstacle=False)
    assert Recording(tmp_path / "run").obstacles is None


def test_log_has_a_line_per_step_and_sums_per_frame(recorded):
    lines = Recording(recorded).steps()
    assert [line["frame"] for line in lines] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert ["frame_end" in line for line in lines] == [False, True] * 4
    assert lines[0]["energies"] == {"membrane": 1.5}
    info = summarise_recording(Recording(recorded))
    assert (info.frames, info.steps, info.newton_iterations, info.contacts_max) == (5, 8, 40, 12)
    assert info.faces_last == 40
    assert info.faces_mean == 40
    assert info.seconds_per_frame == pytest.approx(0.2)
    assert info.phases == pytest.approx({"contact": 0.2, "factor": 0.4})


def test_torn_last_line_is_left_out(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"frame": 1}\n{"frame": 2}\n{"fra')
    log = read_log(path)
    assert log.lines == ({"frame": 1}, {"frame": 2})
    assert log.skipped == ()


@pytest.mark.parametrize(
    "bad",
    [
        "nonsense",
        "[1]",
        '{"frame": "three"}',
        '{"frame": 1, "iterations": [2]}',
        '{"frame": 1, "frame_end": 3}',
        '{"frame": 1, "frame_end": {"phases": {"contact": "long"}}}',
        '{"frame": 1, "energies": [1.0]}',
        "[" * 100_000,
        '{"frame": ' + "9" * 5000 + "}",
    ],
)
def test_a_bad_line_of_the_log_is_skipped_and_named(recorded, bad):
    path = recorded / "log.jsonl"
    before = read_log(path)
    texts = path.read_text().splitlines()
    path.write_text("\n".join([*texts[:2], bad, *texts[2:]]) + "\n")
    log = read_log(path)
    assert log.lines == before.lines
    assert len(log.skipped) == 1
    assert "log.jsonl:3: not a line of a step log" in log.skipped[0]
    assert len(log.skipped[0]) < 300
    info = summarise_recording(Recording(recorded))
    assert info.steps == 8
    assert info.problems == log.skipped


def test_refuses_to_overwrite(recorded, tmp_path):
    with pytest.raises(InputError, match="already holds frames 0 to 4"):
        create_recording(recorded, "")
    with create_recording(recorded, "new", force=True) as recorder:
        assert recorder.recording.frames == []
        assert recorder.recording.obstacle_frames == []
        assert not recorder.recording.steps()
    assert (recorded / "scene.toml").read_text() == "new"
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "scene.toml").write_text("precious")
    with pytest.raises(InputError, match="holds other files"):
        create_recording(tmp_path / "home", "", force=True)
    assert (tmp_path / "home" / "scene.toml").read_text() == "precious"
    with pytest.raises(InputError, match="is a file"):
        create_recording(tmp_path / "home" / "scene.toml", "", force=True)


def test_force_keeps_files_that_are_not_its_own(recorded):
    (recorded / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="holds other files"):
        create_recording(recorded, "", force=True)
    assert len(Recording(recorded)) == 5


def test_not_a_recording(tmp_path):
    for path in (tmp_path / "absent", tmp_path):
        with pytest.raises(InputError, match=str(path)):
            Recording(path)


def test_one_writer_at_a_time(recorded):
    with Recorder(recorded), pytest.raises(InputError, match="another process is writing"):
        Recorder(recorded)
    Recorder(recorded).close()


def test_resume_continues_as_if_never_stopped(recorded, tmp_path):
    with create_recording(tmp_path / "whole", "name = 'sample'\n") as recorder:
        record_frames(recorder, range(8))
    state, recorder = resume_recording(recorded)
    with recorder:
        assert state_digest(state) == state_digest(sample_state(frame=4))
        record_frames(recorder, range(5, 8))
    for name in ["run.vtkhdf.series", "log.jsonl", *(f"frames/frame_{k:06d}.vtkhdf" for k in range(8))]:
        assert (recorded / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


def test_resume_sets_damaged_aside_and_drops_what_is_half_written(recorded):
    frames, told = recorded / "frames", []
    torn = (frames / "frame_000004.vtkhdf").read_bytes()[:5000]
    (frames / "frame_000004.vtkhdf").write_bytes(torn)
    (frames / "frame_000005.vtkhdf.part").write_bytes(b"half")
    with open(recorded / "log.jsonl", "a") as log:
        log.write('{"frame": 5, "ti')
    state, recorder = resume_recording(recorded, warn=told.append)
    recorder.close()
    assert state.frame == 3
    assert (recorded / "set-aside" / "frame_000004.damaged.vtkhdf").read_bytes() == torn
    assert len(told) == 1
    assert "frame 4 is damaged" in told[0]
    assert "set-aside" in told[0]
    assert Recording(recorded).frames == [0, 1, 2, 3]
    assert list(frames.glob("*.part")) == []
    assert [line["frame"] for line in Recording(recorded).steps()] == [1, 1, 2, 2, 3, 3]


def test_resume_from_an_earlier_frame(recorded):
    later = {k: (recorded / f"frames/frame_{k:06d}.vtkhdf").read_bytes() for k in (2, 3, 4)}
    state, recorder = resume_recording(recorded, frame=1)
    recorder.close()
    assert state.frame == 1
    assert Recording(recorded).frames == [0, 1]
    assert [entry["time"] for entry in json.loads((recorded / "run.vtkhdf.series").read_text())["files"]] == [0, 0.04]
    for number, content in later.items():
        assert (recorded / f"set-aside/frame_{number:06d}.replaced.vtkhdf").read_bytes() == content


def test_nothing_to_resume(recorded):
    for path in (recorded / "frames").iterdir():
        path.write_bytes(b"")
    with pytest.raises(InputError, match="no intact frame"):
        resume_recording(recorded)
