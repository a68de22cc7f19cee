"""An alternative to yielding by curvature: rest angles follow the angles beyond a threshold.

    θ_rest ← (1 - α) θ_rest + α θ        where |θ - θ_rest| > threshold

per hinge and step: the rule of a student's simulator after [Baraff1998] and [Grinspun2003]. It is about angles, not
curvatures, so that a finer mesh yields later, and there is no damage; unlike yielding it takes time. Here
α = 1 - exp(-rate · step), so that the result does not depend on the steps.

The state keeps S_p on faces. Angles go to strains and back without loss, so nothing else needs to be kept.
"""

from __future__ import annotations

import numpy as np

from crumple.geometry.curvature import CurvatureStencil, bending_strain, rest_angle
from crumple.runtime.typing import Floats


def follow_angle(angle: Floats, rest: Floats, *, threshold: float, fraction: float) -> Floats:
    """Rest angles (n,) [rad] moved by `fraction` α towards the angles (n,) that are farther off than `threshold`."""
    return np.where(np.abs(angle - rest) > threshold, rest + fraction * (angle - rest), rest)


def follow_fraction(rate: float, step: float) -> float:
    """The fraction α of a step of `step` [s] at the rate `rate` [1/s]."""
    return float(-np.expm1(-rate * step))


def follow_curvature(
    stencil: CurvatureStencil, angle: Floats, plastic_curvature: Floats, *, threshold: float, fraction: float
) -> Floats:
    """S_p (face_count, 3) [1/m] after its rest angles followed the hinge angles (hinge_count,) [rad].

    Faces none of whose hinges moved keep their values bit by bit.
    """
    rest = rest_angle(stencil, plastic_curvature)
    moved = follow_angle(angle, rest, threshold=threshold, fraction=fraction)
    change = bending_strain(stencil, moved - rest)
    return plastic_curvature + change
