"""The nodes around some nodes."""

import numpy as np

from crumple.mesh import surroundings
from crumple.shapes import rectangle


def test_rings_of_faces_around_a_node():
    """On a lattice of right triangles two rings around a node lie within two steps of it, and all nodes if many."""
    mesh, x = rectangle(1.0, 1.0, kind="right", divisions=(10, 10))
    middle = np.all(np.isclose(x[:, :2], 0.5), axis=1)
    assert np.count_nonzero(middle) == 1
    counts = [np.count_nonzero(surroundings(mesh.face_nodes, middle, rings, 1.0)) for rings in (0, 1, 2)]
    assert counts == [1, 7, 19]
    near = surroundings(mesh.face_nodes, middle, 2, 1.0)
    assert np.abs(x[near, :2] - 0.5).max() < 0.2 + 1e-9
    assert surroundings(mesh.face_nodes, middle, 2, 0.1).all()
    assert not surroundings(mesh.face_nodes, np.zeros_like(middle), 2, 0.1).any()
