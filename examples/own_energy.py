"""A magnet beside a ball on which a sheet falls: an energy of one's own, E = −s/r, r² = |x − p|² + (2 cm)²."""

from dataclasses import dataclass

import numpy as np

import crumple
from crumple.contract import Energy, EnergyTerm, projection_mask


@dataclass(frozen=True)
class Magnet(Energy):
    stencil: np.ndarray  # (n, 1) nodes
    strength: np.ndarray  # (n,) s of each [J m]

    def evaluate(self, x, order, project, value, gradient, hessian):
        d = x[self.stencil[:, 0]] - [0.1, 0.0, 0.0]
        r2 = np.sum(d**2, axis=1) + 4e-4
        value[:] = -self.strength / np.sqrt(r2)
        if order:
            gradient[:, 0] = (self.strength / r2**1.5)[:, None] * d
        if order == 2:  # s (I − 3 d dᵀ/r²)/r³; where asked for, without what is negative in it
            three = np.where(projection_mask(project, len(d)), np.minimum(3.0, r2 / (r2 - 4e-4)), 3.0)
            hessian[:, 0] = np.eye(3) - np.einsum("n,ni,nj->nij", three / r2, d, d)
            hessian *= (self.strength / r2**1.5)[:, None, None, None]


def on_mesh(state):  # called again after every remeshing
    return Magnet(np.arange(len(state.x), dtype=np.int32)[:, None], 2e-3 * state.mesh.node_area)


def make():
    model, state, _ = crumple.build(crumple.load_scene("demo", ["remeshing.size_max=0.02"], quick=True))
    return model.with_term(EnergyTerm("magnet", on_mesh)), state


if __name__ == "__main__":
    first, last = make()[1], crumple.run(*make(), frames=3)
    shift = (last.mesh.node_area @ last.x - first.mesh.node_area @ first.x)[0] / 0.0144
    print(f"the sheet has come {1e3 * shift:.1f} mm nearer to the magnet")
    assert 0.01 < shift < 0.03, shift
