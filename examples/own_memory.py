"""A strip of film remembers that it was rolled up: an energy of one's own on hinges, damped, that wakes slowly."""

import numpy as np

import crumple
from crumple.energies.traced import dihedral, minimum, sqrt
from crumple.geometry.hinge import dihedral_angles
from crumple.scenes import scene_from_tables

RADIUS, STIFFNESS = 0.012, 2e-4  # of the roll [m]; of the memory [N m], four times that of the film


@crumple.energy(elements="hinges", parameters={"k": (), "angle": ()}, residuals=True)
def memory(x0, x1, x2, x3, k, angle, time):
    return sqrt(k) * (dihedral(x0, x1, x2, x3) - minimum(time, 1.0) * angle)


def remembered(mesh):  # called again after every remeshing
    s = mesh.u[:, 0] / RADIUS
    rolled = np.stack([RADIUS * np.sin(s), mesh.u[:, 1], RADIUS * (1.0 - np.cos(s))], axis=1)
    length, area = mesh.corner_length[mesh.hinges.corners].mean(axis=1), mesh.face_area[mesh.hinges.faces].sum(axis=1)
    return {"k": STIFFNESS * length**2 / area, "angle": dihedral_angles(rolled, mesh.hinges.nodes)}


def make(size=0.012, **others):
    strip = {"shape": {"kind": "rectangle", "width": 0.1, "height": 0.03, "size": size}, "material": "mylar"}
    tables = {"sheets": [strip], "remeshing": {"size_min": 0.5 * size, "size_max": 2 * size, "refine_angle": 0.5}}
    model, state, _ = crumple.build(scene_from_tables(tables | {"environment": {"gravity": [0, 0, 0]}} | others))
    return model.with_energy(memory, remembered, damping=0.01), state


if __name__ == "__main__":
    last = crumple.run(*make(), frames=25)
    print(f"the strip of 100 mm is {1e3 * np.ptp(last.x[:, 0]):.0f} mm wide now")
    assert np.ptp(last.x[:, 0]) < 0.05
