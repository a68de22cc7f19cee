"""FOLD files: round trips, units, frames that inherit, signs, and one-line errors with the place."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from crumple.patterns import (
    box,
    check_pattern,
    fold_angles,
    fold_facets,
    kresling,
    miura,
    pleats,
    read_fold,
    waterbomb,
    write_fold,
)
from crumple.patterns.fold_file import fold_record
from crumple.runtime.errors import InputError

PATTERNS = {
    "miura": miura(3, 4, 0.02, 0.02, 1.0, 2.0),
    "waterbomb": waterbomb(2, 2, 0.04),
    "kresling": kresling(5, 0.03, 0.03, 0.5, 2),
    "pleats": pleats(0.2, 0.1, 4, share=0.3),
    "box": box(0.1, 0.06, 0.12),
}
RECORD = {
    "file_spec": 1.2,
    "file_title": "two squares",
    "frame_unit": "cm",
    "vertices_coords": [[0, 0], [1, 0], [2, 0], [2, 1], [1, 1], [0, 1]],
    "edges_vertices": [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [1, 4]],
    "edges_assignment": ["B", "B", "B", "B", "B", "B", "V"],
    "edges_foldAngle": [None, None, None, None, None, None, 60],
    "faceOrders": [[0, 1, -1]],
    "my:key": {"kept": True},
}


def written(tmp_path: Path, **changes: object) -> Path:
    path = tmp_path / "x.fold"
    record = {key: value for key, value in {**RECORD, **changes}.items() if value != "absent"}
    path.write_text(json.dumps(record))
    return path


@pytest.mark.parametrize("name", PATTERNS)
def test_round_trip(name, tmp_path):
    pattern = PATTERNS[name]
    write_fold(tmp_path / "x.fold", pattern)
    again = read_fold(tmp_path / "x.fold")
    assert np.array_equal(again.vertices, pattern.vertices)
    assert np.array_equal(again.edges, pattern.edges)
    assert np.array_equal(again.assignment, pattern.assignment)
    assert again.angle == pytest.approx(pattern.angle, abs=1e-12)
    assert again.group_names == pattern.group_names
    assert np.array_equal(again.group, pattern.group)
    record = json.loads((tmp_path / "x.fold").read_text())
    assert len(record["faces_vertices"]) == len(pattern.faces)


def test_signs_units_and_other_keys(tmp_path):
    pattern = read_fold(written(tmp_path))
    assert pattern.extent == pytest.approx([0.02, 0.01])
    assert np.degrees(pattern.angle[6]) == pytest.approx(-60)  # a valley, which FOLD counts as positive
    write_fold(tmp_path / "y.fold", pattern)
    record = json.loads((tmp_path / "y.fold").read_text())
    assert record["edges_foldAngle"][6] == pytest.approx(60)
    assert record["my:key"] == {"kept": True}
    assert record["faceOrders"] == [[0, 1, -1]]
    assert record["file_title"] == "two squares"
    assert record["frame_unit"] == "m"


def test_width_and_unit(tmp_path):
    path = written(tmp_path, frame_unit="absent")
    guessed = read_fold(path)
    assert guessed.extent.max() == pytest.approx(0.2)
    assert "no unit" in guessed.notes[0]
    assert read_fold(path, width=0.5).extent.max() == pytest.approx(0.5)
    assert read_fold(path, unit=0.1).extent.max() == pytest.approx(0.2)
    assert read_fold(path, unit=0.1).notes == ()
    with pytest.raises(InputError, match="unit"):
        read_fold(path, unit=1e9)


def test_missing_angles_are_flat_folds(tmp_path):
    pattern = read_fold(written(tmp_path, edges_foldAngle="absent"))
    assert pattern.angle[6] == -np.pi
    free = read_fold(written(tmp_path, edges_assignment=[*"BBBBBB", "U"], edges_foldAngle="absent"))
    assert np.isnan(free.angle[6])


def test_faces_without_edges(tmp_path):
    path = written(
        tmp_path,
        edges_vertices="absent",
        edges_assignment="absent",
        edges_foldAngle="absent",
        faces_vertices=[[0, 1, 4, 5], [1, 2, 3, 4]],
    )
    pattern = read_fold(path)
    assert sorted(pattern.assignment.tolist()) == [*"BBBBBBU"]
    assert len(pattern.faces) == 2


def test_frames_inherit(tmp_path):
    """The key frame is folded; a frame below says that it is the crease pattern, and inherits the rest."""
    flat = [[x, y, 0] for x, y in RECORD["vertices_coords"]]
    bent = [[x, y, 0.3 * (x > 1)] for x, y in RECORD["vertices_coords"]]
    frames = [
        {"frame_classes": ["foldedForm"], "frame_inherit": True, "frame_parent": 0},
        {"frame_classes": ["creasePattern"], "frame_inherit": True, "frame_parent": 1, "vertices_coords": flat},
    ]
    path = written(tmp_path, vertices_coords=bent, file_frames=frames)
    pattern = read_fold(path)
    assert pattern.extent == pytest.approx([0.02, 0.01])
    assert np.degrees(pattern.angle[6]) == pytest.approx(-60)
    with pytest.raises(InputError, match="is not flat"):
        read_fold(path, frame=1)
    with pytest.raises(InputError, match="3 frames"):
        read_fold(path, frame=7)


def test_plane_of_origami_simulator(tmp_path):
    path = written(tmp_path, vertices_coords=[[x, 5, -y] for x, y in RECORD["vertices_coords"]])
    assert read_fold(path).vertices == pytest.approx(np.array(RECORD["vertices_coords"]) * 0.01)


def test_crossing_edges_get_vertices(tmp_path):
    path = written(
        tmp_path,
        edges_vertices=[[0, 2], [2, 3], [3, 5], [5, 0], [0, 3], [2, 5]],
        edges_assignment=[*"BBBBMV"],
        edges_foldAngle="absent",
    )
    pattern = read_fold(path)
    assert len(pattern.faces) == 4
    assert "cross" in pattern.notes[-1]
    assert "faceOrders" not in pattern.extra


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"vertices_coords": "absent"}, "x.fold: vertices_coords: this key is missing"),
        ({"vertices_coords": [[0, 0], [1]]}, r"x.fold: vertices_coords\[1\] = \[1\]"),
        ({"vertices_coords": [[0, 0], [1, "a"]]}, r"vertices_coords\[1\]"),
        ({"edges_vertices": [[0, 99]]}, r"edges_vertices\[0\] = \[0, 99\] \(must be two vertex numbers within 0…5\)"),
        ({"edges_vertices": [[1, 1]]}, "two different vertices"),
        ({"edges_assignment": ["X"] * 7}, r"edges_assignment\[0\] = 'X'"),
        ({"edges_assignment": ["B"]}, "must have 7 entries"),
        ({"edges_foldAngle": [0] * 6 + [200]}, r"edges_foldAngle\[6\] = 200"),
        ({"frame_unit": "furlong"}, "frame_unit = 'furlong'"),
        ({"file_frames": [{"frame_inherit": True, "frame_parent": 9}]}, r"file_frames\[0\].frame_parent = 9"),
        ({"file_frames": [{"frame_inherit": True, "frame_parent": 1}]}, "in a circle"),
        ({"faces_vertices": [[0, 1]]}, r"faces_vertices\[0\]"),
    ],
)
def test_errors_name_the_place(changes, message, tmp_path):
    with pytest.raises(InputError, match=message) as caught:
        read_fold(written(tmp_path, **changes))
    assert "\n" not in str(caught.value)


def test_letters_count_where_angles_have_the_other_sign(tmp_path):
    """A file with an angle of the wrong sign, as Rabbit Ear's kite has several, folds as its letters say."""
    right = read_fold(written(tmp_path, edges_foldAngle=[0] * 6 + [60]))
    wrong = read_fold(written(tmp_path, edges_foldAngle=[0] * 6 + [-60]))
    assert wrong.angle == pytest.approx(right.angle)
    assert wrong.angle.min() == pytest.approx(-np.pi / 3)
    assert "the signs of 1 angles contradict their letters" in wrong.notes[0]
    assert not any("contradict" in note for note in right.notes)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '{"vertices_coords": [[NaN, 0]]}', "\xff", "null"])
def test_no_fold_file(text, tmp_path):
    path = tmp_path / "x.fold"
    path.write_text(text, "latin-1")
    with pytest.raises(InputError):
        read_fold(path)


def folded_record(pattern, angle) -> dict:
    """A pattern as other programs write it when it is folded: positions in space, faces, no flat frame."""
    facets = fold_facets(pattern, angle)
    facet = np.zeros(len(pattern.vertices), int)
    for number, rings in enumerate(pattern.facets.rings):
        facet[np.concatenate(rings)] = number
    points = facets.place(pattern.vertices, facet)
    return {**fold_record(pattern), "vertices_coords": points.tolist(), "frame_classes": ["foldedForm"]}


@pytest.mark.parametrize("name", ["miura", "waterbomb", "box"])
@pytest.mark.parametrize("with_angles", [True, False])
def test_folded_forms_are_laid_flat(name, with_angles, tmp_path):
    pattern = PATTERNS[name]
    angle = fold_angles(pattern, 0.7)
    record = folded_record(pattern, angle)
    if not with_angles:
        del record["edges_foldAngle"]
    (tmp_path / "x.fold").write_text(json.dumps(record))
    again = read_fold(tmp_path / "x.fold")
    apart = [np.linalg.norm(one.vertices[:, None] - one.vertices, axis=2) for one in (pattern, again)]
    assert apart[1] == pytest.approx(apart[0], abs=1e-9)
    wanted = pattern.angle if with_angles else angle
    assert again.angle[pattern.creases] == pytest.approx(wanted[pattern.creases], abs=1e-7)
    assert [one.kind for one in check_pattern(again)] == [one.kind for one in check_pattern(pattern)]


@pytest.mark.parametrize(("mirrored", "says"), [(True, "mirror image"), (False, "1 of ")])
def test_letters_count_where_the_geometry_says_the_opposite(mirrored, says, tmp_path):
    """A form seen in a mirror, and one whose letters are wrong in one place; neither gives angles."""
    pattern = PATTERNS["miura"]
    angle = fold_angles(pattern, 0.7)
    record = folded_record(pattern, angle)
    del record["edges_foldAngle"]
    if mirrored:
        record["vertices_coords"] = [[x, y, -z] for x, y, z in record["vertices_coords"]]
    else:
        k = int(np.flatnonzero(pattern.assignment == "M")[0])
        record["edges_assignment"][k] = "V"
    (tmp_path / "x.fold").write_text(json.dumps(record))
    again = read_fold(tmp_path / "x.fold")
    assert any(says in note for note in again.notes)
    assert list(again.assignment) == record["edges_assignment"]
    np.testing.assert_allclose(np.abs(again.angle[pattern.creases]), np.abs(angle[pattern.creases]), atol=1e-7)
    assert (again.angle[again.assignment == "M"] >= 0.0).all()


def test_flat_folded_forms_are_no_patterns(tmp_path):
    """A sheet folded in half: two squares on each other, which is flat, but not what is folded."""
    shut = [[0, 0], [1, 0], [0, 0], [0, 1], [1, 1], [0, 1]]
    faces = [[0, 1, 4, 5], [1, 2, 3, 4]]
    path = written(tmp_path, vertices_coords=shut, faces_vertices=faces, frame_classes=["foldedForm"])
    assert sorted(read_fold(path).extent) == pytest.approx([0.01, 0.02])
    flat = {"frame_inherit": True, "frame_parent": 0, "frame_classes": []}
    frames = [{**flat, "vertices_coords": RECORD["vertices_coords"]}]
    path = written(tmp_path, vertices_coords=shut, file_frames=frames, frame_classes=["foldedForm"])
    assert read_fold(path).extent == pytest.approx([0.02, 0.01])


def test_a_folded_form_that_is_no_sheet(tmp_path):
    """A cone of four faces around a vertex cannot be laid flat; nor can two faces on the same side of an edge."""
    points = [[0, 0, 1], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]]
    record = {"vertices_coords": points, "faces_vertices": [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]]}
    path = tmp_path / "x.fold"
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match="leave a gap or overlap"):
        read_fold(path)
    path.write_text(json.dumps({**record, "faces_vertices": [[0, 1, 2], [0, 1, 3]]}))
    with pytest.raises(InputError, match="as another face does"):
        read_fold(path)
