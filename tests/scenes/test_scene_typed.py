"""Scenes made of typed tables in Python: the same validation, the same scene, the same messages as from a file."""

from __future__ import annotations

import typing
from pathlib import Path

import numpy as np
import pytest
from pydantic import BaseModel

import crumple
from crumple import scenes
from crumple.recording import state_digest
from crumple.runtime.errors import InputError
from crumple.scenes import (
    Contact,
    Jitter,
    MotionKey,
    Pair,
    Rectangle,
    Rotation,
    Run,
    Scene,
    SceneError,
    SceneHandle,
    SceneMotion,
    SceneObstacle,
    Sheet,
    SheetFile,
    SheetMaterial,
    SheetTransform,
    SideSelection,
    SphereObstacle,
    dump_scene,
    scene_from_tables,
)
from crumple.scenes.quantities import Table

TABLES = {
    "name": "napkin",
    "run": {"duration": 0.08},
    "contact": {"friction": 0.2, "pairs": [{"parts": ["cloth", "ball"], "friction": 0.1}]},
    "sheets": [
        {
            "name": "cloth",
            "shape": {"kind": "rectangle", "width": 0.2, "height": 0.2, "size": 0.04},
            "transform": {"translate": [0, 0, 0.06], "rotate": {"angle": 5, "axis": [1, 0, 0]}},
            "material": {"preset": "cotton", "density_factor": 2},
            "jitter": {"amplitude": 1e-5},
        }
    ],
    "obstacles": [{"name": "ball", "shape": {"kind": "sphere", "radius": 0.04}}],
    "handles": [{"name": "hand", "select": {"kind": "side", "side": "left"}, "motion": "up"}],
    "motions": {"up": {"keys": [{"time": 0}, {"time": 1, "translate": [0, 0, 0.1]}]}},
}


def typed() -> Scene:
    return Scene(
        name="napkin",
        run=Run(duration=0.08),
        contact=Contact(friction=0.2, pairs=[Pair(parts=["cloth", "ball"], friction=0.1)]),
        sheets=[
            Sheet(
                name="cloth",
                shape=Rectangle(width=0.2, height=0.2, size=0.04),
                transform=SheetTransform(translate=np.array([0, 0, 0.06]), rotate=Rotation(angle=5, axis=(1, 0, 0))),
                material=SheetMaterial(preset="cotton", density_factor=np.int64(2)),
                jitter=Jitter(amplitude=1e-5),
            )
        ],
        obstacles=[SceneObstacle(name="ball", shape=SphereObstacle(radius=0.04))],
        handles=[SceneHandle(name="hand", select=SideSelection(side="left"), motion="up")],
        motions={"up": SceneMotion(keys=[MotionKey(time=0), MotionKey(time=1, translate=(0, 0, 0.1))])},
    )


def test_it_is_the_scene_of_the_file():
    assert typed() == scene_from_tables(TABLES)
    assert dump_scene(typed()) == dump_scene(scene_from_tables(TABLES))


def test_build_and_simulation_take_it():
    model, state, _ = crumple.build(typed())
    assert model.sheet_names == ("cloth",)
    assert model.materials[0].density == pytest.approx(2 * crumple.preset("cotton").density)
    assert state_digest(crumple.Simulation(typed()).state) == state_digest(state)
    finer = crumple.build(typed(), ["sheets[0].shape.size=0.02"]).state
    assert finer.mesh.face_count > 3 * state.mesh.face_count


def test_it_is_recorded_and_resumed_like_any_other(tmp_path):
    scene = typed()
    model, state, _ = crumple.build(scene)
    with crumple.create_recording(tmp_path / "run", scene) as recorder:
        recorder.on_start(model, state)
    recording = crumple.Recording(tmp_path / "run")
    assert recording.scene_path.read_text(encoding="utf-8") == dump_scene(scene)
    assert state_digest(recording.load(0)) == state_digest(state)


def test_errors_name_the_class_and_the_key():
    with pytest.raises(SceneError) as caught:
        Rectangle(width=-1, height=0.1, sise=0.01)
    assert caught.value.problems == (
        "Rectangle: width = -1 (must be > 0, in m)",
        "Rectangle: size: this key is missing",
        "Rectangle: sise: unknown key; did you mean 'size'?",
    )
    with pytest.raises(SceneError, match=r"^Scene: sheets\[0\]\.shape\.width = -1 \(must be > 0, in m\)$"):
        Scene(sheets=[{"shape": {"kind": "rectangle", "width": -1, "height": 1, "size": 0.1}}])
    with pytest.raises(SceneError, match=r"^SheetMaterial = .* \(young also needs thickness and density\)$"):
        SheetMaterial(young=1e9)
    with pytest.raises(SceneError, match=r"^Scene: sheets\[0\] = Rectangle.*\(must be a Sheet\)$"):
        Scene(sheets=[Rectangle(width=1, height=1, size=0.1)])
    with pytest.raises(SceneError, match=r"^SheetFile: mesh = .*there is no such file"):
        SheetFile(mesh=Path("no-such.obj"))
    with pytest.raises(SceneError, match=r"sheets\[0\]\.material"):
        crumple.build(Scene(sheets=[Sheet(shape=Rectangle(width=0.1, height=0.1, size=0.05))]))


def test_errors_are_not_those_of_pydantic_when_a_seed_is_bad():
    with pytest.raises(SceneError, match=r"jitter\.seed = -1"):
        crumple.Simulation(typed()).reset(seed=-1)


def test_tables_are_constant_and_copies_are_validated():
    shape = Rectangle(width=0.2, height=0.2, size=0.04)
    with pytest.raises(InputError, match="constant"):
        shape.width = 0.3
    assert shape.changed(width=0.3) == Rectangle(width=0.3, height=0.2, size=0.04)
    with pytest.raises(SceneError, match="width = nan"):
        shape.changed(width=float("nan"))


def reachable(table: type[BaseModel], found: set[type[BaseModel]]) -> set[type[BaseModel]]:
    """All tables that a table may hold, itself included."""
    if table not in found:
        found.add(table)
        for field in table.model_fields.values():
            for part in parts(field.rebuild_annotation()):
                reachable(part, found)
    return found


def parts(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [part for below in typing.get_args(annotation) for part in parts(below)]


def test_every_table_is_public_and_knows_its_kind():
    tables = reachable(Scene, set())
    assert len(tables) > 40
    for table in tables:
        assert issubclass(table, Table)
        assert table.__name__ in scenes.__all__, table
        if "kind" in table.model_fields:
            assert table.model_fields["kind"].default, f"{table.__name__}: kind needs its value as default"
