"""The crease lines of a sheet, one by one: their angles, and by how much they would spring back.

A crease line is what has one label. Its **spring-back** is the angle that it has beyond its angle at rest, by which it
opens (or closes) when nothing holds it: of a set crease the rest angle is that of the plastic curvature, of a sprung
one that of its spring, yielded or not. Hard and free creases have no rest angle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from crumple.boundary.creases import HARD, SET, SPRING, Crease, crease_hinges
from crumple.geometry.curvature import curvature_stencil, rest_angle
from crumple.geometry.hinge import dihedral_angles
from crumple.model.model import Model
from crumple.state import State

SMALLEST_SET = 1.0
"""Angle at rest from which a line without a drive counts as folded [degrees]."""
BROKEN = -1
"""Status of what is broken, see `CreaseRows`."""


@dataclass(frozen=True)
class CreaseLine:
    """A crease line: `sheet` and `label`, the `name` of what drives it ("" = nothing) and its `drive`, `length` [m],
    `angle` on average, the `least` and the `most`, the `target` that it is driven to at this time (of a set line the
    angle at rest), how far it is `off`, `spring_back`, not a number where there is none [degrees]; `moment` per length
    that holds it [N], and how many of its places are `broken`."""

    sheet: str
    label: int
    name: str
    drive: str
    length: float
    angle: float
    least: float
    most: float
    target: float
    off: float
    spring_back: float
    moment: float
    broken: int


def measure_crease_lines(model: Model, state: State) -> tuple[CreaseLine, ...]:
    """All crease lines of a state, by sheet and label."""
    mesh, rows = state.mesh, state.creases
    corner = mesh.hinges.corners[:, 0]
    label, sheet, length = mesh.edge_label.ravel()[corner], mesh.face_sheet[corner // 3], mesh.corner_length[corner]
    owner, column = crease_hinges(mesh, model.creases)
    angle = np.degrees(dihedral_angles(state.x, mesh.hinges.nodes))
    rest = np.degrees(rest_angle(curvature_stencil(mesh), state.plastic_curvature))
    lines = []
    for s, k in sorted(set(zip(sheet[label > 0].tolist(), label[label > 0].tolist(), strict=True))):
        own = (sheet == s) & (label == k)
        weight = length[own] / length[own].sum()
        crease = None if owner[own][0] < 0 else model.creases[owner[own][0]]
        there = (rows.sheet == s) & (rows.label == k)
        mean = float(weight @ angle[own])
        at_rest = float(weight @ rest[own])
        if crease is not None and crease.drive == SPRING:
            shift = rows.shift[there & (rows.kind == 1)]
            yielded = float(np.degrees(shift.mean())) if len(shift) else 0.0
            at_rest = float(np.degrees(crease.angle_at(state.time)[column[own][0]])) + yielded
        target = _target(crease, state.time, column[own][0], at_rest)
        held = rows.moment[there & (rows.kind == 0), 0]
        has_rest = crease is None or crease.drive in (SET, SPRING)
        lines.append(
            CreaseLine(
                sheet=model.sheet_names[s],
                label=k,
                name="" if crease is None else crease.name,
                drive=SET if crease is None else crease.drive,
                length=float(length[own].sum()),
                angle=mean,
                least=float(angle[own].min()),
                most=float(angle[own].max()),
                target=target,
                off=mean - target,
                spring_back=mean - at_rest if has_rest else nan,
                moment=float(held.mean()) if len(held) else 0.0,
                broken=int(np.count_nonzero(rows.status[there] == BROKEN)),
            )
        )
    return tuple(lines)


def _target(crease: Crease | None, time: float, column: int, at_rest: float) -> float:
    """The angle that a line is driven to at `time` [s]; not a number where it is free, or set flat [degrees]."""
    if crease is not None and crease.drive in (HARD, SPRING):
        return float(np.degrees(crease.angle_at(time)[column]))
    is_set = crease is None or crease.drive == SET
    return at_rest if is_set and abs(at_rest) >= SMALLEST_SET else nan


@dataclass(frozen=True)
class CreaseTally:
    """How many of the lines that have a target are `within_1` degree of it, `within_5` degrees but no nearer, `beyond`
    that, and the `worst`, None where no line has a target."""

    within_1: int
    within_5: int
    beyond: int
    worst: CreaseLine | None

    @property
    def total(self) -> int:
        return self.within_1 + self.within_5 + self.beyond

    def describe(self) -> str:
        """One line; "" where no line has a target."""
        if self.worst is None:
            return ""
        all_there = f"all {self.total} creases are within 1° of their angles"
        if self.within_1 == self.total:
            return all_there
        parts = [f"{self.within_1} of {self.total} creases are within 1° of their angles"]
        parts += [f"{self.within_5} within 5°"] if self.within_5 else []
        parts += [f"{self.beyond} not"] if self.beyond else []
        line = self.worst
        return f"{', '.join(parts)}; line {line.label} of {line.sheet!r} is at {line.angle:.0f}° of {line.target:.0f}°"


def tally_creases(lines: Sequence[CreaseLine]) -> CreaseTally:
    """How near the lines are to their targets."""
    driven = [line for line in lines if not np.isnan(line.target)]
    off = np.array([abs(line.off) for line in driven])
    near = int(np.count_nonzero(off <= 1.0))
    beyond = int(np.count_nonzero(off > 5.0))
    return CreaseTally(near, len(driven) - near - beyond, beyond, driven[int(off.argmax())] if driven else None)
