"""An option is declared once: the scene's table, its validation, its messages and the reference have it from there."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, fields
from math import inf, isinf, nan
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pytest
from pydantic import create_model

from crumple.options.contact import ContactSettings
from crumple.options.options import Options, meaning, values
from crumple.options.plasticity import PlasticityOptions
from crumple.options.quantities import Quantity
from crumple.options.remeshing import RemeshingSettings
from crumple.options.sizing import SizingOptions
from crumple.options.solver import SolverOptions
from crumple.options.tearing import TearingSettings
from crumple.runtime.errors import InputError
from crumple.scenes import Scene, SceneError, scene_from_tables, toml
from crumple.scenes.quantities import Table

DOCS = Path(__file__).parents[2] / "docs"
SECTIONS = [ContactSettings, PlasticityOptions, RemeshingSettings, SizingOptions, SolverOptions, TearingSettings]
SHEETS = [{"shape": {"kind": "rectangle", "width": 0.1, "height": 0.1, "size": 0.05}, "material": "paper80"}]


@dataclass(frozen=True)
class PatientOptions(SolverOptions):
    """The solver's options and new ones: nothing else is said of them anywhere."""

    patience: Annotated[float, Quantity("s", above=0, most=10), "How long to wait."] = 0.25
    mood: Annotated[Literal["calm", "cross"], "How to wait."] = "calm"
    deadline: Annotated[float, Quantity("s", least=1), "When to give up."] | None = None


class Solver(Table, PatientOptions):
    """The table [solver] of these options, made as that of `SolverOptions` is."""


def patient_scene(monkeypatch: pytest.MonkeyPatch, **keys: object) -> Scene:
    """A scene whose solver has the new options, read as every scene is."""
    kind = create_model("Scene", __base__=Scene, solver=(Solver, Solver()))
    monkeypatch.setattr(toml, "Scene", kind)
    return scene_from_tables({"solver": keys, "sheets": SHEETS}, source="scene.toml")


def test_the_schema_has_it_with_its_default(monkeypatch):
    solver = patient_scene(monkeypatch, patience=2, deadline=3.5).solver
    assert isinstance(solver, PatientOptions)
    assert (solver.patience, solver.mood, solver.deadline) == (2.0, "calm", 3.5)
    assert PatientOptions(**values(solver, PatientOptions)).deadline == 3.5
    assert patient_scene(monkeypatch).tables()["solver"]["patience"] == 0.25


@pytest.mark.parametrize(
    ("key", "value", "remedy"),
    [
        ("patience", -3, "must be > 0, in s"),
        ("patience", 11, "must be ≤ 10, in s"),
        ("patience", nan, "must be > 0 and ≤ 10, in s"),
        ("deadline", 0.5, "must be ≥ 1, in s"),
        ("mood", "glad", "must be one of 'calm'"),
    ],
)
def test_file_and_python_refuse_with_the_same_words(monkeypatch, key, value, remedy):
    with pytest.raises(SceneError) as of_file:
        patient_scene(monkeypatch, **{key: value})
    with pytest.raises(InputError) as of_python:
        PatientOptions(**{key: value})
    for caught, source in ((of_file, "scene.toml: "), (of_python, "")):
        assert str(caught.value).startswith(f"{source}solver.{key} = {value!r} ({remedy}")
    with pytest.raises(SceneError, match=rf"solver\.{key}x: unknown key; did you mean '{key}'\?"):
        patient_scene(monkeypatch, **{f"{key}x": value})


def test_the_reference_describes_it():
    spec = importlib.util.spec_from_file_location("scene_reference", DOCS / "scene_reference.py")
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    lines = reference.section(Solver, ["solver"])
    assert "| `patience` | How long to wait. | number, > 0, ≤ 10 | s | `0.25` |" in lines
    assert '| `mood` | How to wait. | `"calm"` or `"cross"` | – | `"calm"` |' in lines
    assert "| `deadline` | When to give up. | number, ≥ 1 | s | – |" in lines


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)
def test_every_option_says_what_it_means_and_its_default_is_allowed(section: type[Options]):
    made = section()
    table = next(kind for kind in section.__subclasses__() if issubclass(kind, Table))
    for field in fields(section):
        annotation = table.model_fields[field.name].rebuild_annotation()
        assert meaning(annotation).endswith("."), field.name
        default = getattr(made, field.name)
        if default is not None and not (isinstance(default, float) and isinf(default)):
            table.model_validate({field.name: default})


def test_numbers_of_numpy_are_numbers_and_infinity_turns_a_bound_off():
    assert SolverOptions(max_iterations=np.int64(7), max_step=np.float32(0.5)).max_iterations == 7
    assert SizingOptions(refine_angle=inf).refine_angle == inf
    with pytest.raises(InputError, match=r"remeshing\.size_max = inf \(must be ≤ 10000, in m\)"):
        SizingOptions(size_max=inf)
    with pytest.raises(InputError, match=r"remeshing\.refine_angle = -inf"):
        SizingOptions(refine_angle=-inf)
    with pytest.raises(InputError, match=r"remeshing\.rib_stiffening = 1 \(must be true or false\)"):
        SizingOptions(rib_stiffening=1)
