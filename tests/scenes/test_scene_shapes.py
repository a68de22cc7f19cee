"""Shapes that scenes can name: dart, pouch, bent Möbius strip; and the built-in scenes made of them."""

import numpy as np
import pytest
from scene_tables import small

from crumple.geometry.hinge import dihedral_angles
from crumple.mesh.validate import validate_mesh
from crumple.runtime.errors import InputError
from crumple.scenes import build, load_scene, scene_from_tables
from crumple.shapes.bent import bend_moebius, moebius_bend_radius
from crumple.shapes.dart import CREASE_LABEL, DartFold, dart
from crumple.shapes.obstacles import cylinder_surface
from crumple.shapes.pouch import pouch
from crumple.shapes.sheets import moebius

LETTER = (0.2159, 0.2794)
L_SHAPE = [[0.0, 0.0], [0.4, 0.0], [0.4, 0.2], [0.2, 0.2], [0.2, 0.5], [0.0, 0.5]]


def world_over_pattern(mesh, x):
    """Length of every half-edge in the world over its length in the pattern."""
    p = x[mesh.face_nodes]
    return np.linalg.norm(np.roll(p, -1, axis=1) - p, axis=2).ravel() / mesh.corner_length


def tables(**shape):
    return small() | {"sheets": [{"material": "paper80", "shape": shape}]}


@pytest.mark.parametrize("size", [0.008, 0.02, 0.05])
def test_dart_is_folded_and_not_stretched(size):
    mesh, x = dart(*LETTER, size)
    assert validate_mesh(mesh, x) == []
    np.testing.assert_allclose(world_over_pattern(mesh, x), 1.0, rtol=1e-9)
    assert mesh.face_area.min() > 0.0
    assert mesh.face_area.sum() == pytest.approx(LETTER[0] * LETTER[1])
    nose = np.flatnonzero(np.linalg.norm(x, axis=1) < 1e-12)
    np.testing.assert_allclose(mesh.u[nose], [[0.5 * LETTER[0], LETTER[1]]])
    assert x[:, 0].max() == 0.0  # the nose is in front


def test_dart_bends_exactly_at_its_labelled_edges():
    mesh, x = dart(*LETTER, 0.03)
    hinges = mesh.hinges
    angle = np.abs(dihedral_angles(x, hinges.nodes))
    labelled = mesh.edge_label.ravel()[hinges.corners[:, 0]] == CREASE_LABEL
    assert np.all(angle[~labelled] < 1e-6)
    assert np.all(angle[labelled] > 0.5)
    assert angle.max() < np.pi - 0.05  # layers are apart
    ends = mesh.u[hinges.nodes[labelled, :2]] - [0.5 * LETTER[0], LETTER[1]]
    assert np.abs(ends[:, 0, 0] * ends[:, 1, 1] - ends[:, 0, 1] * ends[:, 1, 0]).max() < 1e-12  # all through the nose


def test_dart_is_the_same_on_both_sides():
    _, x = dart(*LETTER, 0.02)
    mirrored = x * [1.0, -1.0, 1.0]
    distance = np.linalg.norm(x[:, None] - mirrored[None], axis=2).min(axis=1)
    assert distance.max() < 1e-9


def test_dart_that_cannot_be_folded_is_refused():
    with pytest.raises(InputError, match=r"dart\.fold"):
        dart(*LETTER, 0.02, DartFold(keel=1.5))
    with pytest.raises(InputError, match=r"dart\.width"):
        dart(0.0, 0.2, 0.02)


def test_dart_starts_at_rest_in_its_folded_shape():
    _, state, _ = build(scene_from_tables(tables(kind="dart", width=0.2159, height=0.2794, size=0.04)))
    assert np.abs(state.plastic_curvature).max() > 10.0
    assert state.damage.max() > 0.0
    distance = np.linalg.norm(state.y[:, None] - state.y[None], axis=2)
    world = np.linalg.norm(state.x[:, None] - state.x[None], axis=2)
    assert np.abs(distance - world).max() < 0.02 * world.max()  # the embedding keeps angles below π


@pytest.mark.parametrize(("length", "width"), [(0.3, 0.04), (1.0, 0.1), (1.0, 0.3)])
def test_bent_moebius_strip_keeps_lengths_and_closes(length, width):
    random = np.random.default_rng(3)
    u = random.uniform(0.0, 1.0, (500, 2)) * [length, width]
    step = 1e-6 * length
    for direction in ((1.0, 0.0), (0.0, 1.0), (0.6, 0.8)):
        both = bend_moebius(np.concatenate([u, u + step * np.array(direction)]), length, width)
        moved = np.linalg.norm(both[500:] - both[:500], axis=1) / step
        np.testing.assert_allclose(moved, 1.0, atol=1e-4)
    across = np.linspace(0.0, width, 7)
    first, last = np.stack([0 * across, across], 1), np.stack([length + 0 * across, width - across], 1)
    ends = bend_moebius(np.concatenate([first, last]), length, width)
    np.testing.assert_allclose(ends[:7], ends[7:], atol=1e-12)


def test_moebius_strip_is_bent_when_its_mesh_can_show_it():
    mesh, x = moebius(0.3, 0.04, 0.004)
    assert validate_mesh(mesh, x) == []
    assert np.abs(world_over_pattern(mesh, x) - 1.0).max() < 0.02
    assert moebius_bend_radius(1.0, 0.6) < 0.0  # wider than 1/√3 of its length: the stretched ring
    mesh, x = moebius(1.0, 0.6, 0.02)
    assert validate_mesh(mesh, x) == []


@pytest.mark.parametrize("size", [0.03, 0.07, 0.2])
@pytest.mark.parametrize("open_sides", [[], [0], [0, 3, 5]])
def test_pouch_is_two_panels_sewn_along_its_closed_sides(size, open_sides):
    mesh, x = pouch(L_SHAPE, open_sides, 0.01, size)
    assert validate_mesh(mesh, x) == []
    assert mesh.face_area.min() > 0.0
    assert mesh.face_area.sum() == pytest.approx(2 * 0.14)
    corners = np.array(L_SHAPE)
    border = np.zeros(mesh.node_count, bool)
    for k in open_sides:  # exactly the open sides are free, except for their ends
        a, b = corners[k], corners[(k + 1) % 6]
        share = np.clip((x[:, :2] - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        border |= np.linalg.norm(x[:, :2] - a - share[:, None] * (b - a), axis=1) < 1e-9
    np.testing.assert_array_equal(mesh.boundary_nodes, border)
    assert x[:, 2].max() <= 0.005
    assert x[:, 2].min() == pytest.approx(-x[:, 2].max())


def test_closed_pouch_is_a_ball():
    mesh, _ = pouch(L_SHAPE, [], 0.01, 0.1)
    assert mesh.node_count - len(mesh.edges) + mesh.face_count == 2  # Euler


@pytest.mark.parametrize(("open_sides", "message"), [([6], "numbers of sides"), (list(range(6)), "leaves no side")])
def test_pouch_refuses_wrong_sides(open_sides, message):
    with pytest.raises(InputError, match=message):
        pouch(L_SHAPE, open_sides, 0.01, 0.1)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"kind": "pouch", "points": L_SHAPE, "open": [9], "gap": 0.01, "size": 0.1}, "numbers of sides"),
        ({"kind": "pouch", "points": L_SHAPE, "open": [-1], "gap": 0.01, "size": 0.1}, "whole number"),
        ({"kind": "pouch", "points": L_SHAPE, "gap": 0, "size": 0.1}, "gap"),
        ({"kind": "dart", "width": 0.2, "height": 0.3, "size": 0.02, "keel": 80}, "keel"),
        ({"kind": "dart", "width": 0.2, "height": 0.3, "size": 1e-7}, "faces"),
    ],
)
def test_wrong_shapes_are_refused_in_one_line(shape, message):
    with pytest.raises(InputError, match=message) as caught:
        build(scene_from_tables(tables(**shape)))
    assert "\n" not in str(caught.value)


def test_cylinder_obstacle_with_given_rows():
    x, faces = cylinder_surface(0.1, 1.0, 16, rows=1)
    assert len(faces) == 2 * 16 + 2 * 16
    assert len(x) == 2 * 16 + 2
    with pytest.raises(InputError, match=r"cylinder\.rows"):
        cylinder_surface(0.1, 1.0, 16, rows=0)


@pytest.mark.parametrize("name", ["airplane", "cylinder", "drape", "fold", "letter", "moebius", "tshirt"])
def test_quick_scenes_start_without_contact_and_small(name):
    _, state, _ = build(name, quick=True)  # raises when anything is closer than its thickness
    assert state.mesh.face_count < 1500


def test_tubes_of_figure_3_by_switches():
    model, _, _ = build("cylinder", ["sheets[0].material.stretch_factor=0.01", "plasticity.rule=none"], quick=True)
    stiff, _, _ = build("cylinder", quick=True)
    assert model.materials[0].stretch_stiffness == pytest.approx(0.01 * stiff.materials[0].stretch_stiffness)
    assert model.plasticity.rule == "none"
    assert load_scene("cylinder", ["sheets[0].material.weakening=0"]).sheets[0].material.weakening == 0.0


def test_fold_moves_corners_onto_corners():
    model, state, _ = build("fold", quick=True)
    names = [handle.name for handle in model.handles]
    start = {name: state.x[state.pins.node[state.pins.handle == k]][0] for k, name in enumerate(names)}
    end = model.handles[names.index("opposite")].target(2.0, start["opposite"][None])[0]
    np.testing.assert_allclose(end[:2], start["corner"][:2], atol=1e-3)
    fold = np.array([0.6114, 0.7913])
    left = start["left"][:2] - 2 * (start["left"][:2] @ fold) * fold  # after the first fold
    end = model.handles[names.index("right")].target(6.0, start["right"][None])[0]
    np.testing.assert_allclose(end[:2], left, atol=1e-3)
