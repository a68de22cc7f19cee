"""A textured OBJ file in a scene: the pattern has the size of the mesh, and check tells what was decided."""

import numpy as np
import pytest
import tomli_w
from typer.testing import CliRunner

from crumple.cli.app import app
from crumple.scenes import build, check_scene
from crumple.shapes import rectangle


@pytest.fixture
def scene(tmp_path):
    """A sheet of 297 × 210 mm with a picture in 0…1, and a function that writes its scene with a `pattern`."""
    mesh, x = rectangle(0.297, 0.21, 0.05)
    lines = [f"v {a!r} {b!r} {c!r}" for a, b, c in x.tolist()]
    lines += [f"vt {a / 0.297!r} {b / 0.21!r}" for a, b in mesh.u.tolist()]
    lines += ["f " + " ".join(f"{i}/{i}" for i in face) for face in (mesh.faces + 1).tolist()]
    (tmp_path / "paper.obj").write_text("\n".join(lines))

    def write(**keys):
        shape = {"kind": "file", "mesh": "paper.obj"} | keys
        (tmp_path / "scene.toml").write_text(tomli_w.dumps({"sheets": [{"shape": shape, "material": "paper80"}]}))
        return tmp_path / "scene.toml"

    return write


def test_a_picture_is_not_metres(scene):
    _, state, _ = build(scene())
    np.testing.assert_allclose(state.mesh.face_area.sum(), 0.297 * 0.21, rtol=1e-6)
    report = check_scene(scene())
    assert report.strain < 1e-6
    assert any("sheets[0].shape: texture coordinates, stretched to the lengths" in note for note in report.notes)


def test_a_pattern_far_from_the_mesh_is_explained(scene):
    file = scene(pattern="uv")
    _, state, _ = build(file)
    np.testing.assert_allclose(state.mesh.face_area.sum(), 1.0, rtol=1e-6)
    report = check_scene(file)
    assert report.ok
    assert report.strain == pytest.approx(0.79, abs=0.01)
    shown = CliRunner().invoke(app, ["check", str(file)])
    assert "strained by up to 79 % at the start" in shown.output
    assert "the sheet starts strained, 79 % on average" in shown.output


def test_the_mesh_as_it_is(scene):
    report = check_scene(scene(pattern="world"))
    assert report.ok
    assert report.notes == ()
    assert report.strain < 1e-6
