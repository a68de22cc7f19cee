"""A crease pattern given as a scene: a sheet of paper that folds by itself, with defaults for all else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crumple.patterns import CreasePattern, fold_angles, read_pattern
from crumple.patterns.meshing import mesh_pattern
from crumple.patterns.pattern import UNASSIGNED
from crumple.patterns.sequence import simple_folds
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Ints
from crumple.scenes.patterns import is_rigid, read_stamped
from crumple.scenes.tuning import TUNING

DRAG = TUNING.pattern_drag.value
STAGE = TUNING.pattern_stage.value
START = TUNING.pattern_start.value
FOLDED = TUNING.pattern_folded.value
DURATION = TUNING.pattern_duration.value
FRAME = TUNING.pattern_frame.value
PACED = TUNING.pattern_paced.value
ACTIVATION = TUNING.pattern_activation.value
LARGEST_ACTIVATION = TUNING.pattern_largest_activation.value
SPRING_LENGTH = TUNING.pattern_spring_length.value
PER_FACET = TUNING.pattern_per_facet.value
FINEST = TUNING.pattern_finest.value
COARSEST = TUNING.pattern_coarsest.value
MOST_FACES = TUNING.pattern_most_faces.value
COARSER = TUNING.pattern_coarser.value
LONGEST_EDGE = TUNING.pattern_longest_edge.value
SHAPE = ("sheets", 0, "shape")
"""Where the pattern is in the tables."""


class PatternTables(dict[str, Any]):
    """The tables of a pattern; how its creases are driven follows from the fold that is asked for in the end."""

    pattern: CreasePattern
    stages: list[Ints]
    pace: float

    def settle(self, tables: dict[str, Any], given: Sequence[tuple[str | int, ...]]) -> tuple[str, ...]:
        """Choose `start` and `creases` of the final `tables`, unless they are among the keys that were `given`; gives
        what is to be told of it."""
        if ("sheets",) in given or ("sheets", 0) in given or (*SHAPE, "file") in given or SHAPE in given:
            return ()
        sheet = tables["sheets"][0]
        shape, pattern = sheet["shape"], self.pattern
        fold = shape.get("fold")
        if isinstance(fold, bool) or not isinstance(fold, int | float) or not 0.0 <= fold <= 1.0:
            return ()  # which validation tells
        fits = fold_angles(pattern, START * fold) is not None and fold_angles(pattern, fold) is not None
        if (*SHAPE, "start") not in given:
            shape["start"] = START if fits and is_rigid(pattern, START * fold) else 0.0
        if not any(path[:3] == ("sheets", 0, "creases") for path in given):
            sheet["creases"] = (
                _drives(pattern, shape["start"], self.pace) if fits else _springs(self, shape.get("size"))
            )
        return ()


def pattern_tables(path: Path, label: str) -> PatternTables:
    """The scene tables of a FOLD or SVG file: paper without gravity, slowed by air, whose creases are driven hard to
    their angles, or by springs where they do not fit, which `PatternTables.settle` decides."""
    pattern = _read(path)
    stages = simple_folds(pattern)
    pace = max(1.0, _rounded((float(max(pattern.extent)) / PACED) ** 2))
    duration = max(DURATION, STAGE * len(stages) + DURATION - FOLDED)
    tables = PatternTables(
        name=re.sub(r"[^A-Za-z0-9_\-]", "-", path.stem)[:64] or "scene",
        description=f"The crease pattern {path.name[:200]} folds by itself.",
        run={"frame_time": _rounded(pace * FRAME), "duration": _rounded(pace * duration)},
        # where it ends matters, not how it swings on the way: a third of the iterations
        solver={"integrator": "implicit-euler", "max_step": _rounded(pace * FRAME)},
        plasticity={"rule": "none"},  # a sheet pressed flat would lose part of its creases
        environment={"gravity": [0.0, 0.0, 0.0], "wind": {"density": 0.0, "drag": _rounded(DRAG / pace)}},
        contact={"activation": min(LARGEST_ACTIVATION, _rounded(ACTIVATION * facet_size(pattern)))},
        sheets=[
            {
                "name": "paper",
                "material": "paper80",
                "shape": {
                    "kind": "pattern",
                    "file": str(path.resolve()),
                    "size": default_size(pattern),
                    "fold": 1.0,
                },
            }
        ],
    )
    tables.pattern, tables.stages, tables.pace = pattern, stages, pace
    return tables


def _read(path: Path) -> CreasePattern:
    """The pattern of a file, which the shape of the scene will ask for again."""
    try:
        stamp = path.stat().st_mtime_ns
    except OSError:
        return read_pattern(path)  # which tells what is wrong
    return read_stamped(str(path.resolve()), None, None, stamp)


def _drives(pattern: CreasePattern, start: float, pace: float) -> list[dict[str, Any]]:
    """The creases of a pattern that fits, driven from its start to its fold; those without an angle are free."""
    keys = [{"time": 0.0, "fold": start}, {"time": pace * FOLDED, "fold": 1.0}]
    drives: list[dict[str, Any]] = []
    letters = pattern.assignment[pattern.creases]
    if np.any(letters != UNASSIGNED):
        drives.append({"select": "all", "drive": "hard", "keys": keys})
    if np.any(letters == UNASSIGNED):
        drives.append({"select": "U", "drive": "free"})
    return drives


def _springs(tables: PatternTables, size: Any) -> list[dict[str, Any]]:
    """The creases of a pattern that does not fit: springs, stiff beside the facets, so that these bend, and so that
    creases which are in each other's way come to terms. Simple folds are folded one after the other."""
    if isinstance(size, bool) or not isinstance(size, int | float) or not size > 0.0:
        return []  # which validation tells
    spring = {"drive": "spring", "origami_length": float(f"{SPRING_LENGTH * size:.2g}")}
    drives = [drive | (spring if "keys" in drive else {}) for drive in _drives(tables.pattern, 0.0, tables.pace)]
    span = tables.pace * STAGE
    for number, edges in enumerate(tables.stages):
        keys = [{"time": span * number, "fold": 0.0}, {"time": span * (number + 1), "fold": 1.0}]
        drives.append({"name": f"fold {number + 1}", "edges": edges.tolist(), "keys": keys} | spring)
    return drives[bool(tables.stages) :]


def facet_size(pattern: CreasePattern) -> float:
    """Edges of the mesh [m], with two digits: a few along each facet, but neither very many nor very few in all."""
    width, height = pattern.extent
    facet = np.sqrt(width * height / max(1, len(pattern.faces)))
    longest = float(max(width, height))
    return _rounded(np.clip(facet / PER_FACET, longest / FINEST, longest / COARSEST))


def default_size(pattern: CreasePattern) -> float:
    """The same, or longer ones where that gives more than MOST_FACES faces, if longer ones give fewer at all."""
    size, longest = facet_size(pattern), LONGEST_EDGE * float(max(pattern.extent))
    faces = _face_count(pattern, size)
    if faces <= MOST_FACES or _face_count(pattern, longest) >= faces:
        return size
    while faces > MOST_FACES and COARSER * size <= longest:
        size = _rounded(COARSER * size)
        faces = _face_count(pattern, size)
    return size


def _face_count(pattern: CreasePattern, size: float) -> int:
    """Faces of the mesh; 0 of a pattern that cannot be meshed, which is told elsewhere."""
    try:
        return mesh_pattern(pattern, size).mesh.face_count
    except InputError:
        return 0


def _rounded(size: float) -> float:
    """A length with two digits."""
    return float(f"{size:.2g}")
