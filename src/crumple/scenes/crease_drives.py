"""Creases of a scene that are driven or pressed: which labels they have, and their angles over time."""

from __future__ import annotations

from itertools import pairwise
from math import inf
from typing import Any

import numpy as np

from crumple.boundary.creases import FREE, HARD, SET, SPRING, Press, closing_limits, crease_hinges, hinge_lengths
from crumple.boundary.creases import Crease as DrivenCrease
from crumple.materials.material import Material
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.patterns import CreasePattern, check_pattern, folding_angles
from crumple.patterns.meshing import FIRST_LABEL
from crumple.patterns.pattern import UNASSIGNED
from crumple.runtime.typing import Floats, Ints
from crumple.scenes.messages import Path, Problems
from crumple.scenes.patterns import PATTERN_KINDS, shape_pattern
from crumple.scenes.schema.creases import Crease
from crumple.scenes.schema.scene import Sheet

SAMPLES = 48
"""Times between two keys at which angles are given; linear in between."""
ORIGAMI_LENGTH = 0.05
"""Default of L* [m] in the stiffness B/L* of a crease spring, a guess."""
TOLD_FLAT = 1.0
"""Creases that are to fold this much further than the thickness of the sheet allows are told [degrees]."""
MOST_MISFITS = 10
"""Vertices at which creases do not fit that are reported."""


def has_pattern(sheet: Sheet) -> bool:
    """Whether a sheet is a crease pattern."""
    return sheet.shape is not None and sheet.shape.kind in PATTERN_KINDS


def selection_problem(crease: Crease, sheet: Sheet) -> str:
    """What is wrong with how a crease says where it is and what it does, beginning with the key; "" when nothing is."""
    given = [key for key in ("line", "label", "select", "group", "edges") if getattr(crease, key) is not None]
    if len(given) != 1:
        return "must have either a line or a label, or, of a crease pattern, one of select, group and edges"
    if given[0] in ("group", "edges") and not has_pattern(sheet):
        return f"{given[0]} is for crease patterns; must have a line or a label"
    if crease.drive == SET:
        if crease.keys:
            return 'keys need a drive: "hard" or "spring"'
        if crease.angle is None and crease.press is None and crease.band is None:
            return "angle: this key is missing"
    elif crease.drive in (HARD, SPRING) and crease.angle is None and not crease.keys:
        return "must have an angle or keys"
    if crease.keys and crease.angle is not None:
        return "must have either an angle or keys"
    if crease.double and (crease.line is None or len(crease.line) != 2):
        return "double needs a line of two points"
    return _keys_problem(crease, sheet)


def _keys_problem(crease: Crease, sheet: Sheet) -> str:
    """What is wrong with the keys."""
    times = [key.time for key in crease.keys]
    if any(b <= a for a, b in pairwise(times)):
        return "keys must have ascending times"
    for key in crease.keys:
        if (key.angle is None) == (key.fold is None):
            return "each of the keys must have either an angle or a fold"
    by_fold = any(key.fold is not None for key in crease.keys)
    if by_fold and any(key.angle is not None for key in crease.keys):
        return "keys must all have an angle, or all a fold"
    if by_fold and (not has_pattern(sheet) or crease.line is not None):
        return "a fold is a fraction of the angles of a crease pattern; use angle"
    return ""


def folds_at_once(sheet: Sheet) -> bool:
    """Whether all driven creases of a sheet move at the same times."""
    return len({tuple(key.time for key in crease.keys) for crease in sheet.creases if crease.keys}) <= 1


def crease_labels(crease: Crease, sheet: Sheet, mesh: SheetMesh, label: int) -> Ints:
    """The labels of the edges of a crease, (n,); `label`: that of its line."""
    if crease.line is not None or crease.label is not None:
        return np.array([label], np.int32)
    present = np.unique(mesh.edge_label[mesh.edge_label > 0])
    if not has_pattern(sheet):
        return present.astype(np.int32)
    pattern = shape_pattern(sheet.shape)
    chosen = pattern.creases.copy()
    if crease.edges is not None:
        chosen &= np.isin(np.arange(pattern.edge_count), crease.edges)
    elif crease.group is not None:
        known = crease.group in pattern.group_names
        chosen &= pattern.group == (pattern.group_names.index(crease.group) if known else -2)
    elif crease.select != "all":
        chosen &= pattern.assignment == crease.select
    elif crease.drive in (HARD, SPRING):
        chosen &= pattern.assignment != UNASSIGNED  # these may take any angle
    labels = np.flatnonzero(chosen) + FIRST_LABEL
    return np.intersect1d(labels, present).astype(np.int32)


def driven_creases(
    sheet: Sheet, k: int, creases: list[Crease], labels: list[Ints], materials: list[Material], problems: Problems
) -> tuple[DrivenCrease, ...]:
    """The creases of sheet number `k` that are driven, pressed or banded, with the `labels` of each."""
    made = []
    for c, (crease, own) in enumerate(zip(creases, labels, strict=True)):
        if crease.drive == SET and crease.press is None and crease.band is None:
            continue
        with problems.catch(("sheets", k, "creases", c)):
            made.append(_driven(sheet, k, crease, c, own, materials))
    _check_fit(sheet, k, made, problems)
    return tuple(made)


def _driven(sheet: Sheet, k: int, crease: Crease, c: int, labels: Ints, materials: list[Material]) -> DrivenCrease:
    """A crease as the model has it."""
    times, angles = _angle_table(sheet, crease, labels)
    press = None
    if crease.press is not None:
        values = crease.press.model_dump()
        press = Press(**(values | {"engage": float(np.radians(values["engage"]))}))
    stiffness = 0.0
    if crease.drive == SPRING:
        bending = float(np.mean([material.bend_stiffness for material in materials]))
        stiffness = crease.stiffness or bending / (crease.origami_length or ORIGAMI_LENGTH)
    return DrivenCrease(
        name=crease.name or f"crease{c}" if len(sheet.creases) > 1 else crease.name or "crease",
        sheet=k,
        labels=labels,
        times=times,
        angles=angles,
        drive=crease.drive,
        strength=crease.strength,
        stiffness=stiffness,
        yield_moment=inf if crease.yield_moment is None else crease.yield_moment,
        ramp=crease.ramp,
        press=press,
        band_width=0.0 if crease.band is None else crease.band.width * sheet.transform.scale,
        band_factor=1.0 if crease.band is None else crease.band.factor,
    )


def _angle_table(sheet: Sheet, crease: Crease, labels: Ints) -> tuple[Floats, Floats]:
    """Times (k,) [s] and the angles of the labels then, (k, n) [rad]."""
    pattern, sign = None, np.ones(len(labels))
    if has_pattern(sheet) and crease.line is None and crease.label is None:
        pattern = shape_pattern(sheet.shape)
        sign = np.where(pattern.assignment[labels - FIRST_LABEL] == "V", -1.0, 1.0)
    if crease.drive == FREE or not crease.keys:
        angle = 0.0 if crease.angle is None else np.radians(crease.angle)
        return np.zeros(1), (sign * angle)[None, :]
    by_fold = crease.keys[0].fold is not None
    values = np.array([key.fold if by_fold else np.radians(key.angle or 0.0) for key in crease.keys], np.float64)
    times, values = smooth_table(np.array([key.time for key in crease.keys]), values)
    if not by_fold:
        return times, values[:, None] * sign
    assert pattern is not None
    return times, _fold_table(pattern, values, sheet.shape)[:, labels - FIRST_LABEL]


def smooth_table(times: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Keys made smooth: starting and ending at rest, without overshoot, with `SAMPLES` values between two keys."""
    if len(times) == 1:
        return times, values
    from scipy.interpolate import CubicHermiteSpline, PchipInterpolator  # slow to import, seldom needed

    slopes = PchipInterpolator(times, values)(times, 1)
    slopes[0] = slopes[-1] = 0.0
    spline = CubicHermiteSpline(times, values, slopes)
    fine = np.unique(np.concatenate([np.linspace(a, b, SAMPLES + 1) for a, b in pairwise(times)]))
    low, high = float(values.min()), float(values.max())
    return fine, np.clip(spline(fine), low, high)


def _fold_table(pattern: CreasePattern, fractions: Floats, shape: Any) -> Floats:
    """Fold angles (n, edge_count) [rad] of a pattern at fractions (n,) of its targets: such that facets are flat, if
    there are any at the largest fraction; those that are not found are interpolated."""
    found = folding_angles(pattern, fractions * shape.fold) if shape.fit else [None] * len(fractions)
    known = np.array([angle is not None for angle in found])
    if not known[np.argmax(fractions)]:
        return np.stack([pattern.targets(float(fraction) * shape.fold) for fraction in fractions])
    order = np.argsort(fractions[known], kind="stable")
    table = np.stack([angle for angle in found if angle is not None])[order]
    return np.stack([np.interp(fractions, fractions[known][order], angles) for angles in table.T], axis=1)


def flat_note(mesh: SheetMesh, driven: tuple[DrivenCrease, ...], apart: float) -> str:
    """What is to be told where hard creases and springs are to fold flatter than layers that are `apart` [m], thickness
    and contact gap together, can lie on each other; "" where none are."""
    owner, column = crease_hinges(mesh, driven)
    limit, stopped = closing_limits(mesh, apart), np.zeros(len(owner), bool)
    for number, crease in enumerate(driven):
        if crease.drive in (HARD, SPRING):
            own = np.flatnonzero(owner == number)
            stopped[own] = np.abs(crease.angles[-1][column[own]]) > limit[own] + np.radians(TOLD_FLAT)
    if not stopped.any():
        return ""
    angle = float(np.degrees(np.average(limit[stopped], weights=hinge_lengths(mesh)[stopped])))
    count = len(np.unique(mesh.edge_label.ravel()[mesh.hinges.corners[stopped, 0]]))
    return (
        f"{count} creases that fold flat end at about {angle:.0f}°, where layers {1e3 * apart:.2g} mm apart "
        "(thickness and contact gap) lie on each other; a smaller contact.activation or larger faces close them further"
    )


def _check_fit(sheet: Sheet, k: int, made: list[DrivenCrease], problems: Problems) -> None:
    """Refuse hard creases that contradict each other around a vertex, at the end of the run of their angles."""
    if not has_pattern(sheet) or not made:
        return
    pattern = shape_pattern(sheet.shape)
    angle, hard = np.zeros(pattern.edge_count), np.zeros(pattern.edge_count, bool)
    for crease in made:
        own = crease.labels[(crease.labels >= FIRST_LABEL) & (crease.labels < FIRST_LABEL + pattern.edge_count)]
        angle[own - FIRST_LABEL] = crease.angles[-1][np.isin(crease.labels, own)]
        hard[own - FIRST_LABEL] = crease.drive == HARD
    path: Path = ("sheets", k, "creases")
    reported = 0
    for finding in check_pattern(pattern, angle):
        wrong = finding.kind in ("fit", "kawasaki", "maekawa", "sector") and finding.edges
        if wrong and hard[list(finding.edges)].all() and reported < MOST_MISFITS:
            reported += 1
            problems.add(
                path, f'{finding.text}; hard creases cannot; use drive = "spring", or leave some of them "free"'
            )
