"""Datasets hold what recordings hold; operators carry linear fields exactly; what is written is read back."""

from __future__ import annotations

import pickle
import shutil

import h5py
import numpy as np
import pytest
from typer.testing import CliRunner

import crumple
from crumple.cli.app import app
from crumple.recording import Recording
from crumple.recording.files import StorageError
from crumple.runtime.errors import InputError
from crumple.scenes.toml import scene_from_tables
from crumple.session.simulation import Simulation
from crumple.shapes import rectangle
from crumple.stepping.contact_forces import contact_forces
from crumple.studies.datasets.lenient_file import LenientFile
from crumple.studies.datasets.sampling import contact_columns, transfer_operator
from crumple.studies.datasets.sources import find_sources

FRAME = 0.02
MOVE = np.array([4e-3, 0.0, 6e-3])
"""Of the hand in a step [m]."""


def tables():
    """A sheet of paper that a hand at its left side lifts from a table; its mesh follows the folds."""
    return {
        "name": "lifted",
        "run": {"frame_time": FRAME, "duration": 0.1},
        "solver": {"integrator": "implicit-euler", "fixed_step": FRAME},
        "remeshing": {"size_min": 6e-3, "size_max": 0.03},
        "sheets": [
            {
                "material": "paper80",
                "shape": {"kind": "rectangle", "width": 0.06, "height": 0.04, "size": 0.015},
                "transform": {"translate": [0.0, 0.0, 1.5e-3]},
            }
        ],
        "handles": [{"name": "hand", "select": {"kind": "side", "side": "left"}}],
        "obstacles": [{"name": "table", "shape": {"kind": "plane", "width": 0.2, "height": 0.2}}],
    }


def lift(folder, steps=4):
    """Record a few steps in which the hand rises and turns."""
    with Simulation(scene_from_tables(tables(), source="lifted.toml")) as sim:
        sim.record(folder)
        for k in range(steps):
            sim.set_handle("hand", sim.handle_position("hand") + MOVE, [0.0, 0.25 * (k + 1), 0.0])
            sim.step(FRAME)
    return Recording(folder)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return lift(tmp_path_factory.mktemp("runs") / "lifted")


@pytest.fixture(scope="module")
def fixed(tmp_path_factory):
    """The same sheet at rest on a mesh that stays."""
    folder, without = tmp_path_factory.mktemp("fixed") / "fixed", tables()
    del without["remeshing"]
    with Simulation(scene_from_tables(without, source="fixed.toml")) as sim:
        sim.record(folder)
        sim.step(2 * FRAME)
    return Recording(folder)


def test_frames_are_those_of_the_recording(recording, tmp_path):
    crumple.write_dataset(recording.path, tmp_path / "a.h5", precision="double")
    states = [recording.load(frame) for frame in recording.frames]
    assert len({state.mesh.face_count for state in states}) > 1, "remeshing takes part in this test"
    with crumple.load_dataset(tmp_path / "a.h5") as data:
        assert (len(data), data.topology, data[0].name) == (1, "changing", "lifted")
        run = data[0]
        assert (run.handles, run.obstacles, run.parameters) == (("hand",), ("table",), {})
        assert run.scene == recording.scene_path.read_text(encoding="utf-8")
        assert not run.is_constant
        assert len(run) == len(states)
        for state, frame in zip(states, run, strict=True):
            assert frame.time == state.time
            for name in ("x", "v", "damage", "plastic_curvature", "obstacle_x"):
                np.testing.assert_array_equal(getattr(frame, name), getattr(state, name))
            np.testing.assert_array_equal(frame.mesh.face_nodes, state.mesh.face_nodes)
            np.testing.assert_array_equal(frame.mesh.u, state.mesh.u)
            np.testing.assert_array_equal(frame.pins.node, state.pins.node)
            np.testing.assert_allclose(frame.pins.target, state.x[state.pins.node], atol=2e-4)


def test_actions_are_the_moves_of_the_handles(recording, tmp_path):
    crumple.write_dataset(recording.path, tmp_path / "a.h5")
    with crumple.load_dataset(tmp_path / "a.h5") as data:
        for k in range(len(data[0]) - 1):
            np.testing.assert_allclose(data[0].action(k), MOVE[None], atol=1e-6)
        with pytest.raises(InputError, match="the last frame has none"):
            data[0].action(-1)


def test_a_handle_that_holds_nothing_is_nowhere(tmp_path):
    with Simulation(scene_from_tables(tables(), source="lifted.toml")) as sim:
        sim.record(tmp_path / "run")
        sim.release("hand")
        sim.step(FRAME)
    crumple.write_dataset(tmp_path / "run", tmp_path / "a.h5")
    with crumple.load_dataset(tmp_path / "a.h5") as data:
        assert [len(frame.pins.node) > 0 for frame in data[0]] == [True, False]
        assert np.isnan(data[0][1].handle_position).all()
        assert np.isnan(data[0].action(0)).all()


def test_a_scene_without_obstacles_and_handles(tmp_path):
    bare = {name: table for name, table in tables().items() if name not in ("obstacles", "handles")}
    with Simulation(scene_from_tables(bare, source="bare.toml")) as sim:
        sim.record(tmp_path / "run")
        sim.step(FRAME)
    crumple.write_dataset(tmp_path / "run", tmp_path / "a.h5")
    with crumple.load_dataset(tmp_path / "a.h5") as data:
        assert [frame.obstacle_x.shape for frame in data[0]] == [(0, 3), (0, 3)]
        assert (data[0].obstacles, data[0].handles) == ((), ())
        assert list(data[0].pairs())


def test_operators_reproduce_what_is_linear_in_the_pattern(recording, tmp_path):
    """Constants and the pattern coordinates themselves are carried exactly, forward and backward."""
    crumple.write_dataset(recording.path, tmp_path / "a.h5", precision="double")
    with crumple.load_dataset(tmp_path / "a.h5") as data:
        run, changes = data[0], 0
        for k in range(1, len(run)):
            old, new = run.mesh(k - 1), run.mesh(k)
            changes += old is not new
            there, back = run.transfer(k), run.transfer(k, backward=True)
            np.testing.assert_allclose(there @ np.ones(there.shape[1]), 1.0, atol=1e-12)
            np.testing.assert_allclose(there @ old.node_u, new.node_u, atol=1e-12)
            np.testing.assert_allclose(back @ new.node_u, old.node_u, atol=1e-12)
        assert changes > 0
        for now, then in run.pairs():
            assert then.x.shape == now.x.shape
            moved = np.linalg.norm(then.x - now.x, axis=1)
            assert moved.max() < 0.03, "the same points of the paper, a step later"
        with pytest.raises(InputError, match="none before it"):
            run.transfer(0)
        with pytest.raises(IndexError):
            run[99]


def test_an_operator_converges_with_the_square_of_the_mesh_size():
    """Interpolation of a smooth function from one mesh to another of the same region."""
    target, _ = rectangle(1.0, 1.0, 0.13, kind="delaunay")
    errors = []
    for size in (0.1, 0.05):
        mesh, _ = rectangle(1.0, 1.0, size, kind="right")
        values = np.sin(3.0 * mesh.u[:, 0]) * np.cos(2.0 * mesh.u[:, 1])
        wanted = np.sin(3.0 * target.u[:, 0]) * np.cos(2.0 * target.u[:, 1])
        errors.append(np.abs(transfer_operator(mesh, target) @ values - wanted).max())
    assert 3.0 < errors[0] / errors[1] < 5.5


def test_contacts_add_up_to_the_forces(recording, tmp_path):
    crumple.write_dataset(recording.path, tmp_path / "a.h5", precision="double")
    with crumple.load_dataset(tmp_path / "a.h5") as data:
        touching = [number for number in recording.frames if len(data[0][number].contacts.distance) > 3]
        assert touching
        contacts = data[0][touching[0]].contacts
    state = recording.load(touching[0])
    forces = contact_forces(recording.model(), state)
    x = np.concatenate([state.x, state.obstacle_x])
    between = np.einsum("nk,nkd->nd", contacts.weight, x[contacts.nodes])
    np.testing.assert_allclose(np.linalg.norm(between, axis=1), contacts.distance, rtol=1e-9)
    on_table = contacts.nodes[:, 2] >= len(state.x)
    np.testing.assert_allclose(
        contacts.force[on_table].sum(axis=0) - contacts.force[contacts.nodes[:, 0] >= len(state.x)].sum(axis=0),
        -forces[len(state.x) :].sum(axis=0),
        atol=1e-12,
    )


def test_no_contact_is_an_empty_table(recording):
    state = recording.load(0)
    far = contact_columns(recording.model(), state.replaced(x=state.x + 0.5))
    assert {len(values) for values in far.values()} == {0}


def test_one_topology_for_all_frames_of_all_runs(recording, fixed, tmp_path):
    crumple.write_dataset([recording.path, fixed.path], tmp_path / "a.h5", topology="constant")
    finest = max((recording.load(frame) for frame in recording.frames), key=lambda state: state.mesh.face_count)
    with crumple.load_dataset(tmp_path / "a.h5") as data:
        assert [run.is_constant for run in data] == [True, True]
        for run in data:
            assert run.positions().shape == (len(run), finest.mesh.node_count, 3)
            assert run.velocities().shape == run.positions().shape
            assert run[0].contacts is None
            np.testing.assert_array_equal(run[0].pins.node, np.sort(finest.pins.node))
        np.testing.assert_allclose(data[0].positions()[finest.frame], finest.x, atol=1e-7)
        flat = finest.mesh.node_rest[:, :2] - np.array([0.03, 0.02])
        np.testing.assert_allclose(data[1].positions()[0][:, :2], flat, atol=1e-6)


def test_runs_with_other_sheets_do_not_fit_on_one_mesh(recording, tmp_path):
    other = tables()
    other["sheets"][0]["shape"]["width"] = 0.07
    with Simulation(scene_from_tables(other, source="other.toml")) as sim:
        sim.record(tmp_path / "other")
    with pytest.raises(InputError, match="one topology needs one pattern"):
        crumple.write_dataset([recording.path, tmp_path / "other"], tmp_path / "a.h5", topology="constant")
    assert not list(tmp_path.glob("a.*"))


def test_a_sweep_gives_its_runs_with_their_parameters(recording, fixed, tmp_path):
    sweep = tmp_path / "sweep"
    for name, source in (("run_0", recording), ("run_1", fixed)):
        shutil.copytree(source.path, sweep / "runs" / name)
    (sweep / "sweep.toml").write_text("[sweep]\n")
    (sweep / "table.csv").write_text("run,thickness,done,recording\n0,1e-4,True,runs/run_0\n1,2e-4,False,runs/run_1\n")
    done = CliRunner().invoke(app, ["dataset", str(sweep), "-o", str(tmp_path / "a.h5"), "--frames", "0:2"])
    assert done.exit_code == 0, done.output
    with crumple.load_dataset(tmp_path / "a.h5") as data:
        assert [(run.name, run.parameters) for run in data] == [
            ("sweep/run_0", {"run": 0, "thickness": 1e-4, "done": True}),
            ("sweep/run_1", {"run": 1, "thickness": 2e-4, "done": False}),
        ]
        assert [len(run) for run in data] == [3, 3]
        sheet = data.datasheet
    assert sheet == (tmp_path / "a.datasheet.md").read_text(encoding="utf-8")
    assert "| sweep/run_1 | 3 |" in sheet
    assert "thickness" in sheet


def test_a_table_that_somebody_edited_is_no_obstacle(recording, tmp_path):
    """Rows with more cells than there are columns, and places that are none."""
    shutil.copytree(recording.path, tmp_path / "sweep" / "runs" / "0000")
    (tmp_path / "sweep" / "sweep.toml").touch()
    (tmp_path / "sweep" / "table.csv").write_text(
        "run,friction,recording\n0000,0.1,runs/0000,spare,cells\n0001,0.2,a\0b\n"
    )
    (source,) = find_sources([tmp_path / "sweep"])
    assert source.parameters == {"run": "0000", "friction": 0.1}


def test_a_dataset_goes_to_other_processes(recording, tmp_path):
    crumple.write_dataset(recording.path, tmp_path / "a.h5", frames="-1")
    with crumple.load_dataset(tmp_path / "a.h5") as data, pickle.loads(pickle.dumps(data)) as other:
        np.testing.assert_array_equal(other[0][0].x, data[0][0].x)


def test_bad_input_is_named(recording, tmp_path):
    def fails(match, *arguments, **options):
        with pytest.raises(InputError, match=match):
            crumple.write_dataset(*arguments, **options)

    out = tmp_path / "a.h5"
    fails("at least one", [], out)
    fails("no such recording", [tmp_path / "nowhere"], out)
    fails("given twice", [recording.path, recording.path], out)
    fails("must end in .h5", recording.path, tmp_path / "a.zip")
    fails("must be changing or constant", recording.path, out, topology="some")
    fails("must be single or double", recording.path, out, precision="half")
    fails("each frame's own mesh", recording.path, out, topology="constant", contacts=True)
    fails("dataset --frames", recording.path, out, frames="900")
    fails("lies in a recording", recording.path, recording.path / "a.h5")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "sweep.toml").touch()
    fails("without a recording", [tmp_path / "empty"], out)
    out.write_bytes(b"mine")
    fails("--force replaces it", recording.path, out)
    assert out.read_bytes() == b"mine"
    done = CliRunner().invoke(app, ["dataset", str(tmp_path / "nowhere"), "-o", str(tmp_path / "b.h5")])
    assert done.exit_code == 2
    assert "no such recording folder" in done.output


def test_a_file_that_is_no_dataset_is_named(recording, tmp_path):
    def fails(match, path):
        with pytest.raises(InputError, match=match):
            crumple.load_dataset(path)

    fails("no such file", tmp_path / "nothing.h5")
    (tmp_path / "text.h5").write_text("text")
    fails("cannot be read as HDF5", tmp_path / "text.h5")
    fails("no dataset of crumple", recording.frame_path(0))
    crumple.write_dataset(recording.path, tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5") as file:
        place = file["runs/000000/x"].id.get_chunk_info(0).byte_offset
    with (tmp_path / "a.h5").open("r+b") as content:
        content.seek(place)
        content.write(bytes(64))
    with crumple.load_dataset(tmp_path / "a.h5") as data, pytest.raises(InputError, match="lifted, x: is damaged"):
        data[0][0]
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        del file["runs/000000/time"]
    fails("is damaged", tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        file.attrs["crumple_dataset"] = 99
    fails("newer crumple", tmp_path / "a.h5")


def linked(run, folder):
    del run["x"]
    run["x"] = h5py.ExternalLink(str(folder / "other.h5"), "/secret")


def stored_elsewhere(run, folder):
    del run["x"]
    run.create_dataset("x", (30, 3), "f4", external=[(str(folder / "raw"), 0, 360)])


def virtual(run, folder):
    del run["v"]
    layout = h5py.VirtualLayout((30, 3), "f4")
    layout[:] = h5py.VirtualSource(str(folder / "other.h5"), "secret", (30, 3))
    run.create_virtual_dataset("v", layout)


def inflated(run, folder):
    """A terabyte that is not there."""
    del run["x"]
    run.create_dataset("x", (10**11, 3), "f4", chunks=(2048, 3), compression="gzip")


def shortened(run, folder):
    run["damage"].resize(3, axis=0)


def beyond_the_end(run, folder):
    run["node_start"][1:] += 7


def turned_back(run, folder):
    run["face_start"][1] = -4


def faces_outside(run, folder):
    run["meshes/000000/faces"][0, 0] = 10**6


def nodes_outside(run, folder):
    run["meshes/000000/vertex_node"][0] = 10**6


def operator_outside(run, folder):
    run["backward_column"][0] = 10**6


def without_a_mesh(run, folder):
    run["frame_mesh"][0] = 999


def words_for_numbers(run, folder):
    del run["handle_position"]
    run["handle_position"] = "words"


def read_pairs(path):
    with crumple.load_dataset(path) as data:
        return list(data[0].pairs())


@pytest.mark.parametrize(
    "change",
    [
        linked, stored_elsewhere, virtual, inflated, shortened, beyond_the_end, turned_back, faces_outside,
        nodes_outside, operator_outside, without_a_mesh, words_for_numbers,
    ],
)  # fmt: skip
def test_a_crafted_dataset_is_refused_in_one_line(recording, tmp_path, change):
    """Nothing outside of the file is opened, the memory is not filled, and indices point at something."""
    crumple.write_dataset(recording.path, tmp_path / "a.h5")
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["secret"] = np.zeros((30, 3), np.float32)
    (tmp_path / "raw").write_bytes(bytes(360))
    with h5py.File(tmp_path / "a.h5", "r+") as file:
        change(file["runs/000000"], tmp_path)
    with pytest.raises(InputError, match="is damaged") as caught:
        read_pairs(tmp_path / "a.h5")
    assert "\n" not in str(caught.value)


def test_an_interruption_leaves_what_was_there(recording, tmp_path):
    out = tmp_path / "a.h5"
    crumple.write_dataset(recording.path, out)
    before = out.read_bytes()

    def interrupt(done, total):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        crumple.write_dataset(recording.path, out, force=True, progress=interrupt)
    assert out.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.datasheet.md", "a.h5"]


def test_a_full_disk_is_told(recording, tmp_path):
    """HDF5 would crash when it closes a file that it could not write."""
    resource = pytest.importorskip("resource", reason="only POSIX systems can limit the size of files")
    out = tmp_path / "a.h5"
    crumple.write_dataset(recording.path, out)
    before, limits = out.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    for size in (100, 5_000, len(before) - 1):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
        try:
            with pytest.raises(StorageError, match="File too large"):
                crumple.write_dataset(recording.path, out, force=True)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert out.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.datasheet.md", "a.h5"]


def test_two_writers_do_not_meet(recording, tmp_path):
    with LenientFile(tmp_path / "a.h5.part") as first:
        first.write(b"mine")
        with pytest.raises(InputError, match="another process is writing"):
            crumple.write_dataset(recording.path, tmp_path / "a.h5")
        assert (tmp_path / "a.h5.part").read_bytes() == b"mine"
    crumple.write_dataset(recording.path, tmp_path / "a.h5")  # what a killed process left is no hindrance
    assert not (tmp_path / "a.h5.part").exists()
