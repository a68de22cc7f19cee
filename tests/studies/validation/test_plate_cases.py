"""Plates in the simulator: bending is that of the theory on every mesh, and the cases would notice if it were not."""

from __future__ import annotations

import numpy as np
import pytest
from flat_plates import isotropic_plate

from crumple.energies.bending_midedge import make_bending_midedge, relax_turns
from crumple.shapes import rectangle
from crumple.state import initial_state
from crumple.studies.validation.bending_meshes import navier_deflection, plate_meshes
from crumple.studies.validation.early_yield import STRETCH, bend_sheet
from crumple.studies.validation.plate import convergence_order, deflection
from crumple.studies.validation.plate_loads import Couples, fitted_curvatures, rim_edges
from crumple.studies.validation.plate_poisson import validate_grain, validate_plate_poisson

COARSE, FINE = plate_meshes(190), plate_meshes(750)


def failed(result):
    return [check.quantity for check in result.checks if not check.passed]


@pytest.mark.parametrize("kind", ["delaunay", "jittered", "aspect 3"])
def test_supported_plate_converges_with_second_order(kind):
    found = [deflection(meshes[kind]) for meshes in (COARSE, FINE)]
    assert found[1] == pytest.approx(1.0, abs=0.03 if kind == "aspect 3" else 0.01)
    assert convergence_order(found, [meshes[kind].face_count for meshes in (COARSE, FINE)]) > 1.6


def test_hinges_would_not_pass():
    assert deflection(FINE["jittered"], "hinge") < 0.8
    assert deflection(FINE["aspect 3"], "hinge") < 0.4


def test_navier_series_has_the_known_value():
    assert navier_deflection(1.0, 1.0) == pytest.approx(0.0040624, rel=1e-3)
    assert navier_deflection(1.0, 2.0) == pytest.approx(0.01013, rel=1e-3)


def test_poisson_ratio_twist_and_sphere_on_long_triangles():
    assert not failed(validate_plate_poisson(("aspect 3",), 200))


def test_grain_lies_where_the_material_says():
    assert not failed(validate_grain(("jittered",), 200))


def test_no_face_yields_below_the_yield_curvature():
    size, yielded = bend_sheet(plate_meshes(300)["jittered"], stretch=0.01 * STRETCH)
    assert yielded == 0.0
    assert size.mean() == pytest.approx(0.9, rel=0.02)
    assert size.max() < 1.0


def test_couples_do_the_work_that_their_moments_say():
    mesh, x = rectangle(1.0, 1.0, 0.4)
    energy = Couples(rim_edges(mesh), 3.0).mount(initial_state(mesh, x)).energies[0]
    bent = x + np.stack([np.zeros(len(x)), np.zeros(len(x)), 0.1 * x[:, 0] ** 2], axis=1)
    bending = make_bending_midedge(mesh, energy.links, isotropic_plate(0.3))
    half_turn = relax_turns(bending, bent, np.zeros(energy.links.edge_count))
    turn = np.random.default_rng(1).uniform(-1e-5, 1e-5, len(half_turn))
    change = bending.half_direction(bent, np.zeros_like(bent), turn)
    work = energy.value(bent, half_turn + change).sum() - energy.value(bent, half_turn - change).sum()
    assert work == pytest.approx(2.0 * float(energy.moments(bent, half_turn)[:, 0] @ turn[energy.edges[:, 0]]))


def test_fitted_curvatures_are_those_of_the_surface():
    mesh = COARSE["jittered"]
    c, s = np.cos(0.4), np.sin(0.4)
    along, across = mesh.u @ [c, s], mesh.u @ [-s, c]
    heights = 0.5 * 2.0 * along**2 - 0.5 * 0.7 * across**2 + 0.3 * along * across
    x = np.stack([mesh.u[:, 0], mesh.u[:, 1], heights], axis=1)
    np.testing.assert_allclose(fitted_curvatures(mesh, x, angle=0.4), [2.0, -0.7, 0.3], atol=1e-9)
