"""What a start tells: units that are probably wrong, obstacles that are inside out."""

import numpy as np
import pytest
from grid_files import square, write_grid

from crumple.scenes import build, builtin_scenes, check_scene, scene_from_tables

COTTON = {"preset": "cotton"}
PAPER = {"preset": "paper80"}
WEDGE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
OUTWARDS, INWARDS = "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n", "f 1 2 3\nf 1 4 2\nf 2 4 3\nf 3 4 1\n"


def notes(sheet, **more):
    """The notes on a scene with one sheet."""
    return build(scene_from_tables({"contact": {"activation": 1e-4}, "sheets": [sheet], **more})).notes


def flat(width, height, material, size=None):
    shape = {"kind": "rectangle", "width": width, "height": height, "size": size or 0.25 * width}
    return {"shape": shape, "material": material}


def flagged(lines, *words):
    return [line for line in lines if all(word in line for word in words)]


@pytest.mark.parametrize(
    ("width", "height", "material", "scale"),
    [(200, 200, COTTON, "0.001"), (21, 29.7, PAPER, "0.01"), (210, 297, PAPER, "0.001"), (60, 80, COTTON, "0.01")],
)
def test_sheets_in_other_units_are_doubted(width, height, material, scale):
    assert flagged(notes(flat(width, height, material)), "m across", f"transform.scale = {scale} ")


@pytest.mark.parametrize(
    ("width", "height", "material"), [(0.21, 0.297, PAPER), (1.5, 2.5, COTTON), (0.01, 0.05, PAPER)]
)
def test_usual_sheets_are_not(width, height, material):
    assert not flagged(notes(flat(width, height, material)), "across")


def test_a_sheet_as_small_as_it_is_thick_is_doubted():
    assert flagged(notes(flat(2.1e-4, 3e-4, PAPER)), "hardly a thin sheet", "scale of 1000")


def test_a_world_in_centimetres_on_a_pattern_in_metres_is_told(tmp_path):
    mesh = write_grid(tmp_path / "cm.obj", square(4, 0.1), lambda u: np.concatenate([100 * u, 0 * u[..., :1]], axis=2))
    shape = {"kind": "file", "mesh": str(mesh), "pattern": "uv"}
    assert flagged(notes({"shape": shape, "material": PAPER}), "100 times as large as its pattern", "units")


def test_an_obstacle_in_millimetres_is_doubted(tmp_path):
    text = "v 0 0 -2000\nv 1000 0 -2000\nv 0 1000 -2000\nv 0 0 -1000\n"
    (tmp_path / "body.obj").write_text(text + OUTWARDS)
    obstacle = {"shape": {"kind": "file", "mesh": str(tmp_path / "body.obj")}}
    found = flagged(notes(flat(0.2, 0.3, PAPER), obstacles=[obstacle]), "obstacles[0]", "in mm?")
    assert "obstacles[0].transform.scale = 0.001" in found[0]


@pytest.mark.parametrize(("faces", "place", "word"), [(INWARDS, 5.0, "inside out"), (OUTWARDS, 0.25, "starts within")])
def test_obstacles_that_face_the_wrong_way_are_named(tmp_path, faces, place, word):
    (tmp_path / "body.obj").write_text(WEDGE + faces)
    sheet = flat(0.05, 0.05, PAPER) | {"transform": {"translate": [place, 0.25, 0.25]}}
    obstacle = {"shape": {"kind": "file", "mesh": str(tmp_path / "body.obj")}}
    assert flagged(notes(sheet, obstacles=[obstacle]), "obstacles[0].shape", word)
    right = OUTWARDS if faces is INWARDS else INWARDS
    (tmp_path / "body.obj").write_text(WEDGE + right)
    assert not flagged(notes(sheet, obstacles=[obstacle]), "obstacles[0].shape")


def test_faces_that_disagree_are_counted(tmp_path):
    (tmp_path / "body.obj").write_text(WEDGE + "f 1 2 3\n" + OUTWARDS.split("\n", 1)[1])
    obstacle = {"shape": {"kind": "file", "mesh": str(tmp_path / "body.obj")}}
    sheet = flat(0.05, 0.05, PAPER) | {"transform": {"translate": [5, 0, 0]}}
    assert flagged(notes(sheet, obstacles=[obstacle]), "obstacles[0].shape", "3 of its edges")


@pytest.mark.parametrize("name", sorted(builtin_scenes()))
def test_builtin_scenes_are_beyond_doubt(name):
    told = check_scene(name).notes
    assert not [line for line in told if "across" in line or "inside out" in line or "starts within" in line]
