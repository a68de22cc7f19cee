"""Statistics of shapes whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest
from analysis_shapes import FOIL, THICKNESS, accordion, loose_patches, rolled, shape_of, sheet, shell
from hypothesis import given, settings
from hypothesis import strategies as st

from crumple.analysis.creases import measure_creases
from crumple.analysis.enclosing import enclosing_ball
from crumple.analysis.facets import find_facets
from crumple.analysis.foil_ball import edge_width, plateau, unevenness
from crumple.analysis.ridges import find_ridges
from crumple.analysis.section import cross_section
from crumple.analysis.shape import measure_shape, principal_curvatures
from crumple.analysis.statistics import LARGEST_RADIUS, curvature_radii, density_profile, orientation
from crumple.geometry.curvature import bending_strain
from crumple.mesh.sheet_mesh import make_sheet_mesh
from crumple.runtime.errors import InputError
from crumple.shapes.sheets import rectangle


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 60), st.booleans())
def test_ball_is_the_smallest(seed, count, flat):
    random = np.random.default_rng(seed)
    points = random.normal(size=(count, 3)) * (1.0, 1.0, 0.0 if flat else 1.0)
    ball = enclosing_ball(points)
    assert np.linalg.norm(points - ball.center, axis=1).max() <= ball.radius * (1 + 1e-9)
    for offset in 1e-3 * max(ball.radius, 1e-9) * random.normal(size=(20, 3)):  # the radius is convex in the centre
        assert np.linalg.norm(points - ball.center - offset, axis=1).max() >= ball.radius * (1 - 1e-9)


def test_even_ball_is_even_and_isotropic():
    shape = loose_patches(30_000, 0.01, 2e-5)
    profile, cosine = density_profile(shape), orientation(shape)
    assert shape.ball.radius == pytest.approx(0.01, rel=5e-3)
    assert profile.mass.sum() == pytest.approx(1.0)
    assert plateau(profile) == pytest.approx(1.0, rel=0.02)
    assert unevenness(profile) < 0.04
    assert edge_width(profile) < 0.06
    assert cosine.mean == pytest.approx(0.5, abs=0.006)
    assert np.allclose(cosine.histogram.density, 1.0, atol=0.09)
    volume = 30_000 * np.sqrt(3) / 4 * 2e-5**2 * THICKNESS
    assert shape.volume_fraction == pytest.approx(volume / (4 / 3 * np.pi * shape.ball.radius**3))


def test_ball_dense_inside_is_uneven():
    patches = loose_patches(20_000, 0.01, 2e-5)
    pulled = patches.x * np.linalg.norm(patches.x, axis=1, keepdims=True) / 0.01
    profile = density_profile(measure_shape(patches.mesh, pulled, (FOIL,)))
    assert unevenness(profile) > 0.5


def test_shell_lies_around_the_centre():
    shape = shell(0.02)
    cosine, profile, radii = orientation(shape), density_profile(shape), curvature_radii(shape)
    assert cosine.mean == pytest.approx(1.0, abs=3e-3)
    assert profile.mass[profile.histogram.edges[:-1] >= 0.9].sum() == pytest.approx(1.0)
    first, second = principal_curvatures(shape.curvature)
    for curvature in (first, second):
        assert shape.area @ curvature / shape.area.sum() == pytest.approx(1 / 0.02, rel=0.15)
    assert 2 * np.pi * 0.02 == pytest.approx(cross_section(shape, (0.3, -1.0, 0.2)).length, rel=0.01)
    assert radii.first_share == 0.0
    assert radii.first_peak is None  # 200 thicknesses are beyond the histogram
    assert plateau(profile) == 0.0
    assert unevenness(profile) is None
    assert edge_width(profile) is None


@pytest.mark.parametrize("ratio", [8.0, 20.0, 45.0])
def test_cylinder_has_its_radius(ratio):
    radius = ratio * THICKNESS
    shape = rolled(radius, 4 * radius, 6 * radius, 120, 30)
    radii = curvature_radii(shape)
    assert radii.first_peak == pytest.approx(ratio, abs=0.6)
    assert radii.first_median == pytest.approx(ratio, rel=0.02)
    assert radii.second_share < 0.2  # only faces on the border, which lack an edge
    assert not len(find_ridges(shape).all_lengths)
    assert not len(find_ridges(shape).facet_area)


def test_cylinder_wider_than_the_histogram_has_no_peak():
    shape = rolled(10 * LARGEST_RADIUS * THICKNESS, 0.01, 0.01, 10, 10)
    radii = curvature_radii(shape)
    assert (radii.first_peak, radii.first_median, radii.second_peak) == (None, None, None)
    assert not radii.first.density.any()


@pytest.mark.parametrize(("folds", "angle", "rows"), [(1, 0.6, 7), (4, 1.5, 9), (7, 2.8, 5)])
def test_accordion_is_measured_exactly(folds, angle, rows):
    pleat, height = 0.01, 0.03
    shape = accordion(folds, pleat, height, angle, rows=rows)
    creases, ridges = measure_creases(shape), find_ridges(shape)
    assert np.sort(ridges.length) == pytest.approx(np.full(folds, height))
    assert not len(ridges.open_length)
    assert ridges.facet_area == pytest.approx(np.full(folds + 1, pleat * height))
    assert len(ridges.vertex_node) == 2 * folds
    assert len(ridges.edge_hinge) == folds * rows
    assert creases.turn == pytest.approx(folds * height * angle)
    assert creases.worked == pytest.approx(creases.turn)
    assert creases.mileage == pytest.approx(creases.turn)
    assert creases.hinge_length == pytest.approx(folds * height)
    assert creases.mean_angle == pytest.approx(angle)


def test_turn_does_not_depend_on_the_mesh_but_hinge_length_does():
    """A crease spread over two rows of faces."""
    mesh, x = sheet(0.02, 0.02, 20, 10)
    angle = np.zeros(len(mesh.hinges.nodes))
    ends = mesh.node_rest[mesh.hinges.nodes[:, :2], 0]
    for line in (0.01, 0.011):
        angle[np.all(np.abs(ends - line) < 1e-9, axis=1)] = 0.5
    shape = shape_of(mesh, x)
    creases = measure_creases(shape_of(mesh, x, plastic_curvature=bending_strain(shape.stencil, angle)))
    assert creases.turn == pytest.approx(0.02 * 1.0)
    assert creases.hinge_length == pytest.approx(0.04, rel=0.01)


def test_flat_sheet_has_none_of_it():
    mesh, x = rectangle(0.03, 0.02, 2e-3, kind="delaunay")
    shape = shape_of(mesh, x)
    ridges, creases, radii = find_ridges(shape), measure_creases(shape), curvature_radii(shape)
    assert len(ridges.length) == len(ridges.open_length) == len(ridges.facet_area) == len(ridges.vertex_node) == 0
    assert creases.is_empty
    assert (creases.mileage, creases.hinge_length, creases.mean_angle, creases.area_share) == (0, 0, 0, 0)
    assert radii.first_peak is None
    assert orientation(shape).mean == pytest.approx(0.0, abs=1e-12)
    assert len(cross_section(shape, (0.0, 0.0, 1.0)).segments) == 0
    assert cross_section(shape, (1.0, 0.0, 0.0)).length == pytest.approx(0.02)


def test_crossing_folds_make_a_network():
    """A roof folded once along each axis, slightly: four ridges meet in the middle."""
    mesh, x = sheet(0.02, 0.02, 20, 20)
    x[:, 2] = 0.02 * (np.abs(x[:, 0] - 0.01) + np.abs(x[:, 1] - 0.01))
    ridges = find_ridges(shape_of(mesh, x))
    assert np.sort(ridges.length) == pytest.approx(np.full(4, 0.01))
    assert len(ridges.vertex_node) == 5
    assert ridges.facet_area == pytest.approx(np.full(4, 1e-4))


def test_ridge_that_ends_in_the_sheet_is_open():
    mesh, x = sheet(0.04, 0.04, 40, 40)
    fade = np.clip(1 - np.abs(x[:, 1] - 0.02) / 0.01, 0, 1)
    x[:, 2] = 1e-3 * fade * np.exp(-np.abs(x[:, 0] - 0.02) / 2e-3)
    shape = shape_of(mesh, x)
    ridges = find_ridges(shape, 400.0)
    assert len(ridges.length) == 0
    sharp = 0.02 * (1 - 400.0 / shape.mean_curvature.max())  # the fold fades out evenly to both sides
    assert ridges.open_length == pytest.approx([sharp], rel=0.1)


def test_zigzags_of_the_mesh_are_not_length():
    """A fold at right angles to the rows of an equilateral mesh has to run along a zigzag."""
    mesh, x = rectangle(0.04, 0.04, 1e-3, kind="delaunay", seed=3)
    x[:, 2] = 0.5 * np.abs(x[:, 0] - 0.0203)
    ridges = find_ridges(shape_of(mesh, x))
    assert ridges.length.max() == pytest.approx(0.04, rel=0.06)
    assert ridges.length.sum() < 1.1 * 0.04
    hinge = shape_of(mesh, x).hinge_length[ridges.edge_hinge].sum()
    assert hinge > 1.03 * ridges.length.sum()


def test_pieces_are_labelled_apart():
    """Two separate sheets are two facets without a ridge between them."""
    mesh, x = sheet(0.01, 0.01, 5, 5)
    two = make_sheet_mesh(np.vstack([mesh.u, mesh.u]), np.vstack([mesh.faces, mesh.faces + mesh.vertex_count]))
    facet = find_facets(shape_of(two, np.vstack([x, x + np.array([0, 0, 0.1])])), 10.0)
    assert len(set(facet[:50])) == len(set(facet[50:])) == 1
    assert facet[0] != facet[50]


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6))
def test_section_of_a_closed_surface_is_closed(seed):
    shape = shell(0.02, 2)
    section = cross_section(shape, tuple(np.random.default_rng(seed).normal(size=3)))
    ends = np.round(section.segments.reshape(-1, 2), 12)
    _, count = np.unique(ends, axis=0, return_counts=True)
    assert (count == 2).all()


def test_section_through_nodes_keeps_one_segment_per_face():
    mesh, x = sheet(0.02, 0.02, 4, 4)
    x[:, 2] = 0.0
    section = cross_section(shape_of(mesh, x), (1.0, 0.0, 0.0))  # runs along a line of the mesh
    assert section.length == pytest.approx(0.02)


@pytest.mark.parametrize("normal", [(0, 0, 0), (np.nan, 0, 1), (np.inf, 0, 0)])
def test_bad_plane_is_refused(normal):
    with pytest.raises(InputError, match="plane"):
        cross_section(shell(0.01, 0), normal)


@pytest.mark.parametrize("threshold", [0.0, -1.0, np.nan, np.inf])
def test_bad_ridge_curvature_is_refused(threshold):
    with pytest.raises(InputError, match="ridge curvature"):
        find_ridges(shell(0.01, 0), threshold)


def test_no_faces_is_refused():
    empty = make_sheet_mesh(np.zeros((0, 2)), np.zeros((0, 3)), vertex_node=np.zeros(0, np.int32))
    with pytest.raises(InputError, match="no faces"):
        measure_shape(empty, np.zeros((0, 3)), (FOIL,))
