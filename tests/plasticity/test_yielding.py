"""Yielding by curvature: the round trip of a uniform bend, the isolated crease, hardening and the crease radius."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plastic_shapes import creased, fold, inner_faces, roll, sheet

from crumple.energies import make_hinges
from crumple.geometry.curvature import curvature_stencil, rest_angle, shape_curvature
from crumple.geometry.hinge import dihedral_angles
from crumple.geometry.metric import tensor_eigen, tensor_norm
from crumple.materials.material import Material
from crumple.mesh import make_sheet_mesh
from crumple.plasticity import make_yield_law, uniform_yield_law, yield_curvature

YIELD, WEAKENING, BEND = 20.0, 0.5, 4e-4


def paper(**others):
    """A paper that yields at YIELD and weakens with WEAKENING."""
    values = {"yield_curvature": YIELD, "weakening": WEAKENING} | others
    return Material.from_stiffness("paper", stretch=1e5, bend=BEND, thickness=1e-4, density=0.08, **values)


def bend(mesh, x, law, plastic=None, damage=None):
    """Yield once in the pose x."""
    plastic = np.zeros((mesh.face_count, 3)) if plastic is None else plastic
    damage = np.zeros(mesh.face_count) if damage is None else damage
    return yield_curvature(law, shape_curvature(mesh, x, curvature_stencil(mesh)), plastic, damage)


@pytest.mark.parametrize("kind", ["equilateral", "right"])
@pytest.mark.parametrize("angle", [0.0, 0.6, 1.9])
def test_uniform_bend_leaves_what_exceeds_the_yield_curvature(kind, angle):
    """VALIDATION 5: residual κ - κ_y in the direction of the bend, δ = κ_p/κ_y, 1 %."""
    mesh, _ = sheet(kind, 0.004)
    curvature = 3.0 * YIELD
    done = bend(mesh, roll(mesh.u, curvature, angle), make_yield_law(mesh, (paper(),)))
    inner = inner_faces(mesh, 0.008)  # rows of equilateral triangles end in half ones
    values, axis = tensor_eigen(done.plastic_curvature[inner])
    np.testing.assert_allclose(values[:, 0], curvature - YIELD, rtol=0.01)
    np.testing.assert_allclose(values[:, 1], 0.0, atol=0.01 * curvature)
    np.testing.assert_allclose(np.abs(axis @ [np.cos(angle), np.sin(angle)]), 1.0, atol=1e-3)
    np.testing.assert_allclose(done.damage[inner], (curvature - YIELD) / YIELD, rtol=0.01)


def test_reloading_a_yielded_sheet_is_softer():
    """The stiffness around the new rest shape is B/(1 + γ δ), 1 %."""
    mesh, _ = sheet("right", 0.004)
    material = paper()
    stencil = curvature_stencil(mesh)
    done = bend(mesh, roll(mesh.u, 60.0), make_yield_law(mesh, (material,)))
    ((bending, _),) = make_hinges(mesh, (material,)).at(rest_angle(stencil, done.plastic_curvature), done.damage)
    inner = inner_faces(mesh, 0.008)[mesh.hinges.faces].all(axis=1)
    across = inner & np.isclose(np.ptp(mesh.node_rest[mesh.hinges.nodes[:, :2], 0], axis=1), 0.0)
    area = mesh.face_area[mesh.hinges.faces[across]].sum()
    damage = (60.0 - YIELD) / YIELD
    for curvature in (30.0, 35.0, 50.0):
        energy = bending.value(roll(mesh.u, curvature))[inner].sum()
        expected = 0.5 * BEND / (1.0 + WEAKENING * damage) * (curvature - 40.0) ** 2 * area
        assert energy == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(("kind", "size"), [("right", 0.005), ("equilateral", 0.0035), ("delaunay", 0.0025)])
def test_isolated_crease_is_a_rotational_spring(kind, size):
    """VALIDATION 5: k_c = B/(h + γ θ_p/κ_y) per length, within 10 %, about the rest angle θ_p."""
    line = creased(kind, size)
    mesh, material, angle = line.mesh, paper(), 1.5
    hinges = mesh.hinges
    length = mesh.corner_length[hinges.corners[line.hinges, 0]]
    total = length.sum()
    height = mesh.face_area[hinges.faces[line.hinges]].sum() / total
    done = bend(mesh, fold(mesh.u, angle), make_yield_law(mesh, (material,)))
    rest = rest_angle(curvature_stencil(mesh), done.plastic_curvature)
    ((bending, _),) = make_hinges(mesh, (material,)).at(rest, done.damage)
    plastic = np.average(rest[line.hinges], weights=length)
    assert plastic == pytest.approx(angle - YIELD * height, rel=0.02)

    def energy(theta):
        return float(bending.value(fold(mesh.u, theta)).sum())

    spread = 0.1
    spring = (energy(plastic + spread) - 2 * energy(plastic) + energy(plastic - spread)) / spread**2 / total
    assert spring == pytest.approx(BEND / (height + WEAKENING * plastic / YIELD), rel=0.1)
    assert abs(energy(plastic + spread) - energy(plastic - spread)) < 0.02 * spring * total * spread


SCATTER = {"right": 1.07, "equilateral": 1.75, "alternating": 1.6, "delaunay": 3.6}
"""Largest ‖S_f‖/κ of a face on a cylinder of curvature κ, the faces at the outline included."""


@given(angle=st.floats(0.0, 3.1), fraction=st.floats(0.01, 0.99), kind=st.sampled_from(sorted(SCATTER)))
@settings(max_examples=20, deadline=None)
def test_below_yield_nothing_changes(angle, fraction, kind):
    """Damage is exactly 0 and S_p exactly as it was while no *face* is bent beyond yield."""
    mesh, _ = sheet(kind, 0.01)
    done = bend(mesh, roll(mesh.u, fraction * YIELD / SCATTER[kind], angle), make_yield_law(mesh, (paper(),)))
    assert done.count == 0
    assert not done.damage.any()
    assert not done.plastic_curvature.any()


@pytest.mark.parametrize("kind", ["equilateral", "right"])
def test_lattices_yield_at_the_yield_curvature(kind):
    """Away from the outline no face yields at 0.99 κ_y and all do at 1.01 κ_y, in any direction."""
    mesh, _ = sheet(kind, 0.004)
    law, inner = make_yield_law(mesh, (paper(),)), inner_faces(mesh, 0.008)
    for angle in np.linspace(0.0, np.pi, 7):
        assert not bend(mesh, roll(mesh.u, 0.99 * YIELD, angle), law).damage[inner].any()
        assert bend(mesh, roll(mesh.u, 1.01 * YIELD, angle), law).damage[inner].all()


def test_infinite_yield_curvature_is_elastic_face_by_face():
    """Faces of an elastic material never yield, beside faces that do."""
    mesh, _ = sheet("equilateral", 0.01)
    limit = np.where(np.arange(mesh.face_count) % 2 == 0, np.inf, 10.0)
    done = bend(mesh, roll(mesh.u, 60.0), uniform_yield_law(limit))
    assert not done.damage[::2].any()
    assert done.damage[1::2].all()
    assert np.isfinite(done.damage).all()


tensors = st.lists(st.floats(-500, 500), min_size=3, max_size=3)


@given(
    total=tensors,
    plastic=tensors,
    limit=st.floats(1.0, 300.0),
    hardening=st.floats(0.0, 3.0),
    damage=st.floats(0.0, 5.0),
)
@settings(max_examples=60, deadline=None)
def test_return_ends_on_the_yield_surface_and_is_idempotent(total, plastic, limit, hardening, damage):
    """After yielding ‖S - S_p‖ ≤ κ_y (1 + H δ), the flow is κ_y Δδ along S_e, and a second call does nothing."""
    law = uniform_yield_law(np.array([limit]), hardening=hardening)
    total, plastic = np.array([total]), np.array([plastic])
    done = yield_curvature(law, total, plastic, np.array([damage]))
    left = tensor_norm(total - done.plastic_curvature)[0]
    bound = limit * (1 + hardening * done.damage[0])
    assert left <= bound * (1 + 1e-12)
    if done.count:
        assert left == pytest.approx(bound, rel=1e-9)
        flow = done.plastic_curvature - plastic
        assert tensor_norm(flow)[0] == pytest.approx(limit * (done.damage[0] - damage), rel=1e-6, abs=1e-9)
        assert tensor_norm(flow + total - done.plastic_curvature)[0] == pytest.approx(tensor_norm(flow)[0] + left)
    again = yield_curvature(law, total, done.plastic_curvature, done.damage)
    np.testing.assert_allclose(again.plastic_curvature, done.plastic_curvature, atol=1e-9)


def test_bending_back_and_forth_adds_up_damage():
    """Every half cycle ±κ flows by 2 (κ - κ_y); the inputs are not touched."""
    law = uniform_yield_law(np.array([10.0]))
    plastic, damage = np.zeros((1, 3)), np.zeros(1)
    done = yield_curvature(law, np.array([[30.0, 0, 0]]), plastic, damage)
    assert not plastic.any()
    assert not damage.any()
    for sign in (-1, 1, -1):
        done = yield_curvature(law, np.array([[sign * 30.0, 0, 0]]), done.plastic_curvature, done.damage)
    assert done.damage[0] == pytest.approx((20 + 3 * 40) / 10)
    assert done.plastic_curvature[0, 0] == pytest.approx(-20.0)


def crease_profile(spacing, angle, law_options, weakening=0.3, width=0.02):
    """Plastic curvature of rows across a strip bent by `angle`: in series, with the largest moment in the middle."""
    s = (np.arange(round(width / spacing)) + 0.5) * spacing - 0.5 * width
    lever = 1.0 - 0.2 * np.abs(s) / (0.5 * width)  # the moment falls off beside the middle
    law = uniform_yield_law(np.full(len(s), 50.0), **law_options)
    plastic, damage = np.zeros((len(s), 3)), np.zeros(len(s))
    for turned in np.linspace(0.0, angle, 801)[1:]:
        for _ in range(6):
            softness = (1.0 + weakening * damage) * lever
            moment = (turned - spacing * plastic[:, 0].sum()) / (spacing * softness.sum())
            total = plastic.copy()
            total[:, 0] += moment * softness
            done = yield_curvature(law, total, plastic, damage)
            plastic, damage = done.plastic_curvature, done.damage
    return s, plastic[:, 0]


def test_crease_radius_makes_the_width_of_a_crease_independent_of_the_mesh():
    """Without it one or two rows take everything at any spacing; with ℓ the width is about θ_p ℓ."""
    radius, widths = 1e-3, []
    for spacing in (0.5e-3, 0.25e-3, 0.125e-3):
        _, free = crease_profile(spacing, 4.0, {})
        assert np.sort(free)[::-1][:2].sum() > 0.95 * free.sum()
        _, bound = crease_profile(spacing, 4.0, {"crease_radius": radius})
        assert bound.max() <= (1 + 1e-12) / radius
        widths.append(spacing * np.count_nonzero(bound > 0.1 / radius))
        assert widths[-1] == pytest.approx(bound.sum() * spacing * radius, rel=0.2)
    assert min(widths) > 2e-3
    assert np.ptp(widths) <= 0.5e-3


def test_given_creases_tighter_than_the_radius_are_not_opened():
    """Yielding on top of a tight crease may turn it but neither tightens nor loosens it."""
    law = uniform_yield_law(np.array([10.0]), crease_radius=0.01)
    tight = np.array([[400.0, 0.0, 0.0]])
    done = yield_curvature(law, np.array([[900.0, 50.0, 0.0]]), tight, np.zeros(1))
    assert tensor_norm(done.plastic_curvature)[0] == pytest.approx(400.0)
    loose = yield_curvature(law, np.zeros((1, 3)), tight, np.zeros(1))
    assert loose.plastic_curvature[0, 0] == pytest.approx(10.0)


def test_hardening_shares_the_bend_between_rest_and_spring_back():
    """Bent once to κ: κ_p = (κ - κ_y)/(1 + H)."""
    law = uniform_yield_law(np.array([10.0]), hardening=0.5)
    done = yield_curvature(law, np.array([[0.0, 40.0, 0.0]]), np.zeros((1, 3)), np.zeros(1))
    assert done.plastic_curvature[0, 1] == pytest.approx(20.0)
    assert done.damage[0] == pytest.approx(2.0)


def test_rest_angles_of_a_fold_are_zero_beside_it():
    """S_p of the two faces of a crease puts the angle on the crease and nowhere else, on any mesh."""
    line = creased("delaunay", 0.005)
    mesh = line.mesh
    done = bend(mesh, fold(mesh.u, 1.2), make_yield_law(mesh, (paper(yield_curvature=5.0),)))
    rest = rest_angle(curvature_stencil(mesh), done.plastic_curvature)
    assert np.abs(rest[~line.hinges]).max() < 1e-9
    assert rest[line.hinges].min() > 1.1
    assert np.all(rest[line.hinges] < dihedral_angles(fold(mesh.u, 1.2), mesh.hinges.nodes)[line.hinges])


def test_the_crease_tensor_adds_up_what_was_bent_across_each_line_and_survives_flattening():
    """tr C = δ always; a fold that is bent and flattened again leaves no S_p but twice the C, across itself."""
    law = uniform_yield_law(np.array([10.0]))
    flat = np.zeros((1, 3))
    bent = yield_curvature(law, np.array([[0.0, 60.0, 0.0]]), flat, np.zeros(1))
    np.testing.assert_allclose(bent.crease, [[0.0, 5.0, 0.0]])
    back = yield_curvature(law, np.array([[0.0, -10.0, 0.0]]), bent.plastic_curvature, bent.damage, bent.crease)
    np.testing.assert_allclose(back.plastic_curvature, 0.0, atol=1e-12)
    np.testing.assert_allclose(back.crease, [[0.0, 10.0, 0.0]])
    rng = np.random.default_rng(3)
    law, crease = uniform_yield_law(np.full(50, 10.0), hardening=0.3), np.zeros((50, 3))
    plastic, damage = np.zeros((50, 3)), np.zeros(50)
    for _ in range(5):
        done = yield_curvature(law, rng.normal(0.0, 40.0, (50, 3)), plastic, damage, crease)
        plastic, damage, crease = done.plastic_curvature, done.damage, done.crease
        np.testing.assert_allclose(crease[:, 0] + crease[:, 1], damage)
        assert np.all(tensor_eigen(crease)[0] >= -1e-12)


@pytest.mark.parametrize("gamma", [0.5, 1.0])
def test_a_worked_face_keeps_a_part_of_its_moment(gamma):
    """The moment |S − S_p| / (1 + γ δ) at yield falls from κ_y to ρ κ_y and no further, in steps of any length."""
    limit, left = 10.0, 0.4
    law = replace(uniform_yield_law(np.array([limit])), weakening=np.array([gamma]), strength=np.array([left]))
    for steps in (1, 7, 200):
        plastic, damage, moments = np.zeros((1, 3)), np.zeros(1), []
        for total in np.linspace(0.0, 80.0, steps + 1)[1:]:
            done = yield_curvature(law, np.array([[total, 0.0, 0.0]]), plastic, damage)
            plastic, damage = done.plastic_curvature, done.damage
            if done.count:
                moments.append((total - plastic[0, 0]) / (1.0 + gamma * damage[0]))
        assert plastic[0, 0] == pytest.approx(limit * damage[0])
        assert moments[-1] == pytest.approx(left * limit)  # the same whatever the steps
        assert min(moments) >= left * limit - 1e-9


def bent_row(height, angle, strength):
    """A row of faces of the `height` [m], bent by the `angle` [rad] at once: M/(B κ_y), and its plastic angle."""
    mesh = make_sheet_mesh(np.array([[0.0, 0.0], [height, 0.0], [0.0, 1.0]]), np.array([[0, 1, 2]]))
    law = make_yield_law(mesh, (paper(weakening=1.0),), crease_strength=strength)
    total = np.array([[angle / height, 0.0, 0.0]])
    done = yield_curvature(law, total, np.zeros((1, 3)), np.zeros(1))
    plastic = done.plastic_curvature[0, 0]
    return (total[0, 0] - plastic) / (1.0 + done.damage[0]) / YIELD, height * plastic


@pytest.mark.parametrize("height", [0.5e-3, 1e-3, 2e-3])
def test_the_moment_of_a_crease_is_a_function_of_its_angle(height):
    """1/(1 + γ θ_p/(κ_y ℓ)) whatever the height h of the row; by the paper's law with h for ℓ."""
    for angle in (0.1, 0.2):
        moment, plastic = bent_row(height, angle, 0.05)
        assert moment == pytest.approx(1.0 / (1.0 + plastic / (YIELD * 1e-3)))
        moment, plastic = bent_row(height, angle, 0.0)
        assert moment == pytest.approx(1.0 / (1.0 + plastic / (YIELD * height)))


@given(total=tensors, damage=st.floats(0.0, 5.0), gamma=st.floats(0.01, 5.0), hardening=st.floats(0.0, 2.0))
@settings(max_examples=60, deadline=None)
def test_the_return_ends_at_the_moment_of_the_damage_it_leaves(total, damage, gamma, hardening):
    """M/(B κ_y) = max(ρ, (1 + H δ)/(1 + c γ δ)) with c γ = 1 + γ, the largest, of the δ it leaves."""
    law = uniform_yield_law(np.array([20.0]), hardening=hardening)
    law = replace(law, weakening=np.array([gamma]), strength=np.array([0.3]))
    done = yield_curvature(law, np.array([total]), np.zeros((1, 3)), np.array([damage]))
    left = tensor_norm(np.array([total]) - done.plastic_curvature)[0] / 20.0
    after = done.damage[0]
    bound = (1.0 + gamma * after) * max(0.3, (1.0 + hardening * after) / (1.0 + (1.0 + gamma) * after))
    assert left <= bound * (1.0 + 1e-9)
    if done.count:
        assert left == pytest.approx(bound, rel=1e-6)
