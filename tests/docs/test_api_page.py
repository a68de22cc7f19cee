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
