"""The runs of a plan are those of `crumple run --set`, and seeds those of `Simulation.reset`."""

from __future__ import annotations

import numpy as np
import pytest
import tomli_w
from sweep_scenes import write_scene

import crumple
from crumple.runtime.errors import InputError
from crumple.scenes import SceneError, dump_scene, load_scene
from crumple.studies.sweeping.estimate import check_plan
from crumple.studies.sweeping.plan import differences, make_plan, plan_tables, read_plan


def test_runs_are_those_of_crumple_run(tmp_path):
    path = write_scene(tmp_path)
    plan = make_plan(path, set=("contact.activation=1e-3",), vary=("contact.friction=0.1,0.2",), seeds=2, quick=True)
    assert [run.name for run in plan.runs] == ["0000", "0001", "0002", "0003"]
    assert [(run.values["contact.friction"], run.seed) for run in plan.runs] == [(0.1, 0), (0.1, 1), (0.2, 0), (0.2, 1)]
    overrides = ["contact.activation=1e-3", "contact.friction=0.2", "sheets[0].jitter.seed=1"]
    assert dump_scene(plan.load(plan.runs[3])) == dump_scene(load_scene(path, overrides, quick=True))
    assert plan.runs[3].describe() == "friction = 0.2, seed 1"


def test_seeds_are_those_of_reset(tmp_path):
    plan = make_plan(write_scene(tmp_path), seeds=3)
    simulation = crumple.Simulation(write_scene(tmp_path))
    starts = [crumple.build(plan.load(run)).state.x for run in plan.runs]
    for seed, start in enumerate(starts):
        np.testing.assert_array_equal(start, simulation.reset(seed).x)
    assert not np.array_equal(starts[0], starts[1])


def test_a_plan_survives_its_file(tmp_path):
    plan = make_plan(
        write_scene(tmp_path),
        vary=("contact.friction=0.1:0.5",),
        sample=(8, "lhs"),
        seeds=2,
        frames=3,
        metrics=("radius",),
    )
    again = read_plan(tomli_w.dumps(plan_tables(plan)), tomli_w.dumps(plan.tables), "sweep.toml")
    assert again == plan
    assert again.runs == plan.runs
    other = make_plan(write_scene(tmp_path), vary=("contact.friction=0.1:0.5",), sample=(8, "lhs"))
    assert differences(plan, other) == ["seeds", "metrics", "frames"]


@pytest.mark.parametrize(
    "text", ["", "scene = 3", "vary = [1]", "frames = 'x'\nscene='a'\nfolder='b'\nvary=['q']", "="]
)
def test_what_is_not_a_plan_is_told_in_one_line(text):
    with pytest.raises(InputError) as caught:
        read_plan(text, "", "sweep.toml")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"vary": ("contact.friction=1,2", "contact.friction=3,4")}, "--vary contact.friction: is given twice"),
        ({"vary": ("contact.friction=1,2",), "set": ("contact.friction=1",)}, "is given twice"),
        ({"vary": ("a.b=1,2", "a=3,4")}, "would take back --vary a.b"),
        ({"vary": ("sheets[0].jitter.seed=1,2",), "seeds": 2}, "--seeds varies this key too"),
        ({"vary": ("sheets[.x=1,2",)}, "must be a key path"),
        ({"seeds": -1}, "--seeds"),
        ({"tie": ("contact.friction=2",)}, "must have the form key=factor*key"),
        ({"tie": ("contact.friction=2*[",)}, "must be a key path"),
        ({"tie": ("contact.friction=2*contact.activation",)}, "must follow a key that --vary varies"),
        (
            {"vary": ("contact.friction=1,2",), "tie": ("contact.friction=2*contact.friction",)},
            "--tie contact.friction: is given twice",
        ),
        ({"vary": ("contact.friction=1,x",), "tie": ("contact.activation=2*contact.friction",)}, "is not a number"),
        ({"vary": ("a=1:100000:100000", "b=1:100000:100000")}, "more than 1000000"),
    ],
)
def test_clashes(tmp_path, options, said):
    with pytest.raises(InputError) as caught:
        assert make_plan(write_scene(tmp_path), **options).runs
    assert said in str(caught.value)


def test_tied_keys_follow_varied_ones(tmp_path):
    options = {
        "vary": ("sheets[0].shape.width=0.06,0.08",),
        "tie": ("obstacles[0].shape.width=5*sheets[0].shape.width",),
    }
    plan = make_plan(write_scene(tmp_path), **options)
    scenes = [plan.load(run) for run in plan.runs]
    assert [(scene.sheets[0].shape.width, scene.obstacles[0].shape.width) for scene in scenes] == [
        (0.06, 0.3),
        (0.08, 0.4),
    ]
    assert plan.runs[1].describe() == "width = 0.08"
    again = read_plan(tomli_w.dumps(plan_tables(plan)), tomli_w.dumps(plan.tables), "sweep.toml")
    assert again.runs == plan.runs
    wrong = make_plan(write_scene(tmp_path), vary=options["vary"], tie=("contact.friction=-1*sheets[0].shape.width",))
    with pytest.raises(SceneError, match=r"^--tie: contact\.friction"):
        check_plan(wrong, tmp_path, print)


def test_seeds_need_jitter(tmp_path):
    text = write_scene(tmp_path).read_text().replace("jitter", "# jitter")
    path = write_scene(tmp_path, text)
    with pytest.raises(InputError, match="no jitter that a seed could change; add --set"):
        assert make_plan(path, seeds=2).runs
    assert len(make_plan(path, seeds=2, set=("sheets[0].jitter.amplitude=1e-5",)).runs) == 2


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        ("contact.fricton=0.1,0.2", "did you mean 'friction'"),
        ("contact.friction=0.1,-1", "contact.friction = -1"),
        ("sheets[3].velocity=[0,0,0],[0,0,1]", "there is no such entry"),
        ("run.duration=0.1,soon", "run.duration"),
    ],
)
def test_keys_and_values_of_all_runs_are_checked_before_anything_starts(tmp_path, vary, said):
    with pytest.raises(SceneError) as caught:
        check_plan(make_plan(write_scene(tmp_path), vary=(vary,)), tmp_path, print)
    assert said in str(caught.value)
    assert str(caught.value).startswith("--vary")


def test_a_scene_that_cannot_be_built_is_told_with_its_values(tmp_path):
    plan = make_plan(write_scene(tmp_path), vary=("sheets[0].transform.translate=[0,0,0.01],[0,0,0]",))
    with pytest.raises(SceneError, match="translate"):
        check_plan(plan, tmp_path, print)
