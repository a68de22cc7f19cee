"""What has torn: length, path and roughness of cracks, the energy that they took, and who paid for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crumple.analysis.energies import energy_split
from crumple.analysis.tear_tests import TornSheet, essential_work, find_torn_sheets
from crumple.model.model import Model
from crumple.recording.recording import Recording
from crumple.runtime.typing import Floats
from crumple.state import State
from crumple.tearing.tip_load import tip_size

SHORTEST = 1e-9
"""Paths below this length have not begun [m]."""


@dataclass(frozen=True)
class Crack:
    """The `path` (n, 2) [m] of one crack on the pattern of sheet number `sheet`, from where it began."""

    number: int
    sheet: int
    path: Floats

    @property
    def length(self) -> float:
        """[m]"""
        return float(np.linalg.norm(np.diff(self.path, axis=0), axis=1).sum())

    @property
    def straightness(self) -> float:
        """Distance of the ends over the length, 1 for a straight crack."""
        return float(np.linalg.norm(self.path[-1] - self.path[0])) / max(self.length, SHORTEST)

    @property
    def heading(self) -> float:
        """Direction from the first point to the last [rad], from u."""
        along = self.path[-1] - self.path[0]
        return float(np.arctan2(along[1], along[0]))

    def turns(self, spacing: float) -> Floats:
        """Turns [rad] of the path from one stretch of the length `spacing` [m] to the next, (n,)."""
        points = resampled(self.path, spacing)
        along = np.diff(points, axis=0)
        angle = np.unwrap(np.arctan2(along[:, 1], along[:, 0]))
        return np.diff(angle)


@dataclass(frozen=True)
class HandleCurve:
    """What one handle or obstacle did, a value per step: `time` [s], `displacement` and `force` (n, 3) [m], [N], `work`
    [J]."""

    name: str
    time: Floats
    displacement: Floats
    force: Floats
    work: Floats

    @property
    def way(self) -> Floats:
        """How far it is from where it took hold, (n,) [m]."""
        return np.linalg.norm(self.displacement, axis=1)

    @property
    def pull(self) -> Floats:
        """Size of its force, (n,) [N]."""
        return np.linalg.norm(self.force, axis=1)


@dataclass(frozen=True)
class Ledger:
    """Where the work of handles and obstacles went [J], from the first frame of a recording to one of its frames.

    `work` = `stored` (elastic, kinetic, weight, springs of handles, contact) + `fracture` + `yielding` + `dissipated`
    (damping, friction, air, and the errors of steps and remeshing), which is what is left.
    """

    work: float
    stored: float
    fracture: float
    yielding: float = 0.0

    @property
    def dissipated(self) -> float:
        return self.work - self.stored - self.fracture - self.yielding


@dataclass(frozen=True)
class Tears:
    """All cracks of a frame. `spacing` [m] over which roughness is measured;  `work` that tearing has taken [J];
    `tips`: how many still can run;  `thickness` [m], mean;  `curves` of the handles, the `ledger`, and the `sheets`
    that are in two, if recorded."""

    cracks: tuple[Crack, ...]
    spacing: float
    work: float
    tips: int
    thickness: float
    curves: tuple[HandleCurve, ...] = ()
    ledger: Ledger | None = None
    sheets: tuple[TornSheet, ...] = ()

    @property
    def length(self) -> float:
        """Of all cracks [m]."""
        return sum(crack.length for crack in self.cracks)

    @property
    def roughness(self) -> float | None:
        """Root mean square of the turns per `spacing` [rad], over all cracks; None when they are too short."""
        turns = np.concatenate([np.zeros(0), *(crack.turns(self.spacing) for crack in self.cracks)])
        return float(np.sqrt(np.mean(turns**2))) if len(turns) else None

    @property
    def mean_energy(self) -> float | None:
        """Work per torn area [J/m²]; None when nothing has torn."""
        area = self.length * self.thickness
        return self.work / area if self.length > SHORTEST else None

    def summary(self) -> dict[str, Any]:
        """The main numbers by name, SI units."""
        longest = max(self.cracks, key=lambda crack: crack.length, default=None)
        numbers: dict[str, Any] = {
            "cracks": len(self.cracks),
            "crack_tips": self.tips,
            "crack_length": self.length,
            "crack_straightness": None if longest is None else longest.straightness,
            "crack_roughness": self.roughness,
            "roughness_spacing": self.spacing,
            "fracture_work": self.work,
            "fracture_energy": self.mean_energy,
        }
        if self.ledger is not None:
            ledger = self.ledger
            numbers |= {
                "work": ledger.work,
                "stored_energy": ledger.stored,
                "yielding_energy": ledger.yielding,
                "dissipated_energy": ledger.dissipated,
            }
            numbers |= self._tests(ledger)
        return numbers

    def _tests(self, ledger: Ledger) -> dict[str, float | None]:
        """The numbers of standard tests, see `analysis.tear_tests`; None where the test is another one."""
        spent, has_torn = ledger.work, self.length > SHORTEST
        peaks = [float(np.nanmax(curve.pull)) for curve in self.moving if np.isfinite(curve.pull).any()]
        line = essential_work(self.sheets)
        return {
            "peak_force": max(peaks, default=None),
            "tear_force": spent / (2.0 * self.length) if has_torn else None,
            "work_of_fracture": spent / (self.length * self.thickness) if has_torn else None,
            "ligament_strength": self.sheets[0].strength if len(self.sheets) == 1 else None,
            "essential_work": None if line is None else line[0],
            "plastic_work_slope": None if line is None else line[1],
        }

    @property
    def moving(self) -> tuple[HandleCurve, ...]:
        """The curves of what moves."""
        return tuple(curve for curve in self.curves if len(curve.way) and float(np.nanmax(curve.way)) > 0.0)


def measure_tears(model: Model, state: State, recording: Recording | None = None) -> Tears | None:
    """The tears of a state; None when its sheets cannot tear. With its `recording`, what the handles did, too."""
    if model.tearing is None:
        return None
    thickness = np.array([material.thickness for material in model.materials])[state.mesh.face_material]
    curves = () if recording is None else handle_curves(recording, state.frame)
    cracks = find_cracks(state)
    return Tears(
        cracks=cracks,
        spacing=tip_size(model, state),
        work=state.fracture_work,
        tips=len(state.tips.node),
        thickness=float(np.average(thickness, weights=np.abs(state.mesh.face_area))),
        curves=curves,
        ledger=None if recording is None else _ledger(model, state, recording, curves),
        sheets=_torn_sheets(model, state, cracks, curves),
    )


def _torn_sheets(
    model: Model, state: State, cracks: Sequence[Crack], curves: Sequence[HandleCurve]
) -> tuple[TornSheet, ...]:
    """The sheets that are in two, with what their own handles did."""
    lengths: dict[int, float] = {}
    for crack in cracks:
        lengths[crack.sheet] = lengths.get(crack.sheet, 0.0) + crack.length
    first = {sheet: int(np.argmax(state.mesh.face_sheet == sheet)) for sheet in lengths}
    thickness = {sheet: model.materials[state.mesh.face_material[face]].thickness for sheet, face in first.items()}
    number = {handle.name: index for index, handle in enumerate(model.handles)}
    own = {number[curve.name]: curve for curve in curves if curve.name in number and np.nanmax(curve.way) > 0.0}
    work = {handle: float(np.nansum(curve.work)) for handle, curve in own.items()}
    peak = {handle: float(np.nanmax(curve.pull)) for handle, curve in own.items()}
    return find_torn_sheets(state, lengths, thickness, work, peak)


def find_cracks(state: State) -> tuple[Crack, ...]:
    """The cracks of a state that have begun to run, by number."""
    torn = state.torn
    cracks = []
    for number in np.unique(torn.crack).tolist():
        mine = torn.crack == number
        crack = Crack(number, int(torn.sheet[mine][0]), torn.points[mine])
        if crack.length > SHORTEST:
            cracks.append(crack)
    return tuple(cracks)


def resampled(path: Floats, spacing: float) -> Floats:
    """Points (m, 2) at equal distances of about `spacing` [m] along a path (n, 2) [m], its ends among them."""
    step = np.linalg.norm(np.diff(path, axis=0), axis=1)
    path = path[np.append(True, step > 0.0)]
    along = np.concatenate([[0.0], np.cumsum(step[step > 0.0])])
    count = max(1, round(along[-1] / spacing))
    where = np.linspace(0.0, along[-1], count + 1)
    return np.stack([np.interp(where, along, path[:, k]) for k in range(2)], axis=1)


def handle_curves(recording: Recording, frame: int) -> tuple[HandleCurve, ...]:
    """Force and displacement of every handle and obstacle, step by step up to a frame, from the log."""
    lines = [line for line in recording.steps() if line.get("frame", 0) <= frame]
    return tuple(
        _curve(name, kind, [line for line in lines if name in line.get(kind, {})])
        for kind in ("handles", "obstacles")
        for name in dict.fromkeys(name for line in lines for name in line.get(kind, {}))
    )


def _curve(name: str, kind: str, lines: Sequence[dict[str, Any]]) -> HandleCurve:
    pulls = [line[kind][name] for line in lines]
    return HandleCurve(
        name,
        np.array([line.get("time", np.nan) for line in lines], np.float64),
        np.array([_numbers(pull.get("displacement")) for pull in pulls]).reshape(-1, 3),
        np.array([_numbers(pull.get("force")) for pull in pulls]).reshape(-1, 3),
        np.array([pull.get("work") or 0.0 for pull in pulls], np.float64),
    )


def _numbers(values: Sequence[float | None] | None) -> list[float]:
    """Three numbers, NaN where there is none."""
    given = [*(values or ()), None, None, None][:3]
    return [float("nan") if value is None else value for value in given]


def _ledger(model: Model, state: State, recording: Recording, curves: Sequence[HandleCurve]) -> Ledger:
    """The energies of a frame against those of the first one."""
    first = recording.load(recording.frames[0])
    stored = sum(energy_split(model, state).values()) - sum(energy_split(model, first).values())
    work = float(sum(curve.work.sum() for curve in curves))
    lines = [line for line in recording.steps() if line.get("frame", 0) <= state.frame]
    yielding = float(sum(line.get("losses", {}).get("yielding") or 0.0 for line in lines))
    return Ledger(work, stored, state.fracture_work - first.fracture_work, yielding)
