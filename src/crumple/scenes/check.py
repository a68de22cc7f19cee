"""Everything wrong with a scene in one go, and how large it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crumple.errors import InputError
from crumple.scenes.build import assemble
from crumple.scenes.messages import Problems, SceneError
from crumple.scenes.schema import Scene
from crumple.scenes.sizes import SceneSize, estimate_size, frame_count
from crumple.scenes.toml import read_scene, scene_from_tables
from crumple.simulation.model import Model
from crumple.state import State


@dataclass(frozen=True)
class Report:
    """`errors` and `notes`, one line each, and the `size` when it could be told (`exact` when the scene was built)."""

    source: str
    errors: tuple[str, ...]
    size: SceneSize | None = None
    exact: bool = False
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.errors


def check_scene(source: str | Path, overrides: Sequence[str] = (), *, quick: bool = False) -> Report:
    """What is wrong with a scene: in its tables, files, names, meshes, and initial intersections.

    A scene whose tables are wrong is not built; its `[quick]` variant is checked too. Never raises for bad input.
    """
    try:
        tables, label, folder = read_scene(source)
    except InputError as error:
        return Report(str(source), (str(error),))
    errors: list[str] = []
    scene = _validated(tables, label, folder, overrides, quick, errors)
    if not quick and "quick" in tables and not errors:
        _validated(tables, label, folder, overrides, True, errors)
    if scene is None:
        return Report(label, tuple(errors))
    problems = Problems(label)
    built = assemble(scene, problems)
    errors += problems.messages
    if built is None:
        return Report(label, tuple(errors), _estimated(scene), notes=scene.notes)
    return Report(label, tuple(errors), built_size(*built, frame_count(scene)), exact=True, notes=scene.notes)


def built_size(model: Model, state: State, frames: int) -> SceneSize:
    """The size of a scene that has been built."""
    obstacle_faces = sum(len(obstacle.faces) for obstacle in model.obstacles)
    return SceneSize(state.mesh.face_count, state.mesh.node_count, obstacle_faces, frames)


def _validated(
    tables: dict[str, Any], label: str, folder: Path, overrides: Sequence[str], quick: bool, errors: list[str]
) -> Scene | None:
    """The validated scene, or None after adding to `errors`."""
    try:
        return scene_from_tables(tables, source=label, folder=folder, overrides=overrides, quick=quick)
    except SceneError as error:
        errors.extend(error.problems)
    except InputError as error:
        errors.append(str(error))
    return None


def _estimated(scene: Scene) -> SceneSize | None:
    """The estimated size, or nothing when a file went away meanwhile."""
    try:
        return estimate_size(scene)
    except OSError:
        return None
