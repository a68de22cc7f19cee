"""Everything wrong with a scene in one go, and how large it is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crumple.geometry.strain import largest_strains
from crumple.model.model import Model
from crumple.runtime.errors import InputError
from crumple.scenes.build import assemble
from crumple.scenes.messages import Problems, SceneError
from crumple.scenes.overrides import apply_overrides, parse_override
from crumple.scenes.pruning import prune
from crumple.scenes.schema.scene import Scene
from crumple.scenes.sizes import SceneSize, estimate_size, frame_count, refined_faces
from crumple.scenes.starting import sheet_areas
from crumple.scenes.toml import read_scene, scene_from_tables
from crumple.state import State


@dataclass(frozen=True)
class Report:
    """`errors` and `notes`, one line each, and the `size` when it is known (`exact` when the scene was built).

    `strain`: the largest at the start, of any face against its pattern; None when the scene was not built.
    """

    source: str
    errors: tuple[str, ...]
    size: SceneSize | None = None
    exact: bool = False
    notes: tuple[str, ...] = ()
    strain: float | None = None

    @property
    def ok(self) -> bool:
        return not self.errors


def check_scene(source: str | Path, overrides: Sequence[str] = (), *, quick: bool = False) -> Report:
    """What is wrong with a scene: in its tables, files, names, meshes, and initial intersections.

    Where tables are wrong the others are checked all the same. The `[quick]` variant is checked too. Never raises for
    bad input.
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
        errors += _further_problems(tables, label, folder, overrides, errors)
        return Report(label, tuple(errors))
    problems = Problems(label)
    built = assemble(scene, problems, settle=False)
    errors += problems.messages
    notes = (*scene.notes, *dict.fromkeys(problems.notes))
    if built is None:
        return Report(label, tuple(errors), _estimated(scene), notes=notes)
    size = built_size(scene, built.model, built.state)
    strain = float(largest_strains(built.state.mesh, built.state.x).max())
    return Report(label, tuple(errors), size, exact=True, notes=(*notes, *_memory_note(size)), strain=strain)


def built_size(scene: Scene, model: Model, state: State) -> SceneSize:
    """The size of a scene that has been built."""
    obstacle_faces = sum(len(obstacle.faces) for obstacle in model.obstacles)
    most = refined_faces(scene, sheet_areas(state.mesh, len(scene.sheets)).tolist())
    return SceneSize(state.mesh.face_count, state.mesh.node_count, obstacle_faces, frame_count(scene), most)


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


def _further_problems(
    tables: dict[str, Any], label: str, folder: Path, overrides: Sequence[str], known: Sequence[str]
) -> list[str]:
    """What else is wrong beside the tables that did not pass."""
    try:
        tables = deepcopy(tables)
        apply_overrides(tables, [parse_override(text) for text in overrides], "--set")
        scene = prune(tables, {"folder": str(folder)})
    except (InputError, RecursionError):
        return []
    if scene is None:
        return []
    problems = Problems(label)
    assemble(scene, problems, settle=False)
    places = {text.split(" = ")[0].split(" (")[0] for text in known}
    return [text for text in problems.messages if not any(text.startswith(place) for place in places)]


def _estimated(scene: Scene) -> SceneSize | None:
    """The estimated size, or nothing when a file went away meanwhile."""
    try:
        return estimate_size(scene)
    except OSError:
        return None


def _memory_note(size: SceneSize) -> list[str]:
    """What to say when the scene will not fit into the memory of this machine."""
    try:
        memory = float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):  # not on this system
        return []
    if size.memory > memory:
        return [f"memory: {size.memory / 1e9:.1f} GB are needed, this machine has {memory / 1e9:.1f} GB"]
    return []
