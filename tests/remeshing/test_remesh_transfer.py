"""What is attached to the mesh follows: linear fields, integrals, mass, momentum, pins, smooth positions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from remeshing_samples import ODD, random_sizing

import crumple.mesh as cm
import crumple.shapes as cs
from crumple.options.remeshing import RemeshOptions
from crumple.remeshing import isotropic_sizing, remesh
from crumple.state import Pins

FLAT = ["annulus", "slit", "triangle", "groups"]


@pytest.mark.parametrize("name", FLAT)
def test_operators_reproduce_linear_fields_and_integrals(name: str) -> None:
    mesh, rng = ODD[name], np.random.default_rng(5)
    result = remesh(mesh, random_sizing(mesh.vertex_count, rng, 0.05, 1.0))
    np.testing.assert_allclose(result.node_operator @ mesh.u, result.mesh.u, atol=1e-15)
    np.testing.assert_allclose(result.vertex_operator @ mesh.u, result.mesh.u, atol=1e-15)
    value = rng.random(mesh.face_count)
    carried = result.face_operator @ value
    assert result.mesh.face_area @ carried == pytest.approx(mesh.face_area @ value, rel=1e-12)
    assert value.min() - 1e-12 <= carried.min()
    assert carried.max() <= value.max() + 1e-12
    if name != "groups":
        np.testing.assert_allclose(result.x, result.mesh.node_rest, atol=1e-14)  # flat: smooth is linear


@pytest.mark.parametrize("name", ["tube", "moebius", "two sheets", "sphere"])
def test_operators_of_seamed_sheets_and_surfaces(name: str) -> None:
    mesh, rng = ODD[name], np.random.default_rng(6)
    result = remesh(mesh, random_sizing(mesh.vertex_count, rng, 0.1, 1.0))
    np.testing.assert_allclose(result.node_operator @ mesh.node_rest, result.mesh.node_rest, atol=1e-14)
    np.testing.assert_allclose(result.face_operator @ np.ones(mesh.face_count), 1.0, atol=1e-12)
    if name != "sphere":
        np.testing.assert_allclose(result.vertex_operator @ mesh.u, result.mesh.u, atol=1e-14)
        value = rng.random(mesh.face_count)
        total = result.mesh.face_area @ (result.face_operator @ value)
        assert total == pytest.approx(mesh.face_area @ value, rel=1e-12)


@pytest.mark.parametrize("name", [*FLAT, "tube", "moebius", "two sheets"])
def test_mass_and_momentum_are_conserved(name: str) -> None:
    mesh, rng = ODD[name], np.random.default_rng(7)
    density = np.array([0.1, 0.7])
    v = rng.normal(size=(mesh.node_count, 3))
    fine = remesh(mesh, random_sizing(mesh.vertex_count, rng, 0.05, 0.5), v=v, density=density)
    assert fine.v is not None
    coarse = remesh(fine.mesh, isotropic_sizing(fine.mesh, 0.8), x=fine.x, v=fine.v, density=density)
    assert coarse.statistics.collapses > 0
    before = momentum(mesh, v, density)
    for result in (fine, coarse):
        assert result.v is not None
        mass, total, _ = momentum(result.mesh, result.v, density)
        assert mass == pytest.approx(before[0], rel=1e-12)
        np.testing.assert_allclose(total, before[1], atol=1e-12 * before[2])


def momentum(mesh: cm.SheetMesh, v: np.ndarray, density: np.ndarray) -> tuple[float, np.ndarray, float]:
    """Mass, linear momentum and the sum of its absolute values."""
    third = np.repeat(density[mesh.face_material] * mesh.face_area / 3.0, 3)
    mass = np.bincount(mesh.face_nodes.ravel(), third, mesh.node_count)
    return mass.sum(), mass @ v, mass @ np.abs(v).sum(axis=1)


def test_new_nodes_lie_on_the_smooth_surface() -> None:
    mesh, x = cs.cylinder(1.0, 0.4, divisions=(24, 10))
    radius = np.linalg.norm(x[:, :2], axis=1).mean()
    y = 2.0 * x
    error = {}
    for smooth in (True, False):
        options = RemeshOptions(smooth=smooth, collapse=False, strain_limit=math.inf)
        result = remesh(mesh, isotropic_sizing(mesh, 0.02), x=x, y=y, options=options)
        error[smooth] = np.abs(np.linalg.norm(result.x[:, :2], axis=1) - radius).mean()
        assert result.y is not None
        np.testing.assert_allclose(result.y, 2.0 * result.x, atol=1e-12)
    assert error[True] < 0.1 * error[False]
    # the strain limit takes the smooth place from a few nodes on bends of 0.26 rad per edge
    usual = remesh(mesh, isotropic_sizing(mesh, 0.02), x=x, options=RemeshOptions(collapse=False))
    assert np.abs(np.linalg.norm(usual.x[:, :2], axis=1) - radius).mean() < 0.15 * error[False]


def test_a_sharp_crease_is_split_in_its_plane() -> None:
    mesh, _ = cs.rectangle(2.0, 1.0, kind="right", divisions=(4, 2))
    x = np.stack([np.minimum(mesh.u[:, 0], 1.0), mesh.u[:, 1], np.maximum(mesh.u[:, 0] - 1.0, 0.0)], axis=1)
    result = remesh(mesh, isotropic_sizing(mesh, 0.15), x=x, options=RemeshOptions(collapse=False))
    near = np.abs(result.mesh.u[:, 0] - 1.0) < 1e-9
    np.testing.assert_allclose(result.x[near][:, [0, 2]], [[1.0, 0.0]] * near.sum(), atol=1e-12)


def test_pins_follow_and_new_nodes_between_them_join() -> None:
    mesh, x = cs.rectangle(1.0, 1.0, kind="right", divisions=(2, 2))
    left = cs.side_nodes(mesh, "left")
    right = cs.side_nodes(mesh, "right")
    node = np.concatenate([left, right]).astype(np.int32)
    handle = np.repeat([0, 4], [len(left), len(right)]).astype(np.int32)
    protected = np.zeros(mesh.node_count, bool)
    protected[node] = True
    result = remesh(mesh, isotropic_sizing(mesh, 0.11), x=x, protected=protected)
    pins = Pins(node, handle, x[node] + 1.0).follow(result)
    sides = np.abs(result.mesh.u[:, 0] * (1.0 - result.mesh.u[:, 0])) < 1e-12
    np.testing.assert_array_equal(np.sort(pins.node), np.flatnonzero(sides))
    np.testing.assert_array_equal(pins.handle, np.where(result.mesh.u[pins.node, 0] < 0.5, 0, 4))
    np.testing.assert_allclose(pins.anchor, result.x[pins.node] + 1.0, atol=1e-12)


def test_other_fields_are_carried() -> None:
    mesh, x = cs.rectangle(1.0, 1.0, kind="right", divisions=(3, 3))
    fields = {"temperature": 2.0 * x[:, 0], "acceleration": x * [1.0, 2.0, 3.0]}
    damage = (np.arange(mesh.face_count) % 2).astype(float)
    result = remesh(mesh, isotropic_sizing(mesh, 0.1), x=x, node_fields=fields, face_fields={"damage": damage})
    np.testing.assert_allclose(result.node_fields["temperature"], 2.0 * result.x[:, 0])
    np.testing.assert_allclose(result.node_fields["acceleration"], result.x * [1.0, 2.0, 3.0])
    assert result.mesh.face_area @ result.face_fields["damage"] == pytest.approx(mesh.face_area @ damage)
