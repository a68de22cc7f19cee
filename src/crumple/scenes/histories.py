"""A sheet as another run has left it: `sheets.history` takes it over from a recording."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from crumple.mesh.sheet_mesh import SheetMesh
from crumple.mesh.validate import validate_mesh
from crumple.model.model import Model
from crumple.plasticity import crease_tensor
from crumple.recording.frame import decode_frame
from crumple.recording.recording import Recording
from crumple.recording.verify import count_nonfinite
from crumple.remeshing.sizing.transfer import vertex_sizing
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats
from crumple.scenes.schema.scene import History
from crumple.state import State, Torn, initial_state
from crumple.state.part import part_of
from crumple.state.problems import state_problems

FOLDED = 0.05
"""Damage from which a face belongs to a fold."""


def recalled_sheet(history: History, k: int, materials: int) -> State:
    """The sheet in the recording, at time 0 and at rest, with what it has gone through; `InputError` for a damaged one.

    Plastic curvature, damage and crease tensor are taken over, and how fine its folds were meshed.
    `k`: its number here;  `materials`: how many it has here.
    """
    state, model = _frame(history)
    _check(state, history)
    number = _sheet_number(history, model, state)
    sheet = part_of(state, state.mesh.face_sheet == number)
    torn = state.torn.points[state.torn.sheet == number], state.torn.crack[state.torn.sheet == number]
    mesh = _own_mesh(sheet.mesh, materials)
    start = initial_state(mesh, sheet.x).replaced(
        y=sheet.y,
        plastic_curvature=sheet.plastic_curvature,
        plastic_strain=sheet.plastic_strain,
        damage=sheet.damage,
        crease=_creases(sheet),
        texture=sheet.texture,
        half_turn=sheet.half_turn,
        sizing_floor=_floor(sheet),
        tips=sheet.tips,
        torn=Torn(*torn, np.full(len(torn[0]), k, np.int32)),
    )
    return start if history.shape == "kept" else _laid_flat(start, is_ironed=history.shape == "ironed")


def _frame(history: History) -> tuple[State, Model | None]:
    """The state in the recording, and its model where that is known."""
    path = Path(history.recording)
    if path.is_file():
        return decode_frame(path), None
    recording = Recording(path)
    try:
        model = recording.present_model()
    except InputError:
        model = None  # the frame is what counts
    return recording.load(history.frame), model


def _check(state: State, history: History) -> None:
    """`InputError` unless numbers are finite, mesh and tips of cracks sound: a recording may come from anywhere."""
    count = count_nonfinite(state)
    problems = validate_mesh(state.mesh, state.x) or state_problems(state)
    if count or problems:
        found = f"{count} values are not finite" if count else problems[0]
        raise InputError(history.recording, f"{found}; `crumple verify` tells more")


def _sheet_number(history: History, model: Model | None, state: State) -> int:
    """Which of the sheets in the recording is meant."""
    count = int(state.mesh.face_sheet.max(initial=0)) + 1
    names = model.sheet_names if model is not None else tuple(f"sheet{k}" for k in range(count))
    if history.sheet is None and count == 1:
        return 0
    if history.sheet is None or (history.sheet not in names and count > 1):
        raise InputError("sheet", f"name one of the sheets in the recording: {', '.join(names)}", history.sheet)
    return names.index(history.sheet) if history.sheet in names else 0


def _own_mesh(mesh: SheetMesh, materials: int) -> SheetMesh:
    """The mesh as that of a sheet by itself, whose groups of faces are numbered from 0."""
    group = mesh.face_material - mesh.face_material.min(initial=0)
    if materials == 1:
        group = np.zeros_like(group)
    return replace(mesh, face_material=group.astype(np.int32), face_sheet=np.zeros_like(mesh.face_sheet))


def _creases(sheet: State) -> Floats:
    """The crease tensor (face_count, 3); recordings from before it was kept have damage and plastic curvature only."""
    if sheet.crease.any() or not sheet.damage.any():
        return sheet.crease
    return crease_tensor(sheet.plastic_curvature, sheet.damage)


def _floor(sheet: State) -> Floats:
    """How fine the mesh is where the sheet was folded, M_init (vertex_count, 3) [1/m²], 0 elsewhere [Jiang2016].

    Of each face the tensor M in which its three edges w have the length 1, wᵀM w = 1; of a vertex their mean by area.
    The run that has folded the sheet has aligned its faces with the folds, long along them and narrow across.
    """
    mesh = sheet.mesh
    corner = mesh.u[mesh.faces]
    edge = np.roll(corner, -1, axis=1) - corner
    rows = np.stack([edge[..., 0] ** 2, edge[..., 1] ** 2, 2.0 * edge[..., 0] * edge[..., 1]], axis=2)
    metric = np.linalg.solve(rows, np.ones((mesh.face_count, 3, 1)))[..., 0]
    floor = vertex_sizing(mesh, np.ascontiguousarray(metric))
    is_folded = np.zeros(mesh.vertex_count, bool)
    is_folded[mesh.faces[sheet.damage > FOLDED]] = True
    return np.where(is_folded[:, None], floor, 0.0)


def _laid_flat(state: State, *, is_ironed: bool) -> State:
    """The state with its pattern laid into the plane z = 0, around the origin; bends that stay, unless it is ironed."""
    mesh = state.mesh
    if mesh.has_seams or len(state.torn.points):
        raise InputError("shape", 'a sewn or torn sheet cannot be laid flat; only "kept" will do')
    flat = np.zeros((mesh.node_count, 3))
    flat[mesh.vertex_node, :2] = mesh.u
    x = flat - 0.5 * (flat.min(axis=0) + flat.max(axis=0))
    state = state.replaced(x=x, half_turn=np.zeros_like(state.half_turn))
    if not is_ironed:
        return state
    nothing = np.zeros_like(state.plastic_curvature)
    return state.replaced(y=flat, plastic_curvature=nothing, plastic_strain=nothing)
