"""The examples of docs/learning.md run, and do what the page says."""

from __future__ import annotations

import pytest
from pages import page_blocks, run_blocks

import crumple


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_environments(capsys, monkeypatch):
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'crumple[learn]'")
    for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):  # the page sets them
        monkeypatch.setenv(name, "1")
    changes = {
        'gymnasium.make("crumple/Fold-v0")': 'gymnasium.make("crumple/Fold-v0", faces=40)',
        'record="out/episodes"': 'faces=40, record="out/episodes"',
        'gymnasium.make("my/Lift-v0")': 'gymnasium.make("my/Lift-v0", faces=40)',
    }
    blocks = [block for block in page_blocks("learning.md", changes) if block.language == "python"]
    names = run_blocks(blocks[:5], "learning.md")
    told = capsys.readouterr().out
    assert "(49, 3)" in told
    assert float(told.split("\n4 ")[1].split()[1]) > 0.2, "the corner has come nearer"
    assert names["info"]["score"] > 0.5, "the sheet is lifted"
    assert crumple.Recording("out/one-episode").frames == [0, 1]


def test_datasets(capsys):
    blocks = [block for block in page_blocks("learning.md") if "write_dataset" in block.text]
    run_blocks(blocks, "learning.md")
    told = capsys.readouterr().out
    assert told.startswith("a {} 7 ()")
    with crumple.load_dataset("falling.h5") as data:
        assert not data[0].is_constant
