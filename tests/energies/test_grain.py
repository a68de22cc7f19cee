"""The grain: turning it on the pattern is the same as turning the pattern under it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crumple.energies import make_hinges, make_membranes
from crumple.materials import Material, preset
from crumple.materials.stiffness import turned as turned_stiffness
from crumple.shapes import rectangle


def energy(mesh, x, material, strain=None):
    rest = np.zeros((mesh.face_count, 3)) if strain is None else strain
    parts = [
        *make_membranes(mesh, (material,)).at(x, rest),
        *make_hinges(mesh, (material,)).at(np.zeros(len(mesh.hinges.nodes))),
    ]
    return [float(np.sum(term.value(x))) for term, _ in parts]


@pytest.mark.parametrize("angle", [0.4, np.pi / 2, -2.0])
def test_turned_grain_is_a_turned_pattern(angle):
    mesh, x = rectangle(0.1, 0.07, 0.02, kind="delaunay")
    x = x + 1e-3 * np.random.default_rng(1).normal(size=x.shape)
    paper = preset("paper80-md")
    c, s = np.cos(angle), np.sin(angle)
    pattern = replace(mesh, u=np.ascontiguousarray(mesh.u @ np.array([[c, -s], [s, c]])))
    grained = replace(paper, grain_angle=angle)
    np.testing.assert_allclose(energy(mesh, x, grained), energy(pattern, x, paper), rtol=1e-9)
    assert not np.allclose(energy(mesh, x, grained), energy(mesh, x, paper), rtol=1e-3)


@pytest.mark.parametrize("angle", [0.0, 0.7])
def test_small_strain_costs_what_the_matrix_says(angle):
    mesh, x = rectangle(0.1, 0.07, 0.02)
    material = replace(preset("paper80-md"), grain_angle=angle)
    strain = np.array([1e-6, -3e-7, 8e-7])  # xx, yy, xy
    x[:, :2] += x[:, :2] @ np.array([[strain[0], strain[2]], [strain[2], strain[1]]])
    voigt = strain * [1.0, 1.0, 2.0]
    c11, c12, c22, c33 = material.membrane
    stiffness = turned_stiffness(np.array([[c11, c12, 0.0], [c12, c22, 0.0], [0.0, 0.0, 0.5 * c33]]), angle)
    expected = 0.5 * 0.007 * voigt @ stiffness @ voigt
    np.testing.assert_allclose(energy(mesh, x, material)[0], expected, rtol=1e-4)
    rest = np.tile(strain, (mesh.face_count, 1))
    assert energy(mesh, x, material, rest)[0] < 1e-4 * expected


def test_isotropic_sheets_have_no_grain():
    mesh, x = rectangle(0.1, 0.07, 0.02)
    x = x + 1e-3 * np.random.default_rng(1).normal(size=x.shape)
    plain = Material.isotropic("plain", young=1e9, poisson=0.3, thickness=1e-4, density=0.1)
    np.testing.assert_allclose(energy(mesh, x, replace(plain, grain_angle=1.0)), energy(mesh, x, plain), rtol=1e-9)
