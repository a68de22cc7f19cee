"""Creases in a scene: fold angles on lines and labelled edges, what they start with, and that they survive."""

from dataclasses import replace

import numpy as np
import pytest
from scene_tables import small

from crumple.geometry.curvature import curvature_stencil, rest_angle
from crumple.geometry.hinge import dihedral_angles
from crumple.mesh.io.obj import write_obj
from crumple.model.derived import Derived
from crumple.plasticity import crease_damage, crease_from_shape, edges_on_polyline, hinge_labels, insert_polyline
from crumple.scenes import build, scene_from_tables
from crumple.scenes.messages import SceneError
from crumple.shapes import rectangle
from crumple.simulation.frame import adapt

LINE = [[0.043, -0.01], [0.043, 0.11]]


def creased(**sheet):
    tables = small()
    tables["sheets"][0] |= {"creases": [{"line": LINE, "angle": 60}]} | sheet
    tables["sheets"][0]["shape"]["size"] = 0.02
    return tables


def made(tables):
    return build(scene_from_tables(tables, source="scene.toml"))[:2]


def fold_angles(state, line=LINE, scale=1.0):
    """Rest angles on the line and elsewhere [degrees]."""
    rest = np.degrees(rest_angle(curvature_stencil(state.mesh), state.plastic_curvature))
    there = edges_on_polyline(state.mesh, scale * np.array(line), tolerance=1e-4 * scale)
    assert there.any()
    return rest[there], rest[~there]


def test_a_line_becomes_a_fold_with_its_angle_damage_and_embedding():
    model, state = made(creased())
    on, off = fold_angles(state)
    np.testing.assert_allclose(on, 60.0, atol=1e-6)
    np.testing.assert_allclose(off, 0.0, atol=1e-6)
    np.testing.assert_allclose(
        state.damage,
        crease_damage(state.plastic_curvature, np.full(state.mesh.face_count, model.materials[0].yield_curvature)),
    )
    there = edges_on_polyline(state.mesh, np.array(LINE), tolerance=1e-4)
    np.testing.assert_allclose(np.degrees(dihedral_angles(state.y, state.mesh.hinges.nodes))[there], 60.0, rtol=0.01)
    np.testing.assert_allclose(state.x[:, 2], 0.0, atol=1e-12)
    assert np.all(hinge_labels(state.mesh)[there] != 0)


def test_a_folded_sheet_starts_in_the_shape_of_its_creases():
    _, state = made(creased(folded=True, transform={"scale": 2, "translate": [0, 0, 5]}))
    there = edges_on_polyline(state.mesh, 2 * np.array(LINE), tolerance=1e-4)
    np.testing.assert_allclose(np.degrees(dihedral_angles(state.x, state.mesh.hinges.nodes))[there], 60.0, rtol=0.01)
    np.testing.assert_allclose(state.x.mean(axis=0)[2], 5.0, atol=1e-6)
    on, _ = fold_angles(state, scale=2.0)
    np.testing.assert_allclose(on, 60.0, atol=1e-6)


def test_damage_can_be_given():
    tables = creased()
    tables["sheets"][0]["creases"][0]["damage"] = 7
    _, state = made(tables)
    beside = np.unique(state.mesh.hinges.faces[edges_on_polyline(state.mesh, np.array(LINE), tolerance=1e-4)])
    np.testing.assert_array_equal(state.damage[beside], 7.0)
    assert not np.delete(state.damage, beside).any()


def test_crossing_lines_keep_their_own_angles():
    tables = creased()
    across = [[-0.01, 0.057], [0.11, 0.052]]
    tables["sheets"][0]["creases"].append({"line": across, "angle": -30})
    _, state = made(tables)
    np.testing.assert_allclose(fold_angles(state)[0], 60.0, atol=1e-6)
    np.testing.assert_allclose(fold_angles(state, across)[0], -30.0, atol=1e-6)


def remeshed(angle):
    tables = creased(folded=True, creases=[{"line": LINE, "angle": angle}])
    tables["remeshing"] = {"size_min": 5e-3, "size_max": 0.012, "refine_angle": 0.2}
    model, state = made(tables)
    model = replace(model, remeshing=replace(model.remeshing, projection=False))
    faces = state.mesh.face_count
    for _ in range(3):
        state = adapt(state, Derived(model, state))
    assert state.mesh.face_count > 1.2 * faces
    there = edges_on_polyline(state.mesh, np.array(LINE), tolerance=1e-4)
    length = state.mesh.corner_length[state.mesh.hinges.corners[there, 0]].sum()
    assert length == pytest.approx(0.1, rel=1e-6)  # the line still has its edges
    return state


def test_sharp_creases_survive_remeshing():
    on, off = fold_angles(remeshed(100))
    np.testing.assert_allclose(on, 100.0, rtol=1e-3)
    assert np.abs(off).max() < 0.1


def test_blunt_creases_keep_the_angle_between_their_sides():
    """Remeshing may round a blunt fold, but the halves of the sheet stay where they are."""
    state = remeshed(60)
    y, mesh = state.y, state.mesh
    a, b, c = (y[mesh.face_nodes[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    middle = mesh.u[mesh.faces].mean(axis=1)[:, 0]
    left, right = normal[middle < 0.02].sum(axis=0), normal[middle > 0.07].sum(axis=0)
    turn = np.arccos(left @ right / np.linalg.norm(left) / np.linalg.norm(right))
    assert np.degrees(turn) == pytest.approx(60.0, rel=0.02)


def test_labelled_edges_of_a_mesh_file(tmp_path):
    """The same crease by the label that the file gives to its edges."""
    mesh, x = rectangle(0.1, 0.1, 0.02)
    line = insert_polyline(mesh, np.array(LINE), label=5)
    nodes = line.mesh.hinges.nodes[line.hinges, :2]
    text = [f"v {a} {b} {c}" for a, b, c in (line.change.node_operator @ x).tolist()] + [
        f"vt {a} {b}" for a, b in line.mesh.u.tolist()
    ]
    text += [f"f {a}/{a} {b}/{b} {c}/{c}" for a, b, c in (line.mesh.faces + 1).tolist()]
    text += [f"e {a} {b}\nel 5" for a, b in (nodes + 1).tolist()]
    file = tmp_path / "sheet.obj"
    file.write_text("\n".join(text) + "\n")
    tables = creased(shape={"kind": "file", "mesh": str(file)}, creases=[{"label": 5, "angle": -90}])
    del tables["sheets"][0]["shape"]["size"]
    _, state = made(tables)
    np.testing.assert_allclose(fold_angles(state)[0], -90.0, atol=1e-6)
    tables["sheets"][0]["creases"][0]["label"] = 6
    with pytest.raises(SceneError, match=r"sheets\[0\]\.creases\[0\]\.label = 6 .*no inner edge"):
        made(tables)


def test_a_plastic_shape_is_what_the_sheet_returns_to(tmp_path):
    """A roll from a file, with a crease across it; both the curvature and the crease are there."""
    mesh, _ = rectangle(0.1, 0.1, 0.02)
    radius = 0.1
    angle = mesh.u[:, 1] / radius
    roll = np.stack([mesh.u[:, 0], radius * np.sin(angle), radius * np.cos(angle)], axis=1)
    write_obj(tmp_path / "roll.obj", mesh, roll)
    tables = creased(plastic_shape=str(tmp_path / "roll.obj"), creases=[], folded=True)
    _, state = made(tables)
    np.testing.assert_allclose(state.plastic_curvature, crease_from_shape(mesh, roll), atol=1e-6)
    distances = [np.linalg.norm(p[:, None] - p, axis=2) for p in (state.x, state.y, roll)]
    np.testing.assert_allclose(distances[0], distances[2], atol=2e-4)
    np.testing.assert_allclose(distances[1], distances[2], atol=2e-4)
    tables["sheets"][0] |= {"creases": [{"line": LINE, "angle": 60}], "folded": False}
    _, state = made(tables)
    on, off = fold_angles(state)
    np.testing.assert_allclose(on, 60.0, atol=1e-6)
    assert off.max() > 5.0
    tables["sheets"][0]["shape"]["size"] = 0.03
    with pytest.raises(SceneError, match=r"sheets\[0\]\.plastic_shape: roll.obj.*nodes of the sheet"):
        made(tables)


def test_velocities_follow_the_new_nodes(tmp_path):
    mesh, x = rectangle(0.1, 0.1, 0.02)
    file = tmp_path / "moving.obj"
    write_obj(file, mesh, x)
    lines = file.read_text().splitlines()
    speed = iter(x[:, 0].tolist())
    text = [new for line in lines for new in ([line, f"vv 0 0 {next(speed)}"] if line.startswith("v ") else [line])]
    file.write_text("\n".join(text) + "\n")
    tables = creased(shape={"kind": "file", "mesh": str(file)})
    del tables["sheets"][0]["shape"]["size"]
    _, state = made(tables)
    assert state.mesh.node_count > mesh.node_count
    np.testing.assert_allclose(state.v[:, 2], state.x[:, 0], atol=1e-9)


@pytest.mark.parametrize(
    ("crease", "message"),
    [
        ({"angle": 30}, r"scene.toml: sheets\[0\]\.creases\[0\].*either a line or a label"),
        ({"angle": 30, "line": LINE, "label": 3}, r"creases\[0\].*either a line or a label"),
        ({"angle": 200, "line": LINE}, r"creases\[0\]\.angle = 200"),
        ({"line": LINE}, r"creases\[0\]\.angle.*missing"),
        ({"angle": 30, "line": [[0, 0]]}, r"creases\[0\]\.line"),
        ({"angle": 30, "line": [[0, 0], [0, 0]]}, r"creases\[0\]\.line.*two different points"),
        ({"angle": 30, "line": [[1, 0], [1, 1]]}, r"creases\[0\]\.line.*inside the sheet"),
        ({"angle": 30, "line": [[0, 0], [0, 0.1]]}, r"creases\[0\]\.line.*inside the sheet"),
        ({"angle": 30, "label": 3}, r"creases\[0\]\.label = 3 .*no inner edge"),
        ({"angle": 30, "line": LINE, "damage": -1}, r"creases\[0\]\.damage = -1"),
        ({"angle": 30, "line": LINE, "breadth": 1}, r"creases\[0\]\.breadth.*unknown key"),
    ],
)
def test_bad_creases_are_refused_by_key(crease, message):
    with pytest.raises(SceneError, match=message):
        made(creased(creases=[crease]))


def test_folded_needs_creases():
    with pytest.raises(SceneError, match=r"sheets\[0\]\.folded.*no creases"):
        made(creased(creases=[], folded=True))
