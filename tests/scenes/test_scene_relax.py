"""Sheets that start stretched against their patterns are relaxed before the first frame."""

import numpy as np
import pytest
from arcsim_files import scene as arcsim_scene
from arcsim_files import write
from grid_files import square, tube, write_grid

from crumple.contact import find_intersections
from crumple.model.derived import Derived, contact_surface
from crumple.scenes import build, check_scene, load_scene, scene_from_tables
from crumple.simulation.frame import advance_frame
from crumple.simulation.observers import Observer

CLOTH = {"stretch": 200, "bend": 1e-5, "thickness": 1e-3, "density": 0.2, "damping": 1e-3}


def membrane(model, state):
    return next(term for kind, term in Derived(model, state).terms if kind.name == "membrane").measure(state)


def tables(mesh, **run):
    return {
        "run": {"frame_time": 0.02, "duration": 0.02, **run},
        "contact": {"activation": 2e-3},
        "sheets": [{"shape": {"kind": "file", "mesh": str(mesh), "pattern": "uv"}, "material": CLOTH}],
    }


class Speeds(Observer):
    """The largest speed of any node after each step [m/s]."""

    def __init__(self):
        self.speeds = []

    def on_step(self, model, state, report):
        self.speeds.append(float(np.linalg.norm(state.v, axis=1).max()))


def fastest(model, state):
    """The largest speed of any node in the first frame [m/s]."""
    seen = Speeds()
    advance_frame(model, state, [seen])
    return max(seen.speeds)


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """A square that starts 8 times as large as its pattern, and 38 times in one direction."""
    stretch = np.diag([38.0, 8.0, 0.0])[:2]
    return write_grid(tmp_path_factory.mktemp("relax") / "wide.obj", square(5, 0.1), lambda u: u @ stretch)


def test_a_stretched_sheet_comes_to_rest_without_snapping(wide):
    before = build(scene_from_tables(tables(wide)))[:2]
    model, state, notes = build(scene_from_tables(tables(wide, relax=True)))
    assert membrane(model, state) < 1e-6 * membrane(*before)
    assert state.time == 0.0
    assert not state.v.any()
    assert any(note.startswith("run.relax: membrane energy from") for note in notes)
    assert fastest(model, state) < 0.5
    assert fastest(*before) > 10.0


def test_a_garment_shrinks_onto_the_body_and_stays_outside(tmp_path):
    line, height = np.linspace(0.0, 0.2, 13), np.linspace(-0.05, 0.05, 5)
    u = np.stack(np.meshgrid(line, height), axis=2)
    mesh = write_grid(tmp_path / "tube.obj", u, lambda u: tube(u, 0.12), closed=True)
    made = tables(mesh, relax=True)
    body = {"kind": "cylinder", "radius": 0.04, "height": 0.4, "size": 0.03}
    # a body that moves: it has to stay where it is at the start
    made["obstacles"] = [{"shape": body, "motion": "away"}]
    made["motions"] = {"away": {"rate": {"velocity": [0, 0, 5]}}}
    model, state, _ = build(scene_from_tables(made))
    radius = np.linalg.norm(state.x[:, :2], axis=1)
    assert 0.035 < radius.min() < radius.max() < 0.06
    assert np.array_equal(state.obstacle_x, model.obstacle_positions(0.0))
    surface = contact_surface(model, state, 0.0)
    assert len(find_intersections(surface, np.concatenate([state.x, state.obstacle_x]))) == 0


def converted(tmp_path, mesh, **magic):
    """An ARCSim scene with one cloth and nothing around it."""
    record = arcsim_scene()
    record["cloths"][0]["mesh"] = str(mesh)
    record["handles"], record["obstacles"] = [], []
    record["magic"].update(magic)
    return write(tmp_path, record)


def test_arcsim_scenes_are_relaxed_without_asking_and_check_does_not_do_it(tmp_path, wide):
    path = converted(tmp_path, wide)
    assert load_scene(path).run.relax
    report = check_scene(path)
    assert report.ok
    assert report.strain > 30.0
    model, state, notes = build(path)
    assert membrane(model, state) < 1e-6 * membrane(*build(path, relax=False)[:2])
    assert any(note.startswith("run.relax") for note in notes)


def test_an_arcsim_file_may_forbid_it(tmp_path, wide):
    assert not load_scene(converted(tmp_path, wide, relax_initial_state=False)).run.relax


def test_sheets_at_rest_are_left_as_they_are(tmp_path):
    """Six digits of a file are no strain."""
    path = tmp_path / "square.obj"
    u = square(5, 0.1)
    u = u + np.random.default_rng(1).uniform(-1e-7, 1e-7, u.shape)
    write_grid(path, u, lambda u: np.concatenate([square(5, 0.1), 0.0 * u[..., :1]], axis=2))
    scene = converted(tmp_path, path)
    before, (_, state, notes) = build(scene, relax=False).state, build(scene)
    assert np.array_equal(state.x, before.x)
    assert not any(note.startswith("run.relax") for note in notes)
