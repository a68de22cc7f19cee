"""Creases that are driven or pressed: what they are told to do. Which hinges they have follows from labels of edges.

A **driven** crease has a fold angle over time. It is enforced ("hard": a constraint with a multiplier, up to its
strength), wanted ("spring"), or left to the facets ("free"); in all three cases the bending of the sheet ends at the
crease. A crease that is "set" has plastic curvature from the start, and needs no drive.

A **pressed** crease [Choi2004] may be set or sprung besides: it resists being opened beyond an angle, its ridge resists
being bent, and its wings resist being twisted, each up to a strength.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

import numpy as np

from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Bools, Floats, Ints

HARD, SPRING, FREE, SET = "hard", "spring", "free", "set"
DRIVES = (HARD, SPRING, FREE, SET)
STRENGTH = 1.0
"""Moment per length that a hard crease bears by default [N], a guess; it must be finite, see `contract.constraint`."""
RAMP = 0.2
"""Time [s] in which a hard crease makes up for 90° that it is away from its target."""


@dataclass(frozen=True)
class Press:
    """How a pressed crease resists, see the module.

    `engage` [rad]: the fold angle, with its sign, that it does not open beyond;  `strength` of that, and `torsion` of
    its wings, per length [N m/m];  `spinal`: moment that its ridge bears [N m]; 0: none;
    `overload`: beyond its strength the fold may "yield", and returns, or "break" for good; ridge and wings break;
    `patience`: steps for which they must be overloaded before.
    """

    engage: float
    strength: float = STRENGTH
    spinal: float = 0.0
    torsion: float = 0.0
    overload: str = "yield"
    patience: int = 1

    def __post_init__(self) -> None:
        for name in ("strength", "spinal", "torsion"):
            _require(f"press.{name}", getattr(self, name), least=0.0)
        if not (np.isfinite(self.engage) and 0.0 < abs(self.engage) <= np.pi):
            raise InputError("press.engage", "must lie between -π and π and not be 0, in rad", self.engage)
        if self.overload not in ("yield", "break"):
            raise InputError("press.overload", "must be 'yield' or 'break'", self.overload)


@dataclass(frozen=True)
class Crease:
    """The edges of `sheet` with one of the `labels` (n,), and what is done with them.

    `times` (k,) [s] ascending, `angles` (k, n) [rad]: fold angles over time, linear in between, constant before and
    after; positive = mountain;  `drive`: "hard", "spring", "free" or "set";
    `strength` of a hard crease [N m/m];  `stiffness` of a spring [N m/m/rad], its rest angle yields at `yield_moment`
    [N m/m];  `ramp`: time [s] in which a hard crease makes up for 90°;
    `band_width` [m] on either side within which the sheet bends `band_factor` times as stiffly;
    `fold` (j, 2): times [s] and fractions 0 to 1 of the largest angles, linear in between: a crease that is driven by
    hand, whatever its times say; empty: it is not.
    """

    name: str
    sheet: int
    labels: Ints
    times: Floats
    angles: Floats
    drive: str = HARD
    strength: float = STRENGTH
    stiffness: float = 0.0
    yield_moment: float = inf
    ramp: float = RAMP
    press: Press | None = None
    band_width: float = 0.0
    band_factor: float = 1.0
    fold: Floats = field(default_factory=lambda: np.zeros((0, 2)))

    def __post_init__(self) -> None:
        if self.drive not in DRIVES:
            raise InputError("crease.drive", f"must be one of {', '.join(DRIVES)}", self.drive)
        shape = (len(self.times), len(self.labels))
        is_ascending = bool(np.all(np.diff(self.times) > 0.0)) and len(self.times) > 0
        if self.angles.shape != shape or not is_ascending or not np.isfinite(self.angles).all():
            raise InputError("crease.angles", f"must be finite, of the shape {shape}, for ascending times")
        if not (np.isfinite(self.times).all() and (np.abs(self.angles) <= np.pi * (1 + 1e-9)).all()):
            raise InputError("crease.angles", "must lie between -π and π, in rad, at finite times")
        is_fold = self.fold.ndim == 2 and self.fold.shape[1:] == (2,) and np.isfinite(self.fold).all()
        if not (is_fold and (np.diff(self.fold[:, 0]) > 0.0).all() and (abs(self.fold[:, 1] - 0.5) <= 0.5).all()):
            raise InputError("crease.fold", "must be ascending times and fractions 0 to 1", self.fold.tolist())
        _require("crease.strength", self.strength, above=0.0)
        _require("crease.ramp", self.ramp, above=0.0)
        _require("crease.stiffness", self.stiffness, least=0.0)
        if not self.yield_moment > 0.0:
            raise InputError("crease.yield_moment", "must be > 0, in N m/m", self.yield_moment)
        _require("crease.band_width", self.band_width, least=0.0)
        _require("crease.band_factor", self.band_factor, above=0.0)

    @property
    def is_loose(self) -> bool:
        """Whether the bending of the sheet ends at the crease."""
        return self.drive != SET

    def angle_at(self, time: float) -> Floats:
        """The fold angle of each label at `time` [s], (n,) [rad]."""
        return self.angles_of(self.fraction_at(time)) if len(self.fold) else self._listed_angles(time)

    @property
    def largest_angle(self) -> float:
        """The largest fold angle [rad] of any label at any time."""
        return float(np.abs(self.angles).max(initial=0.0))

    def fraction_at(self, time: float) -> float:
        """How far it is folded at `time` [s], in fractions of its largest angle."""
        if len(self.fold):
            return float(np.interp(time, self.fold[:, 0], self.fold[:, 1]))
        largest = self.largest_angle
        return float(np.abs(self._listed_angles(time)).max(initial=0.0)) / largest if largest > 0.0 else 0.0

    def angles_of(self, fraction: float) -> Floats:
        """The fold angle of each label where the largest is `fraction` of what it ever is, (n,) [rad]: between flat and
        its angles over time as these have it, so that angles which fit each other still do."""
        size = np.append(0.0, np.abs(self.angles).max(axis=1, initial=0.0))
        size, first = np.unique(size, return_index=True)
        rows = np.concatenate([np.zeros((1, len(self.labels))), self.angles])[first]
        return np.array([np.interp(fraction * size[-1], size, column) for column in rows.T])

    def _listed_angles(self, time: float) -> Floats:
        """The angles of its own times."""
        times = self.times
        after = int(np.clip(np.searchsorted(times, time, side="right"), 1, max(len(times) - 1, 1)))
        if len(times) == 1 or time <= times[0]:
            return np.asarray(self.angles[0])
        if time >= times[-1]:
            return np.asarray(self.angles[-1])
        share = (time - times[after - 1]) / (times[after] - times[after - 1])
        return np.asarray((1.0 - share) * self.angles[after - 1] + share * self.angles[after])


def crease_hinges(mesh: SheetMesh, creases: Sequence[Crease]) -> tuple[Ints, Ints]:
    """The crease of each hinge, −1 = none, and the number of its label there, (hinge_count,) both.

    Where creases share a label, the last counts.
    """
    label = mesh.edge_label.ravel()[mesh.hinges.corners[:, 0]]
    sheet = mesh.face_sheet[mesh.hinges.faces[:, 0]]
    owner = np.full(len(label), -1, np.int32)
    column = np.zeros(len(label), np.int32)
    for number, crease in enumerate(creases):
        if not len(crease.labels):
            continue
        order = np.argsort(crease.labels, kind="stable")
        at = np.clip(np.searchsorted(crease.labels[order], label), 0, len(order) - 1)
        found = (crease.labels[order][at] == label) & (sheet == crease.sheet) & (label > 0)
        owner[found] = number
        column[found] = order[at[found]]
    return owner, column


def loose_hinges(mesh: SheetMesh, creases: Sequence[Crease]) -> Bools:
    """Hinges at which the bending of the sheet ends, (hinge_count,)."""
    is_loose = np.array([*(crease.is_loose for crease in creases), False])
    return is_loose[crease_hinges(mesh, creases)[0]]


def pressed_hinges(mesh: SheetMesh, creases: Sequence[Crease]) -> Bools:
    """Hinges of pressed creases, (hinge_count,)."""
    is_pressed = np.array([*(crease.press is not None for crease in creases), False])
    return is_pressed[crease_hinges(mesh, creases)[0]]


def hinge_lengths(mesh: SheetMesh) -> Floats:
    """Material length of each hinge [m]."""
    return np.asarray(mesh.corner_length[mesh.hinges.corners].mean(axis=1))


def closing_limits(mesh: SheetMesh, apart: float | Floats) -> Floats:
    """The fold angle (hinge_count,) [rad] at which two layers beside each hinge are `apart` [m], thickness and gap
    together: π − asin(apart/h), with the height h of the lower one of the faces beside it. No crease of the mesh closes
    further without bending its faces."""
    i, j, a, b = mesh.node_rest[mesh.hinges.nodes].transpose(1, 0, 2)
    length = np.maximum(np.linalg.norm(j - i, axis=1), 1e-300)
    height = np.minimum(*(np.linalg.norm(np.cross(j - i, apex - i), axis=1) for apex in (a, b))) / length
    return np.asarray(np.pi - np.arcsin(np.minimum(1.0, apart / np.maximum(height, 1e-300))))


def fold_targets(creases: tuple[Crease, ...], owner: Ints, column: Ints, time: float) -> Floats:
    """The fold angle of each row at a time, (n,) [rad]."""
    target = np.zeros(len(owner))
    for number, crease in enumerate(creases):
        own = owner == number
        if own.any():
            target[own] = crease.angle_at(time)[column[own]]
    return target


def per_row(creases: tuple[Crease, ...], owner: Ints, name: str) -> Floats:
    """A number of the crease of each row, (n,)."""
    return np.array([*(getattr(crease, name) for crease in creases), 0.0])[owner]


def _require(place: str, value: float, *, above: float | None = None, least: float = 0.0) -> None:
    """Refuse what is not finite, not > `above` or, without that, not ≥ `least`."""
    good = value >= least if above is None else value > above
    if not (np.isfinite(value) and good):
        raise InputError(place, f"must be {f'≥ {least:g}' if above is None else f'> {above:g}'} and finite", value)
