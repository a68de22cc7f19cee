"""Cuts, weak lines, histories and the table [tearing] of a scene."""

from dataclasses import replace

import numpy as np
import pytest
from scene_tables import small

from crumple.contact import find_intersections
from crumple.mesh.validate import validate_mesh
from crumple.model.derived import Derived
from crumple.plasticity import hinge_labels
from crumple.recording import Recording, create_recording
from crumple.recording.frame import encode_frame
from crumple.scenes import SceneError, build, scene_from_tables
from crumple.session.session import run
from crumple.simulation.frame import adapt
from crumple.simulation.observers import Observer
from crumple.state import State
from crumple.tearing.resistance import resistance
from crumple.tearing.slits import _headings
from crumple.tearing.tip_load import state_toughness

SLIT = [[0.05, -0.01], [0.05, 0.04]]


def scene(tearing=True, **sheet):
    """A sheet of 10 cm by 10 cm with other keys."""
    tables = small()
    tables["sheets"] = [
        {"shape": {"kind": "rectangle", "width": 0.1, "height": 0.1, "size": 0.02}, "material": "paper80"} | sheet
    ]
    tables.pop("handles", None)
    if tearing:
        tables["tearing"] = {}
    return tables


def made(tables, folder="."):
    return build(scene_from_tables(tables, source="scene.toml", folder=folder))[:2]


def problems(tables, folder="."):
    with pytest.raises(SceneError) as caught:
        made(tables, folder)
    return "\n".join(caught.value.problems)


def area(state: State) -> float:
    return float(state.mesh.face_area.sum())


def test_a_slit_from_the_edge_opens_and_ends_in_one_tip():
    model, state = made(scene(cuts=[{"line": SLIT}]))
    mesh = state.mesh
    assert model.tearing is not None
    assert not validate_mesh(mesh, state.x)
    assert np.isclose(area(state), 0.01, rtol=1e-9)
    assert len(state.tips.node) == 1
    tip = mesh.u[mesh.vertex_node == state.tips.node[0]][0]
    np.testing.assert_allclose(tip, [0.05, 0.04], atol=1e-9)
    np.testing.assert_allclose(state.tips.heading, [[0.0, 1.0]], atol=1e-9)
    assert mesh.boundary_nodes[state.tips.node[0]]
    # both lips lie on the line, and the sheet hangs together only beyond the tip
    on_line = np.flatnonzero((np.abs(mesh.u[:, 0] - 0.05) < 1e-6) & (mesh.u[:, 1] < 0.039))
    assert len(on_line) % 2 == 0
    assert len(on_line) >= 4
    assert state.torn.length() == 0.0
    surface = Derived(model, state).surface(0.0)
    assert len(find_intersections(surface, state.x)) == 0


def test_a_slit_inside_has_two_tips_and_a_bent_one_heads_along_its_ends():
    _, state = made(scene(cuts=[{"line": [[0.03, 0.05], [0.05, 0.05], [0.06, 0.06]]}]))
    assert len(state.tips.node) == 2
    np.testing.assert_allclose(state.tips.heading, [[-1.0, 0.0], [np.sqrt(0.5), np.sqrt(0.5)]], atol=1e-9)
    assert sorted(state.tips.crack.tolist()) == [0, 1]


def test_a_notch_is_cut_out_and_its_apex_is_a_tip():
    _, state = made(scene(cuts=[{"area": [[0.048, 0.0], [0.052, 0.0], [0.05, 0.008]]}]))
    assert np.isclose(area(state), 0.01 - 0.5 * 0.004 * 0.008, rtol=1e-6)
    assert not validate_mesh(state.mesh, state.x)
    assert len(state.tips.node) == 1
    np.testing.assert_allclose(state.tips.heading, [[0.0, 1.0]], atol=1e-9)
    apex = state.mesh.u[state.mesh.vertex_node == state.tips.node[0]][0]
    np.testing.assert_allclose(apex, [0.05, 0.008], atol=1e-9)


def test_cuts_are_scaled_with_the_sheet_and_stay_without_tearing():
    _, state = made(scene(cuts=[{"line": SLIT}], transform={"scale": 2.0}))
    tip = state.mesh.u[state.mesh.vertex_node == state.tips.node[0]][0]
    np.testing.assert_allclose(tip, [0.1, 0.08], atol=1e-9)
    np.testing.assert_allclose(state.torn.points, [tip, tip])
    model, plain = made(scene(tearing=False, cuts=[{"line": SLIT}]))
    assert model.tearing is None
    assert not len(plain.tips.node)
    assert plain.mesh.boundary_nodes.sum() > made(scene(tearing=False))[1].mesh.boundary_nodes.sum()


def test_a_perforation_is_a_labelled_line_with_the_factor_of_what_is_left():
    across, along = [[0.0, 0.06], [0.1, 0.06]], [[0.02, 0.0], [0.02, 0.1]]
    lines = [{"line": across, "cut_share": 0.6}, {"line": along, "toughness": 3}]
    model, state = made(scene(lines=lines))
    factors = {line.label: line.factor for line in model.tearing.lines}
    assert sorted(factors.values()) == pytest.approx([0.4, 3.0])
    labels = hinge_labels(state.mesh)
    for label, length in zip(sorted(factors), (0.1, 0.1), strict=True):
        corners = state.mesh.hinges.corners[labels == label, 0]
        assert state.mesh.corner_length[corners].sum() == pytest.approx(length, rel=1e-6)


def test_creases_of_a_scene_have_a_crease_tensor_with_the_trace_of_their_damage():
    _, state = made(scene(creases=[{"line": [[0.0, 0.05], [0.1, 0.05]], "angle": 120}]))
    assert state.damage.max() > 0.0
    np.testing.assert_allclose(state.crease[:, 0] + state.crease[:, 1], state.damage, atol=1e-12)
    assert state.crease[:, 1].max() > 10.0 * state.crease[:, 0].max()


def test_a_fold_that_was_opened_again_is_flat_and_weak():
    line = [[0.0, 0.05], [0.1, 0.05]]
    _, once = made(scene(creases=[{"line": line, "angle": 90}]))
    _, opened = made(scene(creases=[{"line": line, "angle": 0, "worked": 90}]))
    assert not opened.plastic_curvature.any()
    np.testing.assert_allclose(opened.crease, once.crease, atol=1e-12)
    np.testing.assert_allclose(opened.damage, once.damage, atol=1e-12)
    _, mountain = made(scene(creases=[{"line": line, "angle": 30, "worked": 270}]))
    np.testing.assert_allclose(mountain.damage, 3.0 * once.damage, rtol=1e-9)


def test_a_flat_fold_keeps_its_width_when_the_mesh_is_made_anew():
    """Most of φ = κ_y h nᵀC n, by which the fold was worked, stays along it, although nothing is bent there."""
    tables = scene(creases=[{"line": [[0.0, 0.05], [0.1, 0.05]], "angle": 0, "worked": 180, "width": 0.01}])
    tables["remeshing"] = {"size_min": 5e-3, "size_max": 0.04}
    tables["tearing"] = {"initiation": False}
    model, state = made(tables)
    for _ in range(4):
        state = adapt(state, Derived(model, state))
    mesh = state.mesh
    toughness = state_toughness(model, state)
    on_fold = np.flatnonzero((np.abs(mesh.u[:, 1] - 0.05) < 1e-9) & (np.abs(mesh.u[:, 0] - 0.05) < 0.04))
    far = int(np.argmin(np.linalg.norm(mesh.u - [0.05, 0.08], axis=1)))
    sound = 6e3 * 105e-6
    along = [
        float(resistance(toughness, mesh, int(vertex), np.array([[1.0, 0.0]]), size=5e-3)[0]) for vertex in on_fold
    ]
    options = model.tearing
    bent = -options.crease_angle * np.log(1.0 - (sound / np.array(along) - 1.0) / (options.crease_factor - 1.0))
    assert 0.5 * np.pi < bent.mean() < 1.1 * np.pi
    assert resistance(toughness, mesh, far, np.array([[1.0, 0.0]]), size=5e-3)[0] == pytest.approx(sound, rel=1e-6)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("key", "points"),
    [
        ("line", [[0.05, -0.01], [0.05, 0.02], [0.05, 0.02], [0.05, 0.04]]),
        ("area", [[0.03, 0.03], [0.03, 0.03], [0.07, 0.03], [0.05, 0.07], [0.03, 0.03]]),
    ],
)
def test_points_of_a_cut_may_be_there_twice(key, points):
    _, state = made(scene(cuts=[{key: points}]))
    once = [point for k, point in enumerate(points) if point not in points[:k]]
    _, other = made(scene(cuts=[{key: once}]))
    np.testing.assert_allclose(area(state), area(other), rtol=1e-12)
    np.testing.assert_allclose(state.tips.heading, other.tips.heading, atol=1e-9)


@pytest.fixture(scope="module")
def crumpled(tmp_path_factory):
    """A recording of a sheet that is bent for good, with two frames."""
    folder = tmp_path_factory.mktemp("history")
    tables = scene(tearing=False, creases=[{"line": [[0.0, 0.05], [0.1, 0.05]], "angle": 120}], folded=True)
    tables |= {"environment": {"gravity": [0, 0, 0]}, "obstacles": []}
    tables["remeshing"] = {"size_min": 5e-3, "size_max": 0.02}
    tables["run"] = {"frame_time": 0.01, "duration": 0.02}
    built = scene_from_tables(tables, source="scene.toml")
    model, state, _ = build(built)
    run(model, state, observers=[create_recording(folder / "out", built)])
    return folder


def history(**keys):
    tables = scene(history={"recording": "out"} | keys)
    del tables["sheets"][0]["shape"]
    tables |= {"environment": {"gravity": [0, 0, 0]}, "obstacles": []}
    return tables


def test_a_sheet_is_taken_over_as_it_was(crumpled):
    before = Recording(crumpled / "out").load()
    _, state = made(history(), crumpled)
    np.testing.assert_array_equal(state.x, before.x)
    np.testing.assert_array_equal(state.plastic_curvature, before.plastic_curvature)
    np.testing.assert_array_equal(state.crease, before.crease)
    assert state.time == 0.0
    assert not state.v.any()
    assert state.sizing_floor.any()
    file = made(history(recording="out/frames/frame_000002.vtkhdf"), crumpled)[1]
    np.testing.assert_array_equal(file.x, before.x)


def test_a_flat_sheet_keeps_its_bends_and_an_ironed_one_only_its_weakness(crumpled):
    kept = made(history(), crumpled)[1]
    for shape in ("flat", "ironed"):
        _, state = made(history(shape=shape, frame=1), crumpled)
        assert np.ptp(state.x[:, 2]) == 0.0
        assert state.crease.max() > 1.0
        assert state.damage.max() > 1.0
        assert state.plastic_curvature.any() == (shape == "flat")
    assert np.ptp(kept.x[:, 2]) > 0.02


def test_the_mesh_of_an_ironed_sheet_stays_as_fine_as_its_folds_were(crumpled):
    tables = history(shape="ironed")
    tables["remeshing"] = {"size_min": 5e-3, "size_max": 0.05, "refine_angle": 0.3}
    tables["tearing"] = {"initiation": False}
    model, state = made(tables, crumpled)
    fine = adapt(state, Derived(model, state))
    coarse = state.replaced(sizing_floor=np.zeros_like(state.sizing_floor))
    coarse = adapt(coarse, Derived(model, coarse))
    assert fine.mesh.face_count > 1.5 * coarse.mesh.face_count


def test_bad_histories_name_file_key_and_remedy(crumpled, tmp_path):
    assert "sheets[0].history.recording = 'nowhere'" in problems(history(recording="nowhere"), crumpled)
    assert "has frames 0 to 2" in problems(history(frame=77), crumpled)
    both = history()
    both["sheets"][0]["shape"] = {"kind": "rectangle", "width": 0.1, "height": 0.1, "size": 0.02}
    assert "either shape or history" in problems(both, crumpled)
    neither = scene()
    del neither["sheets"][0]["shape"]
    assert "sheets[0].shape: this key is missing" in problems(neither)
    damaged = tmp_path / "frame.vtkhdf"
    damaged.write_bytes((crumpled / "out/frames/frame_000002.vtkhdf").read_bytes()[:-3000])
    text = problems(history(recording=str(damaged)), tmp_path)
    assert "sheets[0].history" in text
    assert "frame.vtkhdf" in text
    folds = history()
    folds["sheets"][0]["creases"] = [{"line": [[0, 0.05], [0.1, 0.05]], "angle": 10}]
    assert "sheets[0].creases: does not go with history" in problems(folds, crumpled)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda state: state.replaced(crease=np.full_like(state.crease, np.nan)), "values are not finite"),
        (lambda state: state.replaced(mesh=replace(state.mesh, u=state.mesh.u[:, ::-1].copy())), "area"),
        (lambda state: state.replaced(mesh=replace(state.mesh, u=state.mesh.u * [1.0, 0.0])), "area"),
    ],
)
def test_a_recording_from_elsewhere_is_checked_before_a_sheet_is_taken_from_it(crumpled, tmp_path, change, words):
    """Its checksum is right, its content is not: a sheet that is inside out, or without area, or without numbers."""
    state = change(Recording(crumpled / "out").load())
    (tmp_path / "frame.vtkhdf").write_bytes(encode_frame(state))
    for shape in ("kept", "ironed"):
        text = problems(history(recording="frame.vtkhdf", shape=shape), tmp_path)
        assert "sheets[0].history" in text
        assert words in text
        assert "crumple verify" in text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cuts": [{}]}, "sheets[0].cuts[0]: must have either a line"),
        ({"cuts": [{"area": [[0.05, 0.05], [0.06, 0.05], [0.05, 0.05]]}]}, "three different points"),
        ({"transform": {"scale": 1e-300}}, "sheets[0].transform.scale = 1e-300 (must be ≥ 1e-06)"),
        ({"cuts": [{"line": [[0.5, 0.5], [0.6, 0.6]]}]}, "sheets[0].cuts[0].line"),
        ({"cuts": [{"area": [[-1, -1], [1, -1], [1, 1], [-1, 1]]}]}, "nothing is left of the sheet"),
        ({"lines": [{"cut_share": 0.5}]}, "sheets[0].lines[0]: must have either a line or a label"),
        ({"lines": [{"label": 77}]}, "no edge of the mesh carries this label"),
        ({"lines": [{"line": [[0, 0.05], [0.1, 0.05]], "cut_share": 1.0}]}, "sheets[0].lines[0].cut_share = 1.0"),
        ({"material": {"young": 1e9, "thickness": 1e-4, "density": 0.1}}, "none of the materials has a tear_energy"),
        ({"material": {"preset": "paper80", "tear_energy": -5}}, "sheets[0].material.tear_energy = -5"),
        ({"material": {"preset": "paper80", "tear_energy": 1e-300}}, "sheets[0].material.tear_energy = 1e-300"),
    ],
)
def test_bad_keys_name_place_and_remedy(change, words):
    assert words in problems(scene(**change))


def test_bad_options_name_place_and_remedy():
    tables = scene() | {"tearing": {"criterion": "glue", "crease_factor": 0.5}}
    text = problems(tables)
    assert "tearing.criterion = 'glue'" in text
    assert "tearing.crease_factor = 0.5 (must be ≥ 1" in text
    fine = scene() | {"tearing": {"tip_size": 1e-3}, "remeshing": {"size_min": 2e-3}}
    assert "tearing.tip_size = 0.001 (must be ≥ remeshing.size_min" in problems(fine)


SHAPES = {
    "V": [[0.03, 0.07], [0.05, 0.03], [0.07, 0.07]],
    "square": [[0.03, 0.03], [0.07, 0.03], [0.07, 0.07], [0.03, 0.07], [0.03, 0.03]],
    "through": [[-0.01, 0.05], [0.11, 0.05]],
    "U": [[0.03, 0.07], [0.03, 0.03], [0.07, 0.03], [0.07, 0.07]],
    "eight": [[0.03, 0.03], [0.07, 0.07], [0.07, 0.03], [0.03, 0.07], [0.03, 0.03]],
}


@pytest.mark.parametrize("size", [0.1, 0.05])
@pytest.mark.parametrize("name", SHAPES)
def test_slits_of_any_shape_are_cut_into_coarse_meshes(name, size):
    tables = scene(cuts=[{"line": SHAPES[name]}])
    tables["sheets"][0]["shape"]["size"] = size
    model, state = made(tables)
    assert validate_mesh(state.mesh, state.x) == []
    assert len(find_intersections(Derived(model, state).surface(0.0), state.x)) == 0
    assert area(state) == pytest.approx(0.01)
    pieces = {"square": 2, "through": 2, "eight": 3}.get(name, 1)
    assert count_pieces(state) == pieces


def count_pieces(state: State) -> int:
    """Into how many parts the sheet falls."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    a, b = state.mesh.face_nodes.ravel(), np.roll(state.mesh.face_nodes, -1, axis=1).ravel()
    links = coo_matrix((np.ones(len(a)), (a, b)), shape=(state.mesh.node_count,) * 2)
    return int(connected_components(links, directed=False)[0])


def test_a_slit_that_cannot_be_cut_says_why_in_terms_of_the_sheet():
    along = problems(scene(cuts=[{"line": [[0.0, 0.0], [0.1, 0.0]]}]))
    assert "no part of the line is inside the sheet, away from its outline" in along


@pytest.mark.parametrize("lines", [1, 2])
def test_lips_are_apart_also_where_slits_cross(lines):
    """Copies of a node that share a place in `node_rest` would touch each other only within rounding errors."""
    third = [{"line": [[0.03, 0.03], [0.07, 0.07]]}]
    cuts = [{"line": [[0.03, 0.05], [0.07, 0.05]]}, {"line": [[0.05, 0.03], [0.05, 0.07]]}, *third[: lines - 1]]
    _, state = made(scene(cuts=cuts))
    here = np.linalg.norm(state.mesh.u - [0.05, 0.05], axis=1) < 1e-9
    nodes = np.unique(state.mesh.vertex_node[here])
    assert len(nodes) == 2 * (lines + 1)
    for places in (state.mesh.node_rest[nodes], state.x[nodes]):
        distance = np.linalg.norm(places[:, None] - places, axis=2)[~np.eye(len(nodes), dtype=bool)]
        assert distance.min() > (2e-7 if lines == 1 else 1e-7)


@pytest.mark.slow
def test_crossing_slits_that_are_pulled_apart_cost_no_more_than_skew_ones():
    """With two lips at one place in `node_rest` this took 325 Newton iterations, and failed with other loads."""
    tables = scene(cuts=[{"line": [[0.03, 0.05], [0.07, 0.05]]}, {"line": [[0.05, 0.03], [0.05, 0.07]]}])
    tables["sheets"][0]["shape"]["size"] = 0.01
    tables["sheets"][0].pop("transform", None)
    tables["run"] = {"frame_time": 0.02, "duration": 0.12}
    tables["handles"] = [
        {"name": "a", "select": {"kind": "box", "low": [-1, -1, -1], "high": [-0.045, 1, 1]}},
        {"name": "b", "select": {"kind": "box", "low": [0.045, -1, -1], "high": [1, 1, 1]}, "motion": "m"},
    ]
    tables["motions"] = {"m": {"keys": [{"time": 0.0}, {"time": 1.0, "translate": [0.02, 0, 0]}]}}
    tables.pop("obstacles", None)

    class Counted(Observer):
        iterations = 0

        def on_step(self, model, state, report):
            self.iterations += report.iterations

    counted = Counted()
    run(*made(tables), [counted])
    assert counted.iterations < 200


@pytest.mark.parametrize("step", [0.0, 5e-324, 1e-200, 1e-18])
def test_segments_of_a_slit_may_be_as_short_as_a_float_allows(step):
    """Squares of such lengths are zero."""
    _, state = made(scene())
    line = np.array([[0.0, 0.0], [step, 0.0], [0.05, 0.05]])
    with np.errstate(all="raise", under="ignore"):
        found = _headings(state.mesh, np.arange(4, dtype=np.int32), line)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0)
