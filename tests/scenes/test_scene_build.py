"""Building: what the tables say is what the model and the state hold."""

from dataclasses import asdict, fields

import numpy as np
import pytest
import tomli_w
from scene_tables import changed, rich, small

from crumple.energies import Gust
from crumple.options.solver import SolverOptions
from crumple.runtime.errors import InputError
from crumple.scenes import build, builtin_scenes, check_scene, load_scene, scene_from_tables
from crumple.scenes.schema.scene import Solver
from crumple.scenes.sizes import estimate_size


def made(tables):
    return build(scene_from_tables(tables, source="scene.toml"))[:2]


def test_friction_of_pairs_beats_obstacles_beats_the_scene():
    model, _ = made(rich())
    assert model.part_names == ("a", "b", "c", "ball", "floor", "crate", "pole")
    table = model.contact.friction
    np.testing.assert_array_equal(table, table.T)
    assert table[0, 3] == 0.1  # the pair
    assert table[1, 3] == 0.2  # the obstacle's own
    assert table[0, 4] == table[0, 0] == table[1, 2] == 0.3  # the scene's


def test_thickness_is_the_parts_own_or_the_scenes_or_the_materials():
    model, _ = made(rich())
    assert model.contact.sheet_thickness == (1e-4, 1e-4, 1e-4)
    assert [obstacle.thickness for obstacle in model.obstacles] == [1e-3, 1e-4, 1e-4, 1e-4]
    tables = small()
    tables["sheets"][0]["material"]["thickness"] = 3e-4
    tables["obstacles"] = [{"shape": {"kind": "sphere", "radius": 0.1, "center": [0, 0, 1]}}]
    model, _ = made(tables)
    assert model.contact.sheet_thickness == (3e-4,)
    assert model.obstacles[0].thickness == 0.0


def test_transform_scales_pattern_and_world_alike_and_moves():
    tables = small()
    _, before = made(tables)
    tables["sheets"][0]["transform"] = {
        "translate": [1, 2, 3],
        "rotate": {"angle": 90, "axis": [0, 0, 1]},
        "scale": 2,
    }
    _, after = made(tables)
    np.testing.assert_allclose(after.mesh.u, 2 * before.mesh.u)
    turned = 2 * np.stack([-before.x[:, 1], before.x[:, 0], before.x[:, 2]], axis=1)
    np.testing.assert_allclose(after.x, turned + np.array([1, 2, 3]), atol=1e-12)
    length = np.linalg.norm(after.x[after.mesh.edges[:, 0]] - after.x[after.mesh.edges[:, 1]], axis=1)
    corner = after.mesh.corner_length[after.mesh.edge_corners]
    np.testing.assert_allclose(length, corner, rtol=1e-12)  # unstrained


def test_jitter_is_small_along_the_normal_and_reproducible():
    tables = small()
    tables["sheets"][0]["jitter"] = {"amplitude": 1e-4, "seed": 5}
    _, flat = made(small())
    _, one = made(tables)
    _, two = made(tables)
    np.testing.assert_array_equal(one.x, two.x)
    moved = one.x - flat.x
    assert 0 < np.abs(moved[:, 2]).max() <= 1e-4
    np.testing.assert_array_equal(moved[:, :2], 0)
    _, other = made(changed(tables, ("sheets", 0, "jitter", "seed"), 6))
    assert np.any(other.x != one.x)


def test_handles_hold_their_own_sheet_where_it_is():
    model, state = made(rich())
    mesh, pins = state.mesh, state.pins
    sheets = [mesh.node_sheet[pins.node[pins.handle == k]] for k in range(6)]
    assert [set(sheet.tolist()) for sheet in sheets] == [{0}, {0}, {1}, {1}, {2}, {2}]
    for k, handle in enumerate(model.handles[:5]):
        mine = pins.handle == k
        target = handle.target(handle.start, pins.anchor[mine])
        np.testing.assert_allclose(target, state.x[pins.node[mine]], atol=1e-12)
    first_of_b = int(np.flatnonzero(mesh.node_sheet == 1)[0])
    tables = rich()
    tables["handles"] = [{"sheet": "b", "select": {"kind": "indices", "indices": [0]}}]
    assert made(tables)[1].pins.node.tolist() == [first_of_b]


def test_circle_handle_wraps_its_targets():
    _, state = made(rich())
    ring = state.pins.anchor[state.pins.handle == 5] - np.array([0, 0, 0.6])
    np.testing.assert_allclose(np.linalg.norm(ring, axis=1), 0.1 / (2 * np.pi), rtol=1e-12)


def test_options_reach_the_model():
    model, state = made(rich())
    assert model.solver.fixed_step == 0.02
    assert model.solver.max_iterations == 50
    assert state.step_size == 0.02
    assert model.wind.velocity == (1.0, 0.0, 0.0)
    assert model.gravity == (0.0, 0.0, -9.81)
    assert model.frame_count == 10
    assert state.v[0].tolist() == [0, 0, 1]
    assert made(small())[0].wind.density == 0.0
    assert model.materials[0].bend_stiffness == pytest.approx(2 * 2e9 * 1e-12 / 12 / (1 - 0.04))
    assert model.handles[0].motion.parent.name == "turn"


def test_keyed_and_gusty_wind():
    keys = [{"time": 0, "velocity": [0, 0, 0]}, {"time": 2, "velocity": [6, 0, 0]}]
    gust = {"speed": 1.5, "length": 0.4, "seed": 7}
    model, _ = made(small() | {"environment": {"wind": {"keys": keys, "gust": gust}}})
    assert model.wind.mean(1.0).tolist() == [3.0, 0.0, 0.0]
    assert model.wind.gust == Gust(1.5, 0.4, 7)
    assert made(small() | {"environment": {"wind": {"velocity": [1, 0, 0]}}})[0].wind.gust is None


@pytest.mark.parametrize(
    ("wind", "message"),
    [
        ({"velocity": [1, 0, 0], "keys": [{"time": 0, "velocity": [1, 0, 0]}]}, r"environment\.wind.*not both"),
        ({"keys": [{"time": 1, "velocity": [1, 0, 0]}] * 2}, r"environment\.wind.*keys\[1\] is at 1 s"),
        ({"gust": {"speed": 1, "length": 0}}, r"environment\.wind\.gust\.length = 0 .*> 0"),
    ],
)
def test_a_wind_that_makes_no_sense_is_refused(wind, message):
    with pytest.raises(InputError, match=message):
        made(small() | {"environment": {"wind": wind}})


def test_every_option_of_the_solver_can_be_set():
    assert set(Solver.model_fields) == {field.name for field in fields(SolverOptions)}
    assert scene_from_tables(small()).solver.model_dump() == asdict(SolverOptions())


def test_velocities_in_a_mesh_file_are_turned_and_added(tmp_path):
    (tmp_path / "m.obj").write_text("v 0 0 0\nvv 1 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    tables = small()
    tables["sheets"][0] |= {
        "shape": {"kind": "file", "mesh": str(tmp_path / "m.obj")},
        "velocity": [0, 0, 5],
        "transform": {"rotate": {"angle": 90, "axis": [0, 0, 1]}},
    }
    np.testing.assert_allclose(made(tables)[1].v, [[0, 1, 5], [0, 0, 5], [0, 0, 5]], atol=1e-15)


def test_face_groups_pick_from_materials(tmp_path):
    text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nusemtl material_1\nf 2 4 3\n"
    (tmp_path / "m.obj").write_text(text)
    tables = small()
    del tables["sheets"][0]["material"]
    tables["sheets"][0] |= {
        "shape": {"kind": "file", "mesh": str(tmp_path / "m.obj")},
        "materials": ["mylar", "cotton"],
    }
    tables["sheets"].append(small()["sheets"][0] | {"transform": {"translate": [0, 0, 1]}})
    model, state = made(tables)
    assert [material.name for material in model.materials] == ["mylar", "cotton", "paper80"]
    assert state.mesh.face_material[:3].tolist() == [0, 1, 2]
    tables["sheets"][0]["materials"] = ["mylar"]
    with pytest.raises(InputError, match=r"face group 1 but the sheet has 1 material"):
        made(tables)


def test_mesh_sequence_is_interpolated(tmp_path):
    for k in (0, 1):
        (tmp_path / f"{k}.obj").write_text(f"v 0 0 {9 + k}\nv 1 0 {9 + k}\nv 0 1 {9 + k}\nf 1 2 3\n")
    files = [str(tmp_path / "0.obj"), str(tmp_path / "1.obj")]
    tables = small() | {"obstacles": [{"shape": {"kind": "sequence", "meshes": files, "start": 1, "interval": 2}}]}
    obstacle = made(tables)[0].obstacles[0]
    assert [obstacle.positions(t)[0, 2] for t in (0, 1, 2, 3, 9)] == [9, 9, 9.5, 10, 10]


def test_sheet_closer_than_its_thickness_is_refused():
    tables = small()
    tables["sheets"][0]["contact_thickness"] = 4e-3
    tables["obstacles"] = [{"name": "table", "shape": {"kind": "plane", "center": [0, 0, -1e-3]}, "thickness": 0}]
    with pytest.raises(InputError, match=r"'sheet' and 'table' are closer than their thickness"):
        made(tables)
    tables["sheets"][0]["contact_thickness"] = 1e-3
    made(tables)


def test_contact_lengths_must_fit_the_mesh():
    with pytest.raises(InputError, match=r"contact.activation = 1.0 \(must be ≤ 0.5 m for the"):
        made(small() | {"contact": {"activation": 1}})


def test_materials_are_numbered_per_sheet():
    _, state = made(rich())
    assert [set(state.mesh.face_material[state.mesh.face_sheet == k].tolist()) for k in range(3)] == [{0}, {1}, {2}]


def test_obstacles_are_placed_and_moved():
    model, state = made(rich())
    np.testing.assert_array_equal(state.obstacle_x, model.obstacle_positions(0.0))
    ball = model.obstacles[0]
    np.testing.assert_allclose(np.linalg.norm(ball.positions(0.0), axis=1), 0.05, rtol=1e-9)
    np.testing.assert_allclose(ball.positions(0.3).mean(axis=0), [0.003, 0, 0], atol=1e-9)


def signed_volume(obstacle) -> float:
    a, b, c = (obstacle.positions(0.0)[obstacle.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def test_inside_out_shapes_face_inwards():
    model, _ = made(rich())
    ball, floor, crate, pole = model.obstacles
    assert signed_volume(ball) > 0
    assert signed_volume(crate) == pytest.approx(-27)
    assert signed_volume(pole) == pytest.approx(np.pi * 0.02**2 * 0.1, rel=0.1)
    assert np.cross(*np.diff(floor.positions(0.0)[floor.faces[0]], axis=0))[2] > 0  # faces up


@pytest.mark.parametrize("name", sorted(builtin_scenes()))
@pytest.mark.parametrize("quick", [False, True])
def test_builtin_scenes_check_out(name, quick):
    report = check_scene(name, quick=quick)
    assert report.errors == ()
    assert report.exact
    guess = estimate_size(load_scene(name, quick=quick))
    assert 0.7 < report.size.faces / guess.faces < 1.4
    assert 0.3 < report.size.obstacle_faces / max(guess.obstacle_faces, 1) < 3 or not guess.obstacle_faces


def test_twist_is_the_usual_one():
    model, state, _ = build("twist")
    assert state.mesh.face_count == 2 * 32 * 32
    assert len(state.pins.node) == 2 * 33
    assert model.solver.fixed_step == pytest.approx(1 / 30)
    assert model.frame_count == 150
    left, right = model.handles
    point = np.array([[-0.25, 0.25, 0.0]])
    np.testing.assert_allclose(left.target(1.0, point), [[-0.25, 0, -0.25]], atol=1e-12)
    np.testing.assert_allclose(right.target(1.0, -point), [[0.25, 0, -0.25]], atol=1e-12)
    assert np.all(model.contact.friction == 1.0)


@pytest.mark.parametrize("name", ["drape-fixed", "drop", "squeeze", "stuff"])
def test_letter_scenes_have_5000_faces(name):
    _, state, _ = build(name)
    assert 4800 <= state.mesh.face_count <= 5600


def test_stuff_fits_at_the_start_and_shrinks_to_7_cm():
    model, state, _ = build("stuff")
    assert np.linalg.norm(state.x, axis=1).max() < 0.19
    radius = np.linalg.norm(model.obstacles[0].positions(4.0), axis=1)
    np.testing.assert_allclose(radius, 0.07, rtol=1e-9)


def test_demo_is_short():
    model, state, _ = build("demo")
    assert 25 <= model.frame_count <= 40
    assert state.mesh.face_count < 1500


def test_intersecting_scene_names_both_parts_and_the_place():
    tables = small()
    tables["obstacles"] = [{"name": "ball", "shape": {"kind": "sphere", "radius": 0.02, "center": [0.03, 0.01, 0]}}]
    with pytest.raises(InputError) as caught:
        made(tables)
    text = str(caught.value)
    assert "sheet" in text
    assert "ball" in text
    assert "(0.0" in text  # the place


def test_obstacle_that_appears_later_may_overlap_now():
    tables = small()
    tables["obstacles"] = [{"shape": {"kind": "sphere", "radius": 0.02}, "start": 1.0}]
    made(tables)


def test_overlap_is_allowed_without_contact():
    tables = small() | {"contact": {"enabled": False}}
    tables["obstacles"] = [{"shape": {"kind": "sphere", "radius": 0.02}}]
    made(tables)


def test_check_lists_everything_in_one_go(tmp_path):
    tables = rich()
    tables["handles"][0]["motion"] = "lfit"
    tables["obstacles"][1]["name"] = "ball"
    tables["sheets"][1]["material"] = {"preset": "paper8"}
    tables["motions"]["turn"]["relative_to"] = "lift"
    file = tmp_path / "s.toml"
    file.write_text(tomli_w.dumps(tables))
    report = check_scene(file)
    text = "\n".join(report.errors)
    for needle in ("did you mean 'lift'", "obstacles[1].name", "sheets[1].material", "circular reference"):
        assert needle in text
    assert report.size.faces > 0
    assert not report.exact


def test_check_looks_at_the_quick_variant_too(tmp_path):
    tables = small() | {"quick": {"sheets[0].shape.sise": 0.1}}
    file = tmp_path / "s.toml"
    file.write_text(tomli_w.dumps(tables))
    assert any("sise" in line for line in check_scene(file).errors)


def test_the_limit_on_faces_is_the_tables():
    tables = small()
    tables["remeshing"] = {}
    assert made(tables)[0].remeshing.max_faces == 500_000
    tables["remeshing"] = {"max_faces": 1234}
    assert made(tables)[0].remeshing.max_faces == 1234
    for bad in (0, 1.5, 10**7):
        tables["remeshing"] = {"max_faces": bad}
        with pytest.raises(InputError, match=r"remeshing\.max_faces"):
            made(tables)
