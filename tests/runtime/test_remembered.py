"""Results that are kept for the very same things."""

from __future__ import annotations

import numpy as np

from crumple.runtime.remembered import Equal, Remembered


def test_a_result_is_kept_for_the_very_same_objects():
    kept, made = Remembered[int](2), list[int]()

    def make() -> int:
        made.append(len(made))
        return made[-1]

    one, same_numbers = np.ones(3), np.ones(3)
    assert kept.find((one, Equal(1.0)), make) == 0
    assert kept.find((one, Equal(1.0)), make) == 0
    assert kept.find((same_numbers, Equal(1.0)), make) == 1
    assert kept.find((one, Equal(2.0)), make) == 2
    assert kept.find((one, Equal(1.0)), make) == 3  # only two are kept
    assert kept.find((one,), make) == 4
