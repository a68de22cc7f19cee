"""OBJ files: round trips, all index forms, the student simulator's tags, and one-line errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from odd_meshes import ODD

import crumple.mesh as cm
import crumple.shapes as cs
from crumple.runtime.errors import InputError

TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"


def read(tmp_path: Path, text: str | bytes) -> cm.ObjData:
    path = tmp_path / "mesh.obj"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return cm.read_obj(path)


@pytest.mark.parametrize("name", [n for n in ODD if n != "two sheets"])
def test_round_trip_is_identical(tmp_path: Path, name: str) -> None:
    mesh = ODD[name]
    x = mesh.node_rest + np.random.default_rng(0).normal(size=mesh.node_rest.shape)
    cm.write_obj(tmp_path / "a.obj", mesh, x)
    again, x_again = cm.sheet_from_obj(cm.read_obj(tmp_path / "a.obj"))
    np.testing.assert_array_equal(x_again, x)
    for field in ("u", "vertex_node", "faces", "face_material", "edge_label", "node_label"):
        np.testing.assert_array_equal(getattr(again, field), getattr(mesh, field))
    assert again.faces.dtype == again.vertex_node.dtype == np.int32


def test_all_index_forms_mean_the_same(tmp_path: Path) -> None:
    tail = "vt 0 0\nvt 2 0\nvt 0 2\nvn 0 0 1\n"
    for face in ("1/1 2/2 3/3", "1/1/1 2/2/1 3/3/1", "-3/-3 -2/-2/-1 3/3"):
        data = read(tmp_path, f"# a comment\n{TRIANGLE}{tail}f {face} # the face\n")
        assert data.has_texture
        assert data.faces.tolist() == data.face_texture.tolist() == [[0, 1, 2]]
    for face in ("1 2 3", "1//1 2//1 3//1", "-3 -2 -1"):
        data = read(tmp_path, f"{TRIANGLE}{tail}f {face}\n")
        assert not data.has_texture
        assert data.faces.tolist() == [[0, 1, 2]]


def test_polygons_become_fans_and_lines_may_go_on(tmp_path: Path) -> None:
    data = read(tmp_path, "v 0 0 0\r\nv 1 0 0\r\nv 1 1 0\r\nv 0 1 0\r\nf 1 2 \\\r\n3 4\r\n")
    assert data.faces.tolist() == [[0, 1, 2], [0, 2, 3]]


def corners(count: int, radius) -> str:
    """Points around the origin at a radius that depends on their number."""
    angle = [2.0 * np.pi * k / count for k in range(count)]
    return "".join(f"v {radius(k) * np.cos(a)} {radius(k) * np.sin(a)} 0\n" for k, a in enumerate(angle))


def doubled_areas(data: cm.ObjData) -> np.ndarray:
    a, b, c = (data.points[data.faces[:, k]] for k in range(3))
    return np.cross(b - a, c - a)[:, 2]


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize("count", [8, 10, 40])
def test_a_star_is_filled_and_not_more(tmp_path: Path, count: int, turn: int) -> None:
    """The fan of a concave polygon covers places outside it, and some twice."""
    text = corners(count, lambda k: 1.0 if k % 2 else 0.3)
    face = " ".join(f"{k + 1}" for k in range(count)[::turn])
    data = read(tmp_path, f"{text}f {face}\n")
    area = turn * doubled_areas(data)
    assert len(area) == count - 2
    assert (area > 0.0).all()
    assert area.sum() == pytest.approx(count * 0.3 * np.sin(2 * np.pi / count))
    assert data.face_polygon.tolist() == [0] * (count - 2)


def test_an_arrowhead_is_cut_at_its_notch(tmp_path: Path) -> None:
    data = read(tmp_path, "v 0 0 0\nv 2 1 0\nv 0 2 0\nv 0.5 1 0\nf 1 2 3 4\nf 3 4 1 2\n")
    assert (doubled_areas(data) > 0.0).all()
    assert all({1, 3} <= set(face) for face in data.faces.tolist())
    sheet = read(tmp_path, "v 0 0 0\nv 2 1 0\nv 0 2 0\nv 0.5 1 0\nf 1 2 3 4\n")
    assert cm.sheet_from_obj(sheet)[0].face_area.sum() == pytest.approx(1.5)


def test_a_keyhole_polygon_has_its_hole(tmp_path: Path) -> None:
    outer, inner = "v 0 0 0\nv 3 0 0\nv 3 3 0\nv 0 3 0\n", "v 1 1 0\nv 1 2 0\nv 2 2 0\nv 2 1 0\n"
    data = read(tmp_path, f"{outer}{inner}f 1 2 3 4 1 5 6 7 8 5\n")
    assert (doubled_areas(data) > 0.0).all()
    assert doubled_areas(data).sum() == pytest.approx(2.0 * 8.0)


def test_corners_on_a_straight_side_give_no_needles(tmp_path: Path) -> None:
    data = read(tmp_path, "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 3 0 0\nv 3 3 0\nv 0 3 0\nf 1 2 3 4 5 6\n")
    assert (doubled_areas(data) > 0.1).all()


def test_a_crossed_polygon_is_refused_with_its_line(tmp_path: Path) -> None:
    points = "v 0 0 0\nv 3 0 0\nv 3 2 0\nv 1 -1 0\nv 0.5 2 0\n"
    with pytest.raises(InputError, match=r":6: is no simple polygon"):
        read(tmp_path, f"{points}f 1 2 3 4 5\n")


def test_messages_count_the_faces_of_the_file(tmp_path: Path) -> None:
    points = corners(12, lambda k: 1.0) + "v 5 0 0\nv 6 0 0\nv 5 1 0\n"
    face = " ".join(f"{k + 1}" for k in range(12))
    with pytest.raises(InputError, match="face 2 uses a point twice"):
        cm.surface_from_obj(read(tmp_path, f"{points}f {face}\nf 13 14 14\n"))
    flat = "vt 0 0\nvt 1 0\nvt 0 1\n" + "".join(f"vt {k} {k * k}\n" for k in range(12))
    corner = " ".join(f"{k + 1}/{k + 4}" for k in range(12))
    with pytest.raises(InputError, match="face 2: is inverted"):
        cm.sheet_from_obj(read(tmp_path, f"{points}{flat}f {corner}\nf 13/1 14/3 15/2\n"))


def test_panel_and_world_are_cut_alike(tmp_path: Path) -> None:
    """An arrowhead whose world is bent so that its own cut would be the other one."""
    panel = read(tmp_path, "v 0 0 0\nv 2 1 0\nv 0 2 0\nv 0.5 1 0\nf 1 2 3 4\n")
    world = read(tmp_path, "v 0 0 0\nv 2 1 0\nv 0 2 0\nv -0.5 1 0\nf 1 2 3 4\n")
    assert world.faces.tolist() != panel.faces.tolist()
    mesh, _ = cm.merge_pattern_and_world(panel, world)
    assert (mesh.face_area > 0.0).all()
    assert mesh.face_area.sum() == pytest.approx(1.5)


def test_faces_may_come_before_their_points(tmp_path: Path) -> None:
    assert read(tmp_path, "f 1 2 3\n" + TRIANGLE).faces.tolist() == [[0, 1, 2]]


def test_labels_velocities_and_unknown_tags(tmp_path: Path) -> None:
    text = "v 0 0 0\nnl 4\nvv 1 2 3\nv 1 0 0\nv 0 1 0\nny 5 6\nf 1 2 3\ne 1 2\nel 9\nel 2 3 8\no name\n"
    data = read(tmp_path, text)
    assert data.point_label.tolist() == [4, 0, 0]
    assert data.velocity.tolist() == [[1, 2, 3], [0, 0, 0], [0, 0, 0]]
    assert data.edges.tolist() == [[0, 1, 9], [1, 2, 8]]
    assert data.custom == {"ny": [(6, 2, ["5", "6"])]}
    mesh, _ = cm.sheet_from_obj(data)
    assert mesh.node_label.tolist() == [4, 0, 0]
    assert mesh.edge_label.tolist() == [[9, 8, 0]]


def test_seam_from_texture(tmp_path: Path) -> None:
    text = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvt 5 0\nvt 6 1\n"
    mesh, _ = cm.sheet_from_obj(read(tmp_path, text + "vt 5 1\nf 1/1 2/2 3/3\nf 1/5 3/6 4/7\n"))
    assert (mesh.node_count, mesh.vertex_count) == (4, 6)
    assert (mesh.twin >= 0).sum() == 2


@pytest.mark.parametrize("turn", [np.eye(3), np.diag([1.0, -1.0, -1.0]), None])
def test_flat_mesh_is_its_own_pattern(tmp_path: Path, turn: np.ndarray | None) -> None:
    flat, x = cs.rectangle(1.0, 0.5, 0.2)
    if turn is None:
        turn, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))
        turn *= np.sign(np.linalg.det(turn))
    moved = x @ turn.T + [3.0, 1.0, 2.0]
    lines = [f"v {a!r} {b!r} {c!r}" for a, b, c in moved.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (flat.face_nodes + 1).tolist()]
    mesh, _ = cm.sheet_from_obj(read(tmp_path, "\n".join(lines)))
    assert not mesh.has_seams
    np.testing.assert_allclose(mesh.corner_length, flat.corner_length, rtol=1e-9)
    if np.array_equal(turn, np.eye(3)):
        np.testing.assert_array_equal(mesh.u, moved[:, :2])


def test_curved_mesh_gets_a_pattern_per_triangle() -> None:
    mesh = ODD["icosphere"]
    assert mesh.vertex_count == 3 * mesh.face_count
    p = mesh.u[mesh.faces]
    np.testing.assert_array_equal(p[:, 0], 0.0)
    np.testing.assert_array_equal(p[:, 1, 1], 0.0)
    length = np.linalg.norm(np.diff(mesh.node_rest[mesh.edges], axis=1)[:, 0], axis=1)
    np.testing.assert_allclose(mesh.corner_length[mesh.edge_corners], length, rtol=1e-12)


def test_pattern_and_world_merge_into_a_seamed_sheet(tmp_path: Path) -> None:
    tube, x = cs.cylinder(1.0, 0.5, 0.1)
    pattern = cm.make_sheet_mesh(tube.u, tube.faces)
    cm.write_obj(tmp_path / "pattern.obj", pattern, pattern.node_rest)
    world = [f"v {a!r} {b!r} {c!r}" for a, b, c in x.tolist()]
    world += [f"f {a} {b} {c}" for a, b, c in (tube.face_nodes + 1).tolist()]
    (tmp_path / "world.obj").write_text("\n".join(world))
    a, b = cm.read_obj(tmp_path / "pattern.obj"), cm.read_obj(tmp_path / "world.obj")
    mesh, x_again = cm.merge_pattern_and_world(a, b)
    for field in ("u", "vertex_node", "faces"):
        np.testing.assert_array_equal(getattr(mesh, field), getattr(tube, field))
    np.testing.assert_array_equal(x_again, x)
    with pytest.raises(InputError, match="faces"):
        cm.merge_pattern_and_world(read(tmp_path, TRIANGLE + "f 1 2 3"), b)


def test_obstacle_surface_drops_unused_points(tmp_path: Path) -> None:
    points, faces = cm.surface_from_obj(read(tmp_path, "v 9 9 9\n" + TRIANGLE + "f 2 3 4\n"))
    assert points.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert faces.tolist() == [[0, 1, 2]]


MALFORMED = [
    ("v 0 0 nan\n", ":1"),
    (TRIANGLE + "v inf 0 0\nf 1 2 3", ":4"),
    (TRIANGLE + "f 1 2 4\n", ":4"),
    (TRIANGLE + "\nf 1 2 0\n", ":5"),
    (TRIANGLE + "f 1 2 -4\n", ":4"),
    (TRIANGLE + "f 1 2\n", ":4"),
    (TRIANGLE + "f 1 2 x\n", ":4"),
    (TRIANGLE + "f 1/1 2/1 3/1\n", ":4"),
    (TRIANGLE + "f 1/2/3/4 2 3\n", ":4"),
    (TRIANGLE + "f 1 2 99999999999999999999\n", ":4"),
    ("v 0 0\n", ":1"),
    ("v a b c\n", ":1"),
    ("nl 1\n", ":1"),
    ("v 0 0 0\nnl one\n", ":2"),
    ("v 0 0 0\nnl 5000000000\n", ":2"),
    ("el 3\n", ":1"),
    ("vv 1 2 3\n", ":1"),
    (TRIANGLE, "no faces"),
    ("", "no vertices"),
    ("hello world\n" * 10, "no vertices"),
    (b"\x00\x01\x02v 0 0 0", "binary"),
    (bytes(range(128, 256)) * 20, "no vertices"),
]


@pytest.mark.parametrize(("text", "message"), MALFORMED)
def test_malformed_files_give_one_line_with_the_place(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, text)
    assert message in str(error.value)
    assert "mesh.obj" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        TRIANGLE + "f 1 2 2\n",
        TRIANGLE + "v 5 5 5\nf 1 2 3\n",
        TRIANGLE + "vt 0 0\nvt 1 0\nvt 0 1\nf 1/1 3/3 2/2\n",
        TRIANGLE + "vt 0 0\nf 1/1 2/1 3/1\n",
        TRIANGLE + "v 1 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\nf 2 4 3\n",
        TRIANGLE + "v 0 0 1\nf 1 2 3\nf 1 2 4\n",
        TRIANGLE + "f 1 2 3\ne 1 1\nel 4\n",
        "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n",
        "v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n",
    ],
)
def test_defective_sheets_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"mesh\.obj"):
        cm.sheet_from_obj(read(tmp_path, text))


def test_missing_file_and_folder(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.obj", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            cm.read_obj(path)
    mesh = ODD["triangle"]
    with pytest.raises(InputError, match="cannot be written"):
        cm.write_obj(tmp_path / "no" / "where.obj", mesh, mesh.node_rest)


WORDS = st.sampled_from(
    ["v", "vt", "f", "nl", "el", "e", "vv", "1", "2", "3", "-1", "0", "1/1", "1e400", "nan", "#", "/"]
)


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(st.lists(WORDS, max_size=5), max_size=12), noise=st.binary(max_size=20))
def test_any_text_is_read_or_refused(tmp_path: Path, lines: list[list[str]], noise: bytes) -> None:
    text = (TRIANGLE + "\n".join(" ".join(words) for words in lines)).encode() + b"\n" + noise
    try:
        mesh, x = cm.sheet_from_obj(read(tmp_path, text))
    except InputError:
        return
    assert cm.validate_mesh(mesh, x) == []


def textured(points: np.ndarray, texture: np.ndarray, faces: np.ndarray, corner: bool = False) -> str:
    """An OBJ text with a texture coordinate per point, or one of its own per face corner."""
    lines = [f"v {a!r} {b!r} {c!r}" for a, b, c in points.tolist()]
    if corner:
        texture, number = texture[faces].reshape(-1, 2), np.arange(3 * len(faces)).reshape(-1, 3)
    else:
        number = faces
    lines += [f"vt {a!r} {b!r}" for a, b in texture.tolist()]
    for face, uv in zip((faces + 1).tolist(), (number + 1).tolist(), strict=True):
        lines.append("f " + " ".join(f"{i}/{t}" for i, t in zip(face, uv, strict=True)))
    return "\n".join(lines)


def paper(bend: bool) -> tuple[cm.SheetMesh, np.ndarray, np.ndarray]:
    """A sheet of 297 × 210 mm with texture coordinates in 0…1, flat or rolled along the diagonal."""
    mesh, x = cs.rectangle(0.297, 0.21, 0.02)
    texture = mesh.u / [0.297, 0.21]
    if bend:
        s, t = (mesh.u @ np.array([[1, 1], [1, -1]]) / np.sqrt(2)).T
        x = np.stack([0.3 * np.sin(s / 0.3), t, 0.3 * np.cos(s / 0.3)], axis=1)
    return mesh, x, texture


@pytest.mark.parametrize("bend", [False, True])
@pytest.mark.parametrize("corner", [False, True])
@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_texture_of_zero_to_one_is_not_metres(tmp_path: Path, bend: bool, corner: bool, mirror: float) -> None:
    mesh, x, texture = paper(bend)
    data = read(tmp_path, textured(x, texture * [mirror, 1.0], mesh.faces, corner))
    sheet, _ = cm.sheet_from_obj(data, "auto")
    assert cm.choose_pattern(data, "auto")[2] == "fitted"
    assert not sheet.has_seams
    np.testing.assert_allclose(np.sort(sheet.corner_length), np.sort(mesh.corner_length), rtol=2e-3)
    np.testing.assert_allclose(sheet.face_area.sum(), 0.297 * 0.21, rtol=1e-3)
    kept = cm.sheet_texture(data, sheet)
    np.testing.assert_array_equal(kept[sheet.faces], (texture * [mirror, 1.0])[mesh.faces])


def test_texture_with_the_lengths_of_the_mesh_is_the_pattern(tmp_path: Path) -> None:
    mesh, x, texture = paper(True)
    data = read(tmp_path, textured(x, 0.99 * mesh.u, mesh.faces))
    sheet, _ = cm.sheet_from_obj(data, "auto")
    np.testing.assert_array_equal(sheet.u, 0.99 * mesh.u)
    explicit, _ = cm.sheet_from_obj(read(tmp_path, textured(x, texture, mesh.faces)), "uv")
    np.testing.assert_array_equal(explicit.u, texture)
    marked = "# vt: pattern in m\n" + textured(x, texture, mesh.faces)
    np.testing.assert_array_equal(cm.sheet_from_obj(read(tmp_path, marked), "auto")[0].u, texture)
    arcsim = textured(x, texture, mesh.faces) + "\nnl 1\n"
    np.testing.assert_array_equal(cm.sheet_from_obj(read(tmp_path, arcsim), "auto")[0].u, texture)


def test_texture_that_cannot_be_a_pattern_leaves_the_mesh_at_rest(tmp_path: Path) -> None:
    """A picture wrapped twice and shrunk on one side: the flat mesh is its own pattern, and has the picture's seams."""
    mesh, x, texture = paper(False)
    wrapped = texture**2
    data = read(tmp_path, textured(x, wrapped, mesh.faces))
    sheet, _ = cm.sheet_from_obj(data, "auto")
    np.testing.assert_allclose(np.sort(sheet.corner_length), np.sort(mesh.corner_length), rtol=1e-9)
    np.testing.assert_array_equal(cm.sheet_texture(data, sheet)[sheet.faces], wrapped[mesh.faces])
    world, _ = cm.sheet_from_obj(read(tmp_path, textured(x, 2.0 * mesh.u, mesh.faces)), "world")
    np.testing.assert_allclose(world.face_area.sum(), mesh.face_area.sum())
    half = read(tmp_path, textured(x, wrapped, mesh.faces).replace("vt", "vt 0.5 0.5\nvt", 1))
    assert cm.sheet_from_obj(half, "auto")[0].node_count == mesh.node_count


@pytest.mark.parametrize("number", ["1e9", "-1e200", "1e308"])
def test_coordinates_beyond_any_sheet_are_refused(tmp_path: Path, number: str) -> None:
    for text in (f"v {number} 0 0\n", TRIANGLE + f"vt 0 {number}\n", TRIANGLE + f"vv 0 {number} 0\n"):
        with pytest.raises(InputError, match=r"mesh\.obj:\d.*is the unit right\? must be within ±1e\+06"):
            read(tmp_path, text)
