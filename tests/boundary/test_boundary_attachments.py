"""Attachments: which nodes are paired, and when they hold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crumple.boundary import Attachment, pair_in_order, pair_nearest
from crumple.runtime.errors import InputError


def ints(*values):
    return np.array(values, np.int32)


def test_strength_fades():
    attachment = Attachment("glue", start=1.0, end=2.0, fade=0.5)
    assert [attachment.strength(t) for t in (0.9, 1.0, 2.0, 2.25, 2.5, 9.0)] == [0, 1, 1, 0.5, 0, 0]


def test_in_order():
    assert pair_in_order(ints(4, 1), ints(2, 3)).tolist() == [[4, 2], [1, 3]]
    with pytest.raises(InputError, match="2 and 1"):
        pair_in_order(ints(4, 1), ints(2))
    with pytest.raises(InputError, match="itself"):
        pair_in_order(ints(4, 1), ints(2, 1))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 1000))
def test_nearest_against_all_distances(first_count, second_count, seed):
    x = np.random.default_rng(seed).standard_normal((first_count + second_count, 3))
    first = np.arange(first_count, dtype=np.int32)
    second = np.arange(first_count, first_count + second_count, dtype=np.int32)
    pairs = pair_nearest(x, first, second)
    assert len(pairs) == min(first_count, second_count)
    assert np.isin(pairs[:, 0], first).all()
    assert np.isin(pairs[:, 1], second).all()
    distance = np.linalg.norm(x[first, None] - x[None, second], axis=2)
    least = distance.min(axis=1 if first_count <= second_count else 0)
    assert np.allclose(np.linalg.norm(x[pairs[:, 0]] - x[pairs[:, 1]], axis=1), least)


def test_reach():
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 0.1], [1, 0, 0.5]])
    assert pair_nearest(x, ints(0, 1), ints(2, 3), 0.2).tolist() == [[0, 2]]
    with pytest.raises(InputError, match=r"0\.1 m apart"):
        pair_nearest(x, ints(0, 1), ints(2, 3), 0.01)
