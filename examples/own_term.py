"""Light that falls on a sheet from above: a term of one's own that writes its own field after every step."""

import numpy as np

import crumple
from crumple.contract import MountedTerm, Term
from crumple.geometry.triangle import face_normals


class Sun(Term, MountedTerm):  # it keeps nothing of the mesh, so it may serve on every mesh itself
    name = "sun"

    def mount(self, state):
        return self

    def stored(self, state, time):
        return []  # it pulls at nothing

    def settle(self, state, step):
        shade = np.abs(face_normals(state.x, state.mesh.face_nodes)[:, 2])
        return state.with_field("light", state.field("light") + step * shade, where="face", rule="conserve")


def make():
    scene = crumple.load_scene("demo", ["remeshing.size_min=0.008", "run.duration=0.2"], quick=True)
    model, state, _ = crumple.build(scene)
    return model.with_term(Sun()), state.with_field("light", 0.0 * state.damage, where="face", rule="conserve")


if __name__ == "__main__":
    last = crumple.run(*make())
    print(f"{last.field('light').min():.3f} to {last.field('light').max():.3f} of 0.2 seconds of full light")
    assert 0.0 < last.field("light").max() <= 0.2 + 1e-9
