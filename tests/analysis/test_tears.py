"""Length, roughness and ledger of tears: on paths and curves whose numbers are known."""

import numpy as np
import pytest

from crumple.analysis import analyze_recording
from crumple.analysis.fields import recording_field
from crumple.analysis.figures import save_figures
from crumple.analysis.tables import describe, write_tables
from crumple.analysis.tears import Crack, measure_tears, resampled
from crumple.recording import Recording, create_recording
from crumple.scenes import build, scene_from_tables
from crumple.session.session import run
from crumple.state import Torn

ELL = 0.005


def zigzag(angle, count=40):
    """A path of steps of length ELL that turn by ± `angle` [rad] in turn."""
    heading = np.where(np.arange(count) % 2, 0.5, -0.5) * angle
    steps = ELL * np.stack([np.cos(heading), np.sin(heading)], axis=1)
    return np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])


def test_a_zigzag_has_its_turn_as_roughness_and_a_line_none():
    assert np.allclose(np.abs(Crack(0, 0, zigzag(0.3)).turns(ELL)), 0.3, atol=1e-9)
    straight = Crack(0, 0, np.array([[0.0, 0.0], [0.01, 0.02], [0.05, 0.1]]))
    assert np.allclose(straight.turns(ELL), 0.0, atol=1e-9)
    assert straight.length == pytest.approx(np.hypot(0.05, 0.1))
    assert straight.straightness == pytest.approx(1.0)
    assert straight.heading == pytest.approx(np.arctan2(2.0, 1.0))


def test_turns_do_not_jump_where_angles_do():
    circle = np.linspace(0.0, 2.0 * np.pi, 721)
    turns = Crack(0, 0, np.stack([np.cos(circle), np.sin(circle)], axis=1)).turns(2.0 * np.pi / 36.0)
    assert np.allclose(turns, 2.0 * np.pi / 36.0, rtol=1e-2)


def test_points_of_a_path_come_at_equal_distances_and_keep_its_ends():
    path = np.array([[0.0, 0.0], [0.0, 0.0], [0.01, 0.0], [0.01, 0.01]])
    points = resampled(path, ELL)
    assert np.allclose(points[[0, -1]], path[[0, -1]])
    assert np.allclose(np.linalg.norm(np.diff(points, axis=0), axis=1), ELL)


@pytest.fixture(scope="module")
def pulled(tmp_path_factory):
    """A recording of a notched strip that is pulled, but not so far that it tears."""
    tables = {
        "run": {"frame_time": 0.05, "duration": 0.1},
        "solver": {"mode": "static", "fixed_step": 0.025},
        "environment": {"gravity": [0, 0, 0]},
        "tearing": {"tip_size": ELL, "initiation": False},
        "sheets": [
            {
                "shape": {"kind": "rectangle", "width": 0.1, "height": 0.05, "size": 0.01},
                "material": {"preset": "paper80", "tear_energy": 1e9},
                "cuts": [{"line": [[0.05, -0.01], [0.05, 0.02]]}],
            }
        ],
        "handles": [
            {"name": "fixed", "select": {"kind": "side", "side": "left"}, "stiffness": 1e7},
            {"name": "moved", "select": {"kind": "side", "side": "right"}, "stiffness": 1e7, "motion": "pull"},
        ],
        "motions": {"pull": {"rate": {"velocity": [1e-3, 0, 0]}}},
    }
    scene = scene_from_tables(tables)
    folder = tmp_path_factory.mktemp("pulled") / "out"
    run(*build(scene)[:2], observers=[create_recording(folder, scene)])
    return Recording(folder)


def test_the_ledger_balances_and_files_are_written(pulled, tmp_path):
    analysis = analyze_recording(pulled)
    assert analysis.frame == 2
    tears = analysis.tears
    assert tears.cracks == ()
    assert tears.roughness is None
    assert tears.tips == 1
    assert [curve.name for curve in tears.curves] == ["fixed", "moved"]
    assert tears.ledger.work > 0.0
    assert abs(tears.ledger.dissipated) < 0.02 * tears.ledger.work
    written = {path.name for path in [*write_tables(analysis, tmp_path), *save_figures(analysis, tmp_path)]}
    assert {"cracks.csv", "forces.csv", "tears.png", "cracks.png"} <= written
    rows = (tmp_path / "forces.csv").read_text().splitlines()
    assert len(rows) == 1 + 2 * 4
    assert any(name == "work" for name, _ in describe(analysis))


def test_torn_paths_become_cracks_with_their_energy(pulled):
    model, state = pulled.model(), pulled.load()
    path = zigzag(0.2)
    torn = Torn(path, np.zeros(len(path), np.int32), np.zeros(len(path), np.int32))
    tears = measure_tears(model, state.replaced(torn=torn, fracture_work=0.1))
    assert tears.length == pytest.approx(40 * ELL)
    assert tears.roughness == pytest.approx(0.2, rel=1e-6)
    assert tears.mean_energy == pytest.approx(0.1 / (40 * ELL * 105e-6))


def test_stress_and_creases_can_colour_a_sheet(pulled):
    state = pulled.load()
    stress = recording_field("stress", pulled, "--color-by").values(state)
    assert stress.shape == (state.mesh.face_count,)
    strain = 1e-3 * 0.1 / 0.1
    assert np.median(stress) == pytest.approx(1e-6 * 3.536e9 * strain, rel=0.5)
    assert not recording_field("crease", pulled, "--color-by").values(state).any()
    creased = state.replaced(crease=np.tile([2.0, 0.0, 0.0], (state.mesh.face_count, 1)))
    width = np.sqrt(2.0 * state.mesh.face_area)
    assert np.allclose(recording_field("crease", pulled, "--color-by").values(creased), 220.0 * width)
