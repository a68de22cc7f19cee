"""A heavily folded sheet to measure on: a coarse one is stuffed into a sphere once, finer ones are its subdivisions.

A subdivided mesh is the same surface, so it does not intersect itself either; it has the same folds and about as many
contacts per area as a fine mesh would have. Its contacts have no thickness: beside a sharp fold of the coarse mesh the
small faces are closer to each other than that.
"""

from __future__ import annotations

import io
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

import crumple
from crumple.mesh import make_sheet_mesh
from crumple.model.model import Model
from crumple.recording.files import write_atomically
from crumple.runtime.caching import cache_folder
from crumple.runtime.reading import read_regular
from crumple.runtime.typing import Floats, Ints
from crumple.scenes import build, load_scene
from crumple.session.simulation import Simulation
from crumple.state import State, initial_state

SCENE = "stuff"
COARSE = (
    "sheets[0].shape.size=0.0083",
    "motions.shrink.keys[1].time=1.6",
    "solver.tolerance=0.01",
    "run.duration=1.2",
)
"""About 2000 faces, a faster sphere that has shrunk to 9 cm at the end, and a coarse tolerance."""

ARRAYS = ("x", "v", "obstacle_x")
NUMBERS = {"time": float, "frame": int, "step_size": float}
"""What is kept of a stuffed state; the rest is as at the start."""


def folded_state(divisions: int, *, overrides: tuple[str, ...] = COARSE) -> tuple[Model, State]:
    """The stuffed sheet with every face cut into `divisions`² ones, and its model; stuffed on the first call only."""
    model, start, _ = build(load_scene(SCENE, overrides))
    last = _stuffed(model, start, overrides)
    model = _without_thickness(model)
    mesh = start.mesh
    if divisions == 1:
        return model, last
    u, faces = subdivide(mesh.u, mesh.faces, divisions)
    fine = make_sheet_mesh(u, faces)
    x, _ = subdivide(last.x, mesh.faces, divisions)
    v, _ = subdivide(last.v, mesh.faces, divisions)
    state = initial_state(
        fine,
        x,
        v=v,
        obstacle_x=last.obstacle_x,
        obstacle_count=len(model.obstacles),
        step_size=last.step_size,
    )
    return model, state.replaced(time=last.time, frame=last.frame)


def subdivide(points: Floats, faces: Ints, divisions: int) -> tuple[Floats, Ints]:
    """Points (n, k) and faces with every face cut into `divisions`² similar ones; equal corners become one point."""
    cuts = [(i, j) for i in range(divisions + 1) for j in range(divisions + 1 - i)]
    place = {cut: index for index, cut in enumerate(cuts)}
    weight = np.array([(divisions - i - j, i, j) for i, j in cuts])
    small = [(place[i, j], place[i + 1, j], place[i, j + 1]) for i, j in cuts if i + j < divisions]
    small += [(place[i + 1, j], place[i + 1, j + 1], place[i, j + 1]) for i, j in cuts if i + j < divisions - 1]
    # A new point is known by its weights on the old ones: the same from both faces beside an edge.
    names = np.zeros((len(faces), len(cuts), 6), np.int64)
    order = np.argsort(faces, axis=1)
    ordered = np.take_along_axis(faces, order, axis=1)
    for k in range(3):
        share = np.take_along_axis(np.broadcast_to(weight, (len(faces), *weight.shape)), order[:, None, :], axis=2)
        names[:, :, k] = np.where(share[:, :, k] > 0, ordered[:, None, k], -1)
        names[:, :, 3 + k] = share[:, :, k]
    moved = np.argsort(names[:, :, :3] < 0, axis=2, kind="stable")
    names[:, :, :3] = np.take_along_axis(names[:, :, :3], moved, axis=2)
    names[:, :, 3:] = np.take_along_axis(names[:, :, 3:], moved, axis=2)
    _, first, index = np.unique(names.reshape(-1, 6), axis=0, return_index=True, return_inverse=True)
    spread = np.einsum("ck,fkd->fcd", weight / divisions, points[faces]).reshape(-1, points.shape[1])
    corners = index.reshape(len(faces), len(cuts))[:, np.array(small)]
    return np.ascontiguousarray(spread[first]), np.ascontiguousarray(corners.reshape(-1, 3), np.int32)


def _without_thickness(model: Model) -> Model:
    return replace(
        model,
        contact=replace(model.contact, sheet_thickness=(0.0,) * len(model.sheet_names)),
        obstacles=tuple(replace(obstacle, thickness=0.0) for obstacle in model.obstacles),
    )


def _stuffed(model: Model, start: State, overrides: tuple[str, ...]) -> State:
    """The last state of the coarse run, kept in the user's cache folder."""
    name = sha256(repr((crumple.__version__, SCENE, overrides)).encode()).hexdigest()[:16]
    path = cache_folder("benchmarks") / f"{name}.npz"
    kept = _kept_state(path, start)
    if kept is not None:
        return kept
    last = Simulation(model=model, state=start).run()
    content = io.BytesIO()
    np.savez(content, **{field: np.asarray(getattr(last, field)) for field in (*ARRAYS, *NUMBERS)})  # type: ignore[arg-type]
    write_atomically(path, content.getvalue())
    return last


def _kept_state(path: Path, start: State) -> State | None:
    """The state that was kept at `path`; None when there is none or it does not fit `start`."""
    try:
        with np.load(io.BytesIO(read_regular(path)), allow_pickle=False) as kept:
            arrays = {field: kept[field] for field in ARRAYS}
            numbers = {field: kind(kept[field]) for field, kind in NUMBERS.items()}
    except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile):
        return None
    for field, array in arrays.items():
        fresh = getattr(start, field)
        if array.shape != fresh.shape or array.dtype != fresh.dtype or not np.isfinite(array).all():
            return None
    is_sane = all(np.isfinite(number) and number >= 0 for number in numbers.values())
    return start.replaced(**arrays, **numbers) if is_sane else None
