"""The law of size and mass on made-up pressures, whose exponent and scatter are known."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.analysis.pressure import PressureCurve
from crumple.studies.sweeping.statistics import OTHER_WINDOWS, Sample, fit_mass_size

EXPONENT, STEEPNESS = 0.4, 5.0
MASSES = (1e-3, 2e-3, 4e-3)


def made_up(rng: np.random.Generator, scatter: float, repeats: int = 4) -> list[Sample]:
    """Runs whose radius at equal pressure is 10 cm (M/g)^0.4, scattered by a fraction of it."""
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
    assert found.others == pytest.approx(dict.fromkeys(OTHER_WINDOWS, EXPONENT))
    assert "mass^0.400 ± 0.000 at the same pressure, 12 runs" in found.describe()


def test_the_error_is_the_scatter_of_whole_studies(monkeypatch):
    """Over many studies, the exponents scatter by as much as each study says of itself."""
    monkeypatch.setattr("crumple.studies.sweeping.statistics.RESAMPLES", 100)
    found = [fit_mass_size(made_up(np.random.default_rng(k), 0.1)) for k in range(60)]
    scatter = np.std([law.exponent for law in found], ddof=1)
    assert np.mean([law.error for law in found]) == pytest.approx(scatter, rel=0.25)
    assert np.mean([law.exponent for law in found]) == pytest.approx(EXPONENT, abs=4 * scatter / 60**0.5)


def grouped(factors: dict[str, float], masses: dict[str, float], scatter: float = 0.0) -> list[Sample]:
    """The runs above in several groups, whose radii and masses differ by a factor."""
    samples = []
    for k, (name, factor) in enumerate(factors.items()):
        for sample in made_up(np.random.default_rng(k), scatter):
            curve = PressureCurve(sample.curve.radius, sample.curve.pressure * factor**STEEPNESS)
            mass = sample.mass * masses[name]
            samples.append(Sample(f"{name}{sample.name}", mass, sample.width, curve, name))
    return samples


def test_groups_have_sizes_of_their_own_and_the_exponent_in_common():
    """Thicker sheets are heavier and larger; the exponent is that within each thickness."""
    found = fit_mass_size(grouped({"thin": 1.0, "thick": 1.3}, {"thin": 1.0, "thick": 2.0}))
    assert found.is_of_sizes
    assert found.exponent == pytest.approx(EXPONENT, abs=1e-9)
    assert found.by_group == pytest.approx({"thin": EXPONENT, "thick": EXPONENT})
    scattered = fit_mass_size(grouped({"thin": 1.0, "thick": 1.3}, {"thin": 1.0, "thick": 2.0}, 0.1))
    alone = fit_mass_size(made_up(np.random.default_rng(0), 0.1))
    assert scattered.error == pytest.approx(alone.error / 2**0.5, rel=0.5), "twice as many runs"
    assert abs(scattered.exponent - EXPONENT) < 4.0 * scattered.error


def test_masses_that_differ_by_something_else_than_size_are_not_the_known_law():
    samples = [
        Sample(sample.name, sample.mass, sample.width, sample.curve, group=f"thickness {sample.mass}")
        for sample in made_up(np.random.default_rng(0), 0.0)
    ]
    found = fit_mass_size(samples)
    assert not found.is_of_sizes
    assert found.exponent == pytest.approx(EXPONENT, abs=1e-9), "as fitted through all"
    assert "not by the shape of the sheet" in found.describe()


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
