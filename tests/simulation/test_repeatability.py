"""The same bits again: twice with one thread, and resumed from a frame."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from simulation_samples import falling_sheet

from crumple.session.session import run
from crumple.state import State


@pytest.fixture
def one_thread():
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


def same_bits(a: State, b: State) -> bool:
    fields = ("x", "v", "y", "plastic_curvature", "damage", "obstacle_x", "obstacle_lag")
    numbers = ("time", "step_size", "frame", "steps", "iterations")
    return all(getattr(a, f).tobytes() == getattr(b, f).tobytes() for f in fields) and all(
        getattr(a, n) == getattr(b, n) for n in numbers
    )


def test_one_thread_gives_the_same_bits_twice(one_thread):
    first, second = (run(*falling_sheet(), frames=5) for _ in range(2))
    assert first.iterations > 10
    assert same_bits(first, second)


def test_kernels_give_the_same_bits_with_any_number_of_threads(one_thread):
    first = run(*falling_sheet(), frames=4)
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    assert same_bits(first, run(*falling_sheet(), frames=4))


def test_resuming_from_a_frame_gives_the_same_bits(one_thread):
    model, state = falling_sheet()
    whole = run(model, state, frames=6)
    half = run(model, state, frames=3)
    kept = half.replaced(x=half.x.copy(), v=half.v.copy(), y=half.y.copy(), obstacle_x=half.obstacle_x.copy())
    model_again, _ = falling_sheet()
    assert same_bits(whole, run(model_again, kept, frames=6))


def test_the_bits_do_depend_on_the_start():
    model, state = falling_sheet()
    moved = state.replaced(x=state.x + np.array([1e-9, 0.0, 0.0]))
    assert not same_bits(run(model, state, frames=2), run(model, moved, frames=2))
