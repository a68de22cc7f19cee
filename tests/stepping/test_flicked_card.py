"""A card that is flicked over a table slides and turns as a rigid one does."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.materials import preset
from crumple.model.derived import Derived
from crumple.session.session import run
from crumple.studies.validation.impacts import FRICTION, above_floor

SPEED, SPIN, STEP = 1.0, 30.0, 1e-4


def rigid(mass, r):
    """Path [m] and turn [rad] of a rigid body of point masses at r (n, 2), each of which rubs with μ m g."""
    x = turn = 0.0
    v, spin, inertia = np.array([SPEED, 0.0]), SPIN, mass @ (r**2).sum(axis=1)
    while np.hypot(*v) > 1e-3 or spin > 1e-2:
        c, s = np.cos(turn), np.sin(turn)
        q = r @ np.array([[c, s], [-s, c]])
        slip = v + spin * np.stack([-q[:, 1], q[:, 0]], axis=1)
        force = -FRICTION * 9.80665 * mass[:, None] * slip / np.maximum(np.linalg.norm(slip, axis=1), 1e-3)[:, None]
        v = v + STEP * force.sum(axis=0) / mass.sum()
        spin += STEP * float(np.sum(q[:, 0] * force[:, 1] - q[:, 1] * force[:, 0])) / inertia
        x, turn = x + STEP * v[0], turn + STEP * spin
    return x, turn


@pytest.mark.parametrize("height", [9e-4, 2e-3])
def test_a_flicked_card_slides_and_turns_as_far_as_a_rigid_one(height):
    """It falls the last bit: after that impact steps were taken as in dense contact, which stopped it by a quarter."""
    model, state = above_floor(preset("card"), height, kind="delaunay", size=0.025)
    mass = Derived(model, state).mass
    middle = mass @ state.x / mass.sum()
    r = state.x - middle
    v = np.stack([SPEED - SPIN * r[:, 1], SPIN * r[:, 0], np.zeros(len(r))], axis=1)
    last = run(model, state.replaced(v=v), frames=16)
    path = float((mass @ last.x / mass.sum() - middle)[0])
    q = last.x - mass @ last.x / mass.sum()
    turn = np.arctan2(mass @ (r[:, 0] * q[:, 1] - r[:, 1] * q[:, 0]), mass @ (r[:, :2] * q[:, :2]).sum(axis=1))
    wanted = rigid(mass, r[:, :2])
    assert np.linalg.norm(last.v, axis=1).max() < 0.01
    assert path == pytest.approx(wanted[0], rel=0.01)
    off = (turn - wanted[1] + np.pi) % (2.0 * np.pi) - np.pi
    assert abs(off) < 0.01 * wanted[1]
