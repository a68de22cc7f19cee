"""What runs leave behind has no intersection, as an exact oracle counts them, and `verify` says the same.

The long tests record the quick variant of every built-in scene, and repeat each ten times with nodes moved by
nanometres, which takes hours: pytest -m long tests/oracles -k "miura and nanometres"
"""

import numpy as np
import pytest
from check_recording import compare, exact_count

from crumple.recording import create_recording
from crumple.recording.obstacles import obstacle_surface
from crumple.recording.verify import count_intersections
from crumple.scenes import build, builtin_scenes, dump_scene, load_scene
from crumple.session.session import run
from crumple.simulation.observers import Observer

FRAMES = {"crumple": 40, "sizes": 20, "recrumple": 20, "fold": 40}
"""Scenes whose quick variant is stopped early, because it takes long."""
JITTER = 1e-9
"""How far nodes are moved [m]."""


class Judge(Observer):
    """Counts the intersections of every frame exactly."""

    def __init__(self):
        self.counts = []

    def on_start(self, model, state):
        self.counts.append(exact_count(state, obstacle_surface(model)))

    def on_frame(self, model, state, report):
        self.counts.append(exact_count(state, obstacle_surface(model)))


def shaken(state, seed):
    """The state with every node moved by about `JITTER`."""
    return state.replaced(x=state.x + JITTER * np.random.default_rng(seed).normal(size=state.x.shape))


@pytest.mark.slow
def test_a_sheet_that_lands_on_a_ball():
    """And both count the same when it is pressed into the ball, and when its nodes are scattered above."""
    model, state, _ = build("demo", ["sheets[0].shape.size=0.03", "run.duration=0.4"])
    judge = Judge()
    state = run(model, state, [judge])
    obstacles = obstacle_surface(model)
    assert judge.counts == [0] * 11
    assert count_intersections(state, obstacles) == 0
    pressed = state.replaced(x=state.x - [0, 0, 0.01])
    crossed = state.replaced(x=state.x + 0.02 * np.random.default_rng(0).normal(size=state.x.shape) + [0, 0, 0.2])
    for damaged in (pressed, crossed):
        assert exact_count(damaged, obstacles) == count_intersections(damaged, obstacles) > 0


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(builtin_scenes()))
def test_built_in_scenes(name, tmp_path):
    scene = load_scene(name, quick=True)
    model, state, _ = build(scene)
    with create_recording(tmp_path / name, dump_scene(scene)) as recorder:
        run(model, state, [recorder], frames=min(FRAMES.get(name, model.frame_count), model.frame_count))
    verified, exact, _ = compare(tmp_path / name)
    assert len(exact) > 5
    assert exact == verified == [0] * len(exact)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", sorted(builtin_scenes()))
def test_nodes_moved_by_nanometres(name, seed):
    model, state, _ = build(name, quick=True)
    judge = Judge()
    last = run(model, shaken(state, seed), [judge], frames=min(FRAMES.get(name, model.frame_count), model.frame_count))
    assert judge.counts == [0] * (last.frame + 1)
