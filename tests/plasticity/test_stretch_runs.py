"""Plastic stretch in runs: what stays after release, and what happens to it on the way."""

from dataclasses import replace

import numpy as np
import pytest
from plastic_shapes import HEIGHT, WIDTH, sheet

import crumple
from crumple.energies import make_membranes
from crumple.geometry.metric import tensor_norm
from crumple.materials import preset
from crumple.materials.material import Material
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.options.contact import ContactOptions
from crumple.options.plasticity import PlasticityOptions
from crumple.options.remeshing import RemeshingOptions
from crumple.options.sizing import SizingOptions
from crumple.options.solver import SolverOptions
from crumple.plasticity import total_strain
from crumple.plasticity.embedding import Embedding
from crumple.recording.frame import decode_frame, encode_frame, state_digest
from crumple.runtime.errors import InputError
from crumple.scenes import scene_from_tables
from crumple.session.session import run
from crumple.simulation.frame import adapt
from crumple.simulation.observers import Observer
from crumple.state import Pins, State, initial_state
from crumple.studies.validation.strip import clamp, settle, static_model

LIMIT = 0.02
STRETCH = np.array([[1.08, 0.03], [0.03, 0.99]])
FILM = Material.from_stiffness(
    "film", stretch=20.0, bend=1e-7, poisson=0.3, thickness=1e-4, density=0.1, yield_strain=LIMIT, damping=1e-3
)


def stretched(flat):
    """Every face strained alike, and sheared."""
    return np.ascontiguousarray(flat @ np.block([[STRETCH, np.zeros((2, 1))], [np.zeros((1, 2)), np.ones((1, 1))]]))


def held(mesh, x) -> State:
    """A sheet whose nodes are all held at x."""
    node = np.arange(mesh.node_count, dtype=np.int32)
    return initial_state(mesh, x, pins=Pins(node, np.zeros_like(node), x.copy()), step_size=1.0)


def let_go(state: State) -> State:
    none = np.zeros(0, np.int32)
    return state.replaced(pins=Pins(none, none, np.zeros((0, 3))))


@pytest.mark.parametrize("kind", ["equilateral", "delaunay"])
def test_released_sheet_keeps_what_exceeds_the_limit(kind):
    """Uniform strain E, held and let go: (1 - ε_y/‖E‖) E is left, free of stress, and the sheet is flat."""
    mesh, x = sheet(kind, 0.012)
    model = static_model(FILM, [clamp("all")], distance=1e-7)
    strain = 0.5 * (STRETCH.T @ STRETCH - np.eye(2))[[0, 1, 0], [0, 1, 1]]
    expected = (1.0 - LIMIT / tensor_norm(strain[None])[0]) * strain
    state = settle(model, held(mesh, stretched(x)), frames=1)
    np.testing.assert_allclose(state.plastic_strain, np.tile(expected, (mesh.face_count, 1)), atol=1e-5)
    assert not state.damage.any()
    free = settle(model, let_go(state), frames=2)
    np.testing.assert_allclose(total_strain(mesh, free.x), state.plastic_strain, atol=2e-5)
    assert np.ptp(free.x[:, 2]) < 1e-6


def test_nothing_yields_below_the_limit_or_without_a_rule():
    """A small strain, or the rule "none", leaves the sheet as it was, bit by bit."""
    mesh, x = sheet("delaunay", 0.012)
    model = static_model(FILM, [clamp("all")], distance=1e-7)
    assert not settle(model, held(mesh, 1.01 * x), frames=1).plastic_strain.any()
    elastic = replace(model, plasticity=PlasticityOptions(rule="none"))
    assert not settle(elastic, held(mesh, stretched(x)), frames=1).plastic_strain.any()


class Energies(Observer):
    def __init__(self):
        self.total = []

    def on_step(self, model, state, report):
        self.total.append(sum(report.energies[name] for name in ("kinetic", "membrane", "bending")))


def test_energy_falls_in_a_released_run():
    """A stretched sheet snaps back: energy falls at every step, also when faces yield on the way.

    It does so with implicit Euler. TR-BDF2 may give back a little of what a step of waves too fast for it has taken.
    """
    mesh, x = sheet("delaunay", 0.012)
    model = Model(
        (replace(FILM, damping=0.0),),
        gravity=(0.0, 0.0, 0.0),
        contact=ContactOptions(enabled=False),
        solver=SolverOptions(integrator="implicit-euler"),
        frame_time=2e-3,
        duration=6e-3,
    )
    watch = Energies()
    pull = x * [1.15, 1.0, 1.0]
    final = run(model, initial_state(mesh, pull, step_size=1e-4), [watch])
    assert final.plastic_strain.any()
    assert len(watch.total) > 5
    before = np.sum(make_membranes(mesh, model.materials).at(pull, np.zeros((mesh.face_count, 3)))[0][0].value(pull))
    assert np.all(np.diff([before, *watch.total]) < 1e-9 * before)


def test_rest_strain_reaches_constant_and_measured_faces():
    """Each membrane energy gets the strains of its own faces."""
    mesh, x = sheet("delaunay", 0.02)
    mesh = replace(mesh, face_material=(np.arange(mesh.face_count) % 2).astype(np.int32))
    knit = Material("knit", 1e-3, 0.2, np.full((6, 4), 200.0) * [1, 0.2, 1, 1], np.full(3, 1e-6))
    plate = stretched(x)
    rest = total_strain(mesh, plate)
    membranes = make_membranes(mesh, (FILM, knit)).at(plate, rest)
    assert len(membranes) == 2
    for energy, _ in membranes:
        assert np.abs(energy.gradient(plate)).max() < 1e-10
        assert np.abs(energy.gradient(x)).max() > 1e-3


def strained_state() -> tuple[Model, State]:
    """A flat sheet whose plastic strain differs from face to face."""
    mesh, x = sheet("delaunay", 0.008)
    rng = np.random.default_rng(3)
    model = Model((FILM,), gravity=(0.0, 0.0, 0.0), contact=ContactOptions(enabled=False))
    return model, initial_state(mesh, x).replaced(plastic_strain=rng.uniform(-0.05, 0.1, (mesh.face_count, 3)))


@pytest.mark.parametrize(("fine", "coarse"), [(3e-3, 5e-3), (0.015, 0.03)])
def test_remeshing_conserves_the_strain_by_area(fine, coarse):
    """∫ E_p over the sheet is the same on a finer and on a coarser mesh."""
    model, state = strained_state()
    remeshing = RemeshingOptions(SizingOptions(size_min=fine, size_max=coarse), projection=False)
    after = adapt(state, Derived(replace(model, remeshing=remeshing), state))
    assert after.mesh.face_count != state.mesh.face_count
    assert after.plastic_strain.shape == (after.mesh.face_count, 3)
    total = [s.mesh.face_area @ s.plastic_strain for s in (state, after)]
    np.testing.assert_allclose(total[1], total[0], rtol=1e-9, atol=1e-12 * WIDTH * HEIGHT)


def test_recorded_and_old_recordings_have_none(tmp_path):
    """A recorded state has the same bits; one written before there was plastic strain has zeros."""
    _, state = strained_state()
    path = tmp_path / "frame.vtkhdf"
    path.write_bytes(encode_frame(state))
    again = decode_frame(path)
    np.testing.assert_array_equal(again.plastic_strain, state.plastic_strain)
    assert state_digest(again) == state_digest(state)
    assert not state.replaced(plastic_strain=np.zeros((0, 3))).plastic_strain.any()


def test_resumed_run_repeats_the_bits():
    """Two frames in one go, or one, recorded and read, and another."""
    mesh, x = sheet("delaunay", 0.015)
    remeshing = RemeshingOptions(SizingOptions(size_min=0.01, size_max=0.02))
    model = Model((FILM,), contact=ContactOptions(enabled=False), remeshing=remeshing, frame_time=2e-3)
    start = initial_state(mesh, x * [1.1, 1.0, 1.0], step_size=1e-3)
    both = run(model, start, frames=2)
    assert both.plastic_strain.any()
    assert state_digest(run(model, run(model, start, frames=1), frames=2)) == state_digest(both)


def test_embedding_shows_the_stretch():
    """The settled embedding of a uniformly stretched sheet is as long as its plastic strain says."""
    mesh, x = sheet("delaunay", 0.012)
    plastic = total_strain(mesh, stretched(x))
    y = Embedding(mesh).settle(x, np.zeros((mesh.face_count, 3)), plastic_strain=plastic)
    np.testing.assert_allclose(total_strain(mesh, y), plastic, atol=2e-3)


def test_scene_gives_the_limit():
    """`yield_strain` of a material in a scene replaces that of the preset."""
    tables = {
        "name": "film",
        "sheets": [
            {
                "material": {"preset": "paper80", "yield_strain": 0.03},
                "shape": {"kind": "rectangle", "width": 0.1, "height": 0.1, "size": 0.05},
            }
        ],
    }
    model, state, _ = crumple.build(scene_from_tables(tables))
    assert model.materials[0].yield_strain == 0.03
    assert state.plastic_strain.shape == (state.mesh.face_count, 3)
    assert preset("paper80").yield_strain == np.inf
    tables["sheets"][0]["material"]["yield_strain"] = 0
    with pytest.raises(InputError, match="yield_strain"):
        scene_from_tables(tables)
    with pytest.raises(InputError, match="yield_strain"):
        replace(FILM, yield_strain=-1.0)
