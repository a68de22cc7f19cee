"""Obstacles that appear where a sheet is: named, and never accepted."""

import pytest

from crumple.runtime.errors import SimulationError
from crumple.scenes import build, scene_from_tables
from crumple.session.session import run

SCENE = {
    "run": {"frame_time": 0.04, "duration": 0.12},
    "environment": {"gravity": [0, 0, 0]},
    "sheets": [
        {
            "name": "napkin",
            "shape": {"kind": "rectangle", "width": 0.2, "height": 0.2, "size": 0.05},
            "material": "cotton",
        }
    ],
}


def late(center, start, **others):
    ball = {"name": "ball", "shape": {"kind": "sphere", "radius": 0.05, "center": center}, "start": start} | others
    return build(scene_from_tables(SCENE | {"obstacles": [ball]}))[:2]


@pytest.mark.parametrize("start", [0.04, 0.05])
def test_an_obstacle_that_starts_in_a_sheet_is_refused_by_name(start):
    with pytest.raises(SimulationError, match=r"obstacle 'ball' starts where 'napkin' is, near \("):
        run(*late([0, 0, 0.02], start))


def test_an_obstacle_that_starts_too_close_is_refused_by_name():
    with pytest.raises(SimulationError, match="obstacle 'ball' starts closer to 'napkin' than their thickness"):
        run(*late([0, 0, 0.0505], 0.05, thickness=2e-3))


def test_an_obstacle_that_starts_beside_the_sheet_is_welcome():
    assert run(*late([0, 0, 0.06], 0.05)).frame == 3
