"""The examples of docs/api.md run in order, and do what the page says."""

from __future__ import annotations

import numpy as np
import pytest
from pages import page_blocks, run_blocks

import crumple
from crumple.recording.verify import verify_recording


@pytest.mark.slow
def test_examples(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = run_blocks(page_blocks("api.md"), "api.md")
    assert names["recording"].frames == [0, 1, 2, 3, 4, 5]
    assert names["thicker"].run.duration == 0.4
    assert "('Rectangle: width = -1 (must be > 0, in m)', 'Rectangle: size: this key is missing')" in (
        capsys.readouterr().out
    )
    weight = 9.81 * 0.12 * 0.08 * crumple.preset("paper80").density
    assert -names["pull"][2] > 0.3 * weight, "the hand carries a part of the sheet"
    assert names["press"][2] <= 0.0
    assert crumple.Recording("out/by-hand").frames == [0, 1, 2, 3]
    assert crumple.Recording("out/parts").frames == [0, 1, 2]
    assert verify_recording(crumple.Recording("out/by-hand")).passed
    assert len(names["watch"].energies) > 1
    assert names["final"].time < 0.2
    assert names["after"] == pytest.approx(names["before"], rel=1e-9)
    free, drawn = names["free"].x[:, 0], names["drawn"].x[:, 0]
    assert abs(np.mean(drawn)) < 0.9 * abs(np.mean(free))


@pytest.mark.slow
def test_examples_of_own_energies(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    quicker = {'"size": 0.01}': '"size": 0.03}', "frames=15": "frames=6", "frames=30": "frames=12"}
    quicker |= {'"size": 0.005}': '"size": 0.01}', '"size_min": 3e-3': '"size_min": 8e-3'}
    names = run_blocks(page_blocks("own-energies.md", quicker), "own-energies.md")
    assert np.ptp(names["last"].x[:, 2]) > 0.04, "the cushion is blown up"
    assert np.ptp(names["rolled_up"].x[:, 2]) > 0.01, "the strip rolls up"
    assert names["rolled_up"].mesh.face_count != names["state"].mesh.face_count
