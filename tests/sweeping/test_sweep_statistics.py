"""The law of size and mass on made-up pressures, whose exponent and scatter are known."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.analysis import PressureCurve
from crumple.sweeping.statistics import Sample, fit_mass_size

EXPONENT, STEEPNESS = 0.4, 5.0
MASSES = (1e-3, 2e-3, 4e-3)


def made_up(rng: np.random.Generator, scatter: float, repeats: int = 4) -> list[Sample]:
    """Runs whose radius at equal pressure is 10 cm (M/g)^0.4, scattered by a share of it."""
    samples = []
    for mass in MASSES:
        for _ in range(repeats):
            size = 0.1 * (mass / 1e-3) ** EXPONENT * np.exp(scatter * rng.normal())
            radius = np.linspace(0.5, 0.15, 15)
            samples.append(
                Sample(str(len(samples)), mass, 1.0, PressureCurve(radius, 300.0 * (radius / size) ** -STEEPNESS))
            )
    return samples


def test_the_exponent():
    found = fit_mass_size(made_up(np.random.default_rng(0), 0.0))
    assert found.exponent == pytest.approx(EXPONENT, abs=1e-9)
    assert found.error == pytest.approx(0.0, abs=1e-9)
    assert found.steepness == pytest.approx(STEEPNESS)
    assert found.radius[0] == pytest.approx(0.1)
    assert set(found.others) == {0.4, 0.6}
    assert "mass^0.400 ± 0.000 at the same pressure, 12 runs" in found.describe()


def test_the_error_is_the_scatter_of_whole_studies(monkeypatch):
    """Over many studies, the exponents scatter by as much as each study says of itself."""
    monkeypatch.setattr("crumple.sweeping.statistics.RESAMPLES", 100)
    found = [fit_mass_size(made_up(np.random.default_rng(k), 0.1)) for k in range(60)]
    scatter = np.std([law.exponent for law in found], ddof=1)
    assert np.mean([law.error for law in found]) == pytest.approx(scatter, rel=0.25)
    assert np.mean([law.exponent for law in found]) == pytest.approx(EXPONENT, abs=4 * scatter / 60**0.5)


def test_without_repetition_there_is_no_error():
    found = fit_mass_size(made_up(np.random.default_rng(0), 0.1, repeats=1))
    assert np.isnan(found.error)
    assert "±" not in found.describe()


def test_nothing_to_fit():
    samples = made_up(np.random.default_rng(0), 0.0)
    assert fit_mass_size([]) is None
    assert fit_mass_size(samples[:4]) is None, "all of one mass"
    wide = [Sample(s.name, s.mass, 0.1, s.curve) for s in samples]
    assert fit_mass_size(wide) is None, "never narrower than the sheet"
