"""Strain limits from scene files: no face is ever stretched farther than its material allows."""

import copy

import numpy as np
import pytest
from arcsim_files import scene as arcsim_scene
from arcsim_files import write

from crumple.energies.strain_limit import squared_stretches
from crumple.geometry.triangle import shape_gradients
from crumple.runtime.errors import InputError
from crumple.scenes import build, load_scene, scene_from_tables
from crumple.simulation.frame import advance_frame

LIMIT = 1.05
HANGING = {
    "name": "hanging",
    "run": {"frame_time": 0.04, "duration": 0.16},
    "contact": {"activation": 2e-3, "friction": 0.3},
    "sheets": [
        {
            "shape": {"kind": "rectangle", "width": 0.3, "height": 0.3, "size": 0.06},
            "transform": {"translate": [0, 0, 0.3]},
            # its weight alone would stretch it by about 30 % between the held corners
            "material": {"stretch": 4, "bend": 1e-6, "thickness": 5e-4, "density": 0.3, "damping": 0.01},
        }
    ],
    "handles": [{"select": {"kind": "nearest", "points": [[-0.15, 0.15, 0.3], [0.15, 0.15, 0.3]]}, "stiffness": 1e3}],
}


def tables(limit, **others):
    made = copy.deepcopy(HANGING) | others
    if limit is not None:
        made["sheets"][0]["material"]["strain_limit"] = limit
    return made


def largest_stretch(state):
    mesh = state.mesh
    return float(np.sqrt(squared_stretches(state.x, mesh.face_nodes, shape_gradients(mesh.u[mesh.faces])).max()))


def run(made):
    """The largest stretch at the start and in every frame, and the Newton iterations."""
    model, state, _ = build(scene_from_tables(made))
    stretches = [largest_stretch(state)]
    for _ in range(model.frame_count):
        state, _ = advance_frame(model, state)
        stretches.append(largest_stretch(state))
    return stretches, state.iterations


def test_a_hanging_cloth_stays_below_its_limit():
    free, _ = run(tables(None))
    held, _ = run(tables(LIMIT))
    assert max(free) > 1.2
    assert 1.02 < max(held) < LIMIT


@pytest.mark.parametrize("projection", [True, False])
def test_with_remeshing_and_contact_too(projection):
    made = tables(LIMIT)
    made["remeshing"] = {"size_min": 0.02, "size_max": 0.08, "refine_angle": 0.3, "projection": projection}
    made["obstacles"] = [{"shape": {"kind": "sphere", "radius": 0.06, "center": [0, -0.05, 0.23]}}]
    made["run"]["duration"] = 0.24
    stretches, _ = run(made)
    assert 1.03 < max(stretches) < LIMIT + 1e-3


def test_a_cloth_that_starts_beyond_its_limit_shrinks_to_it(tmp_path):
    model, state, _ = build(scene_from_tables(tables(LIMIT, handles=[], environment={"gravity": [0, 0, 0]})))
    state = state.replaced(x=state.x * [1.3, 1.0, 1.0])
    stretches = [largest_stretch(state)]
    for _ in range(4):
        state, _ = advance_frame(model, state)
        stretches.append(largest_stretch(state))
    assert stretches[0] == pytest.approx(1.3)
    assert all(stretch < 1.3 for stretch in stretches[1:])
    assert stretches[-1] < LIMIT


@pytest.mark.parametrize("value", [1.0, 0.9, -2, "much"])
def test_bad_limits_are_refused(value):
    with pytest.raises(InputError, match="strain_limit"):
        build(scene_from_tables(tables(value)))


def test_arcsim_files_give_the_upper_limit(tmp_path):
    record = arcsim_scene()
    record["cloths"][0]["materials"][0]["strain_limits"] = [0.95, 1.05]
    made = load_scene(write(tmp_path, record))
    assert made.sheets[0].material.strain_limit == 1.05
    assert any("strain_limits: compression to 0.95 is not limited" in note for note in made.notes)
    assert build(made).model.materials[0].strain_limit == 1.05
    record["disable"] = ["strainlimiting"]
    assert load_scene(write(tmp_path, record)).sheets[0].material.strain_limit is None


def test_an_upper_limit_below_rest_is_refused(tmp_path):
    record = arcsim_scene()
    record["cloths"][0]["materials"][0]["strain_limits"] = [0.9, 1.0]
    with pytest.raises(InputError, match="strain_limits"):
        load_scene(write(tmp_path, record))
