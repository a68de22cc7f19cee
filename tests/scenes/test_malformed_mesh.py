"""Malformed mesh and material files, as sheets, as obstacles and as patterns: one line with file and key."""

import pytest
import tomli_w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crumple.runtime.errors import InputError
from crumple.scenes import build, check_scene

TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
SQUARE = TRIANGLE + "v 1 1 0\n"

BOTH = {
    "empty": "",
    "only-comment": "# nothing\n",
    "no-faces": SQUARE,
    "no-vertices": "f 1 2 3\n",
    "index-zero": TRIANGLE + "f 0 1 2\n",
    "index-too-large": TRIANGLE + "f 1 2 4\n",
    "index-too-negative": TRIANGLE + "f -1 -2 -4\n",
    "index-huge": TRIANGLE + "f 1 2 99999999999999999999\n",
    "index-fraction": TRIANGLE + "f 1 2 3.5\n",
    "index-word": TRIANGLE + "f one two three\n",
    "face-of-two": TRIANGLE + "f 1 2\n",
    "face-of-one": TRIANGLE + "f 1\n",
    "face-of-none": TRIANGLE + "f\n",
    "vertex-nan": "v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "vertex-inf": "v 0 0 inf\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "vertex-overflow": "v 0 0 1e999\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "vertex-word": "v 0 0 zero\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "vertex-short": "v 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "vertex-empty": "v\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "texture-index-too-large": TRIANGLE + "vt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/9\n",
    "slashes": TRIANGLE + "f 1/// 2/// 3///\n",
    "binary": bytes(range(256)) * 10,
    "null-bytes": b"\x00" * 500,
    "not-utf8": b"v \xff\xfe 0 0\nf 1 2 3\n",
    "ply": "ply\nformat ascii 1.0\nelement vertex 3\n",
    "stl": "solid x\nfacet normal 0 0 1\n",
    "json": '{"v": [[0, 0, 0]]}',
    "repeated-corner": TRIANGLE + "f 1 2 2\n",
}

SHEET_ONLY = {
    "texture-nan": TRIANGLE + "vt 0 0\nvt 1 nan\nvt 0 1\nf 1/1 2/2 3/3\n",
    "texture-word": TRIANGLE + "vt 0 0\nvt 1 x\nvt 0 1\nf 1/1 2/2 3/3\n",
    "texture-missing-on-one": SQUARE + "vt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\nf 2 4 3\n",
    "no-area": "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n",
    "no-area-in-pattern": TRIANGLE + "vt 0 0\nvt 1 0\nvt 2 0\nf 1/1 2/2 3/3\n",
    "all-in-one-point": "v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n",
    "partly-inverted-pattern": SQUARE + "vt 0 0\nvt 1 0\nvt 0 1\nvt -1 -1\nf 1/1 2/2 3/3\nf 2/2 4/4 3/3\n",
    "three-faces-on-an-edge": SQUARE + "v 0 0 1\nf 1 2 3\nf 2 1 4\nf 1 2 5\n",
    "same-face-twice": TRIANGLE + "f 1 2 3\nf 1 2 3\n",
    "opposite-orientation": SQUARE + "f 1 2 3\nf 2 3 4\n",
    "bow-tie": TRIANGLE + "v -1 0 0\nv 0 -1 0\nf 1 2 3\nf 1 4 5\n",
    "isolated-vertex": SQUARE + "f 1 2 3\n",
}

MATERIALS = {
    "empty": "",
    "binary": bytes(range(256)),
    "not-json": "density = 3",
    "list": "[1, 2]",
    "deep": "[" * 100_000,
    "no-density": '{"stretching": [], "bending": []}',
    "negative-density": '{"density": -1}',
    "short-table": '{"density": 0.1, "stretching": [[1, 2]], "bending": [[1]]}',
    "ragged-table": '{"density": 0.1, "stretching": [[1, 2], [1]], "bending": [[1]]}',
    "nan-table": '{"density": 0.1, "stretching": '
    + str([[float("nan")] * 4] * 6).replace("nan", "NaN")
    + ', "bending": 3}',
    "text-table": '{"density": 0.1, "stretching": "many", "bending": 3}',
    "huge-number": '{"density": 1e999}',
}


def refused(tmp_path, tables, *needles) -> str:
    scene = tmp_path / "scene.toml"
    scene.write_text(tomli_w.dumps(tables))
    with pytest.raises(InputError) as caught:
        build(scene)
    text = str(caught.value)
    assert text.startswith(str(scene))
    assert text.isprintable()
    assert len(text) < 700
    for needle in needles:
        assert needle in text
    return text


def write(tmp_path, content, name="bad.obj"):
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())


def sheet(shape, material="paper80"):
    return {"shape": shape, "material": material}


@pytest.mark.parametrize("case", [*BOTH, *SHEET_ONLY])
def test_sheet_from_a_bad_file(case, tmp_path):
    write(tmp_path, (BOTH | SHEET_ONLY)[case])
    shape = {"kind": "file", "mesh": "bad.obj", "pattern": "uv"}
    refused(tmp_path, {"sheets": [sheet(shape)]}, "sheets[0].shape", "bad.obj")


@pytest.mark.parametrize("case", BOTH)
def test_obstacle_from_a_bad_file(case, tmp_path):
    write(tmp_path, BOTH[case])
    tables = {
        "sheets": [sheet({"kind": "disk", "radius": 0.1, "size": 0.05})],
        "obstacles": [{"shape": {"kind": "file", "mesh": "bad.obj"}, "transform": {"translate": [0, 0, 9]}}],
    }
    refused(tmp_path, tables, "obstacles[0].shape", "bad.obj")


@pytest.mark.parametrize("case", BOTH)
@pytest.mark.parametrize("role", ["pattern", "world"])
def test_sewn_sheet_from_a_bad_file(case, role, tmp_path):
    write(tmp_path, BOTH[case])
    write(tmp_path, TRIANGLE + "f 1 2 3\n", "good.obj")
    shape = {"kind": "sewn", "pattern": "good.obj", "world": "good.obj", role: "bad.obj"}
    refused(tmp_path, {"sheets": [sheet(shape)]}, "sheets[0].shape", "bad.obj")


def test_sewn_sheet_whose_files_do_not_match(tmp_path):
    write(tmp_path, TRIANGLE + "f 1 2 3\n", "one.obj")
    write(tmp_path, SQUARE + "f 1 2 3\nf 2 4 3\n", "two.obj")
    shape = {"kind": "sewn", "pattern": "one.obj", "world": "two.obj"}
    refused(tmp_path, {"sheets": [sheet(shape)]}, "sheets[0].shape")


def test_sequence_whose_files_do_not_match(tmp_path):
    write(tmp_path, TRIANGLE + "f 1 2 3\n", "one.obj")
    write(tmp_path, SQUARE + "f 1 2 3\nf 2 4 3\n", "two.obj")
    shape = {"kind": "sequence", "meshes": ["one.obj", "two.obj"], "interval": 1}
    tables = {
        "sheets": [sheet({"kind": "disk", "radius": 0.1, "size": 0.05})],
        "obstacles": [{"shape": shape, "transform": {"translate": [0, 0, 9]}}],
    }
    refused(tmp_path, tables, "obstacles[0].shape", "two.obj")


def test_the_good_mesh_is_taken(tmp_path):
    write(tmp_path, SQUARE + "f 1 2 3\nf 2 4 3\n", "good.obj")
    scene = {"sheets": [sheet({"kind": "file", "mesh": "good.obj"})]}
    (tmp_path / "scene.toml").write_text(tomli_w.dumps(scene))
    build(tmp_path / "scene.toml")  # the bases of the corpus are good


@pytest.mark.parametrize("case", MATERIALS)
def test_bad_material_file(case, tmp_path):
    write(tmp_path, MATERIALS[case], "cloth.json")
    tables = {"sheets": [sheet({"kind": "disk", "radius": 0.1, "size": 0.05}, {"file": "cloth.json"})]}
    refused(tmp_path, tables, "sheets[0].material")


VALID = (
    "v 0 0 0\nnl 3\nvv 0 0 1\nv 1 0 0\nv 0 1 0\nv 1 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nvt 1 1\n"
    "usemtl material_0\nf 1/1 2/2 3/3\nf 2/2 4/4 3/3\ne 1 2\nel 7\n"
)
NUMBERS = ["0", "1", "-1", "2", "3", "4", "9", "-9", "1e9", "-1e-9", "nan", "inf", "1e400", "x"]
WORDS = [*NUMBERS, "/", "//", "1/1", "1//1", "v", "vt", "f", "e", "el", "nl", "vv", "usemtl", "#", "\\"]


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_meshes_build_or_are_refused(data, tmp_path):
    """Words of a valid mesh file replaced, dropped and repeated, as a sheet and as an obstacle."""
    lines = [line.split() for line in VALID.splitlines()]
    for _ in range(data.draw(st.integers(1, 3))):
        line = data.draw(st.sampled_from(lines))
        where = data.draw(st.integers(0, len(line)))
        line[where : where + data.draw(st.integers(0, 1))] = data.draw(st.lists(st.sampled_from(WORDS), max_size=2))
    write(tmp_path, "\n".join(map(" ".join, lines)), "mesh.obj")
    shape = {"kind": "file", "mesh": "mesh.obj"}
    disk = {"kind": "disk", "radius": 0.1, "size": 0.05}
    for tables in (
        {"sheets": [sheet(shape)], "handles": [{"select": {"kind": "label", "label": 7}}]},
        {"sheets": [sheet(disk)], "obstacles": [{"shape": shape, "transform": {"translate": [0, 0, 9]}}]},
    ):
        scene = tmp_path / "scene.toml"
        scene.write_text(tomli_w.dumps(tables))
        for line in check_scene(scene).errors:  # raises nothing
            assert line.startswith(str(scene))
            assert line.isprintable()
