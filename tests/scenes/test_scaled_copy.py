"""A scene with all lengths, times and stiffnesses scaled is the same run: no constant of the code has its own size."""

import numpy as np
import pytest

from crumple.scenes import build, scene_from_tables
from crumple.simulation.frame import advance_frame

WIDTH, FRAMES = 0.3, 5


def tables(scale, *, remeshed):
    """Cloth that falls on a ball: lengths grow as s, times as √s, so that gravity and pressures are the same."""
    time = scale**0.5
    material = {"stretch": 400 * scale, "bend": 2e-5 * scale**3, "thickness": 5e-4 * scale, "density": 0.2}
    shape = {"kind": "rectangle", "width": WIDTH * scale, "height": WIDTH * scale, "size": 0.04 * scale}
    place = {"translate": [0.01 * scale, 0.02 * scale, 0.11 * scale]}
    made = {
        "name": "scaled",
        "run": {"frame_time": 0.02 * time, "duration": 0.02 * FRAMES * time},
        "contact": {
            "activation": 2e-3 * scale,
            "friction": 0.3,
            "slip_speed": 1e-3 * time,
            "rebound_speed": 5e-3 * time,
        },
        "solver": {"max_step": 0.02 * time, "min_step": 1e-6 * time, "speed_tolerance": 0.05 * time},
        "sheets": [{"shape": shape, "transform": place, "material": material | {"damping": 2e-3 * time}}],
        "obstacles": [{"shape": {"kind": "sphere", "radius": 0.1 * scale}}],
    }
    if remeshed:
        made["remeshing"] = {
            "size_min": 0.03 * scale,
            "size_max": 0.1 * scale,
            "refine_velocity": 0.5 * time,
            "refine_compression": 1e-4 * scale,
        }
    return made


def end(scale, *, remeshed):
    """The state after some frames."""
    model, state, _ = build(scene_from_tables(tables(scale, remeshed=remeshed)))
    for _ in range(FRAMES):
        state, _ = advance_frame(model, state)
    return state


@pytest.mark.parametrize("remeshed", [False, True])
def test_four_times_as_large_is_the_same_run(remeshed):
    """All factors are powers of two, so that rounding is the same as well."""
    small, large = end(1.0, remeshed=remeshed), end(4.0, remeshed=remeshed)
    assert small.x[:, 2].min() < 0.09  # it hangs over the ball
    assert np.array_equal(small.mesh.faces, large.mesh.faces)
    assert np.abs(large.x / 4.0 - small.x).max() < 1e-6 * WIDTH


def test_twice_as_large_is_nearly_the_same_run():
    small, large = end(1.0, remeshed=False), end(2.0, remeshed=False)
    assert np.abs(large.x / 2.0 - small.x).max() < 1e-3 * WIDTH
