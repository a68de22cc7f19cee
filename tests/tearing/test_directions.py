"""Where cracks run: flaps narrow, notches that are loaded alike run together and avoid each other."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.runtime.typing import Floats
from crumple.scenes import build, scene_from_tables
from crumple.session.simulation import Simulation
from crumple.state import State

BASE = {
    "environment": {"gravity": [0, 0, 0]},
    "contact": {"friction": 0.0, "activation": 3e-4},
    "tearing": {"initiation": False},
    "plasticity": {"rule": "none"},
}


def held(name: str, low: list[float], high: list[float], motion: str | None = None) -> dict[str, object]:
    """A handle that holds what is in a box."""
    select = {"kind": "box", "low": low, "high": high}
    return {"name": name, "select": select, "stiffness": 1e6} | ({} if motion is None else {"motion": motion})


def flap(width: float, frames: int, rule: str = "none") -> State:
    """A flap of the `width` [m] between two slits is turned over and pulled back; the sheet beside it is held. It
    yields by the `rule`."""
    over = {"angle": 180, "axis": [-1, 0, 0]}
    height = 2.0 * np.sqrt(3.4e-4 * width / 0.63)  # of the flap above the sheet: that of an elastica
    keys = [
        {"time": 0},
        {"time": 0.15, "translate": [0, 0, -0.008], "rotate": {"angle": 90, "axis": [-1, 0, 0]}},
        {"time": 0.3, "translate": [0, -0.012, height], "rotate": over, "velocity": {"translate": [0, 0.2, 0]}},
        {"time": 0.7, "translate": [0, 0.076, height], "rotate": over},
    ]
    half, side = 0.5 * width, 0.5 * width + 4e-3
    middle = half + 0.019
    slits = [[[middle + x, -0.01], [middle + x, 0.03]] for x in (-half, half)]
    sheet = {
        "material": "paper80",
        "shape": {"kind": "rectangle", "width": 2.0 * middle, "height": 0.12, "size": 0.01},
        "cuts": [{"line": line} for line in slits],
    }
    tables = BASE | {
        "plasticity": {"rule": rule},
        "run": {"duration": 0.7, "frame_time": 0.02},
        "solver": {"mode": "static", "max_step": 0.01},
        "remeshing": {"refine_angle": 0.4, "size_min": 3e-3, "size_max": 0.02},
        "sheets": [sheet],
        "handles": [
            held("left", [-1, -1, -1], [-side, 1, 1]),
            held("right", [side, -1, -1], [1, 1, 1]),
            held("flap", [5e-4 - half, -1, -1], [half - 5e-4, -0.056, 1], "peel"),
        ],
        "motions": {"peel": {"center": [0, -0.03, 0], "keys": keys}},
    }
    built = build(scene_from_tables(tables))
    return Simulation(model=built.model, state=built.state).run(frames)


def notches() -> State:
    """A strip with a notch from either side, one 12 mm above the other, pulled until both have run."""
    slits = [[[-0.01, 0.054], [0.03, 0.054]], [[0.11, 0.066], [0.07, 0.066]]]
    sheet = {
        "material": "paper80",
        "shape": {"kind": "rectangle", "width": 0.1, "height": 0.12, "size": 0.01},
        "cuts": [{"line": line} for line in slits],
    }
    tables = BASE | {
        "run": {"duration": 1.0, "frame_time": 0.02},
        "solver": {"mode": "static", "max_step": 0.01},
        "remeshing": {"refine_angle": 0.4, "size_min": 2e-3, "size_max": 0.02},
        "sheets": [sheet],
        "handles": [held("low", [-1, -1, -1], [1, -0.0599, 1]), held("top", [-1, 0.0599, -1], [1, 1, 1], "up")],
        "motions": {"up": {"rate": {"velocity": [0, 2e-3, 0]}}},
    }
    built = build(scene_from_tables(tables))
    simulation = Simulation(model=built.model, state=built.state)
    state = built.state
    for frame in range(1, 30):
        state = simulation.run(frame)
        if state.torn.length() > 0.02:
            break
    return state


def path(state: State, crack: int) -> Floats:
    """The way of a crack on the pattern, (n, 2) [m]."""
    return state.torn.points[state.torn.crack == crack]


def inwards(state: State, last: float = 0.012) -> list[float]:
    """The angle by which each of the cracks beside a flap runs inwards [°], over the `last` of its way [m]."""
    angles = []
    for crack, sign in ((0, 1.0), (1, -1.0)):
        way = path(state, crack)
        away = np.linalg.norm(way - way[-1], axis=1)
        assert away[0] > last
        along = way[-1] - way[int(np.argmin(np.abs(away - last)))]
        angles.append(float(np.degrees(np.arctan2(sign * along[0], along[1]))))
    return angles


@pytest.mark.slow
def test_the_cracks_beside_an_elastic_flap_run_inwards_as_its_fold_is_worth():
    found = inwards(flap(0.03, 24))
    assert np.mean(found) == pytest.approx(13.1, rel=0.3)  # energy of the fold per width over G_c t
    assert min(found) > 6.0


@pytest.mark.slow
def test_the_cracks_beside_a_flap_that_yields_run_inwards():
    found = inwards(flap(0.03, 24, rule="curvature"))
    assert np.mean(found) > 0.5
    assert min(found) > 0.0


@pytest.mark.slow
def test_a_crack_follows_a_perforation_that_turns_by_a_right_angle():
    corner = [[0.03, 0.03], [0.03, 0.05], [0.06, 0.05]]
    sheet = {
        "material": "paper80",
        "shape": {"kind": "rectangle", "width": 0.06, "height": 0.08, "size": 0.01},
        "cuts": [{"line": [[0.03, -0.01], [0.03, 0.03]]}],
        "lines": [{"line": corner, "cut_share": 0.9}],
    }
    tables = BASE | {
        "run": {"duration": 1.0, "frame_time": 0.02},
        "solver": {"mode": "static", "max_step": 0.02},
        "remeshing": {"refine_angle": 0.4, "size_min": 5e-3, "size_max": 0.02},
        "sheets": [sheet],
        "handles": [
            held("up", [-1, -1, -1], [-1e-3, -0.035, 1], "up"),
            held("down", [1e-3, -1, -1], [1, -0.035, 1], "down"),
        ],
        "motions": {name: {"rate": {"velocity": [0, 0.16, z]}} for name, z in (("up", 0.2), ("down", -0.2))},
    }
    built = build(scene_from_tables(tables))
    state = Simulation(model=built.model, state=built.state).run(15)
    way = path(state, 0)
    assert state.torn.length() > 0.03
    on_first, on_second = np.abs(way[:, 0] - 0.03) < 1e-6, np.abs(way[:, 1] - 0.05) < 1e-6
    assert np.all(on_first | on_second)


def place_along(way: Floats, length: float) -> Floats:
    """Where a way (n, 2) is after the `length` [m], (2,)."""
    along = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1)))
    return np.array([np.interp(length, along, way[:, k]) for k in range(2)])


@pytest.mark.slow
def test_opposite_notches_run_alike_and_avoid_each_other():
    state = notches()
    first, second = path(state, 0), path(state, 1)
    ran = [float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum()) for way in (first, second)]
    assert min(ran) > 0.8 * max(ran)
    # half a turn about the middle of the strip takes one onto the other, until they have passed each other
    mirrored = [0.1, 0.12] - second
    for share in (0.25, 0.5, 0.75):
        assert np.allclose(place_along(first, share * min(ran)), place_along(mirrored, share * min(ran)), atol=3e-3)
    assert first[:, 1].min() < first[0, 1]
    assert second[:, 1].max() > second[0, 1]
