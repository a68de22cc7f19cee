"""Laws fitted to samples by maximum likelihood: log-normal, gamma, exponential; and power laws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, gammainc, gammaln, ndtr, polygamma

from crumple.runtime.typing import Floats

FEWEST = 8
"""Samples that a fit needs."""


@dataclass(frozen=True)
class Fit:
    """A law fitted to samples: its `law`, its `parameters` by name, `log_likelihood` of all samples (natural
    logarithm), `distance` of Kolmogorov and Smirnov between the samples and the law, and how many `samples`."""

    law: str
    parameters: dict[str, float]
    log_likelihood: float
    distance: float
    samples: int


def fit_lognormal(values: Floats) -> Fit:
    """log-normal: mean `mu` and standard deviation `sigma` of ln x; `values` (n,) > 0."""
    logs = np.log(values)
    mu, sigma = float(logs.mean()), max(float(logs.std()), 1e-12)
    likelihood = -logs.sum() - len(logs) * (np.log(sigma) + 0.5 * np.log(2.0 * np.pi) + 0.5 * logs.var() / sigma**2)
    return _fit(
        "lognormal", {"mu": mu, "sigma": sigma}, likelihood, values, ndtr((np.log(np.sort(values)) - mu) / sigma)
    )


def fit_gamma(values: Floats) -> Fit:
    """gamma: `shape` k and `scale` θ of x^(k−1) e^(−x/θ); `values` (n,) > 0.

    ln k − ψ(k) = ln x̄ − mean(ln x) by Newton's method on 1/k [Minka2002].
    """
    mean, log_mean = float(values.mean()), float(np.log(values).mean())
    gap = max(np.log(mean) - log_mean, 1e-12)
    k = (3.0 - gap + np.sqrt((gap - 3.0) ** 2 + 24.0 * gap)) / (12.0 * gap)
    for _ in range(20):
        k = 1.0 / (1.0 / k + (np.log(k) - digamma(k) - gap) / (k**2 * (1.0 / k - polygamma(1, k))))
    scale = mean / k
    likelihood = len(values) * ((k - 1.0) * log_mean - mean / scale - gammaln(k) - k * np.log(scale))
    parameters = {"shape": float(k), "scale": float(scale)}
    return _fit("gamma", parameters, likelihood, values, gammainc(k, np.sort(values) / scale))


def fit_exponential(values: Floats) -> Fit:
    """exponential: the mean `scale`; `values` (n,) > 0."""
    scale = float(values.mean())
    likelihood = -len(values) * (np.log(scale) + 1.0)
    return _fit("exponential", {"scale": scale}, likelihood, values, -np.expm1(-np.sort(values) / scale))


def fit_laws(values: Floats) -> tuple[Fit, ...]:
    """All laws, the likeliest first; none for fewer than FEWEST positive samples or samples that are all equal."""
    values = values[values > 0.0]
    if len(values) < FEWEST or np.ptp(values) <= 1e-9 * values.max():
        return ()
    fits = (fit_lognormal(values), fit_gamma(values), fit_exponential(values))
    return tuple(sorted(fits, key=lambda fit: -fit.log_likelihood))


def fit_density(fit: Fit, x: Floats) -> Floats:
    """Probability density of a fitted law at x > 0, (n,)."""
    p = fit.parameters
    if fit.law == "lognormal":
        return np.exp(-0.5 * ((np.log(x) - p["mu"]) / p["sigma"]) ** 2) / (x * p["sigma"] * np.sqrt(2.0 * np.pi))
    if fit.law == "gamma":
        logs = (p["shape"] - 1.0) * np.log(x) - x / p["scale"] - gammaln(p["shape"]) - p["shape"] * np.log(p["scale"])
        return np.exp(logs)
    return np.exp(-x / p["scale"]) / p["scale"]


@dataclass(frozen=True)
class PowerLaw:
    """y = `factor` x^`exponent`, a straight line through the logarithms, with R²."""

    factor: float
    exponent: float
    r_squared: float


def fit_power(x: Floats, y: Floats) -> PowerLaw | None:
    """The power law through points (n,) > 0; None unless at least two of the x differ."""
    if len(x) < 2 or np.ptp(x) <= 1e-9 * np.max(np.abs(x)):
        return None
    a, b = np.log(x), np.log(y)
    slope = float(((a - a.mean()) * (b - b.mean())).sum() / ((a - a.mean()) ** 2).sum())
    offset = float(b.mean() - slope * a.mean())
    spread = float(((b - b.mean()) ** 2).sum())
    left = float(((b - offset - slope * a) ** 2).sum())
    return PowerLaw(float(np.exp(offset)), slope, 1.0 - left / spread if spread else 1.0)


def _fit(law: str, parameters: dict[str, float], likelihood: float, values: Floats, cumulative: Floats) -> Fit:
    count = len(values)
    step = np.arange(count + 1) / count
    distance = max(float(np.max(cumulative - step[:-1])), float(np.max(step[1:] - cumulative)))
    return Fit(law, parameters, float(likelihood), distance, count)
