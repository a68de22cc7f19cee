"""A sweep's folder that somebody has edited, or that comes from elsewhere."""

from __future__ import annotations

import pytest
from sweep_scenes import write_scene

from crumple.runtime.errors import InputError
from crumple.studies.sweeping import SweepFolder, read_sweep
from crumple.studies.sweeping.estimate import named_files
from crumple.studies.sweeping.folder import create_sweep
from crumple.studies.sweeping.plan import make_plan
from crumple.studies.sweeping.sweep import lead


@pytest.fixture
def folder(tmp_path):
    plan = make_plan(write_scene(tmp_path), vary=("contact.friction=0.1,0.2",), metrics=("faces",))
    with create_sweep(tmp_path / "sweep", plan) as writer:
        for run in plan.runs:
            line = {"run": run.name, "outcome": "done", "reason": "", "frames": 2, "time": 0.1, "seconds": 1.0}
            writer.note("run", **line, metrics={"faces": 40})
    return writer.folder.path


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('metrics = [\n    "faces"', "metrics = [\n    3"),
        ("seeds = 0", "seeds = [2]"),
        ("seeds = 0", 'seeds = "2"'),
        ("seeds = 0", 'frames = "x"\nseeds = 0'),
        ("seeds = 0", "frames = 0\nseeds = 0"),
        ("seeds = 0", "until = [1]\nseeds = 0"),
        ("quick = false", "quick = 1"),
        ("seeds = 0", "seeds = 0\nx = " + "[" * 100_000),
        ('id = "', 'id = "../../'),
        ('id = "', 'id = "/'),
        ('folder = "', "folder = 3 #"),
    ],
)
def test_a_plan_with_other_types_is_told_in_one_line(folder, old, new):
    """Workers without a shared file system make a folder of the id, and remove it: it is no path to elsewhere."""
    text = (folder / "sweep.toml").read_text()
    assert old in text
    (folder / "sweep.toml").write_text(text.replace(old, new))
    with pytest.raises(InputError, match=r"sweep\.toml: is not the plan of a sweep") as caught:
        SweepFolder(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        '{"event": "run", "run": ["0001"], "outcome": "done"}',
        '{"event": "run", "run": "0001", "outcome": 3}',
        '{"event": "run", "run": "0001", "outcome": "failed", "metrics": "words"}',
        '{"event": "run", "run": "0001", "outcome": "failed", "metrics": {"faces": [1, 2]}}',
        '{"event": "run", "run": "0001", "outcome": "failed", "frames": "many"}',
        '{"event": "run"}',
    ],
)
def test_a_line_of_the_log_that_makes_no_sense_is_left_out(folder, line):
    with open(folder / "log.jsonl", "a") as log:
        log.write(line + "\n")
    table = read_sweep(folder)
    assert list(table["outcome"]) == ["done", "done"]
    assert list(table["faces"]) == [40, 40]


def test_a_key_may_not_be_a_column_of_the_table(tmp_path):
    """The names of the runs stood in the column `run`, which the values of the key took."""
    with pytest.raises(InputError, match="--vary run: is a column of the table"):
        make_plan(write_scene(tmp_path), vary=("run={duration=0.01},{duration=0.02}",))


def test_a_metric_of_ones_own_may_not_be_one_either(tmp_path):
    plan = make_plan(write_scene(tmp_path), vary=("contact.friction=0.1,0.2",))
    with pytest.raises(InputError, match="metrics outcome: the table has such a column"):
        lead(plan, tmp_path / "out", own={"outcome": lambda recording: 1.0})
    assert not (tmp_path / "out").exists()


def test_workers_need_the_recordings_that_a_scene_names(tmp_path):
    """A sheet with a history is built on the worker."""
    (tmp_path / "before" / "frames").mkdir(parents=True)
    text = '[[sheets]]\nmaterial = "paper80"\nhistory = { recording = "before" }\n'
    plan = make_plan(write_scene(tmp_path, text), vary=("contact.friction=0.1,0.2",))
    assert named_files([plan.load(plan.runs[0])]) == [str((tmp_path / "before").resolve())]
