"""Tools of a session: what is done to sheets without taking hold of them, and to what surrounds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from crumple.runtime.errors import InputError
from crumple.runtime.numbers import is_finite_number
from crumple.runtime.typing import Floats
from crumple.session.arguments import between, points, vector, whole
from crumple.session.base import Base
from crumple.session.driving import drive_group, driven_groups, fold_percent
from crumple.session.ironing import iron
from crumple.session.pressing import cut_line, press_line
from crumple.session.script import scripted
from crumple.session.surroundings import FLOOR, with_floor, with_wind
from crumple.session.tuning import TUNING
from crumple.state import State
from crumple.stepping.bookkeeping import with_stale_ledger

PRESSED = TUNING.pressed_angle.value


class Tooling(Base):
    """What tools do in a session. Each is undone, redone, saved and played again like everything else; one that fails
    leaves everything as it was."""

    @scripted
    def flatten(self, fraction: float = 1.0) -> None:
        """Iron all sheets: the `fraction` 0 to 1 of all bends that stay is taken back, of damage and creases, too.

        The sheets stay where they are, and spring open from there. What was stretched stays stretched.
        """
        self._require("flatten")
        part = between("flatten: fraction", fraction, 0.0, 1.0)
        self._change(self.model, with_stale_ledger(iron(self.state, part)))

    @scripted
    def press(self, points: Sequence[Sequence[float]] | Floats, *, angle: float = PRESSED, sheet: int = 0) -> None:
        """Press a crease along the line of `points` (n, 2) [m] on the pattern of a sheet.

        `angle` [rad] at which it is at rest from now on, −π to π; positive: a mountain, seen from where the pattern is
        seen counter-clockwise. A line that ends where it began is closed. `SimulationError` when there is no room for
        it.
        """
        self._require("press")
        rest, number = between("press: angle", angle, -np.pi, np.pi, "rad"), whole("press: sheet", sheet)
        self._change(self.model, press_line(self.model, self.state, number, _line("press: points", points), rest))

    @scripted
    def cut(self, points: Sequence[Sequence[float]] | Floats, *, sheet: int = 0) -> None:
        """Cut a sheet along the line of `points` (n, 2) [m] on its pattern.

        A line from border to border cuts it in two, one that ends where it began cuts a piece out. `SimulationError`
        when there is no room for it.
        """
        self._require("cut")
        number = whole("cut: sheet", sheet)
        self._change(self.model, cut_line(self.model, self.state, number, _line("cut: points", points)))

    @scripted
    def set_gravity(self, acceleration: Sequence[float] | Floats) -> None:
        """Let the gravity [m/s²] be another one from now on."""
        x, y, z = vector("set_gravity: acceleration", acceleration).tolist()
        self._change(replace(self.model, gravity=(x, y, z)), self.state)

    @scripted
    def set_wind(self, velocity: Sequence[float] | Floats) -> None:
        """Let the wind [m/s] be a steady one from now on, without keys and gusts, in air as the scene has it, or
        ordinary air where it has none; zero: still air."""
        self._change(with_wind(self.model, vector("set_wind: velocity", velocity)), self.state)

    @scripted
    def set_floor(self, height: float | None) -> None:
        """Let there be a floor at a `height` z [m] below all sheets from now on; None: no floor.

        The floor is the obstacle "floor" of the scene, or a large plane.
        """
        if height is not None and not is_finite_number(height):
            raise InputError("set_floor: height", "must be a finite number, in m, or None", height)
        self._require("set_floor")
        if self.is_recorded and FLOOR not in (one.name for one in self.model.obstacles):
            remedy = "the recording began without a floor; call set_floor before record, if only with None"
            raise InputError("set_floor", remedy, height)
        self._change(*with_floor(self.model, self.state, None if height is None else float(height)))

    @property
    def floor(self) -> float | None:
        """The height of the floor [m], None without one."""
        for obstacle in self.model.obstacles:
            if obstacle.name == FLOOR and obstacle.active(self.time):
                return float(obstacle.positions(self.time)[:, 2].max())
        return None

    @scripted
    def drive(self, group: str, percent: float) -> None:
        """Fold a group of driven creases to `percent` 0 to 100 of its largest angles; it goes there steadily, a right
        angle in its ramp, and then stays."""
        part = between("drive: percent", percent, 0.0, 100.0)
        self._change(drive_group(self.model, group, part, self.time), with_stale_ledger(self.state))

    def drives(self) -> dict[str, float]:
        """The groups of driven creases, and to how many percent of its largest angles each is folded now."""
        return {name: fold_percent(self.model, name, self.time) for name in driven_groups(self.model)}

    @scripted
    def calm(self) -> State:
        """Bring all sheets to rest where they are, such as after a step that has failed."""
        still = {"v": np.zeros_like(self.state.v), "half_rate": np.zeros_like(self.state.half_rate)}
        self.engine.change(self.model, self.state.replaced(**still, has_acceleration=False))
        return self.state


def _line(place: str, given: Sequence[Sequence[float]] | Floats) -> Floats:
    return points(place, given)
