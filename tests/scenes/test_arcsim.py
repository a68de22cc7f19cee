"""ARCSim scene files as our scenes."""

import json

import numpy as np
import pytest
from arcsim_files import WEDGE, scene, write

from crumple.scenes import build, check_scene, dump_scene, load_scene


def load(tmp_path, record, *overrides):
    return load_scene(write(tmp_path, record), overrides)


def test_times_and_environment(tmp_path):
    made = load(tmp_path, scene())
    assert (made.run.frame_time, made.run.duration) == (0.04, 2.0)
    assert made.environment.gravity == (0, 0, -9.8)
    assert made.environment.wind.density == 1.0
    assert made.contact.friction == 0.6
    assert made.obstacles[0].friction == 0.3
    assert made.name == "scene"


@pytest.mark.parametrize(
    ("times", "frame_time", "duration"),
    [
        ({"frame_time": 0.1, "end_frame": 5}, 0.1, 0.5),
        ({"frame_time": 0.1, "end_frame": 50, "duration": 2, "end_time": 3}, 0.1, 2.0),
        ({"timestep": 0.001, "save_frames": 20, "duration": 1}, 0.02, 1.0),
        ({"timestep": 0.001, "frame_steps": 10, "duration": 1}, 0.01, 1.0),
        ({"frame_time": 0.1}, 0.1, 10.0),
    ],
)
def test_frame_time_and_duration(tmp_path, times, frame_time, duration):
    record = {key: value for key, value in scene().items() if key not in ("frame_time", "frame_steps", "end_time")}
    made = load(tmp_path, record | times)
    assert made.run.frame_time == pytest.approx(frame_time)
    assert made.run.duration == pytest.approx(duration)


def test_defaults(tmp_path):
    record = scene()
    del record["gravity"], record["magic"]
    made = load(tmp_path, record)
    assert made.environment.gravity == (0, 0, 0)
    assert made.handles[0].stiffness == 1e3
    assert made.contact.activation == 1e-3


def test_placement_and_material(tmp_path):
    model, state, _ = build(write(tmp_path, scene()))
    assert np.allclose(state.x[1], [0, 0.5, 0.5])  # (1, 0, 0) halved, turned a quarter, lifted
    assert np.isclose(state.mesh.face_area.sum(), 0.25)  # the pattern is scaled too: no strain
    material = model.materials[0]
    assert material.density == pytest.approx(0.4)
    assert material.membrane[0] == pytest.approx(2 * 2 * 1000)  # entries count double, thickened
    assert np.allclose(material.bending, 4e-5 / 4 * 2 * 3)
    assert material.yield_curvature == 50


def test_thin_plate_thickness_comes_from_stiffnesses(tmp_path):
    path = write(tmp_path, scene())
    foil = {
        "density": 0.07,
        "stretching": [[1.8e6, 0, 1.8e6, 1.8e6]] * 6,
        "bending": [[96e-6] * 5] * 3,
    }
    (tmp_path / "materials/cloth.json").write_text(json.dumps(foil))
    model, _, _ = build(path)
    assert model.contact.sheet_thickness[0] == pytest.approx(25.3e-6, rel=0.01)


def test_moduli_in_the_scene(tmp_path):
    record = scene()
    record["cloths"][0]["materials"] = [
        {
            "thickness": 1e-4,
            "density": 800,
            "elastic_modulus": 4e9,
            "poisson_ratio": 0,
            "bending_factor": 10,
            "damping": 1e-4,
        }
    ]
    material = build(write(tmp_path, record)).model.materials[0]
    assert material.stretch_stiffness == pytest.approx(4e5)
    assert material.bend_stiffness == pytest.approx(10 * 4e9 * 1e-12 / 12)
    assert (material.density, material.damping) == (pytest.approx(0.08), 1e-4)


def test_remeshing(tmp_path):
    made = load(tmp_path, scene()).remeshing
    assert (made.size_min, made.size_max, made.refine_angle, made.projection) == (0.02, 0.2, 0.3, True)
    assert made.refine_velocity == 1e9  # not given: never acts


def test_motion_and_obstacle(tmp_path):
    model, _, _ = build(write(tmp_path, scene()))
    obstacle = model.obstacles[0]
    assert np.allclose(obstacle.positions(0.0)[0], [0.5, 0, 0])  # motion after transform
    assert np.allclose(obstacle.positions(9.0)[0], [0.5, 0, 0.2])
    later = obstacle.positions(1.0 + 1e-6)[0] - obstacle.positions(1.0)[0]
    assert later[2] / 1e-6 == pytest.approx(1.0, rel=1e-3)  # the given velocity, not Catmull–Rom's 0.1


def test_handles(tmp_path):
    record = scene()
    record["handles"][0]["motion"] = 0
    model, state, _ = build(write(tmp_path, record))
    first, second = model.handles
    assert (first.start, first.end, first.fade, first.stiffness) == (0.0, 1.0, 0.5, 500)
    assert first.motion is not None
    assert second.start == 1.5
    assert state.pins.node.tolist() == [0, 2, 2]


def test_circle_handle(tmp_path):
    record = scene()
    circle = {"type": "circle", "label": 2, "circumference": 2.0, "u": [1, 0], "center": [0, 0, 1]}
    record["handles"] = [circle | {"axis0": [1, 0, 0], "axis1": [0, 1, 0]}]
    _, state, _ = build(write(tmp_path, record))
    assert np.allclose(state.pins.anchor[0], [0, 1 / np.pi, 1])  # u = 0.5 after scaling: a quarter around


def test_vertices_is_an_old_word_for_nodes(tmp_path):
    record = scene()
    record["handles"] = [{"vertices": [3]}]
    assert build(write(tmp_path, record)).state.pins.node.tolist() == [3]


@pytest.mark.parametrize(
    ("names", "check"),
    [
        (["remeshing"], lambda s: s.remeshing is None),
        (["popfilter"], lambda s: not s.remeshing.projection),
        (["plasticity"], lambda s: s.plasticity.rule == "none"),
        (["proximity", "collision"], lambda s: not s.contact.enabled),
        (["proximity"], lambda s: s.contact.enabled),
        (["strainlimiting"], lambda s: s.sheets[0].material.strain_limit is None),
    ],
)
def test_disable(tmp_path, names, check):
    assert check(load(tmp_path, scene() | {"disable": names}))


def test_contact_reaches_no_further_than_small_edges_allow(tmp_path):
    record = scene()
    assert load(tmp_path, record).contact.activation == 2e-3
    record["cloths"][0]["remeshing"]["size"] = [4e-3, 0.2]
    made = load(tmp_path, record)
    assert made.contact.activation == 1e-3
    assert any(note.startswith("magic.repulsion_thickness") for note in made.notes)


def test_several_cloths(tmp_path):
    record = scene()
    second = scene()["cloths"][0] | {"transform": {"translate": [0, 0, 2]}, "velocity": [0, 0, 1]}
    record["cloths"].append(second)
    record["handles"] = [{"cloth": 1, "nodes": [4]}]
    model, state, _ = build(write(tmp_path, record))
    assert model.sheet_names == ("cloth0", "cloth1")
    assert state.pins.node.tolist() == [9]
    assert state.v[9].tolist() == [0, 0, 1]


def test_numbered_obstacles_have_the_motion_of_their_number(tmp_path):
    record = scene() | {"obstacles": "meshes/body%02d.obj"}
    path = write(tmp_path, record)
    for k in (0, 1, 3):
        (tmp_path / f"meshes/body{k:02d}.obj").write_text(WEDGE)
    made = load_scene(path)
    assert [obstacle.motion for obstacle in made.obstacles] == ["motion0", None]  # 02 is missing: the end


def test_numbered_mesh_is_a_sequence(tmp_path):
    record = scene()
    record["obstacles"] = [{"mesh": "meshes/wave%d.obj", "fps": 10, "transform": {"translate": [9, 0, 0]}}]
    path = write(tmp_path, record)
    for k in range(3):
        (tmp_path / f"meshes/wave{k}.obj").write_text(WEDGE.replace("v 0 0 1\n", f"v 0 0 {k + 1}\n"))
    obstacle = build(path).model.obstacles[0]
    assert obstacle.positions(0.15)[3, 2] == pytest.approx(2.5)


def motion_file(*bodies):
    """The text of a motion file from the rows x y z w x y z of each body."""
    parts = [f"NumFrames: {len(bodies[0])}"]
    for k, rows in enumerate(bodies):
        parts += [f"body[{k}] position", *(" ".join(map(str, row[:3])) + " " for row in rows), ""]
        parts += [f"body[{k}] orientation", *(" ".join(map(str, row[3:])) + " " for row in rows), ""]
    return "\n".join(parts)


def test_motion_file(tmp_path):
    record = scene() | {"motions": {"motfile": "body.mot", "fps": 2, "transform": {"translate": [0, 0, 1]}}}
    path = write(tmp_path, record)
    half = 0.5**0.5
    quarters = [(1, 0, 0, 0), (half, 0, 0, half), (0, 0, 0, 1), (-half, 0, 0, half), (-1, 0, 0, 0)]
    turning = [(1, 0, 0, *q) for q in quarters]
    (tmp_path / "body.mot").write_text(motion_file(turning, [(k, 0, 0, 1, 0, 0, 0) for k in range(5)]))
    model, _, _ = build(path)
    motion = model.obstacles[0].motion
    assert np.allclose(motion.apply(0.0, np.array([[1.0, 0, 0]])), [[2, 0, 1]])
    assert np.allclose(motion.apply(0.5, np.array([[1.0, 0, 0]])), [[1, 1, 1]])
    assert np.allclose(motion.pose(2.0)[3:6], [0, 0, 2 * np.pi])  # a whole turn, not back
    assert np.allclose(motion.apply(1.25, np.array([[0.0, 0, 0]])), [[1, 0, 1]])


def test_glue_joins_pairs_of_nodes(tmp_path):
    record = scene()
    record["cloths"].append(scene()["cloths"][0] | {"transform": {"translate": [0, 0, 2]}})
    record["handles"] = [
        {"type": "glue", "nodes": [0, 2, 3, 4], "end_time": 1, "fade_time": 0.5},
        {"type": "glue", "nodes": [1, 3], "cloths": [1, 0], "stiffness": 7},
        {"type": "glue", "labels": [1, 2], "cloths": [0, 1]},
    ]
    model, state, _ = build(write(tmp_path, record))
    assert state.bonds.nodes.tolist() == [[0, 2], [3, 4], [6, 3], [0, 7]]
    assert state.bonds.attachment.tolist() == [0, 0, 1, 2]
    first, second, _ = model.attachments
    assert (first.stiffness, second.stiffness) == (500, 7)
    assert (first.strength(1.0), first.strength(1.25), first.strength(2.0)) == (1.0, 0.5, 0.0)


def test_soft_handles_have_their_own_stiffness(tmp_path):
    record = scene()
    record["handles"] = [{"type": "soft", "nodes": [1], "motion": 0, "stiffness": 3.5}, {"type": "soft", "label": 2}]
    handles = build(write(tmp_path, record)).model.handles
    assert [handle.stiffness for handle in handles] == [3.5, 500]
    assert handles[0].motion is not None


def test_cloths_may_differ_in_remeshing(tmp_path):
    record = scene()
    record["cloths"].append(scene()["cloths"][0] | {"transform": {"translate": [0, 0, 2]}})
    record["cloths"][1]["remeshing"] = {"refine_angle": 0.5, "size": [0.01, 0.1]}
    model, _, _ = build(write(tmp_path, record))
    coarse, fine = model.remeshing.all_sizing
    assert (coarse.size_min, fine.size_min) == (0.02, 0.01)
    assert (coarse.refine_angle, fine.refine_angle) == (0.3, 0.5)
    assert model.contact.activation == 2e-3


def test_files_beside_the_scene_come_first(tmp_path):
    record = scene()
    record["cloths"][0]["mesh"] = "square.obj"
    path = write(tmp_path, record)
    (tmp_path / "conf/square.obj").write_text((tmp_path / "meshes/square.obj").read_text())
    assert load_scene(path).sheets[0].shape.mesh == str(tmp_path / "conf/square.obj")


def test_files_in_the_working_folder(tmp_path, monkeypatch):
    path = write(tmp_path, scene())
    (tmp_path / "deep/er").mkdir(parents=True)
    moved = path.rename(tmp_path / "deep/er/scene.json")
    assert not check_scene(moved).ok
    monkeypatch.chdir(tmp_path)
    assert check_scene(moved).ok


def test_comments_and_trailing_commas(tmp_path):
    text = json.dumps(scene(), indent=1).replace('"end_time": 2,', '"end_time": 2, // "end_time": 3,')
    text = "/* a // scene\n */ " + text.replace("-9.8\n ]", "-9.8, // down\n ]")
    assert "-9.8, //" in text
    assert load(tmp_path, text).environment.gravity == (0, 0, -9.8)


def test_strings_keep_their_slashes(tmp_path):
    record = scene()
    record["obstacles"][0]["mesh"] = "meshes//wedge.obj"
    assert load(tmp_path, record).obstacles[0].shape.mesh.endswith("/wedge.obj")


def test_overrides_apply(tmp_path):
    assert load(tmp_path, scene(), "run.duration=0.5", "contact.friction=0.1").run.duration == 0.5


def test_notes_name_each_key_once(tmp_path):
    record = scene()
    record["cloths"][0]["materials"][0] |= {"toughness": 3, "strain_limits": [0.9, 1.1]}
    record["cloths"].append(record["cloths"][0] | {"transform": {"translate": [0, 0, 3]}})
    for handle in record["handles"]:
        handle["colour"] = "red"
    record["magic"] |= {"collision_stiffness": 1e9, "nonsense": 1}
    record["gravty"] = [0, 0, -1]
    keys = [note.split(":")[0] for note in load(tmp_path, record).notes]
    assert sorted(keys) == sorted(
        [
            "frame_steps",
            "cloths.materials.toughness",
            "cloths.materials.strain_limits",
            "handles.colour",
            "magic.collision_stiffness",
            "magic.nonsense",
            "gravty",
        ]
    )
    assert any("did you mean 'gravity'" in note for note in load(tmp_path, record).notes)


def test_constants_of_the_sizing(tmp_path):
    record = scene()
    record["magic"] |= {"rib_stiffening": 0, "combine_tensors": False}
    made = load(tmp_path, record)
    assert (made.remeshing.rib_stiffening, made.remeshing.combine) == (False, "sum")


def test_material_files_may_have_trailing_commas(tmp_path):
    path = write(tmp_path, scene())
    material = tmp_path / "materials/cloth.json"
    material.write_text(material.read_text().replace("}", ", /* end */ }"))
    assert build(path).model.materials[0].density == pytest.approx(0.4)


def test_jitter(tmp_path):
    record = scene()
    record["magic"]["add_jitter"] = True
    assert load(tmp_path, record).sheets[0].jitter.amplitude == 1e-6


def test_written_as_toml_it_is_the_same_scene(tmp_path):
    made = load(tmp_path, scene())
    (tmp_path / "b.toml").write_text(dump_scene(made))
    again = load_scene(tmp_path / "b.toml")
    assert again.tables() == made.tables()
    assert again.notes == ()


def test_sizes_are_those_of_the_files_even_if_the_scene_cannot_be_built(tmp_path):
    record = scene()
    record["handles"] = [{"label": 77}]  # which no node has
    path = write(tmp_path, record)
    report = check_scene(path)
    assert not report.ok
    assert not report.exact
    assert (report.size.faces, report.size.nodes, report.size.obstacle_faces) == (4, 5, 4)
