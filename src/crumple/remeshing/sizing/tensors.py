"""What a criterion returns, as edge lengths or as tensors, becomes tensors:

M = I/ℓ²      for a wanted edge length ℓ;   a tensor is taken as it is (wᵀM w ≤ 1 for every edge w).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crumple.options.remeshing import Criterion
from crumple.runtime.errors import InputError, SimulationError
from crumple.runtime.typing import Floats
from crumple.state import State


def criteria_tensors(criteria: Sequence[Criterion], state: State) -> Floats:
    """The tensors that each of the `criteria` asks of each face, (criterion_count, face_count, 3) [1/m²]."""
    tensors = np.empty((len(criteria), state.mesh.face_count, 3))
    for criterion, out in zip(criteria, tensors, strict=True):
        asked = np.asarray(criterion(state), np.float64)
        _require_finite(criterion, asked)
        out[:] = sizing_tensors(asked, state.mesh.face_count)
    return tensors


def sizing_tensors(asked: Floats, count: int) -> Floats:
    """Positive semidefinite tensors, (count, 3) [1/m²].

    `asked`: edge lengths (count,) [m], infinite where free, or positive semidefinite tensors (count, 3).
    """
    _require(asked.shape in ((count,), (count, 3)), f"must have the shape ({count},) or ({count}, 3): faces")
    if asked.ndim == 1:
        _require(bool(np.all(asked > 0.0)), "edge lengths must be > 0, in m")
        inverse = 1.0 / asked**2
        return np.stack([inverse, inverse, np.zeros(count)], axis=1)
    _require(bool(np.all(np.isfinite(asked))), "tensors must be finite, in 1/m²")
    middle, radius = 0.5 * (asked[:, 0] + asked[:, 1]), np.hypot(0.5 * (asked[:, 0] - asked[:, 1]), asked[:, 2])
    # a rank-one tensor may have a smaller eigenvalue that rounding made negative
    rounding = 1e-12 * np.abs(middle + radius) + np.finfo(np.float64).tiny
    _require(bool(np.all(middle - radius >= -rounding)), "tensors must be positive semidefinite")
    return asked


def _require(condition: bool, remedy: str) -> None:
    """Raise an InputError about what a criterion returns unless `condition` holds."""
    if not condition:
        raise InputError("remeshing.criteria", remedy)


def _require_finite(criterion: Criterion, asked: Floats) -> None:
    """Raise if what is `asked` is not finite (but for free lengths): a degenerate pattern face or a broken state, not a
    matter of size."""
    broken = np.isnan(asked) if asked.ndim == 1 else ~np.isfinite(asked)
    if broken.any():
        face = int(np.argwhere(broken)[0][0]) if asked.ndim else 0
        name = getattr(criterion, "__name__", type(criterion).__name__)
        remedy = "degenerate in the pattern, or NaN in the state"
        raise SimulationError(f"sizing of face {face} by {name} is not finite ({remedy})")
