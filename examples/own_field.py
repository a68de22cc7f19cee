"""Dye on one half of a sheet: a field of one's own, which follows remeshing and is recorded like any other."""

import numpy as np

import crumple


def make():
    """A sheet that falls on a ball, dyed where u < 6 cm [kg/m²]."""
    scene = crumple.load_scene("demo", ["remeshing.size_min=0.008", "run.duration=0.2"], quick=True)
    model, state, _ = crumple.build(scene)
    left = state.mesh.u[state.mesh.faces].mean(axis=1)[:, 0] < 0.06
    return model, state.with_field("dye", np.where(left, 1e-3, 0.0), where="face", rule="conserve")


if __name__ == "__main__":
    model, state = make()
    last = crumple.run(model, state)
    before, after = (one.mesh.face_area @ one.field("dye") for one in (state, last))
    print(f"{1e6 * after:.3f} mg of dye on {last.mesh.face_count} faces instead of {state.mesh.face_count}")
    assert abs(after / before - 1.0) < 1e-9, after / before
