"""Fitted laws: known parameters come back, likelihoods agree with scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from crumple.analysis.creases import MileageLaw, fit_mileage
from crumple.analysis.fits import fit_density, fit_exponential, fit_gamma, fit_laws, fit_lognormal, fit_power

RANDOM = np.random.default_rng(5)
SAMPLES = {
    "lognormal": 0.01 * RANDOM.lognormal(0.3, 0.9, 4000),
    "gamma": RANDOM.gamma(2.5, 0.004, 4000),
    "exponential": RANDOM.exponential(0.02, 4000),
}


@pytest.mark.parametrize("name", ["lognormal", "gamma"])
def test_likeliest_law_is_the_true_one(name):
    assert fit_laws(SAMPLES[name])[0].law == name


def test_parameters_come_back():
    assert fit_gamma(SAMPLES["gamma"]).parameters == pytest.approx({"shape": 2.5, "scale": 0.004}, rel=0.06)
    found = fit_lognormal(SAMPLES["lognormal"]).parameters
    assert found == pytest.approx({"mu": 0.3 + np.log(0.01), "sigma": 0.9}, rel=0.05)
    assert fit_exponential(SAMPLES["exponential"]).parameters["scale"] == pytest.approx(0.02, rel=0.05)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_numbers_agree_with_scipy(name):
    values = SAMPLES[name]
    for fit in fit_laws(values):
        p = fit.parameters
        law = {
            "lognormal": lambda: stats.lognorm(p["sigma"], scale=np.exp(p["mu"])),  # noqa: B023
            "gamma": lambda: stats.gamma(p["shape"], scale=p["scale"]),  # noqa: B023
            "exponential": lambda: stats.expon(scale=p["scale"]),  # noqa: B023
        }[fit.law]()
        assert fit.log_likelihood == pytest.approx(law.logpdf(values).sum(), rel=1e-9)
        assert fit.distance == pytest.approx(stats.kstest(values, law.cdf).statistic, rel=1e-9)
        assert fit_density(fit, values[:50]) == pytest.approx(law.pdf(values[:50]))
        if fit.law == "gamma":
            best = stats.gamma(*stats.gamma.fit(values, floc=0)).logpdf(values).sum()
            assert fit.log_likelihood >= best - 1e-6 * abs(best)


def test_too_little_gives_no_fit():
    assert fit_laws(np.zeros(0)) == ()
    assert fit_laws(np.ones(7)) == ()
    assert fit_laws(np.full(100, 0.3)) == ()
    assert fit_laws(np.zeros(100)) == ()


def test_power_law_comes_back():
    x = np.array([1.0, 3.0, 10.0])
    law = fit_power(x, 2 * x**0.4)
    assert law is not None
    assert (law.factor, law.exponent, law.r_squared) == pytest.approx((2.0, 0.4, 1.0))
    assert fit_power(x[:1], x[:1]) is None
    assert fit_power(np.ones(3), x) is None


def test_mileage_law_comes_back():
    count, delta = np.arange(1.0, 25.0), np.tile([0.3, 0.5, 0.7], 8)
    exact = MileageLaw(52.0, 0.1, 1.0)(count, delta)
    law = fit_mileage(count, delta, exact)
    assert law is not None
    assert (law.c1, law.c2, law.r_squared) == pytest.approx((52.0, 0.1, 1.0), rel=1e-4)
    assert fit_mileage(count[:2], delta[:2], exact[:2]) is None
