"""bend-modulus: the bending stiffness that a mesh shows when it is bent into a cylinder, by direction.

Nodes are put on a cylinder of curvature κ whose axis is turned by φ; B_eff = energy / (½ κ² area), over the inner faces
(a hinge counts half for each of its faces). The hinge spring on equilateral triangles is isotropic; on other meshes
the stiffness depends on the direction, and refining the mesh does not change that.
"""

from __future__ import annotations

import numpy as np

from crumple.energies import make_hinges
from crumple.materials.material import Material
from crumple.mesh import SheetMesh, rectangle
from crumple.mesh.generate import KINDS, Kind
from crumple.typing import Bools, Floats
from crumple.validation.result import CaseResult, Check, Figure, curve, range_check, relative_check

DIRECTIONS = np.arange(8) * np.pi / 8
"""Directions of curvature from the first pattern axis [rad]."""
SPREADS: dict[Kind, tuple[float, float]] = {
    "equilateral": (1.0, 1.0),
    "right": (0.785, 3.0),
    "alternating": (1.0, 1.48),
}
"""Smallest and largest B_eff / B over the directions."""
RANDOM_RANGE = (1.05, 1.39)
"""Where B_eff / B of a Delaunay mesh lies; where in this range depends on how much its points are displaced."""
TOLERANCE = 0.03
EDGES = 60
"""Edges along a side."""
BEND = 1e-3
"""B [N m]; any value does."""


def validate_bend_modulus() -> CaseResult:
    """B_eff of the four mesh kinds in eight directions."""
    checks: list[Check] = []
    curves = []
    for kind in KINDS:
        mesh, _ = rectangle(1.0, 1.0, 1.0 / EDGES, kind=kind)
        modulus = bend_moduli(mesh, DIRECTIONS)
        for word, value, k in (("smallest", modulus.min(), 0), ("largest", modulus.max(), 1)):
            quantity = f"{kind}: {word} B_eff/B"
            if kind in SPREADS:
                checks.append(relative_check(quantity, SPREADS[kind][k], value, TOLERANCE))
            else:
                checks.append(range_check(quantity, RANDOM_RANGE, value))
        curves.append(curve(kind, list(zip(np.degrees(DIRECTIONS), modulus, strict=True)), markers=True))
    curves.append(curve("isotropic", [(0.0, 1.0), (180.0, 1.0)]))
    return CaseResult(
        "bend-modulus", tuple(checks), figure=Figure("direction of curvature [°]", "B_eff / B", tuple(curves))
    )


def bend_moduli(mesh: SheetMesh, directions: Floats, curvature: float = 1e-2) -> Floats:
    """B_eff / B of a unit square mesh bent to `curvature` [1/m] along each of the `directions` [rad]."""
    material = Material.from_stiffness("sheet", stretch=1.0, bend=BEND, thickness=1e-4, density=1.0)
    ((bending, _),) = make_hinges(mesh, (material,)).at(np.zeros(len(mesh.hinges.nodes)))
    inner = _inner_faces(mesh)
    share = 0.5 * inner[mesh.hinges.faces].sum(axis=1)
    area = float(np.abs(mesh.face_area)[inner].sum())
    energy = [float(share @ bending.value(roll(mesh.u, phi, curvature))) for phi in directions]
    return np.array(energy) / (0.5 * BEND * curvature**2 * area)


def roll(u: Floats, direction: float, curvature: float) -> Floats:
    """The flat points `u` (n, 2) on a cylinder that curves along `direction` [rad], (n, 3), isometrically."""
    c, s = np.cos(direction), np.sin(direction)
    along, across = u @ [c, s], u @ [-s, c]
    bent = np.sin(curvature * along) / curvature
    height = (1.0 - np.cos(curvature * along)) / curvature
    return np.ascontiguousarray(np.stack([c * bent - s * across, s * bent + c * across, height], axis=1))


def _inner_faces(mesh: SheetMesh) -> Bools:
    """Faces that touch no border, (face_count,) bool."""
    return np.logical_not(np.any(mesh.boundary_nodes[mesh.face_nodes], axis=1))
