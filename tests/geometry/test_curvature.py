"""Bending strain of faces: the factor of eq. 1, rates, seams, boundaries, and the way back to angles."""

import numpy as np
import pytest
from scipy.spatial import Delaunay

from crumple.geometry.curvature import bending_strain, curvature_stencil, rest_angle
from crumple.geometry.hinge import dihedral_angles
from crumple.geometry.metric import tensor_eigen
from crumple.mesh.sheet_mesh import make_sheet_mesh

LATTICES = {
    "equilateral": np.array([[1.0, 0.0], [0.5, np.sqrt(0.75)]]),
    "right": np.array([[1.0, 0.0], [0.0, 1.0]]),
    "sheared": np.array([[1.0, 0.2], [-0.7, 0.5]]),
}


def lattice(basis, count, spacing):
    """A parallelogram of count × count cells, two triangles each, around the origin."""
    i, j = np.meshgrid(np.arange(count + 1), np.arange(count + 1), indexing="ij")
    u = (np.stack([i.ravel(), j.ravel()], 1) - count / 2) @ basis * spacing
    low = (np.arange(count)[:, None] * (count + 1) + np.arange(count)).ravel()
    faces = np.concatenate(
        [
            np.stack([low, low + count + 1, low + 1], 1),
            np.stack([low + count + 1, low + count + 2, low + 1], 1),
        ]
    )
    return make_sheet_mesh(u, faces)


def irregular(count, seed):
    """Delaunay triangles of random points in the unit square."""
    rng = np.random.default_rng(seed)
    side = np.linspace(0, 1, int(np.sqrt(count)))
    edge = [np.stack(p, 1) for p in ((side, 0 * side), (side, 0 * side + 1))]
    edge += [np.stack(p, 1)[1:-1] for p in ((0 * side, side), (0 * side + 1, side))]
    u = np.concatenate([*edge, 0.02 + 0.96 * rng.random((count, 2))])
    return make_sheet_mesh(u, orient(u, Delaunay(u).simplices))


def orient(u, faces):
    """Faces turned counter-clockwise."""
    e, f = u[faces[:, 1]] - u[faces[:, 0]], u[faces[:, 2]] - u[faces[:, 0]]
    clockwise = e[:, 0] * f[:, 1] < e[:, 1] * f[:, 0]
    faces = faces.copy()
    faces[clockwise] = faces[clockwise][:, ::-1]
    return faces


def cylinder(u, curvature, angle):
    """Isometric cylinder, bent along the direction `angle`, normals outward; and its tensor κ d dᵀ."""
    d = np.array([np.cos(angle), np.sin(angle)])
    s, p = u @ d, u @ np.array([-d[1], d[0]])
    along, height = np.sin(curvature * s) / curvature, np.cos(curvature * s) / curvature
    x = np.stack([along * d[0] - p * d[1], along * d[1] + p * d[0], height], 1)
    return np.ascontiguousarray(x), curvature * np.array([d[0] ** 2, d[1] ** 2, d[0] * d[1]])


def strain_of(mesh, x):
    """Bending strain of the pose x and the faces that have all three hinges."""
    stencil = curvature_stencil(mesh)
    angle = dihedral_angles(x, mesh.hinges.nodes)
    return bending_strain(stencil, angle), np.all(stencil.face_hinge >= 0, axis=1)


@pytest.mark.parametrize("kind", LATTICES)
@pytest.mark.parametrize("angle", [0.0, 0.4, 1.2, 2.5])
def test_cylinder_on_a_lattice_has_its_curvature_in_every_face(kind, angle):
    """No factor is missing in eq. 1: eigenvalues are (κ, 0), second order in the spacing."""
    error = []
    for spacing in (0.1, 0.05, 0.025):
        mesh = lattice(LATTICES[kind], 5, spacing)
        x, expected = cylinder(mesh.u, 1.7, angle)
        strain, inner = strain_of(mesh, x)
        error.append(np.abs(strain[inner] - expected).max())
    assert error[0] < 0.02 * 1.7
    assert error[1] < error[0] / 3.7 + 1e-12  # edges along the axis make it exact
    assert error[2] < error[1] / 3.7 + 1e-12


@pytest.mark.parametrize("kind", LATTICES)
def test_small_sphere_cap_has_two_equal_curvatures(kind):
    """Cap around the pole of a sphere seen from above; the cap shrinks with the spacing."""
    error = []
    for spacing in (0.1, 0.05, 0.025):
        mesh = lattice(LATTICES[kind], 4, spacing)
        radius = 0.8
        height = np.sqrt(radius**2 - (mesh.u**2).sum(1))
        strain, inner = strain_of(mesh, np.column_stack([mesh.u, height]))
        error.append(np.abs(strain[inner] - np.array([1.0, 1.0, 0.0]) / radius).max())
    assert np.log2(error[0] / error[1]) > 1.7
    assert np.log2(error[1] / error[2]) > 1.9


def test_curvature_is_right_on_average_on_irregular_meshes():
    """The integral of S tends to the integral of ∇n although single faces scatter."""
    error = []
    for count in (100, 400, 1600, 6400):
        mesh = irregular(count, seed=count)
        x, expected = cylinder(mesh.u, 0.9, 0.7)
        strain, inner = strain_of(mesh, x)
        middle = mesh.u[mesh.faces].mean(axis=1)
        inner &= np.all((middle > 0.15) & (middle < 0.85), axis=1)
        mean = np.average(strain[inner], axis=0, weights=mesh.face_area[inner])
        error.append(np.abs(mean - expected).max())
    assert error[-1] < 0.01
    assert np.log2(error[0] / error[-1]) > 2.0  # three halvings of the spacing: first order with noise


def test_sign_and_value_of_one_hinge():
    """A mountain fold (normals diverge) is positive; S = θ ℓ t tᵀ/(2A), half of it in each face."""
    u = np.array([[0.0, -1.0], [0.0, 1.0], [-0.5, 0.0], [2.0, 0.0]])
    mesh = make_sheet_mesh(u, np.array([[0, 1, 2], [1, 0, 3]]))
    x = np.array([[0.0, -1.0, 0.0], [0.0, 1.0, 0.0], [-0.5 * np.cos(0.3), 0.0, -0.5 * np.sin(0.3)], [2.0, 0.0, 0.0]])
    strain, _ = strain_of(mesh, x)
    np.testing.assert_allclose(strain, [[0.3 * 2 / (2 * 0.5), 0, 0], [0.3 * 2 / (2 * 2.0), 0, 0]], atol=1e-14)
    turned = x * [1, 1, -1]
    np.testing.assert_allclose(strain_of(mesh, turned)[0], -strain, atol=1e-14)


def test_angles_come_back_exactly():
    mesh = irregular(80, seed=5)
    stencil = curvature_stencil(mesh)
    angle = np.random.default_rng(0).normal(size=len(mesh.hinges.nodes))
    strain = bending_strain(stencil, angle)
    np.testing.assert_allclose(rest_angle(stencil, strain), angle, atol=1e-11)
    again = bending_strain(stencil, rest_angle(stencil, strain))
    np.testing.assert_allclose(again, strain, atol=1e-11 * np.abs(strain).max())


def test_disagreeing_neighbours_are_averaged_and_boundaries_solved_by_least_squares():
    mesh = irregular(30, seed=8)
    stencil = curvature_stencil(mesh)
    strain = np.random.default_rng(1).normal(size=(mesh.face_count, 3))
    weight = np.array([1.0, 1.0, np.sqrt(2.0)])  # Frobenius norm
    total = np.zeros(len(mesh.hinges.nodes))
    for face in range(mesh.face_count):
        columns, hinges = [], []
        for k in range(3):
            if stencil.face_hinge[face, k] < 0:
                continue
            edge = mesh.u[mesh.faces[face, (k + 1) % 3]] - mesh.u[mesh.faces[face, k]]
            length = np.linalg.norm(edge)
            t = np.array([edge[1], -edge[0]]) / length
            tensor = np.array([t[0] ** 2, t[1] ** 2, t[0] * t[1]]) * length / (2 * mesh.face_area[face])
            columns.append(weight * tensor)
            hinges.append(stencil.face_hinge[face, k])
        total[hinges] += 0.5 * np.linalg.lstsq(np.stack(columns, 1), weight * strain[face], rcond=None)[0]
    np.testing.assert_allclose(rest_angle(stencil, strain), total, atol=1e-12)


def test_seams_use_the_frame_of_each_panel():
    """Two panels, one turned and moved in the pattern, sewn into one cylinder: each sees κ in its own frame."""
    left = lattice(LATTICES["right"], 6, 0.05)
    turn = 0.6
    rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    shifted = left.u + np.array([0.3, 0.0])
    right_nodes = np.arange(len(left.u)) + len(left.u)
    seam_left, seam_right = left.u[:, 0] > 0.149, left.u[:, 0] < -0.149
    right_nodes[seam_right] = np.flatnonzero(seam_left)
    vertex_node = np.unique(np.concatenate([np.arange(len(left.u)), right_nodes]), return_inverse=True)[1]
    place = np.zeros((vertex_node.max() + 1, 2))
    place[vertex_node] = np.concatenate([left.u, shifted])
    x, expected = cylinder(place, 2.0, 0.3)
    mesh = make_sheet_mesh(
        np.concatenate([left.u, shifted @ rotation + 5.0]),
        np.concatenate([left.faces, left.faces + len(left.u)]),
        vertex_node=vertex_node,
        node_rest=x,
    )
    assert mesh.has_seams
    strain, inner = strain_of(mesh, x)
    across = np.isin(mesh.twin // 3, np.arange(left.face_count)) & (
        np.arange(3 * mesh.face_count) // 3 >= left.face_count
    )
    assert across.sum() == 6
    assert np.any(inner[np.flatnonzero(across) // 3])
    d = np.array([np.cos(0.3), np.sin(0.3)]) @ rotation
    turned = 2.0 * np.array([d[0] ** 2, d[1] ** 2, d[0] * d[1]])
    first = np.arange(mesh.face_count) < left.face_count
    np.testing.assert_allclose(strain[inner & first], expected[None].repeat((inner & first).sum(), 0), atol=0.02)
    np.testing.assert_allclose(strain[inner & ~first], turned[None].repeat((inner & ~first).sum(), 0), atol=0.02)


def test_degenerate_face_is_finite_and_has_no_say():
    u = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.0], [0.5, 1.0], [0.5, -1.0]])
    mesh = make_sheet_mesh(u, np.array([[0, 1, 3], [1, 0, 2], [0, 4, 2], [4, 1, 2]]))
    stencil = curvature_stencil(mesh)
    assert list(stencil.face_valid) == [True, False, True, True]
    angle = np.array([0.1, 0.2, 0.3, 0.4])
    strain = bending_strain(stencil, angle)
    assert np.all(np.isfinite(strain))
    assert np.all(strain[1] == 0.0)
    np.testing.assert_allclose(rest_angle(stencil, strain), angle, atol=1e-12)


@pytest.mark.parametrize("height", [1e-2, 3e-6, 1e-6, 1e-9, 1e-15])
def test_slivers_at_the_boundary_stay_finite(height):
    """Two hinges of nearly the same direction: the least squares may lose digits but not their mind."""
    u = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, height], [0.4, -1.0], [1.0, 1.0]])
    mesh = make_sheet_mesh(u, np.array([[0, 1, 2], [1, 0, 3], [2, 1, 4]]))
    stencil = curvature_stencil(mesh)
    angle = np.array([0.2, -0.1])
    strain = bending_strain(stencil, angle)
    np.testing.assert_allclose(rest_angle(stencil, strain), angle, atol=1e-3)


def test_out_arrays_are_used():
    mesh = irregular(20, seed=2)
    stencil = curvature_stencil(mesh)
    angle = np.ones(len(mesh.hinges.nodes))
    strain, back = np.empty((mesh.face_count, 3)), np.empty(len(angle))
    assert bending_strain(stencil, angle, out=strain) is strain
    assert rest_angle(stencil, strain, out=back) is back
    assert np.all(np.isfinite(tensor_eigen(strain)[0]))
