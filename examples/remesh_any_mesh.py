# %% [markdown]
# # Remesh any triangle mesh, and carry your data along
#
# `crumple.remeshing.remesh` takes a mesh and a field of tensors M, one per vertex. An edge u may be as long as
# uᵀ M u ≤ 1 allows: a field with the eigenvalues 1/a² and 1/b² asks for triangles of the sizes a and b along its
# axes. What comes back is the new mesh and two sparse matrices:
#
# * `node_operator` (new nodes × old nodes) interpolates what lives on nodes,
# * `face_operator` (new faces × old faces) averages what lives on faces, weighted by the area they share.
#
# Here: a disk with a curved front across which a function changes quickly.

# %%
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import crumple.mesh as cm
import crumple.shapes as cs
from crumple.geometry.metric import tensor_from_eigen
from crumple.remeshing import remesh, sizing_from_function

FRONT = 0.02  # width of the front [m]
FINEST, COARSEST = 0.008, 0.2  # edge lengths across the front and far from it [m]


def front(u: np.ndarray) -> np.ndarray:
    """Signed distance to an arc of radius 1.2 around (-1, 0) [m]."""
    return np.hypot(u[:, 0] + 1.0, u[:, 1]) - 1.2


def function(u: np.ndarray) -> np.ndarray:
    """What we want to resolve: a step that is FRONT wide."""
    return np.tanh(front(u) / FRONT)


def sizing(u: np.ndarray) -> np.ndarray:
    """Tensors that are fine across the front, five times as coarse along it, and coarse far away."""
    across = np.clip(0.4 * np.abs(front(u)), FINEST, COARSEST)
    along = np.minimum(5.0 * across, COARSEST)
    radial = u + np.array([1.0, 0.0])
    radial = radial / np.linalg.norm(radial, axis=1, keepdims=True)
    return tensor_from_eigen(np.stack([across**-2, along**-2], axis=1), radial)


# %% [markdown]
# The field is known at the vertices only. On a coarse mesh, a few rounds let the mesh discover all of it. The
# operators of the rounds are multiplied: together they lead from the first mesh to the last.

# %%
start, _ = cs.disk(1.0, 0.1)
mesh = start
node_operator = face_operator = None
for _ in range(5):
    result = remesh(mesh, sizing_from_function(mesh, sizing))
    mesh = result.mesh
    node_operator = result.node_operator if node_operator is None else result.node_operator @ node_operator
    face_operator = result.face_operator if face_operator is None else result.face_operator @ face_operator
print(f"{start.face_count} faces became {mesh.face_count}; the last round: {result.statistics}")

# %% [markdown]
# ## How well do both meshes represent the function?
# The error of linear interpolation is measured at the middles of the faces.


# %%
def interpolation_error(mesh: cm.SheetMesh) -> float:
    """Mean of |interpolated − exact| over the disk."""
    middle = mesh.u[mesh.faces].mean(axis=1)
    error = np.abs(function(mesh.u)[mesh.faces].mean(axis=1) - function(middle))
    return float(mesh.face_area @ error / mesh.face_area.sum())


size = float(np.sqrt(start.face_area.sum() / mesh.face_count * 4 / np.sqrt(3)))
uniform, _ = cs.disk(1.0, size)
errors = {name: interpolation_error(m) for name, m in (("start", start), ("uniform", uniform), ("adapted", mesh))}
for name, m in (("start", start), ("uniform", uniform), ("adapted", mesh)):
    print(f"{name:8s} {m.face_count:6d} faces   mean error {errors[name]:.5f}")
assert errors["adapted"] < 0.2 * errors["uniform"]

# %% [markdown]
# ## Carrying data over
# A linear function arrives exactly; the integral of face data is kept.

# %%
linear = 2.0 * start.u[:, 0] - start.u[:, 1]
assert np.allclose(node_operator @ linear, 2.0 * mesh.u[:, 0] - mesh.u[:, 1], atol=1e-12)
density = np.random.default_rng(0).random(start.face_count)
assert np.isclose(mesh.face_area @ (face_operator @ density), start.face_area @ density, rtol=1e-12)

# %% [markdown]
# ## A picture


# %%
def save_picture(path: Path) -> None:
    """The mesh before and after, coloured by the wanted edge length across the front."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(12, 6), constrained_layout=True)
    for axis, m, title in ((axes[0], start, "before"), (axes[1], mesh, "after")):
        wanted = np.clip(0.4 * np.abs(front(m.u[m.faces].mean(axis=1))), FINEST, COARSEST)
        drawn = axis.tripcolor(
            m.u[:, 0], m.u[:, 1], m.faces, facecolors=np.log10(wanted), edgecolors="black", linewidth=0.15,
            cmap="viridis", vmin=np.log10(FINEST), vmax=np.log10(COARSEST),
        )  # fmt: skip
        axis.set(title=f"{title}: {m.face_count} faces", aspect="equal")
        axis.axis("off")
    figure.colorbar(drawn, ax=axes, label="log₁₀ of the wanted edge length [m]", shrink=0.7)
    figure.savefig(path, dpi=120)


save_picture(Path(sys.argv[1] if len(sys.argv) > 1 else "remesh_any_mesh.png"))
