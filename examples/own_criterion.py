"""A mesh that is fine where a picture is printed: a sizing criterion of one's own, beside the usual ones."""

from dataclasses import replace

import numpy as np

import crumple


def printed(state):
    """The longest edge of each face [m]: 4 mm within 2 cm of the middle of the sheet, elsewhere no matter."""
    middle = state.mesh.u[state.mesh.faces].mean(axis=1) - 0.06
    return np.where(np.linalg.norm(middle, axis=1) < 0.02, 0.004, np.inf)


def make():
    scene = crumple.load_scene("demo", ["remeshing.size_min=0.003", "run.duration=0.12"], quick=True)
    model, state, _ = crumple.build(scene)
    return replace(model, remeshing=replace(model.remeshing, criteria=(printed,))), state


if __name__ == "__main__":
    last = crumple.run(*make())
    inside = np.isfinite(printed(last))
    print(f"{inside.sum()} of {last.mesh.face_count} faces are on the picture")
    assert last.mesh.face_area[inside].mean() < 0.3 * last.mesh.face_area[~inside].mean()
