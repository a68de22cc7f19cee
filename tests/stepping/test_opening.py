"""How far pairs may part over a stage before contact lets them go."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from crumple.options.solver import EULER, TR_BDF2
from crumple.stepping.integration import DENSE_OPENING, _opening

SPEED, DHAT = 5e-3, 1e-3


@pytest.mark.parametrize(
    ("integrator", "dense_steps", "step", "expected"),
    [
        (EULER, 0, 1e-4, SPEED * 1e-4),  # the rebound speed bounds how fast they part,
        (EULER, 4, 1e-4, DENSE_OPENING * DHAT),  # but no kink that a short step of dense contact could not see
        (EULER, 4, 0.04, SPEED * 0.04),
        (TR_BDF2, 4, 1e-4, SPEED * 1e-4),  # short steps resolve an impact
    ],
)
def test_the_opening(integrator, dense_steps, step, expected):
    solver, contact = SimpleNamespace(integrator=integrator), SimpleNamespace(rebound_speed=SPEED)
    stage = SimpleNamespace(time=1.0 + step, since=1.0, state=SimpleNamespace(dense_steps=dense_steps))
    assert _opening(SimpleNamespace(solver=solver, contact=contact), stage, DHAT) == pytest.approx(expected)
