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
from crumple.contract import ENERGIES, Derivatives, Energy, register
from crumple.contract.energy import block_pairs
from crumple.energies.examples import random_rotation

STEP = 1e-6
"""Step of central differences relative to the size of the element; error about STEP² plus rounding/STEP."""
TURN = 1e-5
"""Step of central differences in turns [rad]."""

for package in (crumple.energies, crumple.contact):
    for module in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
NAMES = sorted(ENERGIES)
EXAMPLE = {name: ENERGIES[name](np.random.default_rng(7)) for name in NAMES}
CASES = [(name, pose) for name in NAMES for pose in EXAMPLE[name].poses]
EXACT = [(name, pose) for name, pose in CASES if EXAMPLE[name].is_exact]
AT_REST = [name for name in NAMES if not EXAMPLE[name].is_exact]


def full(found: Derivatives) -> np.ndarray:
    """Element matrices (n, 3k + m, 3k + m) by nodes, then turns."""
    n, k, m, _ = found.mixed.shape
    nodes = np.zeros((n, k, 3, k, 3))
    for q, (a, b) in enumerate(block_pairs(k)):
        nodes[:, a, :, b] = found.blocks[:, q]
        nodes[:, b, :, a] = found.blocks[:, q].transpose(0, 2, 1)
    matrix = np.zeros((n, 3 * k + m, 3 * k + m))
    matrix[:, : 3 * k, : 3 * k] = nodes.reshape(n, 3 * k, 3 * k)
    matrix[:, : 3 * k, 3 * k :] = found.mixed.transpose(0, 1, 3, 2).reshape(n, 3 * k, m)
    matrix[:, 3 * k :, : 3 * k] = matrix[:, : 3 * k, 3 * k :].transpose(0, 2, 1)
    for q, (e, f) in enumerate(block_pairs(m)):
        matrix[:, 3 * k + e, 3 * k + f] = matrix[:, 3 * k + f, 3 * k + e] = found.own[:, q]
    return matrix


def slopes(energy, x, half_turn):
    """The gradient of each element by nodes, then turns, (n, 3k + m)."""
    vectors, moments = energy.gradient(x, half_turn), energy.moments(x, half_turn)
    return np.concatenate([vectors.reshape(len(vectors), vectors[0].size), moments], axis=1)


def explode(energy, x, half_turn):
    """The same elements with nodes and edges of their own, so that they can be tested all at once, and those."""
    n, k = energy.stencil.shape
    changes = {"stencil": np.arange(n * k, dtype=np.int32).reshape(n, k)}
    if energy.turns.size:
        changes["edges"] = np.arange(energy.turns.size, dtype=np.int32).reshape(energy.turns.shape)
        changes["beyond"] = np.full_like(energy.beyond, -1)
        half_turn = half_turn[energy.turns].ravel()
    return replace(energy, **changes), np.ascontiguousarray(x[energy.stencil].reshape(-1, 3)), half_turn


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


def differences(function, energy, x, half_turn, step):
    """Central differences of an element quantity in each unknown of exploded elements, nodes, then turns, by the steps
    that Newton's method would take, (n, 3k + m, …)."""
    (n, k), m = energy.stencil.shape, energy.turns.shape[1]
    rows = []
    for q in range(3 * k + m):
        move, turn, length = np.zeros_like(x), np.zeros_like(half_turn), step if q < 3 * k else np.full(n, TURN)
        if q < 3 * k:
            move[energy.stencil[:, q // 3], q % 3] = length
        else:
            turn[energy.turns[:, q - 3 * k]] = length
        change = energy.half_direction(x, move, turn)
        ends = function(x + move, half_turn + change), function(x - move, half_turn - change)
        rows.append((ends[0] - ends[1]) / (2 * length).reshape(-1, *[1] * (ends[0].ndim - 1)))
    return np.stack(rows, axis=1)


def kinds(base: type) -> set[type]:
    """All energies of the package that can be made."""
    below = {kind for child in base.__subclasses__() for kind in kinds(child)}
    is_ours = base.__module__.startswith(("crumple.energies.", "crumple.contact.")) and not inspect.isabstract(base)
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
    energy, x, half_turn = explode(EXAMPLE[name].energy, EXAMPLE[name].poses[pose], EXAMPLE[name].half_turn)
    n, k = energy.stencil.shape
    step = STEP * element_size(x.reshape(n, k, 3))
    expected = differences(energy.value, energy, x, half_turn, step)
    value, blocks = np.abs(energy.value(x, half_turn)), energy.derivatives(x, half_turn, False).blocks
    rounding = 1e-14 * value / step + 1e-3 * step * np.abs(blocks).max(axis=(1, 2, 3))
    for e, row in enumerate(slopes(energy, x, half_turn)):
        for part in (slice(0, 3 * k), slice(3 * k, None)):  # forces and moments are of different size
            largest = np.abs(row[part]).max(initial=0.0)
            np.testing.assert_allclose(row[part], expected[e][part], rtol=1e-5, atol=1e-8 * largest + rounding[e])


def check_hessian(energy, x, half_turn):
    n, k = energy.stencil.shape
    step = STEP * element_size(x.reshape(n, k, 3))
    expected = differences(lambda y, turned: slopes(energy, y, turned), energy, x, half_turn, step)
    hessian = full(energy.derivatives(x, half_turn, False))
    nodes, turns = slice(0, 3 * k), slice(3 * k, None)
    for e in range(n):
        for part in ((nodes, nodes), (nodes, turns), (turns, turns)):
            largest = np.abs(hessian[e][part]).max(initial=0.0)
            np.testing.assert_allclose(hessian[e][part], expected[e][part], rtol=2e-4, atol=2e-7 * largest)


@pytest.mark.parametrize(("name", "pose"), EXACT)
def test_hessian_is_the_derivative_of_the_gradient(name, pose):
    check_hessian(*explode(EXAMPLE[name].energy, EXAMPLE[name].poses[pose], EXAMPLE[name].half_turn))


@pytest.mark.parametrize("name", AT_REST)
def test_hessian_is_the_derivative_of_the_gradient_at_rest(name):
    check_hessian(*explode(EXAMPLE[name].energy, EXAMPLE[name].rest, np.zeros_like(EXAMPLE[name].half_turn)))


@pytest.mark.parametrize(("name", "pose"), CASES)
def test_one_pass_agrees_with_the_parts(name, pose):
    energy, x, half_turn = EXAMPLE[name].energy, EXAMPLE[name].poses[pose], EXAMPLE[name].half_turn
    gradient, hessian = energy.gradient_hessian(x, True)
    np.testing.assert_array_equal(gradient, energy.gradient(x))
    np.testing.assert_array_equal(hessian, energy.hessian(x, True))
    found = energy.derivatives(x, half_turn, True)
    np.testing.assert_array_equal(found.vectors, energy.gradient(x, half_turn))
    np.testing.assert_array_equal(found.moments, energy.moments(x, half_turn))
    still = energy.derivatives(x, np.zeros_like(half_turn), True)
    np.testing.assert_array_equal(still.vectors, gradient)
    np.testing.assert_array_equal(still.blocks, hessian)
    np.testing.assert_array_equal(energy.value(x), energy.value(x, np.zeros_like(half_turn)))


@pytest.mark.parametrize(("name", "pose"), CASES)
def test_projected_hessian_is_semidefinite(name, pose):
    energy, x = EXAMPLE[name].energy, EXAMPLE[name].poses[pose]
    matrix = full(energy.derivatives(x, EXAMPLE[name].half_turn, True))
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
    energy, half_turn = EXAMPLE[name].energy, EXAMPLE[name].half_turn
    turn, shift = random_rotation(np.random.default_rng(3)), np.array([0.3, -0.2, 0.5])
    for x in EXAMPLE[name].poses.values():
        moved = np.ascontiguousarray(x @ turn.T + shift)
        value, gradient = energy.value(x, half_turn), energy.gradient(x, half_turn)
        scale = np.abs(value).max()
        np.testing.assert_allclose(energy.value(moved, half_turn), value, rtol=1e-8, atol=1e-10 * scale + 1e-16)
        np.testing.assert_allclose(
            energy.gradient(moved, half_turn), gradient @ turn.T, rtol=1e-6, atol=1e-8 * np.abs(gradient).max() + 1e-10
        )
        moments = energy.moments(x, half_turn)
        largest = np.abs(moments).max(initial=0.0)
        np.testing.assert_allclose(energy.moments(moved, half_turn), moments, rtol=1e-6, atol=1e-8 * largest)
        np.testing.assert_allclose(gradient.sum(axis=1), 0.0, atol=1e-10 * np.abs(gradient).max() + 1e-16)


@pytest.mark.parametrize("name", [name for name in NAMES if EXAMPLE[name].rest is not None])
def test_no_force_at_rest(name):
    example = EXAMPLE[name]
    still = np.zeros_like(example.half_turn)
    forces = [np.abs(slopes(example.energy, x, example.half_turn)).max() for x in example.poses.values()]
    assert np.abs(slopes(example.energy, example.rest, still)).max() <= 1e-10 * max(forces)
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
    assert empty.derivatives(x, EXAMPLE[name].half_turn).moments.shape == (0, energy.turns.shape[1])


@pytest.mark.parametrize("name", NAMES)
def test_restriction_keeps_the_elements_of_the_free_nodes(name):
    example = EXAMPLE[name]
    x = next(iter(example.poses.values()))
    rng = np.random.default_rng(3)
    free = rng.random(len(x)) < 0.4
    number = rng.permutation(len(x)).astype(np.int32)
    edge_number = rng.permutation(len(example.half_turn)).astype(np.int32)
    part = example.energy.restricted(free, number, edge_number)
    kept = free[example.energy.stencil].any(axis=1)
    if example.energy.turns.size:  # the angles of a face depend on its neighbours, too
        kept |= (free[example.energy.beyond] & (example.energy.beyond >= 0)).any(axis=1)
    renamed, renamed_turn = np.empty_like(x), np.empty_like(example.half_turn)
    renamed[number], renamed_turn[edge_number] = x, example.half_turn
    there, here = part.derivatives(renamed, renamed_turn), example.energy.derivatives(x, example.half_turn)
    for found, wanted in zip(there, here, strict=True):
        np.testing.assert_array_equal(found, wanted[kept])
    np.testing.assert_array_equal(part.value(renamed, renamed_turn), example.energy.value(x, example.half_turn)[kept])
