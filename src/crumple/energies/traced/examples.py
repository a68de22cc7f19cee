"""Traced energies to test, some of them known in another form: they are measured against those by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from crumple.contract.energy import Example, register
from crumple.energies.examples import PATCH, patch_poses
from crumple.energies.traced import dihedral, dot, norm, where
from crumple.energies.traced.declaration import energy
from crumple.geometry.triangle import shape_gradients


@energy(elements="hinges", parameters={"stiffness": (), "rest": ()})
def traced_hinge(x0: Any, x1: Any, x2: Any, x3: Any, stiffness: Any, rest: Any) -> Any:
    """½ k (θ − θ_rest)², as in `energies.bending_hinge`."""
    return 0.5 * stiffness * (dihedral(x0, x1, x2, x3) - rest) ** 2


@energy(elements="faces", parameters={"gradients": (3, 2), "area": (), "c": (4,)})
def traced_stvk(x0: Any, x1: Any, x2: Any, gradients: Any, area: Any, c: Any) -> Any:
    """The Saint Venant–Kirchhoff membrane of `energies.membrane_stvk`, without stress at rest."""
    p, q = (x0 * gradients[0, k] + x1 * gradients[1, k] + x2 * gradients[2, k] for k in (0, 1))
    e00, e11, e01 = 0.5 * (dot(p, p) - 1.0), 0.5 * (dot(q, q) - 1.0), 0.5 * dot(p, q)
    return area * (0.5 * (c[0] * e00**2 + 2.0 * c[1] * e00 * e11 + c[2] * e11**2) + c[3] * e01**2)


@energy(elements="edges", parameters={"stiffness": (), "length": ()}, residuals=True)
def traced_spring(x0: Any, x1: Any, stiffness: Any, length: Any) -> Any:
    """A spring along an edge that pulls twice as strongly as it pushes: C = √k (l − l_rest)."""
    stretch = norm(x1 - x0) - length
    return where(stretch > 0.0, stretch, 0.7 * stretch) * stiffness**0.5


@energy(elements="nodes", parameters={"strength": (), "place": (3,)})
def traced_magnet(x: Any, strength: Any, place: Any) -> Any:
    """−s/√(r² + (2 cm)²): it attracts, so its Hessian is indefinite wherever it is strong."""
    return -strength / (dot(x - place, x - place) + 4e-4) ** 0.5


@register("traced_hinge")
def example_hinge(rng: np.random.Generator) -> Example:
    """Hinges of the sample patch with random rest angles."""
    count = len(PATCH.hinges.nodes)
    given = {"stiffness": rng.uniform(1e-4, 1e-3, count), "rest": rng.uniform(-2.5, 2.5, count)}
    return Example(traced_hinge.on(PATCH, given), patch_poses(rng), invariant=True)


@register("traced_stvk")
def example_stvk(rng: np.random.Generator) -> Example:
    """An orthotropic membrane on the sample patch."""
    given = {"gradients": shape_gradients(PATCH.u[PATCH.faces]), "area": np.abs(PATCH.face_area)}
    energy = traced_stvk.on(PATCH, given | {"c": np.array([1e3, 3e2, 5e2, 4e2])})
    poses = patch_poses(rng)
    return Example(energy, poses, rest=poses["flat"], invariant=True, convex=("flat", "stretched"))


@register("traced_spring")
def example_spring(rng: np.random.Generator) -> Example:
    """Springs along the edges of the sample patch, too long and too short ones."""
    now = np.linalg.norm(np.diff(PATCH.node_rest[PATCH.edges], axis=1)[:, 0], axis=1)
    length = rng.uniform(0.5, 1.5, len(now)) * now
    energy = traced_spring.on(PATCH, {"stiffness": 100.0, "length": length})
    return Example(energy, patch_poses(rng), invariant=True)


@register("traced_magnet")
def example_magnet(rng: np.random.Generator) -> Example:
    """A magnet beside the sample patch."""
    energy = traced_magnet.on(PATCH, {"strength": 1e-3 * rng.uniform(1, 2, PATCH.node_count), "place": [0.1, 0.0, 0.0]})
    return Example(energy, patch_poses(rng))
