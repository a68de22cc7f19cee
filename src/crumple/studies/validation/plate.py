"""plate and plate-adaptive: a simply supported plate under its weight, on meshes of all kinds, in the simulator.

A square of sheet steel, 1 mm thick, rests on its rim, which is held in height only. It sags by a thousandth of its
thickness: the linear theory of plates (Navier's series) is exact. `plate-adaptive` does the same on the patterns of
recordings of adaptive runs (`crumple run crumple`, `crumple run fold`): laid flat again, and made of the same steel.

What was found with hinges: .99 of the theory on equilateral triangles, .36 to .78 on others, .13 to .54 on adaptive
meshes, whatever their number of faces.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crumple.materials.material import Material
from crumple.mesh import SheetMesh, make_sheet_mesh
from crumple.model.model import STANDARD_GRAVITY
from crumple.options.solver import BendingElement
from crumple.recording.recording import Recording
from crumple.studies.validation.bending_meshes import navier_deflection, plate_meshes
from crumple.studies.validation.plate_loads import Support, settle_plate
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, range_check, relative_check

SIDE = 0.1
"""Of the plate [m]."""
STEEL = Material.isotropic("steel", young=2.1e11, poisson=0.3, thickness=1e-3, density=7.85)
HARD = 1e9
"""Stiffness of the supports [N/m]: they give way by 1e-11 m, 1e-5 of the deflection."""
FACES = (190, 750, 3000)
TOLERANCE, ADAPTIVE_TOLERANCE = 0.02, 0.05
ORDERS = (1.6, 4.0)
"""Of the error over the size of the faces: 2 in theory, more where the coarse mesh has a node in the middle of the
plate and the fine one has none."""
LEAST = (500, 1000, 2000, 4000, 8000)
"""Faces that adaptive meshes must have to be tried."""


def validate_plate(faces: tuple[int, ...] = FACES) -> CaseResult:
    """Deflection over Navier's: within 2 % on all kinds of meshes; the order of the error."""
    checks: list[Check] = []
    curves = []
    levels = [plate_meshes(count) for count in faces]
    for kind in levels[-1]:
        found = [deflection(level[kind]) for level in levels]
        count = levels[-1][kind].face_count
        checks.append(relative_check(f"{kind}, {count} faces: deflection over theory", 1.0, found[-1], TOLERANCE))
        order = convergence_order(found, [level[kind].face_count for level in levels])
        checks.append(range_check(f"{kind}: order of the error", ORDERS, order))
        points = [(float(level[kind].face_count), value) for level, value in zip(levels, found, strict=True)]
        curves.append(curve(kind, points, markers=True))
    curves.append(curve("theory", [(faces[0], 1.0), (faces[-1], 1.0)]))
    return CaseResult("plate", tuple(checks), figure=Figure("faces", "deflection over theory", tuple(curves)))


def deflection(mesh: SheetMesh, bending: BendingElement = "midedge") -> float:
    """Largest deflection of a rectangle of any size, as wide as `SIDE`, under its weight, over that of the theory."""
    scaled = make_sheet_mesh(mesh.u * (SIDE / np.ptp(mesh.u[:, 0])), mesh.faces)
    rim = np.flatnonzero(scaled.boundary_nodes).astype(np.int32)
    _, state = settle_plate(scaled, STEEL, (Support(rim, HARD),), gravity=STANDARD_GRAVITY, bending=bending)
    width, height = np.ptp(scaled.u, axis=0)
    load = STEEL.density * STANDARD_GRAVITY / STEEL.bend_stiffness
    return -float(state.x[:, 2].min()) / (load * navier_deflection(width, height))


def convergence_order(found: list[float], faces: list[int]) -> float:
    """The order of the error in the size of the faces, between the coarsest and the finest mesh."""
    coarse, fine = abs(found[0] - 1.0), abs(found[-1] - 1.0)
    return float(np.log(coarse / fine) / np.log(np.sqrt(faces[-1] / faces[0])))


def validate_adaptive_plate(recordings: Path) -> CaseResult:
    """Deflection over Navier's on the patterns of adaptive runs: within 5 %."""
    checks: list[Check] = []
    points = []
    for name in ("crumple", "fold"):
        if not (recordings / name).is_dir():
            continue
        for frame, mesh in adaptive_meshes(Recording(recordings / name)).items():
            value = deflection(mesh)
            label = f"{name}, frame {frame}, {mesh.face_count} faces: deflection over theory"
            checks.append(relative_check(label, 1.0, value, ADAPTIVE_TOLERANCE))
            points.append((float(mesh.face_count), value))
    if not checks:
        checks.append(Check("frames with enough faces", 1.0, 0.0, 0.0))
    curves = (curve("measured", points, markers=True), curve("theory", [(n, 1.0) for n, _ in points]))
    return CaseResult("plate-adaptive", tuple(checks), figure=Figure("faces", "deflection over theory", curves))


def adaptive_meshes(recording: Recording) -> dict[int, SheetMesh]:
    """The patterns, by frame, of the first frames of a recording that have at least each of `LEAST` faces."""
    found: dict[int, SheetMesh] = {}
    wanted = list(LEAST)
    for frame in recording.frames:
        mesh = recording.load(frame).mesh
        if wanted and mesh.face_count >= wanted[0]:
            found[frame] = mesh
            wanted = [least for least in wanted if least > mesh.face_count]
    return found
