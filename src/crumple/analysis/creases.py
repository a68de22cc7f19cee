"""How much crease a sheet carries: its mileage, from the plastic curvature.

A crease of length L that stays bent by θ has Σ A ‖S_p‖ = L |θ|, however many rows of faces it is spread over
(eq. 1 gives each face of a hinge half of θ ℓ). This **turn** [m rad] does not depend on the mesh, so the **mileage** is
the turn over a reference angle: the length of creases bent by that angle that hold the same turn. The length of the
hinges that stay bent is given as well; it counts every row of a crease that is wider than one.

The damage adds up what a face has gone through: Σ A κ_y δ is the **worked** turn, which grows when a crease is bent
back and forth, and equals the turn when every crease was bent once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.analysis.shape import SheetShape
from crumple.geometry.metric import tensor_norm
from crumple.runtime.typing import Floats

REFERENCE_ANGLE = 1.0
"""Of the creases whose length is the mileage [rad]."""
SMALLEST_CREASE = 0.2
"""Rest angle from which a hinge counts as a crease [rad]: about that of a fold that one sees on a flattened sheet."""


@dataclass(frozen=True)
class Creases:
    """`turn`, `worked` [m rad]; `mileage` turn over the reference angle [m]; `hinge_length` of the hinges bent for good
    by more than SMALLEST_CREASE [m] and their mean angle `mean_angle` [rad], 0 without any; `area_share` of the faces
    that have yielded."""

    turn: float
    worked: float
    mileage: float
    hinge_length: float
    mean_angle: float
    area_share: float

    @property
    def is_empty(self) -> bool:
        """Whether nothing has yielded."""
        return self.turn == 0.0


def measure_creases(shape: SheetShape) -> Creases:
    """The creases of a shape."""
    plastic = tensor_norm(shape.plastic_curvature)
    turn = float(shape.area @ plastic)
    # an elastic face has no damage, or damage without meaning
    limit = np.where(np.isfinite(shape.yield_curvature), shape.yield_curvature, 0.0)
    angle, length = np.abs(shape.crease_angle), shape.hinge_length
    bent = angle >= SMALLEST_CREASE
    total = float(length[bent].sum())
    return Creases(
        turn=turn,
        worked=float((shape.area * limit) @ shape.damage),
        mileage=turn / REFERENCE_ANGLE,
        hinge_length=total,
        mean_angle=float(length[bent] @ angle[bent]) / total if total else 0.0,
        area_share=float(shape.area[plastic > 0.0].sum() / shape.area.sum()),
    )


@dataclass(frozen=True)
class MileageLaw:
    """ℓ/L0 = c1 (1 − Δ) ln(1 + c2 n/Δ) through measured points: `c1`, `c2` and R² of the fit."""

    c1: float
    c2: float
    r_squared: float

    def __call__(self, count: Floats, compaction: Floats) -> Floats:
        """ℓ/L0 after `count` crumples with the compaction Δ (both broadcast)."""
        return self.c1 * (1.0 - compaction) * np.log1p(self.c2 * count / compaction)


def fit_mileage(count: Floats, compaction: Floats, mileage: Floats) -> MileageLaw | None:
    """The law of Gottesman et al. 2018 that fits best; None for fewer than three points.

    `count` n of crumples, `compaction` Δ = final over initial size in (0, 1), `mileage` ℓ/L0, all (n,).
    c1 follows by least squares for each c2, which is sought on a logarithmic grid and refined.
    """
    if len(mileage) < 3:
        return None
    low, high = 1e-6, 1e6
    for _ in range(6):
        grid = np.geomspace(low, high, 61)
        shape = (1.0 - compaction) * np.log1p(grid[:, None] * count / compaction)
        c1 = shape @ mileage / (shape**2).sum(axis=1)
        left = ((c1[:, None] * shape - mileage) ** 2).sum(axis=1)
        best = int(np.argmin(left))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    spread = float(((mileage - mileage.mean()) ** 2).sum())
    return MileageLaw(float(c1[best]), float(grid[best]), 1.0 - float(left[best]) / spread if spread else 1.0)
