"""Exact solutions of the planar elastica that the strips are compared with; lengths in units of L, forces of B/L²."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import quad, solve_bvp, trapezoid
from scipy.optimize import brentq
from scipy.special import ellipe, ellipk

from crumple.runtime.errors import SimulationError
from crumple.runtime.typing import Floats


def heavy_cantilever(weights: Floats) -> Floats:
    """Drop over reach of a strip that is clamped horizontally, for ascending Γ = ρ g L³/B, (n,).

    θ'' = −Γ (1−s) cos θ,  θ(0) = 0,  θ'(1) = 0,  θ counted downwards. Each solution starts from that of a smaller Γ.
    """
    s = np.linspace(0.0, 1.0, 101) ** 1.5
    y = np.zeros((2, len(s)))
    results, reached = [], 1.0
    for weight in weights:
        way = np.geomspace(min(reached, weight), weight, 2 + int(np.log(max(1.0, weight / reached))))
        for part in way[1:]:
            s, y = _hang(part, s, y)
        reached = float(weight)
        results.append(trapezoid(np.sin(y[0]), s) / trapezoid(np.cos(y[0]), s))
    return np.array(results)


def _hang(weight: float, s: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The heavy cantilever for one Γ from a guess (θ, θ') at s, (n,) and (2, n)."""

    def slope(s: Floats, y: Floats) -> Floats:
        return np.stack([y[1], -weight * (1.0 - s) * np.cos(y[0])])

    solution = solve_bvp(slope, lambda a, b: np.array([a[0], b[1]]), s, y, tol=1e-8, max_nodes=100_000)
    if not solution.success:
        raise SimulationError(f"the heavy elastica for Γ = {weight:g} was not found: {solution.message}")
    fine = np.linspace(0.0, 1.0, 4001) ** 1.5
    return (solution.x, solution.y) if len(solution.x) > len(fine) else (fine, solution.sol(fine))


@dataclass(frozen=True)
class BuckledStrip:
    """Clamped at both ends, which are closer by ε L: rise of the middle / L, force over 4π² B/L², largest κ L."""

    rise: float
    force: float
    curvature: float


def buckled_strip(shortening: float) -> BuckledStrip:
    """With modulus p: ε = 2 − 2 E(p)/K(p), rise = p/K, force = (2K/π)², κ_max L = 8 p K."""
    m = brentq(lambda m: 2.0 - 2.0 * ellipe(m) / ellipk(m) - shortening, 1e-12, 0.999)
    p, k = np.sqrt(m), ellipk(m)
    return BuckledStrip(float(p / k), float((2.0 * k / np.pi) ** 2), float(8.0 * p * k))


U_BEND_CURVATURE = float(quad(lambda t: np.sqrt(np.sin(t)), 0.0, np.pi)[0])
"""κ_max D of a strip folded between plates at the distance D: ∫₀^π √sin θ dθ = 2.396."""
U_BEND_FORCE = 0.5 * U_BEND_CURVATURE**2
"""Force per width over B/D²: 2.871."""


def tip_force_ratio(shortenings: Floats) -> Floats:
    """Tangential over normal force at the tip of a strip pressed endwise on a plane, for ascending ε, (n,).

    Clamped upright at s = 0, free to turn at its tip s = 1, which stays under the clamp; θ from the vertical:
    θ'' = −N sin θ + T cos θ,  θ(0) = 0,  θ'(1) = 0,  ∫ sin θ = 0,  ∫ cos θ = 1 − ε.
    """
    s = np.linspace(0.0, 1.0, 201)
    load = 4.493409457909064  # the first root of tan k = k: N = k² at buckling
    mode = np.cos(load * s) - 1.0 + load * np.sin(load * s)  # θ of the buckling mode, with T = −N
    results = []
    scale = np.sqrt(2.0 * shortenings[0] / np.mean(mode**2))
    theta = scale * mode
    slope0 = scale * load * (-np.sin(load * s) + load * np.cos(load * s))
    y = np.stack([theta, slope0, _integral(np.sin(theta), s), _integral(np.cos(theta), s)])
    parameters = np.array([load**2, -scale * load**2])
    for shortening in shortenings:

        def slope(_: Floats, y: Floats, p: Floats) -> Floats:
            sine, cosine = np.sin(y[0]), np.cos(y[0])
            return np.stack([y[1], -p[0] * sine + p[1] * cosine, sine, cosine])

        def ends(a: Floats, b: Floats, _: Floats, reach: float = 1.0 - shortening) -> Floats:
            return np.array([a[0], a[2], a[3], b[1], b[2], b[3] - reach])

        solution = solve_bvp(slope, ends, s, y, p=parameters, tol=1e-8, max_nodes=100_000)
        if not solution.success:
            raise SimulationError(f"the pressed elastica for ε = {shortening:g} was not found: {solution.message}")
        s, y, parameters = solution.x, solution.y, solution.p
        results.append(abs(parameters[1] / parameters[0]))
    return np.array(results)


def _integral(values: Floats, s: Floats) -> Floats:
    """∫₀^s, by the trapezoidal rule, (n,)."""
    return np.concatenate([[0.0], np.cumsum(0.5 * (values[1:] + values[:-1]) * np.diff(s))])
