"""Creases from the start: on marked edges, on labelled edges, along lines that have no edges, from a shape."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plastic_shapes import HEIGHT, MIDDLE, WIDTH, creased, fold, insert, sheet

from crumple.geometry.curvature import curvature_stencil, rest_angle
from crumple.geometry.hinge import dihedral_angles
from crumple.mesh import check_mesh, concatenate
from crumple.plasticity import (
    crease_damage,
    crease_from_edges,
    crease_from_labels,
    crease_from_shape,
    edges_on_polyline,
    hinge_labels,
)
from crumple.runtime.errors import InputError
from crumple.shapes import cylinder, rectangle


@given(seed=st.integers(0, 1000), kind=st.sampled_from(["equilateral", "alternating", "delaunay"]))
@settings(max_examples=15, deadline=None)
def test_rest_angles_come_back_from_any_set_of_edges(seed, kind):
    """θ_0 → S_p → θ_0 for random angles on random edges, up to the outline."""
    mesh, _ = sheet(kind, 0.012)
    rng = np.random.default_rng(seed)
    marked = rng.random(len(mesh.hinges.nodes)) < 0.3
    angle = rng.uniform(-3.0, 3.0, len(marked))
    rest = rest_angle(curvature_stencil(mesh), crease_from_edges(mesh, marked, angle))
    np.testing.assert_allclose(rest, np.where(marked, angle, 0.0), atol=1e-9)


def test_a_crease_is_added_to_what_was_there():
    """Other hinges keep their rest angles even when neighbours disagreed on them."""
    mesh, _ = sheet("delaunay", 0.012)
    rng = np.random.default_rng(3)
    before = rng.normal(size=(mesh.face_count, 3)) * 20.0
    marked = rng.random(len(mesh.hinges.nodes)) < 0.2
    stencil = curvature_stencil(mesh)
    after = rest_angle(stencil, crease_from_edges(mesh, marked, 1.0, plastic_curvature=before))
    np.testing.assert_allclose(after[marked], 1.0, atol=1e-9)
    np.testing.assert_allclose(after[~marked], rest_angle(stencil, before)[~marked], atol=1e-9)


@pytest.mark.parametrize("kind", ["equilateral", "right", "alternating", "delaunay"])
@pytest.mark.parametrize(
    "line",
    [
        MIDDLE,
        [[0.011, 0.013], [0.052, 0.031], [0.047, 0.008]],
        [[0.0, 0.0], [WIDTH, HEIGHT]],
        [[0.02, 0.02], [0.05, 0.02], [0.05, 0.04], [0.02, 0.04], [0.02, 0.02]],
        [[-0.01, 0.021], [0.033, 0.0221]],
    ],
)
def test_a_line_gets_edges_all_along(kind, line):
    """The marked edges make up the whole line inside the sheet; the mesh stays valid, of the same area and shape."""
    mesh, x = sheet(kind, 0.006)
    line = np.array(line)
    done = insert(mesh, x, line, label=7)
    check_mesh(done.mesh, "line")
    assert done.mesh.face_area.sum() == pytest.approx(WIDTH * HEIGHT)
    assert done.mesh.face_area.min() > 1e-3 * mesh.face_area.min()
    np.testing.assert_allclose(done.x, done.mesh.node_rest, atol=1e-12)
    np.testing.assert_allclose(done.x[done.mesh.vertex_node, :2], done.mesh.u, atol=1e-12)
    length = done.mesh.corner_length[done.mesh.hinges.corners[done.hinges, 0]].sum()
    inside = [np.clip(part, [0, 0], [WIDTH, HEIGHT]) for part in pairwise(line)]
    assert length == pytest.approx(sum(np.linalg.norm(q - p) for p, q in inside), rel=1e-3)
    np.testing.assert_array_equal(hinge_labels(done.mesh) == 7, done.hinges)
    again = insert(done.mesh, done.x, line)
    assert again.mesh.face_count == done.mesh.face_count


@given(seed=st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_random_lines_on_a_random_mesh(seed):
    """Any segment between two inner points becomes edges that end in nodes at these points."""
    rng = np.random.default_rng(seed)
    mesh, x = rectangle(WIDTH, HEIGHT, 0.011, kind="delaunay", seed=seed)
    line = rng.uniform(0.004, [WIDTH - 0.004, HEIGHT - 0.004], (3, 2))
    done = insert(mesh, x, line)
    check_mesh(done.mesh, "line")
    length = done.mesh.corner_length[done.mesh.hinges.corners[done.hinges, 0]].sum()
    assert length == pytest.approx(np.linalg.norm(np.diff(line, axis=0), axis=1).sum(), rel=3e-3)


def test_inserting_a_line_follows_a_bent_sheet():
    """New nodes lie on the world shape, new rest angles on the line only."""
    mesh, _ = sheet("equilateral", 0.006)
    shift = np.array([0.3, 0.1, 0.7])
    done = insert(mesh, mesh.node_rest + shift, [[0.01, 0.011], [0.07, 0.037]])
    np.testing.assert_allclose(done.x, done.mesh.node_rest + shift, atol=1e-12)
    strain = crease_from_edges(done.mesh, done.hinges, -2.0)
    rest = rest_angle(curvature_stencil(done.mesh), strain)
    np.testing.assert_allclose(rest, np.where(done.hinges, -2.0, 0.0), atol=1e-9)


def test_a_line_belongs_to_one_sheet():
    """Two sheets on the same pattern: only the named one is changed."""
    mesh, _ = sheet("delaunay", 0.01)
    both, _ = concatenate([mesh, mesh])
    done = insert(both, both.node_rest, MIDDLE, sheet=1)
    check_mesh(done.mesh, "line")
    assert np.count_nonzero(done.mesh.face_sheet == 0) == mesh.face_count
    assert np.count_nonzero(done.mesh.face_sheet == 1) > mesh.face_count
    assert np.all(done.mesh.face_sheet[done.mesh.hinges.faces[done.hinges]] == 1)
    assert not edges_on_polyline(done.mesh, MIDDLE, sheet=0).any()


def test_creases_along_and_across_a_seam():
    """A tube: the crease around it crosses the seam, the crease on the seam itself is a hinge like others."""
    mesh, x = cylinder(0.02, 0.06, 0.008)
    low, high = mesh.u.min(axis=0), mesh.u.max(axis=0)
    height = 0.47 * (low[1] + high[1])
    done = insert(mesh, x, [[low[0], height], [high[0], height]])
    check_mesh(done.mesh, "line")
    length = done.mesh.corner_length[done.mesh.hinges.corners[done.hinges, 0]].sum()
    assert length == pytest.approx(high[0] - low[0], rel=1e-3)
    seam = edges_on_polyline(mesh, [[low[0], low[1]], [low[0], high[1]]])
    assert seam.any()
    rest = rest_angle(curvature_stencil(mesh), crease_from_edges(mesh, seam, 0.8))
    np.testing.assert_allclose(rest, np.where(seam, 0.8, 0.0), atol=1e-9)


def test_labelled_edges_and_shapes_give_the_same_crease():
    """A labelled fold line with 1.1 rad is the natural shape of the sheet folded by 1.1 rad, a mountain."""
    line = creased("delaunay", 0.008, label=5)
    shape = fold(line.mesh.u, 1.1)
    assert dihedral_angles(shape, line.mesh.hinges.nodes)[line.hinges].min() > 0.0
    by_label = crease_from_labels(line.mesh, {5: 1.1})
    np.testing.assert_allclose(by_label, crease_from_shape(line.mesh, shape), atol=1e-6)
    with pytest.raises(InputError, match="6"):
        crease_from_labels(line.mesh, {6: 1.0})


def test_damage_of_a_given_crease():
    """δ = ‖S_p‖/κ_y, nothing where the sheet is elastic."""
    strain = np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 5.0], [1.0, 0.0, 0.0]])
    damage = crease_damage(strain, np.array([10.0, 5.0, np.inf]))
    np.testing.assert_allclose(damage, [0.5, np.sqrt(2.0), 0.0])


@pytest.mark.parametrize("line", [[[0, 0]], [[0, 0], [0, 0]], [[0, 0, 1], [1, 0, 0]], [[0, np.nan], [1, 1]]])
def test_bad_lines_are_refused(line):
    """Too few points, not in the plane, not finite."""
    mesh, x = sheet("right", 0.02)
    with pytest.raises(InputError, match=r"crease\.points"):
        insert(mesh, x, line)


def test_bad_angles_are_refused():
    """Beyond flat folding there is no angle."""
    mesh, _ = sheet("right", 0.02)
    with pytest.raises(InputError, match=r"crease\.angle"):
        crease_from_edges(mesh, np.ones(len(mesh.hinges.nodes), bool), 4.0)
