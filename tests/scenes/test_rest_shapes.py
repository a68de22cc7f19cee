"""Sheets that are at rest in the shape they start with, from scene files and from ARCSim's."""

import json

import numpy as np
import pytest
from arcsim_files import scene as arcsim_scene
from arcsim_files import write
from grid_files import folded, sphere_cap, square, write_grid

from crumple.geometry.hinge import dihedral_angles
from crumple.mesh.io.obj import write_obj
from crumple.model.derived import Derived
from crumple.runtime.errors import InputError
from crumple.scenes import build, load_scene, scene_from_tables
from crumple.shapes.dart import dart
from crumple.simulation.frame import advance_frame
from crumple.stepping.step import measure_energies

SOLID = {"elastic_modulus": 2e9, "poisson_ratio": 0.3, "thickness": 1e-4, "density": 800}


def tables(mesh, **others):
    return {
        "run": {"frame_time": 0.01, "duration": 0.02},
        "environment": {"gravity": [0, 0, 0]},
        "contact": {"enabled": False},
        "sheets": [
            {
                "shape": {"kind": "file", "mesh": str(mesh), "pattern": "uv"},
                "material": {"young": 2e9, "poisson": 0.3, "thickness": 1e-4, "density": 0.08},
                **others,
            }
        ],
    }


def elastic(model, state):
    energies = measure_energies(state, Derived(model, state))
    return energies["membrane"], energies["bending"]


@pytest.fixture(scope="module")
def cap(tmp_path_factory):
    return write_grid(tmp_path_factory.mktemp("rest") / "cap.obj", square(6, 1.0), sphere_cap)


@pytest.fixture(scope="module")
def fold(tmp_path_factory):
    return write_grid(tmp_path_factory.mktemp("rest") / "fold.obj", square(4, 0.1), folded)


@pytest.mark.parametrize("element", ["midedge", "hinge"])
@pytest.mark.parametrize("scale", [1.0, 0.3])
def test_a_sheet_at_rest_as_it_starts_stores_no_energy(cap, element, scale):
    made = tables(cap, transform={"scale": scale, "rotate": {"angle": 40, "axis": [1, 2, 0]}})
    made["solver"] = {"bending": element}
    free = elastic(*build(scene_from_tables(made))[:2])
    made["sheets"][0]["rest"] = "bent"
    bent = elastic(*build(scene_from_tables(made))[:2])
    made["sheets"][0]["rest"] = "start"
    start = elastic(*build(scene_from_tables(made))[:2])
    assert min(free) > 0
    assert bent[0] == pytest.approx(free[0])
    assert bent[1] < 1e-20 * free[0]
    assert bent[1] < 1e-12 * free[1]
    assert start[0] < 1e-20 * free[0]
    assert start[1] < 1e-12 * free[1]


@pytest.mark.parametrize("remeshing", [False, True])
def test_and_stays_as_it_is(cap, remeshing):
    made = tables(cap, rest="start")
    if remeshing:
        made["remeshing"] = {"size_min": 0.08, "size_max": 0.4, "refine_angle": 0.3}
    model, state, _ = build(scene_from_tables(made))
    spread = np.ptp(state.x, axis=0)
    stored = sum(elastic(*build(scene_from_tables(tables(cap)))[:2]))
    for _ in range(2):
        state, _ = advance_frame(model, state)
    assert np.allclose(np.ptp(state.x, axis=0)[:2], spread[:2], rtol=0.02)
    assert sum(elastic(model, state)) < (0.02 if remeshing else 1e-12) * stored


def test_strain_limits_count_from_the_lengths_at_rest(cap):
    """The cap is stretched by 41 % against its pattern, but not at all against its rest."""
    made = tables(cap, rest="start")
    made["sheets"][0]["material"]["strain_limit"] = 1.05
    model, state, _ = build(scene_from_tables(made))
    limit = next(term for kind, term in Derived(model, state).terms if kind.name == "strain limit")
    assert limit.measure(state) == 0.0
    assert 0.0 < limit.measure(state.replaced(x=1.045 * state.x)) < np.inf
    x = state.x
    state, _ = advance_frame(model, state)
    assert np.allclose(state.x, x, atol=1e-6)


def crease_angle(state):
    return float(np.abs(dihedral_angles(state.x, state.mesh.hinges.nodes)).max())


@pytest.mark.parametrize("key", ["preserve_creases", "reset_plasticity"])
def test_arcsim_creases_are_preserved(tmp_path, fold, key):
    record = {
        "frame_time": 0.02,
        "end_time": 0.04,
        "cloths": [{"mesh": str(fold), "materials": [SOLID], "velocity": [3, 0, 0]}],
        "wind": {"density": 0},
        "magic": {key: True},
    }
    model, state, _ = build(write(tmp_path, record))
    assert max(elastic(model, state)) < 1e-15
    springs = build(write(tmp_path, record | {"magic": {}}))[:2]
    assert elastic(*springs)[1] > 1e-6
    ends = []
    for made, one in ((model, state), springs):
        for _ in range(2):
            one, _ = advance_frame(made, one)
        ends.append(crease_angle(one))
    assert ends[0] == pytest.approx(np.pi / 2, abs=1e-3)
    assert ends[1] < 1.2


def test_arcsim_reference_shapes_are_free_of_stress(tmp_path, cap):
    record = arcsim_scene()
    record["cloths"] = [{"mesh": str(cap), "materials": [SOLID], "reference": "sphere"}]
    record["handles"], record["obstacles"] = [], []
    made = load_scene(write(tmp_path, record))
    assert made.sheets[0].rest == "start"
    assert not any("reference" in note or "strained" in note for note in made.notes)
    assert max(elastic(*build(made)[:2])) < 1e-9
    record["cloths"][0]["reference"] = "linear"
    assert load_scene(write(tmp_path, record)).sheets[0].rest == "flat"


def test_an_unknown_rest_is_refused(fold):
    with pytest.raises(InputError, match="rest"):
        build(scene_from_tables(tables(fold, rest="curly")))


@pytest.mark.slow
def test_a_dart_of_arcsim_keeps_its_folds_in_flight_and_goes_through_its_impact(tmp_path):
    """Its folds are in the file as bends of the mesh; half of the turn of a crease on the faces around it would be
    taken for bends of the sheet by the first remeshing, which opened folds by 60°."""
    mesh, x = dart(0.2159, 0.2794, 0.018)
    write_obj(tmp_path / "dart.obj", mesh, x)
    wall = "".join(f"v 0.03 {y} {z}\n" for y, z in ((-1, -1), (1, -1), (1, 1), (-1, 1))) + "f 1 3 2\nf 1 4 3\n"
    (tmp_path / "wall.obj").write_text(wall)
    paper = SOLID | {"damping": 1e-5, "yield_curv": 200, "weakening": 1}
    sizes = {"refine_angle": 0.3, "refine_compression": 0.01, "size": [0.003, 0.05], "aspect_min": 0.2}
    cloth = {"mesh": "dart.obj", "velocity": {"linear": [5, 0, 0]}, "materials": [paper], "remeshing": sizes}
    made = {
        "frame_time": 0.002,
        "duration": 0.02,
        "cloths": [cloth],
        "obstacles": [{"mesh": "wall.obj"}],
        "magic": {"preserve_creases": True, "repulsion_thickness": 5e-4},
    }
    (tmp_path / "dart.json").write_text(json.dumps(made))
    model, state, _ = build(tmp_path / "dart.json")
    folds = turn_of(state)
    for _ in range(2):
        state, _ = advance_frame(model, state)
        assert turn_of(state) == pytest.approx(folds, rel=0.01)
        assert not state.damage.any()
    for _ in range(4):
        state, _ = advance_frame(model, state)
    assert state.v[:, 0].mean() < 2.0
    assert state.damage.max() > 1.0


def turn_of(state):
    """Angle times length of all folds [m rad]."""
    nodes = state.mesh.hinges.nodes
    angle = np.abs(dihedral_angles(state.x, nodes))
    return float(angle @ np.linalg.norm(state.x[nodes[:, 0]] - state.x[nodes[:, 1]], axis=1))
