"""The crease lines of a sheet, one by one: their angles, and by how much they would spring back.

A crease line is what has one label. Its **spring-back** is the angle that it has beyond its angle at rest, by which it
opens (or closes) when nothing holds it: of a set crease the rest angle is that of the plastic curvature, of a sprung
one that of its spring, yielded or not. Hard and free creases have no rest angle.

A line that is not where it is driven to is **stopped** by the thickness of the sheet, if it is as flat as that allows,
else by layers that touch the facets beside it, else by these facets, which would have to bend or stretch further.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import nan

import numpy as np

from crumple.analysis.crease_stops import FACETS, LAYERS, THICKNESS, flat_limits, hinge_stops
from crumple.boundary.creases import HARD, SET, SPRING, Crease, crease_hinges
from crumple.geometry.curvature import curvature_stencil, rest_angle
from crumple.geometry.hinge import dihedral_angles
from crumple.model.model import Model
from crumple.state import State

REACHED, NEAR = 1.0, 5.0
"""How far from its target a line may be that is there, and one that is near [degrees]."""
SMALLEST_SET = 1.0
"""Angle at rest from which a line without a drive counts as folded [degrees]."""
BROKEN = -1
"""Status of what is broken, see `CreaseRows`."""


@dataclass(frozen=True)
class CreaseLine:
    """A crease line: `sheet` and `label`, the `name` of what drives it ("" = nothing) and its `drive`, `length` [m],
    `angle` on average, the `least` and the `most`, the `target` that it is driven to at this time (of a set line the
    angle at rest), how far it is `off`, `spring_back`, not a number where there is none [degrees]; `moment` per length
    that holds it [N], and how many of its places are `broken`; `limit` from which on the thickness of the sheet holds
    it open [degrees], and what it is `stopped_by`, "" where it is within 1° of its target."""

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
    limit: float
    stopped_by: str


def measure_crease_lines(model: Model, state: State) -> tuple[CreaseLine, ...]:
    """All crease lines of a state, by sheet and label."""
    mesh, rows = state.mesh, state.creases
    corner = mesh.hinges.corners[:, 0]
    label, sheet, length = mesh.edge_label.ravel()[corner], mesh.face_sheet[corner // 3], mesh.corner_length[corner]
    owner, column = crease_hinges(mesh, model.creases)
    angle = np.degrees(dihedral_angles(state.x, mesh.hinges.nodes))
    rest = np.degrees(rest_angle(curvature_stencil(mesh), state.plastic_curvature))
    limit, touches = np.degrees(flat_limits(model, mesh)), hinge_stops(model, state)
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
        flat = float(weight @ limit[own])
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
                limit=flat,
                stopped_by=_stop(mean, target, flat, bool(touches[own].any())),
            )
        )
    return tuple(lines)


def _target(crease: Crease | None, time: float, column: int, at_rest: float) -> float:
    """The angle that a line is driven to at `time` [s]; not a number where it is free, or set flat [degrees]."""
    if crease is not None and crease.drive in (HARD, SPRING):
        return float(np.degrees(crease.angle_at(time)[column]))
    is_set = crease is None or crease.drive == SET
    return at_rest if is_set and abs(at_rest) >= SMALLEST_SET else nan


def _stop(angle: float, target: float, limit: float, touches: bool) -> str:
    """What keeps a line from its target, see the module; "" where nothing does."""
    if np.isnan(target) or abs(angle - target) <= REACHED:
        return ""
    if angle * np.sign(target) >= limit - REACHED and abs(target) > abs(angle):
        return THICKNESS
    return LAYERS if touches else FACETS


@dataclass(frozen=True)
class CreaseTally:
    """How many of the lines that have a target are `within_1` degree of it, `within_5` degrees but no nearer, `beyond`
    that, the `worst`, None where no line has a target, and the lines that are `stopped`, by what stops them."""

    within_1: int
    within_5: int
    beyond: int
    worst: CreaseLine | None
    stopped: dict[str, tuple[CreaseLine, ...]] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return self.within_1 + self.within_5 + self.beyond

    @property
    def short(self) -> int:
        """Lines off by more than 5° that could fold further as far as the thickness of the sheet goes."""
        return sum(abs(line.off) > NEAR for stop in (LAYERS, FACETS) for line in self.stopped.get(stop, ()))

    def describe(self) -> str:
        """One line; "" where no line has a target."""
        if self.worst is None:
            return ""
        if self.within_1 == self.total:
            return f"all {self.total} creases are within 1° of their angles"
        parts = [f"{self.within_1} of {self.total} creases are within 1° of their angles"]
        parts += [f"{self.within_5} within 5°"] if self.within_5 else []
        parts += [f"{self.beyond} not"] if self.beyond else []
        line = self.worst
        reasons = [text.format(len(self.stopped[stop]), _range(self.stopped[stop])) for stop, text in REASONS.items()
                   if self.stopped.get(stop)]  # fmt: skip
        worst = f"line {line.label} of {line.sheet!r} is at {line.angle:.0f}° of {line.target:.0f}°"
        return "; ".join([", ".join(parts), *reasons, worst])


REASONS = {
    THICKNESS: "{} are as flat as the thickness of the sheet allows ({})",
    LAYERS: "{} are stopped by layers that touch beside them ({})",
    FACETS: "{} by their facets, which would have to bend or stretch further ({})",
}
"""What is told of the lines that something stops: how many, and at which angles."""


def _range(lines: Sequence[CreaseLine]) -> str:
    """The least and the largest angle of lines, mountains and valleys alike."""
    angles = [line.angle * np.sign(line.target) for line in lines]
    least, most = f"{min(angles):.0f}°", f"{max(angles):.0f}°"
    return least if least == most else f"{least} to {most}"


def tally_creases(lines: Sequence[CreaseLine]) -> CreaseTally:
    """How near the lines are to their targets."""
    driven = [line for line in lines if not np.isnan(line.target)]
    off = np.array([abs(line.off) for line in driven])
    near = int(np.count_nonzero(off <= REACHED))
    beyond = int(np.count_nonzero(off > NEAR))
    stopped = {stop: tuple(line for line in driven if line.stopped_by == stop) for stop in REASONS}
    worst = driven[int(off.argmax())] if driven else None
    return CreaseTally(near, len(driven) - near - beyond, beyond, worst, stopped)
