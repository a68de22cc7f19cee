"""Each criterion against closed forms computed by hand."""

import numpy as np
import pytest

from crumple.boundary.obstacles import make_obstacle
from crumple.geometry.metric import tensor_eigen, tensor_form, tensor_matrix
from crumple.geometry.triangle import green_strain, shape_gradients
from crumple.mesh.sheet_mesh import make_sheet_mesh
from crumple.remeshing.sizing.buckling import Buckling
from crumple.remeshing.sizing.compression import Compression
from crumple.remeshing.sizing.curvature import Curvature
from crumple.remeshing.sizing.damage import Damage
from crumple.remeshing.sizing.floor import sizing_floor
from crumple.remeshing.sizing.obstacle import ObstacleDistance, sizing_obstacle
from crumple.remeshing.sizing.tensors import sizing_tensors
from crumple.remeshing.sizing.velocity import Velocity
from crumple.runtime.errors import InputError
from crumple.shapes import plane, rectangle
from crumple.state import initial_state

U = np.array([[0.0, 0.0], [2.0, 0.3], [0.4, 1.5], [-1.0, 0.8]])
FACES = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
GRADIENTS = shape_gradients(U[FACES])
STATE = initial_state(make_sheet_mesh(U, FACES), np.column_stack([U, np.zeros(4)]))


def sizing_compression(strain, c):
    """The criterion of a given strain."""
    return Compression(c, lambda _: strain)(STATE)


def sizing_buckling(strain, curvature, c, ratio):
    """The criterion of given strains."""
    return Buckling(c, lambda _: strain, lambda _: curvature, ratio)(STATE)


def turn(tensor, angle):
    """Q M Qᵀ."""
    c, s = np.cos(angle), np.sin(angle)
    q = np.array([[c, -s], [s, c]])
    full = q @ tensor_matrix(np.asarray(tensor, float)) @ q.T
    return np.stack([full[..., 0, 0], full[..., 1, 1], full[..., 0, 1]], axis=-1)


def test_edge_turns_the_normal_by_the_allowed_angle():
    """An edge of length Δn/κ across a bend of curvature κ (either sign) is just allowed; along it, any length."""
    curvature = turn([[-40.0, 0.0, 0.0], [40.0, 5.0, 0.0]], 0.7)
    sizing = Curvature(0.3, lambda _: curvature)(STATE)
    across, along = np.array([np.cos(0.7), np.sin(0.7)]), np.array([-np.sin(0.7), np.cos(0.7)])
    np.testing.assert_allclose(tensor_form(sizing, across * 0.3 / 40.0), 1.0, rtol=1e-12)
    np.testing.assert_allclose(tensor_form(sizing, along * 0.3 / 5.0), [0.0, 1.0], atol=1e-12)
    for strain, m in zip(tensor_matrix(curvature), tensor_matrix(sizing), strict=True):
        np.testing.assert_allclose(m, strain.T @ strain / 0.09, atol=1e-9)


def test_velocity_difference_along_an_edge():
    gradient = np.array([[0.5, -2.0], [1.0, 0.0], [0.0, 3.0]])  # dv/du
    v = U @ gradient.T + [7.0, -1.0, 4.0]
    sizing = Velocity(0.25, GRADIENTS)(STATE.replaced(v=v))
    expected = gradient.T @ gradient / 0.25**2
    np.testing.assert_allclose(tensor_matrix(sizing), [expected, expected], rtol=1e-12)
    for a, b in ((0, 1), (1, 2)):
        form = tensor_form(sizing[0], U[b] - U[a])
        np.testing.assert_allclose(np.sqrt(form) * 0.25, np.linalg.norm(v[b] - v[a]))
    uniform = STATE.replaced(v=np.ones((4, 3)))
    np.testing.assert_allclose(Velocity(0.1, GRADIENTS)(uniform), 0.0, atol=1e-20)


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


def test_obstacles_count_while_they_are_present_and_near():
    """The vertical sheet between two floors, of which the upper, nearer one is there up to the time 1 only."""
    points, faces = plane(10.0)
    down = np.array([0.0, 0.0, -1.0])
    near, far = points + 0.5 * down, points + 0.8 * down
    obstacles = (make_obstacle("far", faces, far), make_obstacle("near", faces, near, end=1.0))
    x = np.stack([U[:, 0], 0 * U[:, 0], U[:, 1]], axis=1)
    state = STATE.replaced(x=x, obstacle_x=np.concatenate([far, near]))
    for time, depth in ((0.0, 0.5), (2.0, 0.8)):
        expected = sizing_obstacle(FACES, GRADIENTS, x, np.outer(x[:, 2] + depth, down), 1e-3)
        sizing = ObstacleDistance(obstacles, 1e-3, 10.0, GRADIENTS)(state.replaced(time=time))
        np.testing.assert_allclose(sizing, expected, rtol=1e-9, atol=1e-12)
    assert not ObstacleDistance(obstacles, 1e-3, 0.4, GRADIENTS)(state).any()
    assert not ObstacleDistance((), 1e-3, 10.0, GRADIENTS)(state).any()


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
    c = np.sqrt(k_b / k_s)
    m = sizing_buckling(np.array([[0, -eps, 0.0]]), np.array([[s, 0, 0.0]]), c, np.array([c**2]))[0, 1]
    before = k_s * eps**2 + k_b * s**2
    after = k_s * eps * s**2 / (16 * m) + k_b * s**2 + k_b * eps * m
    assert m > 0.0
    assert after == pytest.approx(before, rel=1e-9)


def test_ribs_never_refine():
    rng = np.random.default_rng(5)
    strain, curvature = 0.02 * rng.normal(size=(500, 3)), 50 * rng.normal(size=(500, 3))
    old, new = sizing_compression(strain, 1e-3), sizing_buckling(strain, curvature, 1e-3, np.full(500, 1e-6))
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
    state = initial_state(mesh, np.column_stack([u, np.zeros(len(u))])).replaced(damage=damage)
    sizing = Damage(0.5, gradients)(state)
    inner = np.all((middle > 0.15) & (middle < 0.65), axis=1)
    beside = inner & (np.abs(middle[:, 0] - 0.35) < 0.05)
    np.testing.assert_allclose(sizing[beside][:, 1:], 0.0, atol=1e-9)
    np.testing.assert_allclose(sizing[beside][:, 0], (1.0 / 0.1 / 0.5) ** 2, rtol=1e-12)  # node damage 0 → 1
    far = inner & (middle[:, 0] < 0.25)
    np.testing.assert_allclose(sizing[far], 0.0, atol=1e-12)
    flat = Damage(0.5, gradients)(state.replaced(damage=np.ones(len(faces))))
    np.testing.assert_allclose(flat, 0.0, atol=1e-20)


def test_traces_of_rounding_beside_a_kept_field_ask_for_nothing():
    """Weights of interpolation may be −1e-16: such a tensor is not positive, and asks for nothing."""
    mesh, x = rectangle(0.1, 0.1, 0.05)
    floor = np.zeros((mesh.vertex_count, 3))
    state = initial_state(mesh, x).replaced(sizing_floor=floor)
    assert not sizing_floor(state).any()
    floor[:, :] = -1e-9 * np.array([0.2, 0.8, 0.4])
    floor[0] = [1e4, 0.0, 0.0]
    found = sizing_floor(state.replaced(sizing_floor=floor))
    assert np.all(tensor_eigen(found)[0] >= 0.0)
    assert found.max() == pytest.approx(1e4 / 3.0, rel=1e-6)
    assert np.all(sizing_tensors(found, mesh.face_count) == found)


def test_lengths_and_tensors():
    np.testing.assert_allclose(sizing_tensors(np.array([0.1, np.inf]), 2), [[100, 100, 0], [0, 0, 0]])
    tensor = np.array([[4.0, 1.0, 2.0]])
    np.testing.assert_array_equal(sizing_tensors(tensor, 1), tensor)
    smallest = np.array([[0.0, 0.0, 5e-324]])  # the square of something tiny, rounded
    np.testing.assert_array_equal(sizing_tensors(smallest, 1), smallest)
    for bad in (
        np.array([0.0]),
        np.array([np.nan]),
        np.ones((1, 2)),
        np.array([[1.0, -1.0, 0]]),
        np.full((1, 3), np.nan),
    ):
        with pytest.raises(InputError, match=r"remeshing\.criteria"):
            sizing_tensors(bad, 1)
