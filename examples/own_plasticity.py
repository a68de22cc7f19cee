"""Creep, a plastic rule of one's own: the rest shape of a sheet nears its shape by 1 − exp(−dt/τ) per step."""

from dataclasses import replace

import numpy as np

import crumple
from crumple.contract import MountedTerm, Term
from crumple.geometry.curvature import shape_curvature
from crumple.options.plasticity import PlasticityOptions


class Creep(Term, MountedTerm):
    name, yields, time = "creep", True, 0.1  # τ [s]; the plastic embedding follows what yields

    def mount(self, state):
        return self

    def stored(self, state, time):
        return []

    def settle(self, state, step):
        bent = shape_curvature(state.mesh, state.x) - state.plastic_curvature
        return state.replaced(plastic_curvature=state.plastic_curvature - np.expm1(-step / self.time) * bent)


def make():
    scene = crumple.load_scene("demo", ["remeshing.size_min=0.008", "run.duration=0.2"], quick=True)
    model, state, _ = crumple.build(scene)
    return replace(model, plasticity=PlasticityOptions("none")).with_term(Creep()), state  # instead of the usual rule


if __name__ == "__main__":
    last = crumple.run(*make())
    print(f"the sheet would stay curved by up to {np.abs(last.plastic_curvature).max():.1f}/m")
    assert last.plastic_curvature.any()
