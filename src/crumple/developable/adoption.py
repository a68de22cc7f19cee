"""A developable sheet in place of that of a scene: the same pattern at the same place, among the same obstacles."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np

from crumple.developable.engine import DAMPING, DevelopableEngine, lay_out, softened, solver_options
from crumple.developable.outline import Outline
from crumple.developable.tuning import TUNING
from crumple.mesh.sheet_mesh import BOUNDARY, SheetMesh
from crumple.model.model import Model
from crumple.options.developable import DevelopableOptions
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.state import State

PLACE = "engine developable"
FINENESS, GHOSTS, FLAT = TUNING.fineness.value, TUNING.ghosts.value, TUNING.flat_start.value
STRAIGHT = 1e-6
"""How far from the line between its neighbours a vertex of the border lies that is no corner, over the size."""
MOST_CORNERS = 48
"""Of an outline: each is a vertex for good."""


def adopt(model: Model, state: State, options: DevelopableOptions | None = None) -> DevelopableEngine:
    """The engine with the one sheet of a model as it lies flat in a state, and its obstacles, gravity and friction.

    `InputError` for what developable sheets cannot be yet: several sheets, holes, seams, creases, handles that hold
    something, a start that is not flat. Yielding, tearing and remeshing are left out: the engine has its own ways.
    """
    _refuse_others(model, state)
    outline = Outline(_corners(state.mesh))
    turn, middle = _placement(state)
    options = suited(outline) if options is None else options
    stuff = model.materials[int(state.mesh.face_material[0])]
    model = replace(
        model,
        materials=(softened(stuff),),
        handles=(),
        solver=solver_options(model.frame_time),
        contact=replace(model.contact, sheet_thickness=(0.0,)),
        remeshing=None,
        tearing=None,
        velocity_damping=max(model.velocity_damping, DAMPING),
    )
    return lay_out(model, stuff, outline, options, turn=turn, origin=middle)


def suited(outline: Outline, seed: int = 0) -> DevelopableOptions:
    """Options as fine as the size of a sheet asks for."""
    spacing = sqrt(outline.area) / FINENESS
    return DevelopableOptions(spacing=spacing, ghost_spacing=GHOSTS * spacing, seed=seed)


def _refuse_others(model: Model, state: State) -> None:
    """`InputError` for what the engine cannot do."""
    mesh = state.mesh
    reasons = {
        "takes one sheet": len(model.sheet_names) != 1 or int(mesh.face_sheet.max()) > 0,
        "takes a sheet of one material": len(np.unique(mesh.face_material)) != 1,
        "takes no sheet with seams": mesh.vertex_count != mesh.node_count,
        "has no driven or pressed creases": bool(model.creases),
        "has no attachments": bool(model.attachments),
        "has no handles but hands that grab": len(state.pins.node) > 0,
        "knows no terms of one's own": bool(model.own_terms),
    }
    for reason, applies in reasons.items():
        if applies:
            raise InputError(PLACE, f"{reason}; take another scene, or the engine physics")


def _corners(mesh: SheetMesh) -> Floats:
    """The corners of the pattern, counter-clockwise, (n, 2) [m]."""
    side = np.flatnonzero(mesh.twin == BOUNDARY)
    tail = mesh.faces.ravel()[side]
    head = np.roll(mesh.faces, -1, axis=1).ravel()[side]
    after = dict(zip(tail.tolist(), head.tolist(), strict=True))
    loop = [int(tail[0])]
    while after[loop[-1]] != loop[0]:
        loop.append(after[loop[-1]])
    if len(loop) < len(after) or len(after) < len(tail):
        raise InputError(PLACE, "takes a sheet in one piece without holes; take another scene, or the engine physics")
    u = mesh.u[loop]
    before, behind = u - np.roll(u, 1, axis=0), np.roll(u, -1, axis=0) - u
    off = np.abs(before[:, 0] * behind[:, 1] - before[:, 1] * behind[:, 0]) / np.linalg.norm(before + behind, axis=1)
    corners = u[off > STRAIGHT * float(np.ptp(u, axis=0).max())]
    if len(corners) > MOST_CORNERS:
        remedy = f"takes an outline of at most {MOST_CORNERS} corners; mesh a round one more coarsely"
        raise InputError(PLACE, remedy, len(corners))
    return corners


def _placement(state: State) -> tuple[Floats, Floats]:
    """The rotation (3, 3) and the shift (3,) [m] that take the pattern to where the sheet is: x = R (u, 0) + t."""
    mesh = state.mesh
    u, x = mesh.u[np.argsort(mesh.vertex_node)], state.x
    to, of = u - u.mean(axis=0), x - x.mean(axis=0)
    left, _, right = np.linalg.svd(of.T @ to, full_matrices=False)
    frame = left @ right
    turn = np.column_stack([frame, np.cross(frame[:, 0], frame[:, 1])])
    off = np.linalg.norm(of - to @ frame.T, axis=1).max()
    if not off <= FLAT * float(np.ptp(u, axis=0).max()):
        raise InputError(PLACE, "takes a sheet that starts flat; take another scene, or the engine physics")
    return turn, x.mean(axis=0) - frame @ u.mean(axis=0)
