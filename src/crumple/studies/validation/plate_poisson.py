"""plate-poisson and grain: what a bent sheet shows of its Poisson's ratio and of its grain, in the simulator.

strip     A strip bent by couples at its ends curves across by −ν times as much: ν is read from the nodes' positions.
twist     A square pulled up at two corners and down at the two others takes the shape w = κ u v, κ = F/(2 B (1−ν)).
sphere    A square bent by couples all around: κ = M/(B (1+ν)) both ways.
grain     Strips cut along and across the grain: κ_CD/κ_MD = D_MD/D_CD, wherever the grain lies on the pattern.

Deflections are small beside the thickness. With hinges all sheets had ν = −1/3: a bent strip curled the wrong way
across, and twisting took twice the force.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crumple.materials.material import Material
from crumple.mesh import SheetMesh, make_sheet_mesh
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.runtime.typing import Floats
from crumple.state import State
from crumple.studies.validation.bending_meshes import plate_meshes
from crumple.studies.validation.plate_loads import Couples, Forces, fitted_curvatures, rim_edges, settle_plate
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, relative_check

SIDE, THICKNESS, YOUNG = 0.1, 1e-3, 2.1e11
RATIOS = (0.0, 0.3, 0.45)
KINDS = ("equilateral", "jittered", "aspect 3")
FACES = 400
BENT = 5e-3
"""Couples over the bending stiffness [1/m]: the sheets are bent by a hundredth of their thickness."""
POISSON_TOLERANCE, ENERGY_TOLERANCE, GRAIN_TOLERANCE = 0.03, 0.02, 0.03
LONG = 4.0
"""Length of the strips over their width."""
CARD = Material.orthotropic("card", young=(6e9, 2.5e9), poisson=0.4, thickness=1e-3, density=0.8)
GRAINS = (0.0, 30.0, 90.0)
"""Direction of the grain on the pattern [°]."""


def validate_plate_poisson(kinds: tuple[str, ...] = KINDS, faces: int = FACES) -> CaseResult:
    """ν of a bent strip within 0.03; energies of a twist and of a sphere within 2 %."""
    checks: list[Check] = []
    curves = []
    meshes = plate_meshes(faces)
    for kind in kinds:
        shown = []
        for poisson in RATIOS:
            steel = Material.isotropic("steel", young=YOUNG, poisson=poisson, thickness=THICKNESS, density=7.85)
            label = f"{kind}, ν = {poisson:g}"
            shown.append((poisson, bent_strip(meshes[kind], steel).poisson))
            checks.append(Check(f"{label}: ν of a bent strip", poisson, shown[-1][1], POISSON_TOLERANCE))
            for name, work in (("twist", twist_energy), ("sphere", sphere_energy)):
                share = work(meshes[kind], steel)
                checks.append(relative_check(f"{label}: energy of a {name} over theory", 1.0, share, ENERGY_TOLERANCE))
        curves.append(curve(kind, shown, markers=True))
    curves.append(curve("as the material says", [(RATIOS[0], RATIOS[0]), (RATIOS[-1], RATIOS[-1])]))
    figure = Figure("ν of the material", "ν of a bent strip", tuple(curves))
    return CaseResult("plate-poisson", tuple(checks), figure=figure)


def validate_grain(kinds: tuple[str, ...] = KINDS, faces: int = FACES) -> CaseResult:
    """D_MD/D_CD of strips cut along and across the grain: within 3 %, with the grain at three angles."""
    checks: list[Check] = []
    curves = []
    meshes = plate_meshes(faces)
    expected = float(CARD.bending[0] / CARD.bending[2])
    for kind in kinds:
        found = []
        for degrees in GRAINS:
            card, angle = replace(CARD, grain_angle=np.radians(degrees)), float(np.radians(degrees))
            along, across = (bent_strip(meshes[kind], card, angle + turn) for turn in (0.0, 0.5 * np.pi))
            found.append((degrees, across.along / along.along))
            label = f"{kind}, grain at {degrees:g}°: D_MD/D_CD"
            checks.append(relative_check(label, expected, found[-1][1], GRAIN_TOLERANCE))
        curves.append(curve(kind, found, markers=True))
    curves.append(curve("as the material says", [(GRAINS[0], expected), (GRAINS[-1], expected)]))
    return CaseResult("grain", tuple(checks), figure=Figure("direction of the grain [°]", "D_MD / D_CD", tuple(curves)))


@dataclass(frozen=True)
class BentStrip:
    """Curvatures along and across a strip [1/m], from the heights of its nodes."""

    along: float
    across: float

    @property
    def poisson(self) -> float:
        return -self.across / self.along


def bent_strip(mesh: SheetMesh, material: Material, direction: float = 0.0) -> BentStrip:
    """A strip bent by couples at its ends, its length at `direction` [rad] from u on the pattern.

    `mesh`: that of a unit square, which is stretched to the strip.
    """
    c, s = np.cos(direction), np.sin(direction)
    flat = mesh.u * [SIDE, SIDE / LONG]
    strip = make_sheet_mesh(flat @ np.array([[c, s], [-s, c]]), mesh.faces)
    ends = np.abs(mesh.u[strip.edges, 0] - 0.5) > 0.5 - 1e-9
    at_end = ends.all(axis=1) & (np.ptp(mesh.u[strip.edges, 0], axis=1) < 1e-9)
    _, state = settle_plate(strip, material, (Couples(at_end, BENT * material.bend_stiffness),))
    along, across, _ = fitted_curvatures(strip, state.x, angle=direction)
    return BentStrip(float(along), float(across))


def twist_energy(mesh: SheetMesh, material: Material) -> float:
    """Energy of a square twisted by forces ±F at its corners over the theory's F² a²/(4 B (1−ν))."""
    square = make_sheet_mesh(mesh.u * SIDE, mesh.faces)
    corners = [int(np.argmin(np.sum((mesh.u - place) ** 2, axis=1))) for place in ((0, 0), (1, 0), (1, 1), (0, 1))]
    pull = 2.0 * BENT * material.bend_stiffness
    force = pull * np.array([[0.0, 0.0, sign] for sign in (1.0, -1.0, 1.0, -1.0)])
    load = Forces(np.array(corners, np.int32), force)
    model, state = settle_plate(square, material, (load,))
    expected = (pull * SIDE) ** 2 / (4.0 * material.bend_stiffness * (1.0 - _poisson(material)))
    return bending_energy(model, state) / expected


def sphere_energy(mesh: SheetMesh, material: Material) -> float:
    """Energy of a square bent by couples M all around over the theory's M² a²/(B (1+ν))."""
    square = make_sheet_mesh(mesh.u * SIDE, mesh.faces)
    moment = BENT * material.bend_stiffness
    model, state = settle_plate(square, material, (Couples(rim_edges(square), moment),))
    expected = (moment * SIDE) ** 2 / (material.bend_stiffness * (1.0 + _poisson(material)))
    return bending_energy(model, state) / expected


def bending_energy(model: Model, state: State) -> float:
    """What the sheet stores by bending [J]."""
    return Derived(model, state).measure("bending", state)


def _poisson(material: Material) -> float:
    membrane: Floats = material.membrane
    return float(membrane[1] / membrane[0])
