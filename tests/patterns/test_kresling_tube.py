"""Closed Kresling tubes: sewn, capped, and of the shape that their pattern folds to."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.geometry.hinge import dihedral_angles
from crumple.mesh.validate import validate_mesh
from crumple.patterns import kresling, kresling_tube
from crumple.patterns.tube import CAP, LABELS, WALL

SHAPES = [(6, 0.03, 0.045, np.radians(45), 1), (8, 0.02, 0.02, np.radians(30), 2), (3, 0.03, 0.02, 0.3, 1)]


@pytest.mark.parametrize("shape", SHAPES)
def test_tube_is_closed_and_unstretched(shape):
    tube = kresling_tube(*shape, size=0.01)
    mesh = tube.mesh
    assert validate_mesh(mesh, tube.x) == []
    assert not mesh.boundary_nodes.any()
    assert mesh.node_count - len(mesh.edges) + mesh.face_count == 2  # a sphere
    sides = np.linalg.norm(np.roll(tube.x[mesh.face_nodes], -1, axis=1) - tube.x[mesh.face_nodes], axis=2)
    np.testing.assert_allclose(sides.ravel(), mesh.corner_length, rtol=1e-9)
    assert set(np.unique(mesh.face_material)) == {WALL, CAP}


@pytest.mark.parametrize("shape", SHAPES)
def test_folds_are_those_of_the_pattern(shape):
    """Edges with a label fold as the pattern says, all others are flat; caps meet the wall at labelled edges."""
    sides, _, height, _, rows = shape
    tube, pattern = kresling_tube(*shape, size=0.01), kresling(*shape)
    hinges = tube.mesh.hinges
    label = tube.mesh.edge_label.ravel()[hinges.corners[:, 0]]
    twin = tube.mesh.edge_label.ravel()[hinges.corners[:, 1]]
    np.testing.assert_array_equal(label, twin)
    angle = dihedral_angles(tube.x, hinges.nodes)
    np.testing.assert_allclose(angle[label == 0], 0.0, atol=1e-7)
    for name in ("side", "diagonal"):
        own = pattern.angle[(pattern.group == pattern.group_names.index(name)) & pattern.creases]
        found = angle[label == LABELS[name]]
        assert len(found) >= sides * rows
        np.testing.assert_allclose(found, own[0], atol=1e-7)
    between = np.ptp(tube.mesh.face_material[hinges.faces], axis=1) > 0
    assert np.all(label[between] == LABELS["ring"])
    np.testing.assert_allclose(tube.x[tube.corners[-1], 2], rows * height, atol=1e-12)
    np.testing.assert_allclose(tube.x[tube.centres], [[0, 0, 0], [0, 0, rows * height]], atol=1e-12)
