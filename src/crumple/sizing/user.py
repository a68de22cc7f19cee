"""Criterion: a field that the user gives, as edge lengths or as tensors.

M = I/ℓ²      for a wanted edge length ℓ;   a tensor is taken as it is (wᵀM w ≤ 1 for every edge w).
"""

from __future__ import annotations

import numpy as np

from crumple.errors import InputError
from crumple.geometry.metric import tensor_eigen
from crumple.typing import Floats


def sizing_user(user: Floats, out: Floats | None = None) -> Floats:
    """The user's tensors, (face_count, 3) [1/m²].

    `user`: edge lengths (face_count,) [m], infinite where free, or positive semidefinite tensors (face_count, 3).
    """
    user = np.asarray(user, np.float64)
    out = np.empty((len(user), 3)) if out is None else out
    _require(user.shape in ((len(out),), (len(out), 3)), f"must have the shape ({len(out)},) or ({len(out)}, 3): faces")
    if user.ndim == 1:
        _require(bool(np.all(user > 0.0)), "edge lengths must be > 0, in m")
        out[:, 0] = out[:, 1] = 1.0 / user**2
        out[:, 2] = 0.0
        return out
    _require(bool(np.all(np.isfinite(user))), "tensors must be finite, in 1/m²")
    values, _ = tensor_eigen(user)
    # a rank-one tensor may have a smaller eigenvalue that rounding made negative
    _require(bool(np.all(values[:, 1] >= -1e-12 * np.abs(values[:, 0]))), "tensors must be positive semidefinite")
    out[:] = user
    return out


def _require(condition: bool, remedy: str) -> None:
    """Raise an InputError about the user's field unless `condition` holds."""
    if not condition:
        raise InputError("remeshing.criteria", remedy)
