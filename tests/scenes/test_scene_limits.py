"""What a scene may ask for: foreseen sizes, impossible ones refused, and everything wrong told in one pass."""

import json
import re
import time

import pytest
import tomli_w
from scene_tables import small

from crumple.runtime.errors import InputError
from crumple.scenes import build, check_scene, load_scene, scene_from_tables


def checked(tmp_path, tables):
    scene = tmp_path / "scene.toml"
    scene.write_text(tomli_w.dumps(tables))
    return check_scene(scene)


def outline(points, size):
    return {"kind": "outline", "points": points, "size": size}


NEEDLES = [outline([[0, 0], [0.1, 0], [0.1, 100], [0, 0.1]], 0.03), outline([[0, 0], [50, 0.01], [0, 0.02]], 0.01)]


@pytest.mark.slow
@pytest.mark.parametrize("shape", NEEDLES)
def test_outlines_with_extreme_angles_are_meshed(shape):
    tables = small()
    tables["sheets"][0]["shape"] = shape
    tables["contact"] = {"enabled": False}
    _, state, _ = build(scene_from_tables(tables))
    assert 10_000 < state.mesh.face_count < 40_000
    assert state.mesh.corner_length.max() < 1.4 * shape["size"]


@pytest.mark.parametrize("width", [1e-6, 1e-9, 1e-12])
def test_outlines_that_no_mesh_can_fill_are_refused(width):
    tables = small()
    tables["sheets"][0]["shape"] = outline([[0, 0], [5, width], [0, 2 * width]], 0.01)
    with pytest.raises(InputError, match=r"sheets\[0\]\.shape: outline\.(size|points)"):
        build(scene_from_tables(tables))


def test_check_tells_the_range_of_faces(tmp_path):
    """The foil ball starts with 600 faces (quick) and has ended with 48,100: that has to be within the range."""
    report = check_scene("foil-ball")
    assert report.ok
    assert report.size.faces < 48_100 < report.size.most_faces < 100_000
    assert "at the start, up to" in str(report.size)
    fixed = check_scene("drape-fixed").size
    assert fixed.most_faces == 0
    assert "up to" not in str(fixed)


@pytest.mark.parametrize(
    ("sizing", "place"),
    [
        ({"size_min": 1e-6, "size_max": 10.0}, r"remeshing\.size_min = 1e-06 \(allows .* faces for the 1e\+04 m²"),
        ({"size_min": 0.01, "size_max": 0.1}, r"remeshing\.size_max = 0\.1 \(means at least 2\.3e\+06 faces"),
        ({"size_min": 0.2, "size_max": 0.1}, r"scene\.toml: remeshing\.size_min = 0\.2 \(must be ≤ size_max"),
    ],
)
def test_sizes_that_ask_for_too_many_faces_are_refused(tmp_path, sizing, place):
    tables = small() | {"remeshing": sizing}
    tables["sheets"][0]["shape"] = {"kind": "rectangle", "width": 100.0, "height": 100.0, "size": 10.0}
    tables["contact"] = {"enabled": False}
    assert any(re.search(place, error) for error in checked(tmp_path, tables).errors)


def test_a_sheet_that_may_become_very_fine_gets_a_note(tmp_path):
    tables = small() | {"remeshing": {"size_min": 1e-3, "size_max": 1.0}, "contact": {"enabled": False}}
    tables["sheets"][0]["shape"] = {"kind": "rectangle", "width": 1.0, "height": 2.0, "size": 0.5}
    report = checked(tmp_path, tables)
    assert report.ok
    assert any("remeshing.size_min: remeshing may make up to 9.2e+06 faces" in note for note in report.notes)


@pytest.mark.parametrize("table", [{"frame_time": 5e-324}, {"frame_time": 1e-300, "duration": 1e6}])
def test_frames_of_no_time_are_refused(tmp_path, table):
    (error,) = checked(tmp_path, small() | {"run": table}).errors
    assert "scene.toml: run.frame_time = " in error
    assert "must be ≥ 1e-09, in s" in error


def test_steps_of_no_time_are_refused(tmp_path):
    for key in ("fixed_step", "max_step"):
        errors = checked(tmp_path, small() | {"solver": {key: 1e-300, "min_step": 1e-301}}).errors
        assert any(f"solver.{key} = 1e-300 (gives more than 1e+06 steps" in error for error in errors)


def test_a_container_that_closes_on_its_sheet_is_refused(tmp_path):
    tables = small() | {"motions": {"close": {"keys": [{"time": 0}, {"time": 0.5, "scale": 1e-9}]}}}
    tables["obstacles"] = [
        {"shape": {"kind": "sphere", "radius": 0.2, "inside": True}, "motion": "close", "name": "ball"},
    ]
    (error,) = checked(tmp_path, tables).errors
    assert "scene.toml: obstacles[0]: closes to" in error
    assert "less than the 1.1e-06 m³ of the sheets in it" in error
    tables["motions"]["close"]["keys"][1]["scale"] = 0.1
    assert checked(tmp_path, tables).ok


def test_everything_wrong_is_told_in_one_pass(tmp_path):
    """A bad value, an unknown key, an unknown material, an unknown motion and a bad shape, all at once."""
    tables = small() | {"run": {"frame_time": -1}, "colour": "red"}
    tables["sheets"][0] |= {"material": "paper", "name": "a"}
    bow_tie = outline([[0, 0], [1, 1], [1, 0], [0, 1]], 0.2)
    tables["sheets"].append({"name": "b", "material": "paper80", "shape": bow_tie, "velocity": "fast"})
    tables["obstacles"] = [{"shape": {"kind": "sphere", "radius": 0.1, "center": [0, 0, 5]}, "motion": "roll"}]
    errors = checked(tmp_path, tables).errors
    for needle in ("run.frame_time", "colour", "did you mean 'paper80'", "no simple polygon", "velocity", "'roll'"):
        assert sum(needle in error for error in errors) == 1, needle
    assert len(errors) == 6


def test_quick_without_its_table_is_refused(tmp_path):
    scene = tmp_path / "scene.toml"
    scene.write_text(tomli_w.dumps(small()))
    with pytest.raises(InputError, match=r"scene\.toml: has no table \[quick\]"):
        load_scene(scene, quick=True)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("quotes.json", '{"a": ' + '\\"' * 100_000),
        ("comments.json", "/*" * 100_000),
        ("keys.json", json.dumps({f"key{k}": 1 for k in range(60_000)} | {"frame_time": 1, "cloths": []})),
        ("keys.toml", "\n".join(f"key{k} = 1" for k in range(60_000))),
        ("motions.toml", "sheets = []\n" + "\n".join(f"[motions.m{k}]\nkeys = []" for k in range(10_000))),
    ],
)
def test_nonsense_is_refused_in_linear_time(tmp_path, name, text):
    """These took 15 to 25 s: a guard against quadratic time, in processor time and with room, no measure of speed."""
    (tmp_path / name).write_text(text)
    begin = time.process_time()
    report = check_scene(tmp_path / name)
    assert not report.ok
    assert len(report.errors) < 1000
    assert time.process_time() - begin < 8.0


def test_unknown_keys_are_counted_not_all_named(tmp_path):
    from crumple.scenes.arcsim.json import Entry, Notes

    notes = Notes()
    Entry({f"key{k}": 1 for k in range(60_000)}, (), "x.json", notes).close()
    assert len(notes.lines) == 31
    assert "59970 more unknown keys" in notes.lines[-1]
