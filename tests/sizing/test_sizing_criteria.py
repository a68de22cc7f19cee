"""Each criterion against closed forms computed by hand."""

import numpy as np
import pytest

from crumple.errors import InputError
from crumple.geometry.metric import tensor_form, tensor_matrix
from crumple.geometry.triangle import green_strain, shape_gradients
from crumple.mesh.sheet_mesh import make_sheet_mesh
from crumple.sizing.buckling import sizing_buckling
from crumple.sizing.compression import sizing_compression
from crumple.sizing.curvature import sizing_curvature
from crumple.sizing.damage import sizing_damage
from crumple.sizing.obstacle import sizing_obstacle
from crumple.sizing.plastic import sizing_plastic
from crumple.sizing.user import sizing_user
from crumple.sizing.velocity import sizing_velocity

U = np.array([[0.0, 0.0], [2.0, 0.3], [0.4, 1.5], [-1.0, 0.8]])
FACES = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
GRADIENTS = shape_gradients(U[FACES])


def turn(tensor, angle):
    """Q M Qᵀ."""
    c, s = np.cos(angle), np.sin(angle)
    q = np.array([[c, -s], [s, c]])
    full = q @ tensor_matrix(np.asarray(tensor, float)) @ q.T
    return np.stack([full[..., 0, 0], full[..., 1, 1], full[..., 0, 1]], axis=-1)


@pytest.mark.parametrize("criterion", [sizing_curvature, sizing_plastic])
def test_edge_turns_the_normal_by_the_allowed_angle(criterion):
    """An edge of length Δn/κ across a bend of curvature κ (either sign) is just allowed; along it, any length."""
    curvature = turn([[-40.0, 0.0, 0.0], [40.0, 5.0, 0.0]], 0.7)
    sizing = criterion(curvature, 0.3)
    across, along = np.array([np.cos(0.7), np.sin(0.7)]), np.array([-np.sin(0.7), np.cos(0.7)])
    np.testing.assert_allclose(tensor_form(sizing, across * 0.3 / 40.0), 1.0, rtol=1e-12)
    np.testing.assert_allclose(tensor_form(sizing, along * 0.3 / 5.0), [0.0, 1.0], atol=1e-12)
    for strain, m in zip(tensor_matrix(curvature), tensor_matrix(sizing), strict=True):
        np.testing.assert_allclose(m, strain.T @ strain / 0.09, atol=1e-9)


def test_velocity_difference_along_an_edge():
    gradient = np.array([[0.5, -2.0], [1.0, 0.0], [0.0, 3.0]])  # dv/du
    v = U @ gradient.T + [7.0, -1.0, 4.0]
    sizing = sizing_velocity(FACES, GRADIENTS, v, 0.25)
    expected = gradient.T @ gradient / 0.25**2
    np.testing.assert_allclose(tensor_matrix(sizing), [expected, expected], rtol=1e-12)
    for a, b in ((0, 1), (1, 2)):
        form = tensor_form(sizing[0], U[b] - U[a])
        np.testing.assert_allclose(np.sqrt(form) * 0.25, np.linalg.norm(v[b] - v[a]))
    np.testing.assert_allclose(sizing_velocity(FACES, GRADIENTS, np.ones((4, 3)), 0.1), 0.0, atol=1e-20)


def test_obstacle_distance():
    """A vertical sheet 0.5 above the ground: vertical edges up to 0.5 long, horizontal ones free."""
    x = np.stack([U[:, 0], 0 * U[:, 0], U[:, 1]], axis=1)
    ground = np.tile([0.0, 0.0, -0.5], (4, 1))
    sizing = sizing_obstacle(FACES, GRADIENTS, x, ground, 1e-3)
    np.testing.assert_allclose(sizing, [[0.0, 4.0, 0.0]] * 2, atol=1e-12)
    wall = np.array([[3.0, 0.0, -4.0], [0.0, 0.0, 2.0], [1.0, 7.0, 0.0], [np.nan] * 3])
    # corner by corner: |d|² = 25, 4, 50; the y component does not meet the sheet
    terms = [np.outer(d, d) / s**2 for d, s in (((3, -4), 25), ((0, 2), 4), ((1, 0), 50))]
    sizing = sizing_obstacle(FACES, GRADIENTS, x, wall, 1e-3)
    np.testing.assert_allclose(tensor_matrix(sizing[0]), sum(terms) / 3, rtol=1e-12)
    np.testing.assert_allclose(tensor_matrix(sizing[1]), (terms[0] + terms[2]) / 3, rtol=1e-12)
    lying = np.concatenate([U, np.zeros((4, 1))], axis=1)
    np.testing.assert_allclose(sizing_obstacle(FACES, GRADIENTS, lying, ground, 1e-3), 0.0, atol=1e-20)


def test_obstacle_in_touch_or_absent():
    x = np.stack([U[:, 0], 0 * U[:, 0], U[:, 1]], axis=1)
    for vector in (np.zeros(3), np.full(3, np.nan), np.full(3, np.inf)):
        assert np.all(sizing_obstacle(FACES, GRADIENTS, x, np.tile(vector, (4, 1)), 1e-3) == 0.0)
    close = np.tile([0.0, 0.0, -1e-9], (4, 1))
    np.testing.assert_allclose(sizing_obstacle(FACES, GRADIENTS, x, close, 0.01), [[0.0, 1e4, 0.0]] * 2, atol=1e-6)


def test_compression_and_flat_buckling_are_the_same():
    rng = np.random.default_rng(0)
    strain = rng.normal(size=(200, 3)) * 0.05
    old = sizing_compression(strain, 2e-3)
    new = sizing_buckling(strain, np.zeros((200, 3)), 2e-3, np.full(200, 1e-6))
    np.testing.assert_allclose(new, old, atol=1e-13 / 4e-6)
    pressed = turn([[-0.02, 0.03, 0.0]], 0.4)
    np.testing.assert_allclose(sizing_compression(pressed, 2e-3), turn([[0.02 / 4e-6, 0.0, 0.0]], 0.4), atol=1e-8)


def test_compression_of_a_squeezed_face():
    x = np.stack([0.9 * U[:, 0], 1.1 * U[:, 1], 0 * U[:, 0]], axis=1)
    strain = green_strain(x, FACES, GRADIENTS)
    np.testing.assert_allclose(sizing_compression(strain, 0.1), [[0.095 / 0.01, 0.0, 0.0]] * 2, atol=1e-12)


@pytest.mark.parametrize("angle", [0.0, 0.9, 2.2])
def test_ribs_stiffen_only_across(angle):
    """Compression 0.02 along y. Ribs bent along x resist it (appendix A, eq. 17), bent along y do not."""
    compression, ratio, c = 0.02, 1e-6, 1e-3
    strain = turn([[0.0, -compression, 0.0]], angle)

    def wrinkle(curvature):
        """The sizing along and across the compression (a root of rounding costs eight digits)."""
        tensor = sizing_buckling(strain, turn([curvature], angle), c, np.array([ratio]))
        return turn(tensor, -angle)[0]

    s = 20.0
    root = np.sqrt(compression**2 - ratio / 4 * s**2)
    np.testing.assert_allclose(wrinkle([s, 0.0, 0.0]), [0, 0.5 * (compression + root) / c**2, 0], atol=1e-3)
    np.testing.assert_allclose(wrinkle([0.0, s, 0.0]), [0, compression / c**2, 0], atol=1e-3)
    # negative discriminant: √D → -√-D
    s = 50.0
    root = np.sqrt(ratio / 4 * s**2 - compression**2)
    np.testing.assert_allclose(wrinkle([s, 0.0, 0.0]), [0, 0.5 * (compression - root) / c**2, 0], atol=1e-3)
    np.testing.assert_allclose(wrinkle([-s, 0.0, 0.0]), wrinkle([s, 0.0, 0.0]), atol=1e-3)
    assert 0.5 * (compression - root) > 0.0
    np.testing.assert_allclose(wrinkle([80.0, 0.0, 0.0]), 0.0, atol=1e-3)  # strong ribs: nothing anticipated


def test_smallest_wrinkle_balances_the_energies_of_appendix_a():
    """With c² = k_b/k_s the term is 1/ℓ² at which e₂ = e₁ (eq. 14 and 16)."""
    k_s, k_b, s, eps = 3e3, 2e-4, 90.0, 0.03
    m = sizing_buckling(np.array([[0, -eps, 0.0]]), np.array([[s, 0, 0.0]]), np.sqrt(k_b / k_s))[0, 1]
    before = k_s * eps**2 + k_b * s**2
    after = k_s * eps * s**2 / (16 * m) + k_b * s**2 + k_b * eps * m
    assert m > 0.0
    assert after == pytest.approx(before, rel=1e-9)


def test_ribs_never_refine():
    rng = np.random.default_rng(5)
    strain, curvature = 0.02 * rng.normal(size=(500, 3)), 50 * rng.normal(size=(500, 3))
    old, new = sizing_compression(strain, 1e-3), sizing_buckling(strain, curvature, 1e-3)
    gap = np.linalg.eigvalsh(tensor_matrix(old) - tensor_matrix(new))
    trace = (new[:, 0] + new[:, 1]) - (old[:, 0] + old[:, 1])
    assert np.all(np.linalg.eigvalsh(tensor_matrix(new)) >= -1e-9)
    assert np.mean(trace < -1e-6) > 0.5
    assert np.all(gap[:, 1] >= -1e-9)


def test_damage_gradient_across_a_crease():
    """A strip with one damaged row: narrow across it, free along it."""
    count = 9
    i, j = np.meshgrid(np.arange(count), np.arange(count), indexing="ij")
    u = np.stack([i.ravel(), j.ravel()], 1) * 0.1
    low = (np.arange(count - 1)[:, None] * count + np.arange(count - 1)).ravel()
    faces = np.concatenate(
        [np.stack([low, low + count, low + 1], 1), np.stack([low + count, low + count + 1, low + 1], 1)]
    )
    mesh = make_sheet_mesh(u, faces)
    gradients = shape_gradients(u[mesh.faces])
    middle = u[mesh.faces].mean(axis=1)
    damage = np.where(np.abs(middle[:, 0] - 0.45) < 0.05, 2.0, 0.0)
    sizing = sizing_damage(mesh.face_nodes, gradients, mesh.face_area, mesh.node_count, damage, 0.5)
    inner = np.all((middle > 0.15) & (middle < 0.65), axis=1)
    beside = inner & (np.abs(middle[:, 0] - 0.35) < 0.05)
    np.testing.assert_allclose(sizing[beside][:, 1:], 0.0, atol=1e-9)
    np.testing.assert_allclose(sizing[beside][:, 0], (1.0 / 0.1 / 0.5) ** 2, rtol=1e-12)  # node damage 0 → 1
    far = inner & (middle[:, 0] < 0.25)
    np.testing.assert_allclose(sizing[far], 0.0, atol=1e-12)
    flat = sizing_damage(mesh.face_nodes, gradients, mesh.face_area, mesh.node_count, np.ones(len(faces)), 0.5)
    np.testing.assert_allclose(flat, 0.0, atol=1e-20)


def test_user_field():
    np.testing.assert_allclose(sizing_user(np.array([0.1, np.inf])), [[100, 100, 0], [0, 0, 0]])
    tensor = np.array([[4.0, 1.0, 2.0]])
    np.testing.assert_array_equal(sizing_user(tensor), tensor)
    for bad in (
        np.array([0.0]),
        np.array([np.nan]),
        np.ones((2, 2)),
        np.array([[1.0, -1.0, 0]]),
        np.full((1, 3), np.nan),
    ):
        with pytest.raises(InputError, match=r"remeshing\.criteria"):
            sizing_user(bad)
