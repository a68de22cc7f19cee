"""Gusts: a wind that varies in place and time by deterministic noise, free of sources.

The deviation from the mean wind at the point x [m] and the time t [s] is a sum of N waves [Kraichnan1970]

    w(x, t) = σ √(6/N) Σ aₙ cos(kₙ·(x − d(t)) + ωₙ t + φₙ),   |aₙ| = 1, aₙ ⟂ kₙ

whose root mean square in each direction is σ. The eddies drift with the mean wind by d(t) = ∫ U dt [m] and turn over at
ωₙ = σ |kₙ| νₙ with normal numbers νₙ, so that there are gusts in still air as well. The lengths of the wave vectors are
spread around 2π/L by half an octave to each side, their directions evenly; the seed chooses all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from crumple.energies.tuning import TUNING
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats

WAVES = TUNING.gust_waves.value


class Waves(NamedTuple):
    """`wave` (WAVES, 3) [1/m], `direction` (WAVES, 3) unit vectors, `rate` (WAVES,) [1/s], `phase` (WAVES,) [rad]."""

    wave: Floats
    direction: Floats
    rate: Floats
    phase: Floats


@dataclass(frozen=True)
class Gust:
    """`speed` σ: root mean square of the deviation in each direction [m/s]; `length` L of the eddies [m]; `seed`."""

    speed: float
    length: float
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 <= self.speed < float("inf"):
            raise InputError("gust: speed", "must be >= 0, in m/s", self.speed)
        if not 0.0 < self.length < float("inf"):
            raise InputError("gust: length", "must be > 0, in m", self.length)

    def velocity(self, x: Floats, time: float, drift: Floats) -> Floats:
        """The deviation from the mean wind [m/s] at points `x` (n, 3) [m], (n, 3), when the air has moved by `drift`
        (3,) [m] at `time` [s]."""
        waves = self._waves
        angle = (x - drift) @ waves.wave.T + (waves.rate * time + waves.phase)
        return np.asarray(self.speed * np.sqrt(6.0 / WAVES) * (np.cos(angle) @ waves.direction))

    @cached_property
    def _waves(self) -> Waves:
        random = np.random.default_rng(self.seed)
        along = _units(random.standard_normal((WAVES, 3)))
        across = _units(np.cross(along, random.standard_normal((WAVES, 3))))
        number = 2.0 * np.pi / self.length * 2.0 ** random.uniform(-0.5, 0.5, WAVES)
        rate = self.speed * number * random.standard_normal(WAVES)
        return Waves(number[:, None] * along, across, rate, random.uniform(0.0, 2.0 * np.pi, WAVES))


def _units(vectors: Floats) -> Floats:
    """The vectors (n, 3) at length 1."""
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
