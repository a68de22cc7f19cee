"""Animated surfaces out of USD and Alembic files: units, axes, transforms, times, polygons, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.mesh.io import animated
from crumple.mesh.io.animated import read_animation
from crumple.runtime.errors import InputError
from crumple.scenes import build, scene_from_tables

ROOF = """#usda 1.0
(
    metersPerUnit = {meters}
    upAxis = "{up}"
    timeCodesPerSecond = 10
)
def Xform "World"
{{
    double3 xformOp:translate = (1, 0, 0)
    double3 xformOp:translate.timeSamples = {{ 0: (1, 0, 0), 20: (1, 0, 4) }}
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Mesh "roof"
    {{
        int[] faceVertexCounts = [{counts}]
        int[] faceVertexIndices = [{corners}]
        point3f[] points.timeSamples = {{
            0: [(0, 0, 0), (2, 0, 0), (2, 2, 0), (0, 2, 0), (9, 9, 9)],
            10: [(0, 0, 1), (2, 0, 1), (2, 2, 1), (0, 2, 1), (9, 9, 9)] }}
        {more}
    }}
}}
"""


def roof(path, *, meters=1, up="Z", counts="4", corners="0, 1, 2, 3", more=""):
    pytest.importorskip("pxr")
    path.write_text(ROOF.format(meters=meters, up=up, counts=counts, corners=corners, more=more))
    return path


def test_a_usd_mesh_moves_by_its_points_and_by_what_is_above_it(tmp_path):
    read = read_animation(roof(tmp_path / "roof.usda"))
    np.testing.assert_array_equal(read.times, [0.0, 1.0, 2.0])
    assert read.shapes.shape == (3, 4, 3), "a point that no face uses is left out"
    np.testing.assert_allclose(read.shapes[:, 0], [[1, 0, 0], [1, 0, 3], [1, 0, 5]], atol=1e-7)
    normal = np.cross(*(read.shapes[0][read.faces[:, k]] - read.shapes[0][read.faces[:, 0]] for k in (1, 2)))
    np.testing.assert_allclose(normal, [[0, 0, 4], [0, 0, 4]])


def test_units_axes_and_hands_of_a_usd_file_are_its_own(tmp_path):
    plain = read_animation(roof(tmp_path / "a.usda"))
    small = read_animation(roof(tmp_path / "b.usda", meters=0.01, up="Y"))
    turned = plain.shapes[..., [0, 2, 1]] * [0.01, -0.01, 0.01]
    np.testing.assert_allclose(small.shapes, turned, atol=1e-9)
    told = read_animation(tmp_path / "b.usda", up="z")
    np.testing.assert_allclose(told.shapes, 0.01 * plain.shapes, atol=1e-9)
    left = read_animation(roof(tmp_path / "c.usda", more='uniform token orientation = "leftHanded"'))
    assert {frozenset(face) for face in left.faces.tolist()} != set()
    normal = np.cross(*(left.shapes[0][left.faces[:, k]] - left.shapes[0][left.faces[:, 0]] for k in (1, 2)))
    assert (normal[:, 2] < 0.0).all()


def test_an_exported_obstacle_comes_back(tmp_path):
    """Alembic stores single precision with y up; what is read is what was written."""
    pytest.importorskip("alembic3d")
    from alembic3d import Abc, AbcCoreAbstract, AbcGeom

    from crumple.export.alembic import _solid_sample

    points = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.2, 0.05], [0.1, 0.2, 0]])
    faces = np.array([[0, 1, 2], [1, 3, 2]])
    archive = Abc.OArchive(str(tmp_path / "solid.abc"))
    archive.addTimeSampling(AbcCoreAbstract.TimeSampling(0.25, 0.5))
    mesh = AbcGeom.OPolyMesh(archive.getTop(), "solid", 1)
    poses = [points + np.array([0, 0, 0.01 * k]) for k in range(3)]
    for pose in poses:
        mesh.getSchema().set(_solid_sample(pose, faces))
    del mesh, archive
    read = read_animation(tmp_path / "solid.abc", "solid")
    np.testing.assert_allclose(read.times, [0.5, 0.75, 1.0])
    np.testing.assert_allclose(read.shapes, poses, atol=1e-7)
    assert {tuple(np.roll(face, -np.argmin(face))) for face in read.faces.tolist()} == {(0, 1, 2), (1, 3, 2)}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"counts": "4", "corners": "0, 1, 2"}, "has no faces, or other ones than it says"),
        ({"corners": "0, 1, 2, 7"}, "without a point of its own"),
        ({"counts": "2, 2"}, "not of 3 to"),
    ],
)
def test_broken_meshes_are_refused_with_the_file(tmp_path, change, words):
    with pytest.raises(InputError, match=f"roof.usda: .*{words}"):
        read_animation(roof(tmp_path / "roof.usda", **change))


def test_what_is_no_animation_is_refused(tmp_path):
    (tmp_path / "a.usda").write_text("nonsense")
    (tmp_path / "a.abc").write_bytes(b"nonsense")
    (tmp_path / "a.fbx").write_bytes(b"")
    for name, words in (("a.usda", "is no USD file"), ("a.abc", "is no Alembic file"), ("a.fbx", "endings .usd")):
        with pytest.raises(InputError, match=words):
            read_animation(tmp_path / name)
    with pytest.raises(InputError, match="object = 'walls'"):
        read_animation(roof(tmp_path / "roof.usda"), "walls")


def test_a_file_that_crashes_its_library_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(animated, "__name__", "faulthandler")  # a module that ends with an error when it is run
    path = roof(tmp_path / "roof.usda")
    with pytest.raises(InputError, match=r"roof\.usda: is damaged"):
        read_animation(path)


def test_a_scene_has_an_animated_obstacle(tmp_path):
    roof(tmp_path / "roof.usda", meters=0.1)
    tables = {
        "run": {"frame_time": 0.1, "duration": 0.2},
        "sheets": [
            {
                "material": "paper80",
                "shape": {"kind": "rectangle", "width": 0.1, "height": 0.1, "size": 0.05},
                "transform": {"translate": [0, 0, 2]},
            }
        ],
        "obstacles": [{"name": "roof", "shape": {"kind": "animation", "file": "roof.usda", "start": 0.5}}],
    }
    model = build(scene_from_tables(tables, folder=tmp_path)).model
    obstacle = model.obstacles[0]
    np.testing.assert_allclose(obstacle.positions(0.0)[:, 2], 0.0, atol=1e-9)
    np.testing.assert_allclose(obstacle.positions(1.0)[:, 2], 0.15, atol=1e-7)
    tables["obstacles"][0]["shape"]["object"] = "walls"
    with pytest.raises(InputError, match=r"roof\.usda: object"):
        build(scene_from_tables(tables, folder=tmp_path))
