"""`crumple export` as a user meets it: where files go, which frames they hold, what is said to wrong input."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from export_samples import FRAMES, NAMES
from typer.testing import CliRunner

from crumple.cli.app import app
from crumple.export import export_recording
from crumple.export.clip import choose_frames, parse_frames
from crumple.export.export import FORMATS
from crumple.recording import Recording
from crumple.runtime.errors import InputError

TEXTURE = Path(__file__).parent / "paper.png"


def invoke(*arguments: object):
    return CliRunner().invoke(app, ["export", *map(str, arguments)])


@pytest.fixture
def copied(changing, tmp_path) -> Path:
    """The recording in a folder of its own, so that what is beside it is known."""
    return Path(shutil.copytree(changing.path, tmp_path / "take"))


@pytest.mark.parametrize(
    ("to", "names"),
    [
        ("gltf", ["take.glb"]),
        ("stl", ["take.stl"]),
        ("obj", [f"take-obj/take_{frame:06d}.obj" for frame in range(FRAMES)]),
        ("ply", [f"take-ply/take_{frame:06d}.ply" for frame in range(FRAMES)]),
    ],
)
def test_files_are_beside_the_recording(copied, to, names):
    before = sorted(copied.rglob("*"))
    result = invoke(copied, "--to", to)
    assert result.exit_code == 0, result.output
    made = [path for path in copied.parent.rglob("*") if path.is_file() and copied not in path.parents]
    assert sorted(path.relative_to(copied.parent).as_posix() for path in made) == names
    assert sorted(copied.rglob("*")) == before
    assert names[0].rsplit("/")[-1] in "".join(result.stderr.split())


def test_one_frame_keeps_the_name(copied, tmp_path):
    result = invoke(copied, "-o", tmp_path / "last.obj", "--frames", "-1", "--texture", TEXTURE)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "last.obj").is_file()
    assert f"map_Kd {TEXTURE.name}" in (tmp_path / "last.mtl").read_text()
    assert (tmp_path / TEXTURE.name).is_file()


@pytest.mark.parametrize(
    ("text", "frames"),
    [
        (None, [0, 1, 2, 3, 4]),
        ("3", [3]),
        ("-1", [4]),
        ("1:3", [1, 2, 3]),
        (":", [0, 1, 2, 3, 4]),
        ("::2", [0, 2, 4]),
        ("1::2", [1, 3]),
        (":-2", [0, 1, 2, 3]),
        ("2:99", [2, 3, 4]),
    ],
)
def test_frames_are_chosen(changing, text, frames):
    assert parse_frames(changing, text) == frames


@pytest.mark.parametrize("text", ["", "a", "1:2:3:4", "1.5", "::0", "::-1", "9", "3:1"])
def test_wrong_frames_are_refused(changing, text):
    with pytest.raises(InputError, match="export --frames"):
        parse_frames(changing, text)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "one of usd, gltf, abc, obj, ply, stl, vtk, fold"),
        (["--to", "fbx"], "one of usd, gltf, abc, obj, ply, stl, vtk, fold"),
        (["-o", "x.fbx"], "one of usd, gltf"),
        (["--to", "usd", "-o", "x.glb"], "must end in .usdc or .usd or .usda"),
        (["--to", "stl", "--topology", "fixed"], "constant or changing"),
        (["--to", "stl", "--texture", str(TEXTURE)], "only usd, gltf, obj hold a picture"),
        (["--to", "obj", "--texture", "absent.png"], "no such file"),
        (["--to", "obj", "--frames", "77"], "has frames 0 to 4"),
        (["-o", "take/inside.obj"], "lies in the recording"),
        (["--to", "gltf", "--texture", __file__], "PNG or JPEG"),
    ],
)
def test_wrong_input_is_one_line(copied, monkeypatch, arguments, said):
    monkeypatch.chdir(copied.parent)
    result = invoke(copied, *arguments)
    assert result.exit_code == 2, result.output
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("to", "module", "extra"),
    [("usd", "pxr.Usd", "usd"), ("abc", "alembic3d", "alembic"), ("vtk", "pyvista", "notebook")],
)
def test_missing_packages_say_what_to_install(changing, tmp_path, monkeypatch, to, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(InputError, match=rf"pip install 'crumple\[{extra}\]'"):
        export_recording(changing, to, tmp_path / f"x{FORMATS[to].suffixes[0]}")


def test_sheets_have_the_names_of_the_scene(changing):
    assert choose_frames(changing).sheet_names == NAMES


def test_a_recording_without_frames_is_refused(tmp_path):
    (tmp_path / "empty" / "frames").mkdir(parents=True)
    with pytest.raises(InputError, match="no finished frame"):
        export_recording(Recording(tmp_path / "empty"), "obj")
