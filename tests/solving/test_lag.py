"""Friction at the forces of the step: what begins within a step rubs in it."""

from __future__ import annotations

import pytest

from crumple.materials import preset
from crumple.runtime.errors import SimulationError
from crumple.solving.lag import FOLLOWED, LagError, follows, is_settled
from crumple.solving.stop import Stop
from crumple.studies.validation.impacts import FRICTION, impact_ratio, stopping_path
from crumple.studies.validation.supports import FALLING, hang_over_box

STOP = Stop(1e-6, 1e-5, 5, 30.0, 12, 1e-3, 1e-2)


def test_friction_is_followed_at_first_after_most_of_a_step() -> None:
    assert follows(1, 1.0, False)
    assert not follows(1, 0.4, False)
    assert follows(1, 0.4, True)
    assert not follows(FOLLOWED + 1, 1.0, False)


def test_a_change_that_moves_nothing_settles() -> None:
    assert is_settled(STOP, LagError(2.0, 1e-7, 1e-6), 3, False)
    assert not is_settled(STOP, LagError(0.1, 1e-4, 1e-6), 3, False)
    assert is_settled(STOP, LagError(0.1, 1e-4, 1e-6), 12, True)
    assert is_settled(STOP, LagError(0.4, 1e-4, 1e-6), 12, True)  # it creeps
    assert not is_settled(STOP, LagError(0.4, 1e-4, 1e-6), 11, True)
    assert not is_settled(STOP, LagError(0.4, 1e-4, 2e-2), 12, True)  # too far,
    assert is_settled(STOP, LagError(0.04, 1e-4, 2e-2), 12, True)  # but for friction that hardly changes
    assert not is_settled(STOP, LagError(0.04, 1e-4, 4e-2), 12, True)
    assert not is_settled(STOP, LagError(0.9, 1e-4, 1e-6), 12, True)  # an impact is no creep


@pytest.mark.parametrize(("along", "down"), [(2.0, -0.5), (2.0, -2.0)])
def test_oblique_impact_obeys_coulomb(along: float, down: float) -> None:
    ratio = impact_ratio(preset("cotton"), along, down, kind="equilateral", size=0.02)
    assert ratio == pytest.approx(FRICTION, rel=0.03)


def test_start_within_reach_obeys_coulomb() -> None:
    assert impact_ratio(preset("paper80"), 1.0, 0.0, kind="equilateral", size=0.025, height=3e-4) == pytest.approx(
        FRICTION, rel=0.03
    )


def test_thrown_sheet_stops_where_friction_says() -> None:
    expected = 1.0 / (2.0 * FRICTION * 9.81)
    assert stopping_path(preset("card"), 1.0, kind="delaunay", size=0.025) == pytest.approx(expected, rel=0.01)


def test_static_sheet_stays_on_its_box() -> None:
    still = hang_over_box("static", 0.03, 5e-3, "equilateral", 0.02)
    assert still.x[:, 2].min() > -0.002
    assert still.x[:, 0].max() == pytest.approx(0.03, abs=5e-4)


def test_static_sheet_without_equilibrium_is_named() -> None:
    with pytest.raises(SimulationError, match="sheet 'paper': it finds no rest"):
        hang_over_box("static", FALLING, 5e-3, "equilateral", 0.02)
