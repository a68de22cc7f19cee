"""The state that benchmarks keep is checked before it is used, and written where nobody else can."""

from __future__ import annotations

import io
from types import SimpleNamespace

import numpy as np
import pytest

from crumple.model.model import Model
from crumple.shapes import rectangle
from crumple.state import initial_state
from crumple.studies.benchmarking import folded


@pytest.fixture
def start():
    mesh, x = rectangle(0.1, 0.1, 0.05)
    return initial_state(mesh, x)


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """How often the scene was run."""
    count = []

    def run(model, state):
        count.append(1)
        return state.replaced(x=state.x + 1.0, time=0.5, frame=7)

    monkeypatch.setattr(folded, "cache_folder", lambda name: tmp_path)
    monkeypatch.setattr(folded, "Simulation", lambda model, state: SimpleNamespace(run=lambda: run(model, state)))
    return count


def test_it_is_run_once_and_kept(tmp_path, start, runs):
    for _ in range(2):
        state = folded._stuffed(Model(()), start, ("a=1",))
        np.testing.assert_array_equal(state.x, start.x + 1.0)
        assert (state.time, state.frame) == (0.5, 7)
    assert len(runs) == 1
    assert len(list(tmp_path.iterdir())) == 1


def archive(**changes) -> bytes:
    buffer = io.BytesIO()
    values = {"x": np.zeros((9, 3)), "v": np.zeros((9, 3)), "obstacle_x": np.zeros((0, 3)), "time": 0.1, "frame": 1}
    np.savez(buffer, **(values | {"step_size": 1e-3} | changes))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"nonsense",
        archive()[:500],
        archive(x=np.zeros((1, 3))),
        archive(x=np.full((9, 3), np.nan)),
        archive(v=np.array([object()])),
        archive(time=np.nan),
    ],
)
def test_what_does_not_fit_is_made_anew(tmp_path, start, runs, content):
    folded._stuffed(Model(()), start, ())
    (path,) = tmp_path.iterdir()
    path.write_bytes(content)
    assert folded._kept_state(path, start) is None
    folded._stuffed(Model(()), start, ())
    assert len(runs) == 2


def test_a_link_is_replaced_not_followed(tmp_path, start, runs):
    folded._stuffed(Model(()), start, ())
    (path,) = tmp_path.iterdir()
    precious = tmp_path.parent / "precious"
    precious.write_text("mine")
    path.unlink()
    path.symlink_to(precious)
    folded._stuffed(Model(()), start, ())
    assert precious.read_text() == "mine"
    assert not path.is_symlink()
