"""Creases that a sheet of a scene has from the start: lines of its pattern, labelled edges of its mesh, or a shape.

A line gets edges of its own, which carry a label so that remeshing keeps them. The plastic curvature beside them shows
the fold angle; the plastic embedding is settled, so that the first remeshing finds the creases in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crumple.boundary.creases import SET
from crumple.boundary.creases import Crease as DrivenCrease
from crumple.geometry.curvature import bending_strain, curvature_stencil, rest_angle
from crumple.materials.material import Material
from crumple.mesh.io.obj import read_obj
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.plasticity import (
    crease_damage,
    crease_from_edges,
    crease_from_shape,
    crease_tensor,
    hinge_labels,
    insert_polyline,
)
from crumple.plasticity.embedding import Embedding
from crumple.runtime.errors import InputError, SimulationError
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.scenes.crease_drives import crease_labels, driven_creases, has_pattern, selection_problem
from crumple.scenes.messages import Problems
from crumple.scenes.patterns import loose_lines, pattern_folds, shape_pattern
from crumple.scenes.schema.scene import Crease, Sheet
from crumple.state import State, transfer

FIRST_LABEL = 1_000_000
"""Lines are labelled from here on, beyond the labels that people give."""


DOUBLE = 1.2
"""Distance of double creases over the room that two layers need."""


@dataclass(frozen=True)
class CreasedSheet:
    """A sheet with its creases: its state, and those creases that are driven or pressed."""

    state: State
    driven: tuple[DrivenCrease, ...] = ()


def crease_sheet(
    sheet: Sheet,
    k: int,
    state: State,
    materials: list[Material],
    problems: Problems,
    room: float = 0.0,
    *,
    settle: bool = True,
) -> CreasedSheet | None:
    """Sheet number `k` with its creases, before it is placed; None when there are problems.

    Damage is that of the sheet at its final scale, and curvatures are those before it. `room`: that two layers of it
    need [m], at its final scale. Without `settle` the plastic embedding stays as it is, unless the
    sheet starts in it.
    """
    before = len(problems.messages)
    if sheet.history is not None:
        return CreasedSheet(state)
    assert sheet.shape is not None
    natural = getattr(sheet.shape, "natural", False)  # such shapes are folded by themselves
    folds = None
    if has_pattern(sheet):
        with problems.catch(("sheets", k, "shape")):
            folds = pattern_folds(sheet.shape)
            for text in folds.notes:
                problems.note(("sheets", k, "shape"), text)
            if folds.y is not None and all(crease.drive == SET for crease in sheet.creases):
                state = state.replaced(y=folds.y)
    if not sheet.creases and sheet.plastic_shape is None and not natural and folds is None:
        if sheet.folded:
            problems.add(("sheets", k, "folded"), "the sheet has no creases and no plastic_shape", sheet.folded)
        return CreasedSheet(state)
    shape = state.x.copy() if natural else None
    if sheet.plastic_shape is not None:
        shape = _read_shape(sheet.plastic_shape, k, state.mesh, problems)
    if shape is not None:
        state = state.replaced(y=shape)
    for c, crease in enumerate(sheet.creases):
        if problem := selection_problem(crease, sheet):
            key, found, text = problem.partition(": ")
            path = ("sheets", k, "creases", c)
            problems.add((*path, key) if found else path, text or problem)
    if len(problems.messages) > before:
        return None
    own = [part for crease in sheet.creases for part in _doubled(crease, room / sheet.transform.scale)]
    creases = own if folds is None else [*own, *loose_creases(sheet.shape)]
    state, line_labels = _insert_lines(creases, k, state, problems)
    if len(problems.messages) > before:
        return None
    mesh = state.mesh
    labels = [crease_labels(one, sheet, mesh, label) for one, label in zip(creases, line_labels, strict=True)]
    plastic = np.zeros((mesh.face_count, 3)) if shape is None else crease_from_shape(mesh, state.y)
    if folds is not None:
        driven = [label for one, own in zip(creases, labels, strict=True) if one.drive != SET for label in own.tolist()]
        plastic = _add_folds(mesh, folds.angle, plastic, driven)
    plastic = _add_creases(sheet, creases, k, mesh, labels, plastic, problems)
    drives = driven_creases(sheet, k, creases, labels, materials, problems)
    if len(problems.messages) > before:
        return None
    bent = _worked(creases, mesh, labels, plastic)
    damage = _damage(sheet, creases, mesh, labels, bent, materials)
    y = Embedding(mesh).settle(state.y, plastic) if settle or sheet.folded else state.y
    x = _laid_on(y, state.x) if sheet.folded else state.x
    worked = crease_tensor(bent, damage)
    state = state.replaced(x=x, y=y, plastic_curvature=plastic, damage=damage, crease=worked)
    return CreasedSheet(state, drives)


def _doubled(crease: Crease, room: float) -> list[Crease]:
    """The crease, or two of half its angle that leave `room` [m] between two layers."""
    if not crease.double or crease.line is None:
        return [crease]
    p, q = np.array(crease.line)
    across = np.array([p[1] - q[1], q[0] - p[0]]) / max(float(np.linalg.norm(q - p)), 1e-300)
    half = [key.model_copy(update={"angle": None if key.angle is None else 0.5 * key.angle}) for key in crease.keys]
    angle = None if crease.angle is None else 0.5 * crease.angle
    parts = []
    for side in (-0.5, 0.5):
        line = [tuple(point) for point in (np.array([p, q]) + side * DOUBLE * room * across).tolist()]
        parts.append(crease.model_copy(update={"line": line, "angle": angle, "keys": half, "double": False}))
    return parts


def _read_shape(file: str, k: int, mesh: SheetMesh, problems: Problems) -> Floats | None:
    """Positions (node_count, 3) [m] of the nodes in a file; None when there are problems."""
    with problems.catch(("sheets", k, "plastic_shape")):
        points = read_obj(file).points
        if len(points) != mesh.node_count:
            raise InputError(Path(file).name, f"must have the {mesh.node_count} nodes of the sheet", len(points))
        return np.ascontiguousarray(points)
    return None


def _insert_lines(creases: list[Crease], k: int, state: State, problems: Problems) -> tuple[State, list[int]]:
    """The sheet with edges along all lines, and the label of the edges of each crease."""
    mesh = state.mesh
    label = max(FIRST_LABEL, int(mesh.edge_label.max(initial=0)) + 1, int(mesh.node_label.max(initial=0)) + 1)
    labels = []
    for c, crease in enumerate(creases):
        path = ("sheets", k, "creases", c)
        if crease.line is None:
            labels.append(crease.label or 0)
            continue
        labels.append(label)
        with problems.catch((*path, "line")):
            try:
                line = insert_polyline(state.mesh, np.array(crease.line), label=label)
            except SimulationError as error:
                raise InputError("line", str(error)) from None
            state = transfer(state, line.change, mesh=line.mesh)
            if not line.hinges.any():
                problems.add((*path, "line"), "no part of the line is inside the sheet, away from its outline")
            elif crease.width is not None:
                state = _narrowed(state, np.array(crease.line), 0.5 * crease.width)
        label += 1
    return state, labels


def _narrowed(state: State, line: Floats, reach: float) -> State:
    """The state with edges along both sides of a polyline (n, 2), at the distance `reach` [m], which remeshing does not
    coarsen across the line."""
    along = np.diff(line, axis=0)
    across = np.stack([-along[:, 1], along[:, 0]], axis=1) / np.linalg.norm(along, axis=1, keepdims=True)
    for side in (-reach, reach):
        for p, q, normal in zip(line[:-1], line[1:], across, strict=True):
            beside = insert_polyline(state.mesh, np.stack([p, q]) + side * normal)
            state = transfer(state, beside.change, mesh=beside.mesh)
    floor, u = state.sizing_floor.copy(), state.mesh.u
    for p, q, normal in zip(line[:-1], line[1:], across, strict=True):
        fraction = np.clip((u - p) @ (q - p) / ((q - p) @ (q - p)), 0.0, 1.0)
        near = np.linalg.norm(u - p - fraction[:, None] * (q - p), axis=1) < 1.01 * reach
        floor[near] = np.array([normal[0] ** 2, normal[1] ** 2, normal[0] * normal[1]]) / reach**2
    return state.replaced(sizing_floor=floor)


def _add_creases(
    sheet: Sheet,
    creases: list[Crease],
    k: int,
    mesh: SheetMesh,
    labels: list[Ints],
    plastic: Floats,
    problems: Problems,
) -> Floats:
    """S_p (face_count, 3) [1/m] with the rest angle of each crease; where creases coincide, that of the last."""
    stencil, hinge_label = curvature_stencil(mesh), hinge_labels(mesh)
    for c, (crease, own) in enumerate(zip(creases, labels, strict=True)):
        marked = np.isin(hinge_label, own)
        path = ("sheets", k, "creases", c)
        if not marked.any() and crease.label is not None:
            problems.add((*path, "label"), "no inner edge of the mesh carries this label", crease.label)
        for key in ("select", "group", "edges"):
            if not marked.any() and getattr(crease, key) is not None:
                names = ", ".join(shape_pattern(sheet.shape).group_names[:20]) if key == "group" else ""
                known = f"; its groups are {names}" if names else ""
                problems.add((*path, key), f"the sheet has no such creases{known}", getattr(crease, key))
        angle = np.radians(crease.angle or 0.0) * np.where(_is_valley(mesh, crease, sheet), -1.0, 1.0)
        angle = angle if crease.drive == SET else 0.0
        plastic = crease_from_edges(mesh, marked, angle, plastic_curvature=plastic, stencil=stencil)
    return plastic


def _is_valley(mesh: SheetMesh, crease: Crease, sheet: Sheet) -> Bools:
    """Hinges on valleys of the sheet's crease pattern, if the crease is one of those, (hinge_count,)."""
    label = hinge_labels(mesh)
    if not has_pattern(sheet) or crease.line is not None or crease.label is not None:
        return np.zeros(len(label), bool)
    letters = np.append(shape_pattern(sheet.shape).assignment, "")
    return np.asarray(letters[np.clip(label - 1, -1, len(letters) - 1)] == "V")


def _worked(creases: list[Crease], mesh: SheetMesh, labels: list[Ints], plastic: Floats) -> Floats:
    """The plastic curvature (face_count, 3) [1/m] that creases have gone through: S_p, but for worked ones."""
    stencil, hinge_label, bent = curvature_stencil(mesh), hinge_labels(mesh), plastic
    for crease, label in zip(creases, labels, strict=True):
        if crease.worked is not None:
            more = np.radians(crease.worked) - np.abs(rest_angle(stencil, bent))
            bent = bent + bending_strain(stencil, np.where(np.isin(hinge_label, label), more, 0.0))
    return bent


def loose_creases(shape: Any) -> list[Crease]:
    """The creases of a pattern that end inside a facet."""
    return [Crease(line=[p, q], angle=float(np.degrees(fold))) for p, q, fold in loose_lines(shape)]


def _add_folds(mesh: SheetMesh, angle: Floats, plastic: Floats, driven: list[int]) -> Floats:
    """S_p (face_count, 3) [1/m] with the rest angles (edge_count,) [rad] of a crease pattern on its labelled edges,
    those with `driven` labels left out."""
    label = hinge_labels(mesh)
    marked = (label > 0) & (label <= len(angle)) & ~np.isin(label, driven)
    return crease_from_edges(mesh, marked, angle[np.where(marked, label - 1, 0)], plastic_curvature=plastic)


def _damage(
    sheet: Sheet,
    creases: list[Crease],
    mesh: SheetMesh,
    labels: list[Ints],
    plastic: Floats,
    materials: list[Material],
) -> Floats:
    """δ (face_count,): of one bend from flat, or as given, on the faces beside each crease."""
    yields = np.array([material.yield_curvature for material in materials])[mesh.face_material]
    damage = crease_damage(plastic / sheet.transform.scale, yields)
    for crease, label in zip(creases, labels, strict=True):
        if crease.damage is not None:
            damage[np.unique(mesh.hinges.faces[np.isin(hinge_labels(mesh), label)])] = crease.damage
    return damage


def _laid_on(y: Floats, x: Floats) -> Floats:
    """The shape y moved and turned, not mirrored, so that its nodes are as near to x as can be (Kabsch)."""
    middle_y, middle_x = y.mean(axis=0), x.mean(axis=0)
    left, _, right = np.linalg.svd((y - middle_y).T @ (x - middle_x))
    sign = np.array([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
    return np.ascontiguousarray((y - middle_y) @ (left * sign) @ right + middle_x)
