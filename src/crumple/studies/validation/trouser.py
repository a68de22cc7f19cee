"""trouser: two legs of a slit sheet are pulled apart, up and down; the crack runs at 2 F = G_c t.

The legs bend until the grips stand above each other. A grip that moves by ds lets the crack run by ds and works F ds
twice, so 2 F = G_c t in a sheet that does not stretch, whatever its width, bending stiffness and mesh.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.mesh import SheetMesh
from crumple.options.tearing import WeakLine
from crumple.runtime.typing import Ints
from crumple.shapes import rectangle
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, range_check, relative_check
from crumple.studies.validation.torn_sheet import (
    TEAR,
    Pulled,
    grip,
    pull,
    sides,
    slit_sheet,
    tearing_material,
    tearing_model,
)

WIDTH, HEIGHT, SLIT = 0.04, 0.08, 0.03
"""Of the sheet, and how deep it is slit [m]."""
MESHES: tuple[tuple[str, float], ...] = (("alternating", 5e-3), ("alternating", 10e-3 / 3.0), ("delaunay", 3e-3))
"""Kinds of meshes and their edge lengths [m]."""
LABEL = 1
"""Of the edges along a perforation."""
FIRST, STEP, LENGTH = 0.028, 2e-4, 8e-3
"""Way of the grips before the crack runs, in each step while it does, and how far it runs [m]."""


def validate_trouser(meshes: tuple[tuple[str, float], ...] = MESHES, length: float = LENGTH) -> CaseResult:
    """Force and work while the crack runs against G_c t: means within 10 %, alike on all meshes within 5 %."""
    checks: list[Check] = []
    curves, means = [], []
    for kind, size in meshes:
        rows = tear_trouser(kind, size, length)
        force = 2.0 * np.array([row.force[2] for row in rows])
        label = f"{kind} {1e3 * size:.1f} mm"
        means.append(float(force.mean()))
        checks += [
            relative_check(f"{label}: mean 2 F/(G_c t)", 1.0, means[-1] / TEAR, 0.10),
            range_check(f"{label}: standard deviation over it", (0.0, 0.25), float(force.std()) / TEAR),
            relative_check(f"{label}: work of the grips per length/(G_c t)", 1.0, _work(rows) / TEAR, 0.10),
            relative_check(f"{label}: (stored + fracture)/work of the grips", 1.0, _kept(rows), 0.05),
            range_check(f"{label}: way of the crack off the middle, over its length", (0.0, 0.05), _stray(rows)),
            Check(f"{label}: crossings of the sheet with itself", 0.0, float(sum(row.crossings for row in rows)), 0.0),
        ]
        curves.append(curve(label, [(1e3 * row.way, value / TEAR) for row, value in zip(rows, force, strict=True)]))
    checks.append(range_check("largest over least mean of the meshes", (1.0, 1.05), max(means) / min(means)))
    return CaseResult("trouser", tuple(checks), figure=Figure("way of the grips [mm]", "2 F/(G_c t)", tuple(curves)))


def validate_perforation(shares: tuple[float, ...] = (0.3, 0.6), length: float = LENGTH) -> CaseResult:
    """The same along a perforation of which a fraction p is cut: 2 F = (1 − p) G_c t within 10 %."""
    checks: list[Check] = []
    curves = []
    for share in shares:
        rows = tear_trouser("alternating", MESHES[0][1], length, uncut=1.0 - share)
        force = 2.0 * np.array([row.force[2] for row in rows])
        label = f"{100.0 * share:g} % cut"
        wanted = (1.0 - share) * TEAR
        checks += [
            relative_check(f"{label}: mean 2 F/((1 − p) G_c t)", 1.0, float(force.mean()) / wanted, 0.10),
            range_check(f"{label}: way of the crack off the line, over its length", (0.0, 0.01), _stray(rows)),
            Check(f"{label}: crossings of the sheet with itself", 0.0, float(sum(row.crossings for row in rows)), 0.0),
        ]
        curves.append(curve(label, [(1e3 * row.way, value / TEAR) for row, value in zip(rows, force, strict=True)]))
    return CaseResult(
        "perforation", tuple(checks), figure=Figure("way of the grips [mm]", "2 F/(G_c t)", tuple(curves))
    )


def tear_trouser(kind: str, size: float, length: float, *, uncut: float | None = None) -> list[Pulled]:
    """The steps of a trouser test on a mesh of a kind with edges of `size` [m] while the crack ran for `length` [m].

    `uncut`: the fraction of the tear energy that is left along the middle line, where the sheet is perforated.
    """
    columns, rows = 2 * round(0.5 * WIDTH / size), round(HEIGHT / size)
    mesh, _ = rectangle(WIDTH, HEIGHT, kind=kind, divisions=(columns, rows))  # type: ignore[arg-type]
    slit = np.array([[0.5 * WIDTH, 0.0], [0.5 * WIDTH, SLIT]])
    state = slit_sheet(mesh, slit)
    low, side = state.mesh.u[:, 1] < 1e-9, sides(state, slit)[state.mesh.vertex_node]
    state = grip(state, *(state.mesh.vertex_node[low & (side == sign)] for sign in (1.0, -1.0)))
    model = tearing_model(tearing_material())
    if uncut is not None:
        assert model.tearing is not None
        model = replace(model, tearing=replace(model.tearing, lines=(WeakLine(LABEL, uncut),)))
        state = state.replaced(mesh=replace(state.mesh, edge_label=_middle_label(state.mesh)))
    return pull(model, state, first=FIRST, step=STEP, length=length)[1]


def _middle_label(mesh: SheetMesh) -> Ints:
    """Labels (face_count, 3) of half-edges: those on the middle line above the slit have one."""
    corner = mesh.u[mesh.faces]
    on = (np.abs(corner[..., 0] - 0.5 * WIDTH) < 1e-9) & (corner[..., 1] > SLIT - 1e-9)
    return np.where(on & np.roll(on, -1, axis=1), LABEL, 0).astype(np.int32)


def _work(rows: list[Pulled]) -> float:
    """Work of both grips per length of the crack [N]."""
    way, force = np.array([row.way for row in rows]), np.array([row.force[2] for row in rows])
    ran = float(np.linalg.norm(rows[-1].tip - rows[0].tip))
    return float(np.trapezoid(2.0 * force, way)) / ran


def _kept(rows: list[Pulled]) -> float:
    """The energy that is stored and that tearing has taken, over the work of both grips."""
    way, force = np.array([row.way for row in rows]), np.array([row.force[2] for row in rows])
    gained = rows[-1].stored - rows[0].stored + rows[-1].work - rows[0].work
    return gained / float(np.trapezoid(2.0 * force, way))


def _stray(rows: list[Pulled]) -> float:
    """How far the crack left the middle, over the way that it ran."""
    ran = float(np.linalg.norm(rows[-1].tip - rows[0].tip))
    return max(abs(float(row.tip[0]) - 0.5 * WIDTH) for row in rows) / ran
