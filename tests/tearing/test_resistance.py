"""What a crack takes to run, by direction."""

from dataclasses import replace
from math import exp, inf

import numpy as np
import pytest

from crumple.materials import preset
from crumple.options.tearing import Tearing, WeakLine
from crumple.plasticity import crease_from_edges, crease_tensor
from crumple.shapes.sheets import rectangle
from crumple.tearing.resistance import fold_angles, main_direction_tensor, make_toughness, resistance

SIZE = 0.02
"""ℓ of the tips [m]."""


def _directions(*degrees):
    angle = np.radians(degrees)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _toughness(mesh, material=None, options=None, **fields):
    nothing = {"crease": np.zeros((mesh.face_count, 3)), "damage": np.zeros(mesh.face_count)}
    given = nothing | {"plastic_curvature": np.zeros((mesh.face_count, 3))} | fields
    return make_toughness(mesh, (material or preset("paper80"),), options or Tearing(), **given)


def _middle(mesh):
    return int(np.argmin(np.linalg.norm(mesh.u - mesh.u.mean(axis=0), axis=1)))


@pytest.fixture(scope="module")
def mesh():
    return rectangle(0.1, 0.1, 0.02)[0]


def test_a_sound_isotropic_sheet_resists_with_energy_times_thickness(mesh):
    found = resistance(_toughness(mesh), mesh, _middle(mesh), _directions(*range(0, 360, 5)), size=SIZE)
    assert np.allclose(found, preset("paper80").tear_energy[0] * preset("paper80").thickness, rtol=1e-12)


def test_grain_resists_by_the_direction_of_the_crack(mesh):
    material = replace(preset("paper80"), tear_energy=(2e3, 8e3), grain_angle=np.radians(20.0))
    found = resistance(
        _toughness(mesh, material), mesh, _middle(mesh), _directions(20.0, 110.0, 65.0, 200.0), size=SIZE
    )
    assert np.allclose(found, material.thickness * np.array([2e3, 8e3, 5e3, 2e3]))


def test_a_crack_cannot_run_out_of_the_sheet(mesh):
    bottom = int(np.flatnonzero((mesh.u[:, 1] == mesh.u[:, 1].min()) & (np.abs(mesh.u[:, 0] - 0.05) < 0.04))[0])
    found = resistance(_toughness(mesh), mesh, bottom, _directions(90.0, -90.0, 0.0, -30.0), size=SIZE)
    assert np.isfinite(found).tolist() == [True, False, True, False]
    never = replace(preset("paper80"), tear_energy=(inf, inf))
    assert np.isinf(resistance(_toughness(mesh, never), mesh, bottom, _directions(90.0), size=SIZE)).all()


def _folded(size, angle=2.0):
    """A square with a fold by `angle` [rad] along the middle, κ_y C of its faces, and a vertex on the fold."""
    material = preset("paper80")
    mesh = rectangle(0.1, 0.1, size)[0]
    ends = mesh.node_rest[mesh.hinges.nodes[:, :2], 1]
    level = np.unique(mesh.u[:, 1])[len(np.unique(mesh.u[:, 1])) // 2]
    plastic = crease_from_edges(mesh, np.all(np.abs(ends - level) < 1e-9, axis=1), angle)
    limit = np.full(mesh.face_count, material.yield_curvature)
    crease = crease_tensor(plastic, np.linalg.norm(plastic, axis=1) / limit)
    on_fold = int(np.argmin(np.abs(mesh.u[:, 1] - level) + np.abs(mesh.u[:, 0] - 0.05)))
    return mesh, crease, on_fold


def test_a_fold_is_as_easy_to_tear_on_any_mesh():
    """A fold by 2 rad that is a row of hinges has nearly m of 2 rad along it on every mesh, and no part across."""
    material, options = preset("paper80"), Tearing()
    sound = material.tear_energy[0] * material.thickness
    m = 1.0 + (options.crease_factor - 1.0) * (1.0 - exp(-2.0 / options.crease_angle))
    for size, error in ((0.02, 0.16), (0.01, 0.08), (0.005, 0.04)):
        mesh, crease, on_fold = _folded(size)
        toughness = _toughness(mesh, crease=crease)
        felt = fold_angles(toughness.fold, mesh, on_fold, _directions(0.0, 180.0, 90.0), SIZE)
        assert np.allclose(felt, [2.0, 2.0, 0.0], atol=2.0 * error)
        found = resistance(toughness, mesh, on_fold, _directions(0.0, 180.0, 90.0), size=SIZE)
        assert np.allclose(found, [sound / m, sound / m, sound], rtol=error)


def test_a_crack_beside_a_fold_is_drawn_to_it():
    """Beside the fold its pull is weaker, and strongest in directions that lead to it."""
    mesh, crease, on_fold = _folded(0.005)
    toughness = _toughness(mesh, crease=crease)
    here = mesh.u[on_fold]
    angles = np.arange(-80.0, 81.0, 5.0)
    for way in (0.01, 0.02, -0.01, -0.02):
        beside = int(np.argmin(np.linalg.norm(mesh.u - here - [-0.01, way], axis=1)))
        held = resistance(toughness, mesh, beside, _directions(*angles), size=SIZE)
        straight = held[np.argmin(np.abs(angles))]
        on_it = resistance(toughness, mesh, on_fold, _directions(0.0), size=SIZE)[0]
        assert straight > 1.05 * on_it
        best = angles[np.argmin(held)]
        assert best * way < 0.0
        assert 5.0 <= abs(best) <= 60.0
        assert held.min() < 0.99 * straight


def test_no_crease_factor_means_that_creases_do_not_matter(mesh):
    crease = np.tile([5.0, 1.0, 0.5], (mesh.face_count, 1))
    found = resistance(
        _toughness(mesh, options=Tearing(crease_factor=1.0), crease=crease),
        mesh,
        _middle(mesh),
        _directions(10.0),
        size=SIZE,
    )
    assert np.allclose(found, preset("paper80").tear_energy[0] * preset("paper80").thickness)


def test_the_rule_of_jiang_squares_the_gain_in_strength(mesh):
    plastic = np.tile([0.0, -400.0, 0.0], (mesh.face_count, 1))
    toughness = _toughness(
        mesh,
        options=Tearing(crease_rule="jiang"),
        damage=np.full(mesh.face_count, 2.0),
        plastic_curvature=plastic,
    )
    found = resistance(toughness, mesh, _middle(mesh), _directions(0.0, 90.0), size=SIZE)
    sound = preset("paper80").tear_energy[0] * preset("paper80").thickness
    assert np.allclose(found, [sound / 9.0, sound])


def test_labelled_edges_take_their_factor_and_others_do_not(mesh):
    middle = _middle(mesh)
    right = int(np.argmin(np.linalg.norm(mesh.u - mesh.u[middle] - [0.02, 0.0], axis=1)))
    tail, head = mesh.faces, np.roll(mesh.faces, -1, axis=1)
    label = np.where(np.isin(tail, [middle, right]) & np.isin(head, [middle, right]), 7, 0).astype(np.int32)
    assert label.any()
    marked = replace(mesh, edge_label=label)
    sound = preset("paper80").tear_energy[0] * preset("paper80").thickness
    for factor in (0.3, 1.7):
        options = Tearing(lines=(WeakLine(7, factor),))
        edge = mesh.u[right] - mesh.u[middle]
        along = np.degrees(np.arctan2(edge[1], edge[0]))
        found = resistance(
            _toughness(marked, options=options), marked, middle, _directions(along, along + 5.0, 200.0), size=SIZE
        )
        assert np.allclose(found, [factor * sound, sound, sound])
    assert Tearing(lines=(WeakLine(7, 0.3),)).line_factor(7) == 0.3
    assert Tearing().line_factor(7) == 1.0


def test_the_main_direction_has_the_largest_modulus():
    tensors = np.array([[1.0, -3.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
    found = main_direction_tensor(tensors)
    assert np.allclose(found[:3], [[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert np.isclose(np.abs(found[3, 2]), 0.5)
