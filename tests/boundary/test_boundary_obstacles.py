"""Obstacles: positions in time, presence, orientation, and what is refused."""

import numpy as np
import pytest

from crumple.boundary import Rate, make_motion, make_obstacle
from crumple.runtime.errors import InputError

TRIANGLE = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
FACE = np.array([[0, 1, 2]])


def test_sequence_is_linear_in_between_and_clamped_then_moved():
    motion = make_motion("m", rate=Rate(velocity=(0, 0, 1)))
    obstacle = make_obstacle("o", FACE, [TRIANGLE, 3 * TRIANGLE], times=(1, 2), motion=motion)
    np.testing.assert_allclose(obstacle.positions(0.0), TRIANGLE)
    np.testing.assert_allclose(obstacle.positions(1.5), 2 * TRIANGLE + [0, 0, 1.5])
    np.testing.assert_allclose(obstacle.positions(4.0), 3 * TRIANGLE + [0, 0, 4])
    assert obstacle.positions(0.0).flags.c_contiguous
    assert obstacle.moves
    assert obstacle.node_count == 3


def test_presence_and_orientation():
    obstacle = make_obstacle("o", FACE, TRIANGLE, start=1, end=2, inside=True)
    assert [obstacle.active(t) for t in (0.5, 1, 1.9, 2)] == [False, True, True, False]
    assert obstacle.faces.tolist() == [[2, 1, 0]]
    assert not obstacle.moves


def test_positions_do_not_alias_the_shape():
    obstacle = make_obstacle("o", FACE, TRIANGLE)
    obstacle.positions(0.0)[:] = 9
    np.testing.assert_array_equal(obstacle.positions(0.0), TRIANGLE)


@pytest.mark.parametrize(
    ("arguments", "needle"),
    [
        ({"shapes": [TRIANGLE, TRIANGLE[:2]], "times": (0, 1)}, "shapes[1]"),
        ({"shapes": [TRIANGLE, TRIANGLE], "times": (1, 1)}, "must ascend"),
        ({"shapes": [TRIANGLE, TRIANGLE], "times": (0,)}, "one time per shape"),
        ({"shapes": []}, "one time per shape"),
        ({"shapes": TRIANGLE * np.nan}, "finite"),
        ({"faces": [[0, 1, 3]]}, "0…2"),
        ({"faces": [[0, -1, 2]]}, "0…2"),
        ({"faces": np.zeros((0, 3))}, "at least one triangle"),
        ({"start": 2, "end": 2}, "later than start"),
        ({"end": float("nan")}, "later than start"),
    ],
)
def test_refusals_name_the_place(arguments, needle):
    with pytest.raises(InputError) as caught:
        make_obstacle("o", **({"faces": FACE, "shapes": TRIANGLE} | arguments), place="scene.toml: obstacles[0]")
    assert needle in str(caught.value)
    assert str(caught.value).startswith("scene.toml: obstacles[0].")
