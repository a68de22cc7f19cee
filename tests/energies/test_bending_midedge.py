"""The mid-edge element: derivatives, invariance, rest, and the physics of plates and strips on all kinds of meshes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from flat_plates import cylinder_curvatures, isotropic_plate, moment_curvatures, shape_energy, supported_deflection
from static_sheet import StaticSheet, hold_directors

from crumple.energies.bending_midedge import (
    face_stiffness,
    make_bending_midedge,
    relax_turns,
    sheet_curvature,
)
from crumple.energies.examples import PATCH, patch_poses, random_rotation
from crumple.geometry.directors import edge_links
from crumple.geometry.metric import tensor_norm
from crumple.materials.material import Material
from crumple.materials.stiffness import plate_stiffness
from crumple.mesh import make_sheet_mesh
from crumple.plasticity import crease_from_edges, insert_polyline
from crumple.shapes import rectangle
from crumple.studies.validation.bending_meshes import plate_meshes
from crumple.studies.validation.plate_loads import turned_from

POSES = patch_poses(np.random.default_rng(7))
LINKS = edge_links(PATCH)
GRAIN = 1e-3 * np.array([[2.0, 0.4, 0.0], [0.4, 1.0, 0.0], [0.0, 0.0, 1.1]])
MESHES = plate_meshes(800)
FEW = plate_meshes(200)


def sample(*, creased=True, seed=3):
    """The element on the sample patch, flat at rest or with a random S_p."""
    plastic = np.random.default_rng(seed).uniform(-9, 9, (PATCH.face_count, 3)) if creased else None
    return make_bending_midedge(PATCH, LINKS, GRAIN, plastic_curvature=plastic)


def turned(seed=4):
    """Random half turns."""
    return np.random.default_rng(seed).uniform(-0.5, 0.5, LINKS.edge_count)


def summed(energy, x, half_turn):
    """Gradient by all nodes, then by all turns."""
    vectors, moments = energy.gradient(x, half_turn), energy.moments(x, half_turn)
    total, own = np.zeros_like(x), np.zeros_like(half_turn)
    np.add.at(total, energy.stencil, vectors)
    np.add.at(own, energy.edges, moments)
    return np.concatenate([total.ravel(), own])


def dense(energy, x, half_turn):
    """The assembled Hessian of the element parts."""
    found = energy.derivatives(x, half_turn)
    n, size = x.size, x.size + len(half_turn)
    total = np.zeros((size, size))
    for f in range(len(energy.stencil)):
        dofs = np.concatenate([(3 * energy.stencil[f][:, None] + np.arange(3)).ravel(), n + energy.edges[f]])
        matrix = np.zeros((12, 12))
        q = 0
        for a in range(3):
            matrix[3 * a : 3 * a + 3, 9:] = found.mixed[f, a].T
            for b in range(a, 3):
                matrix[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] = found.blocks[f, q]
                matrix[9 + a, 9 + b] = found.own[f, q]
                q += 1
        upper = np.triu(matrix)
        total[np.ix_(dofs, dofs)] += upper + np.triu(matrix, 1).T
    return total


def differences(energy, function, x, half_turn, step):
    """Central differences along all unknowns, nodes and turns, by the steps that Newton's method would take."""
    rows = []
    for k in range(x.size + len(half_turn)):
        move, turn = np.zeros_like(x), np.zeros_like(half_turn)
        size = step if k < x.size else 1e-5
        (move.ravel() if k < x.size else turn)[k if k < x.size else k - x.size] = size
        change = energy.half_direction(x, move, turn)
        rows.append((function(x + move, half_turn + change) - function(x - move, half_turn - change)) / (2.0 * size))
    return np.array(rows)


@pytest.mark.parametrize("pose", sorted(POSES))
def test_gradient_is_the_derivative_of_the_value(pose):
    energy, x = sample(), POSES[pose]
    step = 1e-9 if "degenerate" in pose else 1e-7
    for half_turn in (turned(), 0.0 * turned()):
        gradient = summed(energy, x, half_turn)
        expected = differences(energy, lambda y, h: energy.value(y, h).sum(), x, half_turn, step)
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-6 * np.abs(gradient).max())


@pytest.mark.parametrize("pose", ["flat", "random", "folded +170°", "folded -170°"])
def test_hessian_is_exact_where_there_is_no_moment(pose):
    """Gauss–Newton leaves out what is proportional to the moments: with S_p = S it is the second derivative."""
    x, half_turn = POSES[pose], turned()
    calm = make_bending_midedge(PATCH, LINKS, GRAIN, plastic_curvature=sample().curvature(x, half_turn))
    assert calm.value(x, half_turn).max() < 1e-20
    expected = differences(calm, lambda y, h: summed(calm, y, h), x, half_turn, 1e-7)
    hessian = dense(calm, x, half_turn)
    np.testing.assert_allclose(hessian, expected, atol=1e-5 * np.abs(hessian).max())


@pytest.mark.parametrize("pose", sorted(POSES))
def test_hessian_is_semidefinite(pose):
    values = np.linalg.eigvalsh(dense(sample(), POSES[pose], turned()))
    assert values.min() >= -1e-10 * values.max()


@pytest.mark.parametrize("pose", sorted(POSES))
def test_rigid_motion_changes_nothing(pose):
    turn, energy = random_rotation(np.random.default_rng(3)), sample()
    x, half_turn = POSES[pose], turned()
    there = np.ascontiguousarray(x @ turn.T + [0.3, -0.2, 0.5])
    np.testing.assert_allclose(energy.value(there, half_turn), energy.value(x, half_turn), rtol=1e-7)
    force, moment = energy.gradient(x, half_turn), energy.moments(x, half_turn)
    force_there, moment_there = energy.gradient(there, half_turn), energy.moments(there, half_turn)
    np.testing.assert_allclose(force_there, force @ turn.T, atol=1e-7 * np.abs(force).max())
    np.testing.assert_allclose(moment_there, moment, atol=1e-7 * np.abs(moment).max())
    np.testing.assert_allclose(force.sum(axis=1), 0.0, atol=1e-10 * np.abs(force).max())
    arm = np.cross(x[energy.stencil], force).sum(axis=1)
    assert np.abs(arm).max() > 1e-6, "a face alone feels a couple from its directors"


def test_no_force_at_rest():
    flat, still = sample(creased=False), np.zeros(LINKS.edge_count)
    for pose in ("flat", "stretched"):
        assert np.abs(summed(flat, POSES[pose], still)).max() < 1e-12
    assert np.abs(summed(flat, POSES["random"], still)).max() > 1e-4


def test_relaxed_turns_are_the_minimum():
    energy, x, start = sample(), POSES["random"], turned()
    relaxed = relax_turns(energy, x, start)
    assert np.abs(summed(energy, x, relaxed)[x.size :]).max() < 1e-12 * np.abs(summed(energy, x, start)).max()
    np.testing.assert_allclose(relax_turns(energy, x, 0.0 * start), relaxed, atol=1e-10)
    held = np.arange(LINKS.edge_count) % 3 == 0
    part = relax_turns(energy, x, start, held=held)
    np.testing.assert_array_equal(part[held], start[held])
    assert energy.value(x, relaxed).sum() < energy.value(x, part).sum() < energy.value(x, start).sum()


def test_damping_is_the_energy_of_the_change():
    energy, x, half_turn = sample(), POSES["random"], turned()
    ratio, start = np.linspace(0.1, 2.0, PATCH.face_count), energy.angles(x, half_turn)
    whole, loss = energy.damped(start, ratio), energy.dissipation(start, ratio)
    np.testing.assert_allclose(loss.value(x, half_turn), 0.0, atol=1e-20)
    y, there = POSES["compressed"], turned(9)
    expected = summed(energy, y, there) + summed(loss, y, there)
    np.testing.assert_allclose(summed(whole, y, there), expected, atol=1e-10 * np.abs(expected).max())


def test_restriction_keeps_what_the_free_nodes_change():
    energy, x, half_turn = sample(), POSES["random"], turned()
    free = np.arange(len(x)) == 6
    number = np.random.default_rng(0).permutation(len(x)).astype(np.int32)
    renamed = np.empty_like(x)
    renamed[number] = x
    edge_number = np.random.default_rng(1).permutation(LINKS.edge_count).astype(np.int32)
    turned_there = np.empty_like(half_turn)
    turned_there[edge_number] = half_turn
    part = energy.restricted(free, number, edge_number)
    np.testing.assert_array_equal(part.value(renamed, turned_there), energy.value(x, half_turn)[[1, 5]])
    moved = x.copy()
    moved[6, 2] += 0.01
    changed = energy.value(moved, half_turn) != energy.value(x, half_turn)
    np.testing.assert_array_equal(np.flatnonzero(changed), [1, 5])


def test_held_directors():
    """Pins pull directors to their targets, by the turn."""
    energy, x, half_turn = sample(), POSES["random"], turned()
    edges = np.array([0, 3, 7], np.int32)
    tangent = x[PATCH.edges[edges, 1]] - x[PATCH.edges[edges, 0]]
    target = np.cross(tangent, [0.3, 1.0, 0.2])
    target /= np.linalg.norm(target, axis=1)[:, None]
    pins = hold_directors(PATCH, LINKS, edges, target, energy)
    step = np.zeros_like(half_turn)
    step[3] = 1e-6
    slope = (pins.value(x, half_turn + step) - pins.value(x, half_turn - step)) / 2e-6
    np.testing.assert_allclose(slope[1], pins.moments(x, half_turn)[1, 0], rtol=1e-6)
    half_turn[edges] -= turned_from(PATCH, LINKS, x, half_turn, edges, target)
    np.testing.assert_allclose(pins.value(x, half_turn), 0.0, atol=1e-18)


def test_folding_a_flap_takes_few_iterations():
    """A sharp crease opens from flat: parts that swing around keep their angles, so long steps are good steps."""
    line = insert_polyline(FEW["jittered"], np.array([[0.1, 0.0], [0.9, 1.0]]))
    mesh, start = line.mesh, np.ascontiguousarray(line.mesh.node_rest)
    plastic = crease_from_edges(mesh, line.hinges, 2.5)
    nothing = np.zeros(0, np.int32)
    sheet = StaticSheet(
        mesh, plate=isotropic_plate(0.0), stretch=30.0, held_nodes=nothing, held_edges=nothing, force=0.0 * start
    )
    x = sheet.settle(start, np.zeros((0, 3)), np.zeros((0, 3)), plastic=plastic, longest=np.inf, least=1e3)
    assert sheet.iterations < 15
    found = sheet_curvature(mesh, sheet.links, x, sheet.half_turn)
    np.testing.assert_allclose(found, plastic, atol=1e-2 * np.abs(plastic).max())


def mirrored_strip():
    """A rectangle, and the same with the pattern of its right half mirrored: a seam between opposite orientations."""
    mesh, _ = rectangle(1.0, 0.6, divisions=(8, 5), kind="alternating")
    right = mesh.u[mesh.faces].mean(axis=1)[:, 0] > 0.5
    copies = np.unique(mesh.faces[right])
    number = np.full(mesh.vertex_count, -1)
    number[copies] = mesh.vertex_count + np.arange(len(copies))
    faces = mesh.faces.copy()
    faces[right] = number[faces[right]][:, ::-1]
    left = np.unique(mesh.faces[~right])
    used = np.unique(np.concatenate([left, number[copies]]))
    u = np.concatenate([mesh.u, mesh.u[copies] * [-1.0, 1.0]])
    node = np.concatenate([np.arange(mesh.vertex_count), copies])
    compact = np.searchsorted(used, faces)
    return mesh, make_sheet_mesh(u[used], compact, vertex_node=node[used], node_rest=mesh.node_rest), right


def test_orientation_does_not_matter():
    """Faces that look down beside faces that look up have the same energy, and curvatures of opposite sign."""
    plain, mirrored, right = mirrored_strip()
    rng = np.random.default_rng(8)
    x = plain.node_rest + 0.03 * rng.standard_normal(plain.node_rest.shape)
    plate, found = isotropic_plate(0.3), []
    for mesh in (plain, mirrored):
        links = edge_links(mesh)
        energy = make_bending_midedge(mesh, links, plate)
        half_turn = relax_turns(energy, x, np.zeros(links.edge_count))
        found.append((energy.value(x, half_turn), energy.curvature(x, half_turn)))
    second = mirrored.hinges.corners[:, 1]
    assert (edge_links(mirrored).side.ravel()[second] == 1.0).sum() == 5
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=1e-9)
    # mirrored in u: xx and yy only change with the normal, xy changes twice
    np.testing.assert_allclose(found[1][1][right] * [-1, -1, 1], found[0][1][right], atol=1e-8)


def test_stiffness_from_materials():
    paper = Material.isotropic("paper", young=3e9, poisson=0.3, thickness=1e-4, density=0.08, weakening=2.0)
    np.testing.assert_allclose(plate_stiffness(paper), paper.bend_stiffness * isotropic_plate(0.3), rtol=1e-12)
    grain = Material.orthotropic("grain", young=(6e9, 2e9), poisson=0.4, thickness=1e-4, density=0.08)
    plate, share = plate_stiffness(grain), 1e-12 / 12.0 / (1.0 - 0.4 * 0.4 / 3.0)
    np.testing.assert_allclose(plate[[0, 1, 0], [0, 1, 1]], [6e9 * share, 2e9 * share, 0.4 * 2e9 * share], rtol=1e-9)
    assert np.linalg.eigvalsh(plate).min() > 0.0
    damage = np.linspace(0.0, 1.0, PATCH.face_count)
    weak = face_stiffness(PATCH, (paper,), damage=damage, held=damage == 1.0)
    np.testing.assert_allclose(weak[:-1], plate_stiffness(paper) / (1.0 + 2.0 * damage[:-1, None, None]))
    assert weak[-1, 0, 0] > 1e3 * weak[0, 0, 0]


@pytest.mark.parametrize("angle", [0.5, np.pi / 2, -1.0])
def test_turned_grain_is_a_turned_pattern(angle):
    paper = Material.orthotropic("paper", young=(6e9, 2e9), poisson=0.4, thickness=1e-4, density=0.08)
    c, s = np.cos(angle), np.sin(angle)
    under = replace(PATCH, u=np.ascontiguousarray(PATCH.u @ np.array([[c, -s], [s, c]])))
    x, half_turn, found = POSES["random"], turned(), []
    for mesh, material in ((PATCH, replace(paper, grain_angle=angle)), (under, paper), (PATCH, paper)):
        found.append(make_bending_midedge(mesh, LINKS, face_stiffness(mesh, (material,))).value(x, half_turn))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)
    assert not np.allclose(found[0], found[2], rtol=1e-2)


@pytest.mark.parametrize("name", sorted(MESHES))
def test_supported_plate_converges_on_every_mesh(name):
    """Within 3 % of Navier's series at 800 faces (the hinge gives .36 to .98), the error falling with order 2."""
    coarse, fine = (abs(supported_deflection(meshes[name]) - 1.0) for meshes in (FEW, MESHES))
    assert fine < (0.03 if name == "aspect 3" else 0.015)
    assert np.log(coarse / fine) / np.log(2.0) > 1.6


@pytest.mark.parametrize("name", sorted(FEW))
def test_constant_moments_are_exact(name):
    """A bent strip shows the material's ν, and its stiffness along and across the grain, on every mesh."""
    mesh = FEW[name]
    for poisson in (0.0, 0.3, 0.45):
        curvature = moment_curvatures(mesh, isotropic_plate(poisson), 0)
        expected = np.array([1.0, -poisson, 0.0]) / (1.0 - poisson**2)
        np.testing.assert_allclose(curvature, np.tile(expected, (mesh.face_count, 1)), atol=1e-7)
    along, across = (moment_curvatures(mesh, GRAIN, axis)[:, axis].mean() for axis in (0, 1))
    np.testing.assert_allclose(across / along, 2.0, rtol=1e-7)


@pytest.mark.parametrize("name", sorted(FEW))
def test_twist_and_sphere_have_their_energies(name):
    for poisson in (0.0, 0.3, 0.45):
        twist = shape_energy(FEW[name], poisson, lambda u: u[:, 0] * u[:, 1], lambda u: u[:, ::-1])
        sphere = shape_energy(FEW[name], poisson, lambda u: 0.5 * (u**2).sum(axis=1), lambda u: u)
        np.testing.assert_allclose([twist, sphere], [1.0 - poisson, 1.0 + poisson], rtol=1e-6)


@pytest.mark.parametrize("name", ["delaunay", "jittered", "aspect 3"])
def test_curvature_of_a_cylinder_does_not_scatter(name):
    """Away from the rim |S| is κ face by face (by halves of hinges it is up to 2.7 κ on such meshes)."""
    mesh = MESHES[name]
    rim = np.abs(mesh.u[mesh.faces].mean(axis=1) - 0.5).max(axis=1) > 0.5 - 5 / np.sqrt(0.5 * mesh.face_count)
    for degrees in (0.0, 20.0, 77.0):
        size = tensor_norm(cylinder_curvatures(mesh, 1.0, np.radians(degrees)))[~rim]
        np.testing.assert_allclose(size, 1.0, atol=0.03)


def bent_sheet(mesh, poisson, stretch):
    """A square between two clamps that hold it on a cylinder of radius 1, at rest: |S| of its faces."""
    u, edges = mesh.u, mesh.edges
    x = np.ascontiguousarray(np.stack([np.sin(u[:, 0]), u[:, 1], np.cos(u[:, 0])], axis=1))
    at_end = (np.abs(u[edges, 0] - 0.5) > 0.5 - 1e-9).all(axis=1) & (np.ptp(u[edges, 0], axis=1) < 1e-9)
    held, nodes = np.flatnonzero(at_end), np.unique(edges[at_end])
    sheet = StaticSheet(
        mesh,
        plate=isotropic_plate(poisson),
        stretch=stretch,
        poisson=poisson,
        held_nodes=nodes,
        held_edges=held,
        force=np.zeros_like(x),
    )
    angle = u[edges[held, 0], 0]
    normal = np.stack([np.sin(angle), 0.0 * angle, np.cos(angle)], axis=1)
    x = sheet.settle(x, x[nodes], normal)
    return tensor_norm(sheet_curvature(mesh, sheet.links, x, sheet.half_turn))


@pytest.mark.parametrize("name", ["delaunay", "jittered", "aspect 3"])
def test_no_face_yields_early(name):
    """A sheet bent to 0.9 κ_y everywhere: no face is beyond κ_y (a third to a half were, by hinges)."""
    size = bent_sheet(MESHES[name], 0.0, 1e4)
    assert 0.9 * size.max() < 1.0
    np.testing.assert_allclose(size, 1.0, atol=0.06)


@pytest.mark.parametrize("name", ["equilateral", "jittered", "aspect 3"])
def test_heavy_elastica(name):
    """A strip that hangs from a clamp along its first row of nodes; drop over reach for Γ = 20 is 1.8639."""
    mesh = plate_meshes(520)[name]
    nodes = np.flatnonzero(mesh.u[:, 0] < 1e-9)
    edges = np.flatnonzero((mesh.u[mesh.edges, 0] < 1e-9).all(axis=1))
    x = mesh.node_rest.copy()
    sheet = StaticSheet(
        mesh, plate=isotropic_plate(0.0), stretch=1.2e3, held_nodes=nodes, held_edges=edges, force=np.zeros_like(x)
    )
    for share in (0.25, 0.5, 0.75, 1.0):
        sheet.force[:, 2] = -20.0 * share**2 * mesh.node_area
        x = sheet.settle(x, mesh.node_rest[nodes], np.tile([0.0, 0.0, 1.0], (len(edges), 1)))
    tip = mesh.u[:, 0] > 1.0 - 1e-9
    np.testing.assert_allclose(-x[tip, 2].mean() / x[tip, 0].mean(), 1.8639, rtol=0.02)
    assert sheet.iterations < 40
