"""Meshes of patterns: creases are labelled edges, areas and straight lines are kept, cuts open."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.geometry.hinge import dihedral_angles
from crumple.mesh.validate import validate_mesh
from crumple.patterns import box, fold_angles, fold_facets, kresling, mesh_pattern, miura, waterbomb
from crumple.patterns.meshing import FIRST_LABEL
from crumple.patterns.planar import pattern_from_segments
from crumple.runtime.errors import InputError

RIM = [((0, 0), (1, 0)), ((1, 0), (1, 1)), ((1, 1), (0, 1)), ((0, 1), (0, 0))]


def area(pattern) -> float:
    """Area of the facets without their holes [m²]."""
    total = 0.0
    for loop in (loop for loops in pattern.facets.rings for loop in loops):
        x, y = pattern.vertices[loop].T
        total += 0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1))
    return total


@pytest.mark.parametrize(
    "pattern", [miura(3, 3, 0.02, 0.03, 1.0), waterbomb(2, 2, 0.04), kresling(6, 0.03, 0.045, 0.8), box(0.1, 0.06, 0.1)]
)
def test_creases_are_labelled_and_fold_by_their_angle(pattern):
    made = mesh_pattern(pattern, float(pattern.extent.max()) / 20)
    mesh = made.mesh
    assert validate_mesh(mesh, mesh.node_rest) == []
    assert mesh.face_area.sum() == pytest.approx(area(pattern), rel=1e-12)
    edge = mesh.edge_label.ravel()[mesh.hinges.corners[:, 0]] - FIRST_LABEL
    assert set(np.unique(edge[edge >= 0])) == set(np.flatnonzero(pattern.creases))
    tail, head = (mesh.node_rest[mesh.hinges.nodes[:, k], :2] for k in range(2))
    length = np.linalg.norm(head - tail, axis=1)
    for k in np.flatnonzero(pattern.creases):
        a, b = pattern.vertices[pattern.edges[k]]
        assert length[edge == k].sum() == pytest.approx(np.linalg.norm(b - a))
    angle = fold_angles(pattern, 0.6)
    x = made.folded(fold_facets(pattern, angle))
    wanted = np.where(edge >= 0, angle[edge], 0.0)
    assert dihedral_angles(x, mesh.hinges.nodes) == pytest.approx(wanted, abs=1e-5)


def test_size_is_about_that_asked_for():
    mesh = mesh_pattern(miura(3, 3, 0.1, 0.1, 1.0), 0.01).mesh
    assert 0.6 * 0.01 < mesh.corner_length.mean() < 1.2 * 0.01
    assert mesh.corner_length.max() < 4 / 3 * 0.01 * (1 + 1e-9)


def test_cuts_open():
    """A cut through part of a strip parts its sides; where it ends at a crease they stay joined."""
    lines = [((0.5, 0), (0.5, 0.5)), ((0.5, 0.5), (0.5, 1)), ((0, 0.5), (0.5, 0.5))]
    segments = np.array([*RIM, *lines], float)
    pattern = pattern_from_segments(segments, [*"BBBBCMV"], np.array([0, 0, 0, 0, 0, 1, -1.0]), snap=1e-6)
    mesh = mesh_pattern(pattern, 0.1).mesh
    assert validate_mesh(mesh, mesh.node_rest) == []
    label = int(np.flatnonzero(pattern.assignment == "C")[0]) + 1
    sides = np.flatnonzero(mesh.edge_label.ravel() == label)
    assert (mesh.twin[sides] < 0).all()
    assert len(sides) >= 8
    x = mesh.node_rest[mesh.face_nodes.ravel()[sides], 0]
    assert x.min() < 0.5 - 1e-4
    assert x.max() > 0.5 + 1e-4
    assert len(np.unique(mesh.boundary_nodes)) == 2


def test_windows_stay_open():
    ring = [(0.3, 0.3), (0.7, 0.3), (0.7, 0.7), (0.3, 0.7)]
    window = [(ring[k], ring[(k + 1) % 4]) for k in range(4)]
    pattern = pattern_from_segments(np.array([*RIM, *window], float), ["B"] * 8, np.zeros(8), snap=1e-6)
    assert mesh_pattern(pattern, 0.1).mesh.face_area.sum() == pytest.approx(1 - 0.16)


def test_refused():
    pattern = miura(2, 2, 0.1, 0.1, 1.0)
    for size in (0.0, -1.0, np.nan, 1e-7):
        with pytest.raises(InputError):
            mesh_pattern(pattern, size)
    gap = pattern_from_segments(np.array(RIM[:3], float), ["B"] * 3, np.zeros(3), snap=1e-6)
    with pytest.raises(InputError, match="no facet is closed"):
        mesh_pattern(gap, 0.1)
