"""bend-modulus: the bending stiffness that a mesh shows when it is bent into a cylinder, by direction.

Nodes are put on a cylinder of curvature κ whose axis is turned by φ, directors are relaxed as after a remeshing;
B_eff = energy / (½ κ² area), over the faces away from the rim, where the free rim is not felt. The default element
shows B in every direction, on every mesh. Hinges, `solver.bending = "hinge"`, do so on equilateral triangles only.
"""

from __future__ import annotations

import numpy as np

from crumple.materials.material import Material
from crumple.mesh import SheetMesh
from crumple.options.plasticity import PlasticityOptions
from crumple.runtime.typing import Bools, Floats
from crumple.state import initial_state
from crumple.studies.validation.bending_meshes import plate_meshes
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, relative_check
from crumple.terms import Bending

DIRECTIONS = np.arange(8) * np.pi / 8
"""Directions of curvature from the first pattern axis [rad]."""
TOLERANCE = 0.03
FACES = 3000
RIM = 6
"""Rows of faces at the rim that do not count."""
BEND, POISSON = 1e-3, 0.3
"""B [N m]; any value does."""


def validate_bend_modulus() -> CaseResult:
    """B_eff of six mesh kinds in eight directions: within 3 %."""
    checks: list[Check] = []
    curves = []
    for kind, mesh in plate_meshes(FACES).items():
        modulus = bend_moduli(mesh, DIRECTIONS)
        for word, value in (("smallest", modulus.min()), ("largest", modulus.max())):
            checks.append(relative_check(f"{kind}: {word} B_eff/B", 1.0, value, TOLERANCE))
        curves.append(curve(kind, list(zip(np.degrees(DIRECTIONS), modulus, strict=True)), markers=True))
    curves.append(curve("isotropic", [(0.0, 1.0), (180.0, 1.0)]))
    return CaseResult(
        "bend-modulus", tuple(checks), figure=Figure("direction of curvature [°]", "B_eff / B", tuple(curves))
    )


def bend_moduli(mesh: SheetMesh, directions: Floats, curvature: float = 1e-2, element: str = "midedge") -> Floats:
    """B_eff / B of a unit square mesh bent to `curvature` [1/m] along each of the `directions` [rad]."""
    material = Material.from_stiffness("sheet", stretch=1.0, bend=BEND, thickness=1e-4, density=1.0, poisson=POISSON)
    inner = _inner_faces(mesh, 0 if element == "hinge" else RIM)
    area = float(np.abs(mesh.face_area)[inner].sum())
    term = Bending((material,), PlasticityOptions(), element)
    found = []
    for phi in directions:
        state = initial_state(mesh, roll(mesh.u, phi, curvature))
        mounted = term.mount(state)
        state = mounted.relax(state)
        (energy,) = mounted.stored(state, 0.0)
        value = energy.value(state.x, state.half_turn)
        share = 0.5 * inner[mesh.hinges.faces].sum(axis=1) if element == "hinge" else inner
        found.append(float(share @ value))
    return np.array(found) / (0.5 * BEND * curvature**2 * area)


def roll(u: Floats, direction: float, curvature: float) -> Floats:
    """The flat points `u` (n, 2) on a cylinder that curves along `direction` [rad], (n, 3), isometrically."""
    c, s = np.cos(direction), np.sin(direction)
    along, across = u @ [c, s], u @ [-s, c]
    bent = np.sin(curvature * along) / curvature
    height = (1.0 - np.cos(curvature * along)) / curvature
    return np.ascontiguousarray(np.stack([c * bent - s * across, s * bent + c * across, height], axis=1))


def _inner_faces(mesh: SheetMesh, rows: int) -> Bools:
    """Faces that do not touch the rim of the unit square and are so many `rows` away from it, (face_count,) bool."""
    middle = mesh.u[mesh.faces].mean(axis=1) - mesh.u.mean(axis=0)
    size = 1.0 / np.sqrt(0.5 * mesh.face_count)
    touches = mesh.boundary_nodes[mesh.face_nodes].any(axis=1)
    return np.asarray(~touches & (np.abs(middle).max(axis=1) < 0.5 - rows * size))
