"""What bending has taken for good in faces that are part of a fold: see `plasticity.yielding` for the law."""

from __future__ import annotations

import numpy as np
from numba import njit

from crumple.plasticity.yielding import YieldLaw, softening
from crumple.runtime.typing import Floats


def bending_work(law: YieldLaw, curvature: Floats, plastic: Floats, damage: Floats, crease: Floats) -> Floats:
    """What bending faces to the `curvature` S (n, 3) [1/m] has taken for good, over their stiffness B, (n,) [1/m²].

        ∫ M_y/B dS_p = κ_y² ∫ max(ρ, (1 + H δ)/(1 + c γ δ)) dδ,    δ from 0 to (‖S − S_0‖ − ‖S_e‖)/κ_y,

    as if it had been bent in one go: what is straight again has taken nothing. `plastic` S_p, `damage` δ, `crease` C:
    S_0 = S_p tr C/δ is the bend that was there before, tr C being the damage apart from that around tips of cracks.
    """
    before = np.where(damage > 0.0, (crease[:, 0] + crease[:, 1]) / np.where(damage > 0.0, damage, 1.0), 1.0)
    bent = _norm(curvature - np.clip(before, 0.0, 1.0)[:, None] * plastic)
    limit = np.where(np.isfinite(law.yield_curvature), law.yield_curvature, 1.0)
    worked = np.maximum(bent - _norm(curvature - plastic), 0.0) / limit
    worked[~np.isfinite(law.yield_curvature)] = 0.0
    fall = _falls(curvature, law.weakening, law.strength, law.band)
    return limit**2 * _moment_sum(worked, law.hardening, fall, law.strength)


def _moment_sum(damage: Floats, hardening: Floats, fall: Floats, strength: Floats) -> Floats:
    """∫ max(ρ, (1 + H δ)/(1 + `fall` δ)) dδ from 0 to `damage`, (n,)."""
    steep = strength * fall - hardening
    knee = np.minimum(damage, np.where(steep > 0.0, (1.0 - strength) / np.where(steep > 0.0, steep, 1.0), np.inf))
    safe = np.where(fall > 0.0, fall, 1.0)
    curved = hardening / safe * knee + (1.0 - hardening / safe) / safe * np.log1p(safe * knee)
    straight = knee + 0.5 * hardening * knee**2
    return np.where(fall > 0.0, curved, straight) + strength * (damage - knee)


def _norm(curvature: Floats) -> Floats:
    """Frobenius norms (n,) of tensors (n, 3) as (xx, yy, xy)."""
    return np.sqrt(curvature[:, 0] ** 2 + curvature[:, 1] ** 2 + 2.0 * curvature[:, 2] ** 2)


@njit(cache=True)
def _falls(curvature, weakening, strength, band):
    """c γ of faces that are bent by `curvature` (n, 3), (n,)."""
    fall = np.empty(len(curvature))
    for f in range(len(curvature)):
        bend = curvature[f]
        fall[f] = softening(bend[0], bend[1], bend[2], weakening[f], strength[f], band[f])
    return fall
