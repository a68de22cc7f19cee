"""Every registered energy: its derivatives, its symmetries and its projection, in all poses of its example."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import crumple.contact
import crumple.energies
from crumple.contract import ENERGIES, Energy, register
from crumple.contract.energy import block_pairs
from crumple.energies.examples import random_rotation

STEP = 1e-6
"""Step of central differences relative to the size of the element; error about STEP² plus rounding/STEP."""

for package in (crumple.energies, crumple.contact):
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
NAMES = sorted(ENERGIES)
EXAMPLE = {name: ENERGIES[name](np.random.default_rng(7)) for name in NAMES}
CASES = [(name, pose) for name in NAMES for pose in EXAMPLE[name].poses]


def full(blocks: np.ndarray, k: int) -> np.ndarray:
    """Element matrices (n, 3k, 3k) from upper node blocks."""
    matrix = np.zeros((len(blocks), k, 3, k, 3))
    for q, (a, b) in enumerate(block_pairs(k)):
        matrix[:, a, :, b] = blocks[:, q]
        matrix[:, b, :, a] = blocks[:, q].transpose(0, 2, 1)
    return matrix.reshape(len(blocks), 3 * k, 3 * k)


def explode(energy, x):
    """The same elements with nodes of their own, so that they can be tested all at once, and those nodes."""
    n, k = energy.stencil.shape
    own = np.arange(n * k, dtype=np.int32).reshape(n, k)
    return replace(energy, stencil=own), np.ascontiguousarray(x[energy.stencil].reshape(-1, 3))


def element_size(p):
    """Smallest distance and height in each element with nodes `p` (n, k, 3) [m], (n,): where angles vary."""
    size = np.full(len(p), 0.01 if p.shape[1] == 1 else np.inf)
    for a, b in combinations(range(p.shape[1]), 2):
        size = np.minimum(size, np.linalg.norm(p[:, a] - p[:, b], axis=1))
    for a, b, c in ((0, 1, 2), (0, 1, 3))[: max(p.shape[1] - 2, 0)]:
        area = np.linalg.norm(np.cross(p[:, b] - p[:, a], p[:, c] - p[:, a]), axis=1)
        longest = np.max([np.linalg.norm(p[:, i] - p[:, j], axis=1) for i, j in ((a, b), (b, c), (c, a))], axis=0)
        size = np.minimum(size, area / longest)
    return size


def differences(function, x, n, step):
    """Central differences of an element quantity in each unknown of exploded elements, (n, 3k, …)."""
    nodes = np.arange(len(x)).reshape(n, -1)
    rows = []
    for a, c in np.ndindex(nodes.shape[1], 3):
        ahead, behind = x.copy(), x.copy()
        ahead[nodes[:, a], c] += step
        behind[nodes[:, a], c] -= step
        change = function(ahead) - function(behind)
        rows.append(change / (2 * step).reshape(-1, *[1] * (change.ndim - 1)))
    return np.stack(rows, axis=1)


def kinds(base: type) -> set[type]:
    """All energies of the package that can be made."""
    below = {kind for child in base.__subclasses__() for kind in kinds(child)}
    is_ours = base.__module__.startswith("crumple.") and not inspect.isabstract(base)
    return below | ({base} if is_ours else set())


def test_every_energy_is_registered():
    assert kinds(Energy) - {type(example.energy) for example in EXAMPLE.values()} == set()


def test_a_name_is_taken_once():
    with pytest.raises(ValueError, match="'wind' is registered already"):
        register("wind")(lambda rng: EXAMPLE["wind"])
    again = ENERGIES["wind"]
    assert register("wind")(again) is again  # a module that is imported again


@pytest.mark.parametrize(("name", "pose"), CASES)
def test_gradient_is_the_derivative_of_the_value(name, pose):
    energy, x = explode(EXAMPLE[name].energy, EXAMPLE[name].poses[pose])
    n, k = energy.stencil.shape
    step = STEP * element_size(x.reshape(n, k, 3))
    expected = differences(energy.value, x, n, step)
    value, (gradient, hessian) = np.abs(energy.value(x)), energy.gradient_hessian(x, False)
    rounding = 1e-14 * value / step + 1e-3 * step * np.abs(hessian).max(axis=(1, 2, 3))
    for e, row in enumerate(gradient.reshape(n, 3 * k)):
        np.testing.assert_allclose(row, expected[e], rtol=1e-5, atol=1e-8 * np.abs(row).max() + rounding[e])


@pytest.mark.parametrize(("name", "pose"), CASES)
def test_hessian_is_the_derivative_of_the_gradient(name, pose):
    energy, x = explode(EXAMPLE[name].energy, EXAMPLE[name].poses[pose])
    n, k = energy.stencil.shape
    step = STEP * element_size(x.reshape(n, k, 3))
    expected = differences(energy.gradient, x, n, step).reshape(n, 3 * k, 3 * k)
    hessian = full(energy.hessian(x, False), k)
    for e in range(n):
        np.testing.assert_allclose(hessian[e], expected[e], rtol=2e-4, atol=2e-7 * np.abs(hessian[e]).max())


@pytest.mark.parametrize(("name", "pose"), CASES)
def test_one_pass_agrees_with_the_parts(name, pose):
    energy, x = EXAMPLE[name].energy, EXAMPLE[name].poses[pose]
    gradient, hessian = energy.gradient_hessian(x, True)
    np.testing.assert_array_equal(gradient, energy.gradient(x))
    np.testing.assert_array_equal(hessian, energy.hessian(x, True))


@pytest.mark.parametrize(("name", "pose"), CASES)
def test_projected_hessian_is_semidefinite(name, pose):
    energy, x = EXAMPLE[name].energy, EXAMPLE[name].poses[pose]
    matrix = full(energy.hessian(x, True), energy.stencil.shape[1])
    values = np.linalg.eigvalsh(matrix)
    assert values.min() >= -1e-10 * max(values.max(), 1e-300)


@pytest.mark.parametrize("name", NAMES)
def test_projection_follows_the_mask(name):
    energy = EXAMPLE[name].energy
    x = EXAMPLE[name].poses["random"]
    mask = np.arange(len(energy.stencil)) % 2 == 0
    mixed = energy.hessian(x, mask)
    np.testing.assert_array_equal(mixed[mask], energy.hessian(x, True)[mask])
    np.testing.assert_array_equal(mixed[~mask], energy.hessian(x, False)[~mask])


@pytest.mark.parametrize("name", NAMES)
def test_projection_leaves_convex_elements_alone(name):
    example = EXAMPLE[name]
    for pose in example.convex:
        exact, projected = (example.energy.hessian(example.poses[pose], project) for project in (False, True))
        np.testing.assert_allclose(projected, exact, atol=1e-10 * np.abs(exact).max())


@pytest.mark.parametrize("name", [name for name in NAMES if EXAMPLE[name].invariant])
def test_rigid_motion_changes_nothing(name):
    energy = EXAMPLE[name].energy
    turn, shift = random_rotation(np.random.default_rng(3)), np.array([0.3, -0.2, 0.5])
    for x in EXAMPLE[name].poses.values():
        moved = np.ascontiguousarray(x @ turn.T + shift)
        scale = np.abs(energy.value(x)).max()
        np.testing.assert_allclose(energy.value(moved), energy.value(x), rtol=1e-8, atol=1e-10 * scale + 1e-16)
        gradient = energy.gradient(x)
        np.testing.assert_allclose(
            energy.gradient(moved), gradient @ turn.T, rtol=1e-6, atol=1e-8 * np.abs(gradient).max() + 1e-10
        )
        np.testing.assert_allclose(gradient.sum(axis=1), 0.0, atol=1e-10 * np.abs(gradient).max() + 1e-16)


@pytest.mark.parametrize("name", [name for name in NAMES if EXAMPLE[name].rest is not None])
def test_no_force_at_rest(name):
    example = EXAMPLE[name]
    forces = [np.abs(example.energy.gradient(x)).max() for x in example.poses.values()]
    assert np.abs(example.energy.gradient(example.rest)).max() <= 1e-10 * max(forces)
    assert max(forces) > 0.0


@pytest.mark.parametrize("name", NAMES)
def test_no_element_at_all(name):
    """An energy without elements (a sheet without hinges, no pins) gives empty arrays."""
    energy, x = EXAMPLE[name].energy, EXAMPLE[name].poses["random"]
    empty = type(energy)(**{key: field[:0] for key, field in vars(energy).items()})
    k = energy.stencil.shape[1]
    assert empty.value(x).shape == (0,)
    gradient, hessian = empty.gradient_hessian(x, True)
    assert gradient.shape == (0, k, 3)
    assert hessian.shape == (0, k * (k + 1) // 2, 3, 3)


@pytest.mark.parametrize("name", NAMES)
def test_restriction_keeps_the_elements_of_the_free_nodes(name):
    example = EXAMPLE[name]
    x = next(iter(example.poses.values()))
    rng = np.random.default_rng(3)
    free = rng.random(len(x)) < 0.4
    number = rng.permutation(len(x)).astype(np.int32)
    part = example.energy.restricted(free, number)
    kept = free[example.energy.stencil].any(axis=1)
    renamed = np.empty_like(x)
    renamed[number] = x
    np.testing.assert_array_equal(part.value(renamed), example.energy.value(x)[kept])
    np.testing.assert_array_equal(part.gradient(renamed), example.energy.gradient(x)[kept])
