"""Mileage of a sheet that is crumpled again and again, and how size grows with mass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from crumple.analysis.analyze import Analysis, recording_model, state_shape
from crumple.analysis.creases import MileageLaw, fit_mileage, measure_creases
from crumple.analysis.fits import PowerLaw, fit_power
from crumple.recording.recording import Recording
from crumple.typing import Floats


@dataclass(frozen=True)
class MileageCurve:
    """After each crumple: `frame`, `mileage` (turn over 1 rad) and `worked` over the sheet's size L0 = √area, and the
    compaction `delta`, outer radius over that of the flat sheet; `law` through the worked mileage, None for fewer
    than three."""

    frame: tuple[int, ...]
    mileage: Floats
    worked: Floats
    delta: Floats
    law: MileageLaw | None


def mileage_curve(recording: Recording, frames: Sequence[int]) -> MileageCurve:
    """The mileage at the frames in which a sheet was smallest, one for each crumple, in their order."""
    model = recording_model(recording)
    flat = state_shape(model, recording.load(recording.frames[0])).ball.radius
    mileage, worked, delta = [], [], []
    for frame in frames:
        shape = state_shape(model, recording.load(frame))
        creases, size = measure_creases(shape), float(np.sqrt(shape.area.sum()))
        mileage.append(creases.mileage / size)
        worked.append(creases.worked / size)
        delta.append(shape.ball.radius / flat)
    count = np.arange(1.0, len(frames) + 1.0)
    law = fit_mileage(count, np.array(delta), np.array(worked))
    return MileageCurve(tuple(frames), np.array(mileage), np.array(worked), np.array(delta), law)


def mass_size(analyses: Iterable[Analysis]) -> PowerLaw | None:
    """R = factor M^exponent through several balls (outer radius [m], mass [kg]); None unless masses differ."""
    points = np.array([(float(a.shape.mass.sum()), a.shape.ball.radius) for a in analyses]).reshape(-1, 2)
    return fit_power(points[:, 0], points[:, 1])
