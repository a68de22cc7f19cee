"""The law of one contact: how the energy of its barrier, and the damping of impacts, depend on its gap.

    E = K (b(s) + h c b(s/c)),   b(s) = −(s − 1)² ln s   for 0 < s < 1,   s = g / D

with the gap g, the activation gap D and the stiffness K [J] of a pair.

**The core.** The force of b grows only like 1/g: a load 1000 times the usual one would close the gap to a thousandth,
where collisions bound every Newton step. So there is a second barrier, h (`HARDER`) times harder, in the innermost
share c (`CORE`) of the gap. Light contacts never notice it. Below, b is the sum of both.

**Damping** [Hunt1975]. An elastic barrier would give back whatever an impact has stored in it. So while surfaces part
its force, −b', is taken times 1 − ġ/v as long as that is positive: none is left when they part at the rebound speed v.
Over a stage of length Δt from the gap s₀ on, with ρ = D/(v Δt) and ġ/v = ρ (s − s₀), that force has a potential of the
present gap alone,

    P(s) = b(s) (1 + ρ (s₀ − s)) − ρ ∫ b from s to s*   from s₀ up to s* = min(1, s₀ + 1/ρ),   0 beyond s*,
    P' = b' (1 + ρ (s₀ − s)),     P'' = b'' (1 + ρ (s₀ − s)) − ρ b',     and  P' = b'  below s₀.

P is convex, falls to 0 at s*, and has a continuous derivative; it depends on distances only, so it changes neither
momentum nor angular momentum; it never pulls; its force is that of b wherever the gap stays. What arrives at the speed
u leaves at w with −z − ln(1 − z) = ½ (u/v)², z = w/v, whatever b is: at u if that is slow, and never faster than v.
Surfaces out of reach at the start of the stage come from the rim, s₀ = 1. The approach is not damped: a node that
slides from face to face approaches the next one much faster than the surface.
"""

from __future__ import annotations

from math import inf, log

from crumple.contact.tuning import TUNING
from crumple.runtime.compiled import device

CORE = TUNING.core_fraction.value
HARDER = TUNING.core_pressure.value
NEAR_RIM = TUNING.rim_series.value


@device
def barrier_value(s):
    """b(s) + h c b(s/c); 0 beyond the range, infinite when touching."""
    if s >= 1.0:
        return 0.0
    if s <= 0.0:
        return inf
    value = -(s - 1.0) * (s - 1.0) * log(s)
    if s < CORE:
        s /= CORE
        value -= HARDER * CORE * (s - 1.0) * (s - 1.0) * log(s)
    return value


@device
def barrier_slopes(s):
    """First and second derivative of `barrier_value` for s in (0, 1)."""
    r, z = s - 1.0, log(s)
    slope, curvature = -2.0 * r * z - r * r / s, -2.0 * z - 4.0 * r / s + (r / s) ** 2
    if s < CORE:
        s /= CORE
        r, z = s - 1.0, log(s)
        slope += HARDER * (-2.0 * r * z - r * r / s)
        curvature += HARDER / CORE * (-2.0 * z - 4.0 * r / s + (r / s) ** 2)
    return slope, curvature


@device
def _integral_of_one(s):
    """∫ −(σ − 1)² ln σ dσ from s in (0, 1) to 1, as the series Σ rᵏ⁺³/(k (k + 3)) of r = 1 − s where that is small."""
    r = 1.0 - s
    if r < NEAR_RIM:
        total = 0.0
        for k in range(9, 0, -1):
            total = r * total + 1.0 / (k * (k + 3.0))
        return total * r * r * r * r
    return (1.0 - r * r * r) / 3.0 * log(s) - s * (s * (s / 9.0 - 0.5) + 1.0) + 11.0 / 18.0


@device
def barrier_integral(s):
    """∫ of `barrier_value` from s > 0 to 1."""
    if s >= 1.0:
        return 0.0
    total = _integral_of_one(s)
    if s < CORE:
        total += HARDER * CORE * CORE * _integral_of_one(s / CORE)
    return total


@device
def damped_value(s, start, damping):
    """P(s) for s₀ = `start` and ρ = `damping`, infinite when touching."""
    begin = min(max(start, 0.0), 1.0)
    if damping == 0.0 or s <= 0.0 or begin == 1.0:
        return barrier_value(s)
    if s < begin:
        return barrier_value(s) - damping * (barrier_integral(begin) - barrier_integral(begin + 1.0 / damping))
    factor = 1.0 + damping * (begin - s)
    if s >= 1.0 or factor <= 0.0:
        return 0.0
    return barrier_value(s) * factor - damping * (barrier_integral(s) - barrier_integral(begin + 1.0 / damping))


@device
def damped_slopes(s, start, damping):
    """P'(s) and P''(s) for s in (0, 1)."""
    slope, curvature = barrier_slopes(s)
    factor = 1.0 + damping * (min(max(start, 0.0), 1.0) - s)
    if factor >= 1.0:
        return slope, curvature
    if factor <= 0.0:
        return 0.0, 0.0
    return slope * factor, curvature * factor - damping * slope
