"""Dragging at random: one to four hands over a floor, every frame checked, for as long as one likes."""

from __future__ import annotations

import resource

import numpy as np
import pytest

from crumple.boundary.obstacles import Obstacle, make_obstacle
from crumple.developable import DevelopableEngine, DevelopableOptions, developable_sheet
from crumple.developable.clearance import Clearance
from crumple.mesh.validate import validate_mesh
from crumple.recording import state_digest
from crumple.session.session import Session
from crumple.shapes.obstacles import plane

HANDS = 4
SPEED = 0.08
"""Standard deviation of each component of the speed of a hand [m/s]."""


def check(engine: DevelopableEngine) -> None:
    """What holds at the end of every frame."""
    x = engine.state.x
    assert np.isfinite(x).all()
    strain = np.abs(engine.paper.isometry.strain(x))
    assert strain.mean() <= 1e-4
    assert strain.max() <= 1e-3
    assert Clearance(engine.model, engine.state).is_clear(x)
    assert validate_mesh(engine.state.mesh) == []
    assert engine.state.mesh.face_count <= 300


def floor(height: float = -0.02) -> Obstacle:
    """A floor below the sheet, larger than the hands reach [m]."""
    points, faces = plane(0.6)
    return make_obstacle("floor", faces, points + np.array([0.05, 0.05, height]))


def sheet(seed: int, **options: float) -> DevelopableEngine:
    """A sheet above a floor, with hands that hold nothing yet."""
    chosen = DevelopableOptions(seed=seed, **options)
    return developable_sheet(idle_hands=HANDS, obstacles=(floor(),), options=chosen, duration=1e4)


class Dragger:
    """Hands that take hold anywhere, move at random and let go: one to four at a time, as the dice fall."""

    def __init__(self, seed: int, engine: DevelopableEngine) -> None:
        self.session, self.speed = Session(engine), {}
        self._dice = np.random.default_rng(seed)

    def frame(self) -> None:
        """What hands do, and a frame."""
        dice, session = self._dice, self.session
        for hand in session.handles:
            if hand not in self.speed:
                self._grasp(hand)
            elif dice.random() < 0.02 and len(self.speed) > 1:
                session.release(hand)
                del self.speed[hand]
            else:
                self._move(hand)
        session.advance_frame()

    def _grasp(self, hand: str) -> None:
        if self._dice.random() > 0.05:
            return
        x = self.session.state.x
        if self.session.grasp(hand, x[int(self._dice.integers(len(x)))], reach=0.02):
            self.speed[hand] = self._dice.normal(size=3) * SPEED

    def _move(self, hand: str) -> None:
        if self._dice.random() < 0.05:
            self.speed[hand] = self._dice.normal(size=3) * SPEED
        place = self.session.handle_position(hand) + self.speed[hand] / 60.0
        self.session.set_handle(hand, np.clip(place, (-0.03, -0.03, -0.015), (0.13, 0.13, 0.1)))


def soak(seed: int, seconds: float) -> DevelopableEngine:
    """A sheet dragged at random, every frame checked."""
    engine = sheet(seed)
    dragger = Dragger(seed, engine)
    for _ in range(round(60 * seconds)):
        dragger.frame()
        check(engine)
    return engine


def memory() -> float:
    """The most that this process has had in memory so far [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def test_dragging_at_random_keeps_the_sheet_whole() -> None:
    first, again = soak(2, 1.0), soak(2, 1.0)
    assert first.paper.structure.curves
    assert state_digest(first.state) == state_digest(again.state)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_dragging_for_a_minute_keeps_the_sheet_whole(seed: int) -> None:
    soak(10 + seed, 10.0)
    begun = memory()
    soak(10 + seed, 60.0)
    assert memory() - begun < 60.0
