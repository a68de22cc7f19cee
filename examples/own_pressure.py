"""A cushion of cotton is blown up: an energy of one's own, E = −p V with V = Σ x0·(x1 × x2)/6, in a few lines."""

import crumple
from crumple.energies.traced import cross, dot, minimum
from crumple.scenes import scene_from_tables


@crumple.energy(elements="faces", parameters={"pressure": ()})
def air(x0, x1, x2, pressure, time):
    return -minimum(time / 0.4, 1.0) * pressure * dot(x0, cross(x1, x2)) / 6.0


def make(size=0.025, **others):
    cushion = {"kind": "pouch", "gap": 4e-3, "size": size, "points": [[0, 0], [0.2, 0], [0.2, 0.2], [0, 0.2]]}
    cotton = {"preset": "cotton", "damping": 5e-3}
    sheet = {"shape": cushion, "material": cotton, "jitter": {"amplitude": 1e-4, "seed": 1}}
    sizes = {"size_min": 0.4 * size, "size_max": 0.04, "refine_angle": 0.4, "refine_compression": 2e-3}
    tables = {"sheets": [sheet], "remeshing": sizes, "environment": {"gravity": [0, 0, 0]}} | others
    model, state, _ = crumple.build(scene_from_tables(tables))
    return model.with_energy(air, lambda mesh: {"pressure": 50.0}), state


if __name__ == "__main__":
    last = crumple.run(*make(), frames=12)
    volume = 1e3 * sum(-air.on(last.mesh, {"pressure": 1.0}, time=1.0).value(last.x))
    print(f"the cushion holds {volume:.2f} l, {volume / 0.2**3 / 1e3:.3f} of its side cubed")
    assert 0.15 < volume / 0.2**3 / 1e3 < 0.25, volume  # without any strain it would be 0.2
