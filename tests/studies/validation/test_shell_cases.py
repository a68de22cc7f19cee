"""The cases about cones, tubes, ridges and drapes measure what they say."""

import numpy as np
import pytest

from crumple.energies import make_membranes
from crumple.materials.material import Material
from crumple.mesh import make_sheet_mesh
from crumple.state import initial_state
from crumple.studies.validation.bend_modulus import bend_moduli
from crumple.studies.validation.cylinder import buckle, crease_area, expected_lobes, knock_down
from crumple.studies.validation.d_cone import Cone, _polar_faces, _polar_points, _start, reference_lift
from crumple.studies.validation.graded_grid import graded_line, grid_faces, mirrored
from crumple.studies.validation.locking import aligned_mesh, matched_mesh
from crumple.studies.validation.ridge import fold_ridge
from crumple.studies.validation.tube import HEIGHT, RADIUS, make_tube

PAPER = Material.from_stiffness("paper", stretch=1e5, bend=1e-4, thickness=1e-4, density=0.08)


def membrane_energy(mesh, x):
    x = np.ascontiguousarray(x)
    ((energy, _),) = make_membranes(mesh, (PAPER,)).at(x, np.zeros((mesh.face_count, 3)))
    return float(energy.value(x).sum())


def test_lift_touches_without_kink_and_couple_and_keeps_lengths():
    lift = reference_lift()
    s, step = lift.takeoff, 1e-4
    low, here = (lift.a * np.cos(p) + lift.b * np.cos(lift.rate * p) for p in (s - step, s))
    assert here == pytest.approx(1.0, abs=1e-12)
    assert abs(here - low) < 1e-10  # the third derivative is about 40
    assert lift.excess() == pytest.approx(0.0, abs=1e-9)
    assert 2.0 * np.degrees(s) == pytest.approx(139.0, abs=0.1)


def test_aperture_of_the_theory_and_of_a_narrower_shape():
    lift = reference_lift()
    angle = np.linspace(-np.pi, np.pi, 161)
    assert Cone(1.0, angle, lift(angle)).aperture == pytest.approx(139.0, abs=1.5)
    narrow = Cone(1.0, angle, lift(1.2 * angle))
    assert narrow.aperture == pytest.approx(139.0 / 1.2, abs=1.5)
    assert narrow.error(lift) > 0.05


def test_the_disk_begins_as_a_cone_that_keeps_lengths():
    u, circles = _polar_points(120)
    mesh = make_sheet_mesh(u, _polar_faces(120, len(circles)))
    assert np.all(mesh.face_area > 0.0)
    x = _start(u)
    assert np.ptp(x[:, 2]) > 0.015
    assert membrane_energy(mesh, x) < 1e-3 * membrane_energy(mesh, 1.01 * x)


def test_tube_is_isometric_to_its_pattern_and_closed():
    tube = make_tube(25)
    assert membrane_energy(tube.mesh, tube.x) < 1e-15
    assert len(tube.mesh.hinges.nodes) == 3 * tube.mesh.face_count // 2 - len(tube.rims) // 2
    assert np.allclose(tube.lowered(0.01)[tube.is_top, 2], HEIGHT - 0.01)


@pytest.mark.parametrize("lobes", [3, 7])
def test_lobes_are_counted_whatever_the_bulge(lobes):
    tube = make_tube(40)
    angle = np.arctan2(tube.x[:, 1], tube.x[:, 0])
    radial = 1e-3 * np.cos(lobes * angle) * np.sin(5.0 * tube.x[:, 2] / HEIGHT) + 5e-3 * tube.x[:, 2]
    outward = tube.x * [1.0, 1.0, 0.0] / RADIUS
    assert np.argmax(tube.lobes(radial[:, None] * outward)) == lobes


def test_a_soft_tube_buckles_below_the_classical_load():
    share, lobes = buckle(6e3)
    assert knock_down(6e3) < share < 1.0
    assert lobes == pytest.approx(expected_lobes(6e3), rel=0.25)


def test_crease_area_is_the_area_that_is_creased():
    tube = make_tube(12)
    creased = np.arange(tube.mesh.face_count) % 4 == 0
    curvature = np.where(creased[:, None], [30.0, 0.0, 0.0], 0.0)
    state = initial_state(tube.mesh, tube.x).replaced(plastic_curvature=curvature)
    assert crease_area(state) == pytest.approx(tube.mesh.face_area[creased].sum())


def test_ridge_energy_grows_slowly_and_most_of_it_is_bending():
    thick, thin = (fold_ridge(ratio, 24, 24) for ratio in (1e3, 4e3))
    assert np.log(thin.energy / thick.energy) / np.log(4.0) == pytest.approx(1.0 / 3.0, abs=0.08)
    assert 3.5 < thin.bending / thin.stretching < 6.5
    assert thick.whole > thick.energy


def test_graded_line_and_grid():
    line = graded_line(2.0, 0.01, 12)
    steps = np.diff(line)
    assert line[0] == 0.0
    assert line[-1] == pytest.approx(2.0)
    assert steps[0] == pytest.approx(0.01)
    assert np.all(np.diff(steps) > 0.0)
    x, y = np.meshgrid(mirrored(line), [0.0, 1.0, 3.0])
    mesh = make_sheet_mesh(np.stack([x.ravel(), y.ravel()], axis=1), grid_faces(24, 2))
    assert np.all(mesh.face_area > 0.0)
    assert mesh.face_area.sum() == pytest.approx(12.0)


@pytest.mark.parametrize("faces", [155, 460])
def test_meshes_of_the_drape_have_the_wanted_number_of_faces(faces):
    assert matched_mesh(faces)[0].face_count == pytest.approx(faces, rel=0.05)
    mesh, x = aligned_mesh(4.0 * faces)
    assert 4.0 * faces <= mesh.face_count < 6.0 * faces
    assert np.min(np.linalg.norm(x[:, :2], axis=1)) == 0.0


def test_only_hinges_are_too_soft_on_long_triangles_beside_the_bend():
    """Why `locking` asked for stout faces while hinges were the default: bent about a line between edge and diagonal,
    all edges share the turn."""
    from crumple.shapes import rectangle

    long = rectangle(1.0, 1.0, divisions=(4, 40), kind="right")[0]
    directions = 0.5 * np.pi + np.radians([0.0, 3.0])
    moduli = bend_moduli(long, directions, element="hinge")
    assert moduli[0] == pytest.approx(1.0, abs=1e-3)
    assert moduli[1] == pytest.approx(0.5, abs=0.02)
    fine = rectangle(1.0, 1.0, divisions=(16, 160), kind="right")[0]
    np.testing.assert_allclose(bend_moduli(fine, directions), 1.0, atol=0.02)
