"""A sheet as another run has left it: `sheets.history` takes it over from a recording."""

from __future__ import annotations

from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np

from crumple.errors import InputError
from crumple.geometry.curvature import bending_strain, curvature_stencil, rest_angle, shape_curvature
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.plasticity import crease_tensor
from crumple.recording.frame import decode_frame
from crumple.recording.recording import Recording
from crumple.scenes.schema import History
from crumple.simulation.model import Model
from crumple.sizing import compute_sizing
from crumple.state import State, Torn, initial_state
from crumple.state.part import part_of
from crumple.typing import Floats

FINEST = 0.5
"""Where the recording does not say how fine it was meshed, its edges are kept to this share of their mean length."""


def recalled_sheet(history: History, k: int, materials: int) -> State:
    """The sheet in the recording, at time 0 and at rest, with what it has gone through; `InputError` for a damaged one.

    Plastic curvature, damage and crease tensor are taken over, the sizing field of its folds as a floor for remeshing.
    `k`: its number here;  `materials`: how many it has here.
    """
    state, model = _frame(history)
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
        sizing_floor=_floor(sheet, model),
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


def _floor(sheet: State, model: Model | None) -> Floats:
    """How fine the folds of the sheet ask its mesh to be, M_init (vertex_count, 3) [1/m²] [Jiang2016]."""
    mesh = sheet.mesh
    if model is None or model.remeshing is None:
        size = FINEST * float(mesh.corner_length.mean())
        folded = sheet.damage > 0.0
        floor = np.zeros((mesh.vertex_count, 3))
        floor[np.unique(mesh.faces[folded]), :2] = 1.0 / size**2
        return floor
    options = replace(model.remeshing.all_sizing[0], refine_velocity=inf, refine_compression=inf, refine_obstacle=False)
    stencil = curvature_stencil(mesh)
    plastic = bending_strain(stencil, rest_angle(stencil, sheet.plastic_curvature))
    curvature = shape_curvature(mesh, sheet.x, stencil)
    return compute_sizing(mesh, sheet.x, np.zeros_like(sheet.x), curvature, plastic, options=options)


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
