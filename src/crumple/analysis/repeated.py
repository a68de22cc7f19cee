"""Creases of a sheet that is crumpled again and again, and how the size of balls grows with mass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from crumple.analysis.analyze import Analysis, recording_model, state_shape
from crumple.analysis.creases import MileageLaw, fit_mileage, measure_creases
from crumple.analysis.fits import PowerLaw, fit_power
from crumple.recording.recording import Recording
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats


@dataclass(frozen=True)
class Crumple:
    """One of several: the frame in which the sheet is `closed` in and the one in which it is `opened` again."""

    closed: int
    opened: int


@dataclass(frozen=True)
class MileageCurve:
    """What is seen on the opened sheet after each crumple, over the sheet's size L0 = √area: `mileage` (turn over
    1 rad), `length` of the hinges bent for good, `worked` mileage; and the compaction `delta`, the radius of the closed
    sheet over that of the flat one. `law` through the mileage, None for fewer than three crumples."""

    crumples: tuple[Crumple, ...]
    mileage: Floats
    length: Floats
    worked: Floats
    delta: Floats
    law: MileageLaw | None

    @property
    def count(self) -> Floats:
        """1, 2, 3, … crumples."""
        return np.arange(1.0, len(self.crumples) + 1.0)


def find_crumples(recording: Recording) -> tuple[Crumple, ...]:
    """The crumples of a recording whose obstacles close in and open again several times.

    Closed is the frame in which the container is smaller than in those before and after it, opened the one in which it
    is then largest; a crumple that was not opened again does not count.
    """
    frames, size = container_radii(recording)
    # the first of equal frames, for the container may rest while it is small
    closed = [k for k in range(1, len(size) - 1) if size[k] < size[k - 1] and _rises(size[k:])]
    ends = [*closed[1:], len(size)] if closed else []
    opened = [k + int(np.argmax(size[k:end])) for k, end in zip(closed, ends, strict=True)]
    return tuple(Crumple(frames[a], frames[b]) for a, b in zip(closed, opened, strict=True))


def container_radii(recording: Recording) -> tuple[list[int], Floats]:
    """The frames, and half the mean width of the box around all obstacles in each [m], (frame_count,)."""
    model, times = recording_model(recording), recording.times()
    if not model.obstacles:
        raise InputError(str(recording.path), "has no obstacles that close in on the sheet")
    widths = [np.ptp(model.obstacle_positions(time), axis=0).mean() for time in times.values()]
    return list(times), 0.5 * np.array(widths)


def mileage_curve(recording: Recording, crumples: Sequence[Crumple] | None = None) -> MileageCurve:
    """How the creases grow with the crumples, those of `find_crumples` by default."""
    if crumples is None:
        crumples = find_crumples(recording)
    model = recording_model(recording)
    flat = state_shape(model, recording.load(recording.frames[0])).ball.radius
    rows = []
    for crumple in crumples:
        shape = state_shape(model, recording.load(crumple.opened))
        creases, size = measure_creases(shape), float(np.sqrt(shape.area.sum()))
        radius = state_shape(model, recording.load(crumple.closed)).ball.radius
        rows.append((creases.mileage / size, creases.hinge_length / size, creases.worked / size, radius / flat))
    mileage, length, worked, delta = np.array(rows).reshape(-1, 4).T
    law = fit_mileage(np.arange(1.0, len(rows) + 1.0), delta, mileage)
    return MileageCurve(tuple(crumples), mileage, length, worked, delta, law)


def mass_size(analyses: Iterable[Analysis]) -> PowerLaw | None:
    """R = factor M^exponent through several balls (outer radius [m], mass [kg]); None unless masses differ."""
    points = np.array([(float(a.shape.mass.sum()), a.shape.ball.radius) for a in analyses]).reshape(-1, 2)
    return fit_power(points[:, 0], points[:, 1])


def _rises(size: Floats) -> bool:
    """Whether the first that differs from the first size is larger."""
    other = np.flatnonzero(size != size[0])
    return bool(len(other) and size[other[0]] > size[0])
