"""tearing: a sheet is torn in two at three resolutions, beside the times that [Jiang2016] prints."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from crumple.analysis.tears import find_cracks
from crumple.contact import find_intersections
from crumple.model.derived import contact_surface
from crumple.scenes import build, load_scene
from crumple.session.simulation import Simulation
from crumple.simulation.observers import Statistics
from crumple.studies.benchmarking.report import Record, Report

SCENE, SIDE, FRAMES = "tear-flat", 0.2, 25
"""The scene, the side of its square [m], and the frames that Jiang's table counts: here the whole tear."""
PRINTED = {500: 3.05, 3000: 17.01, 14_000: 146.70}
"""Seconds per 25 frames in the paper, by number of faces; on an Intel i7-2630QM."""


def measure_tearing(faces: Sequence[int] = tuple(PRINTED), frames: int = FRAMES) -> Report:
    """Seconds for the first `frames` of `tear-flat` on meshes of about so many `faces` all over the sheet.

    Cracks have no finer mesh at their tips here, so that the number of faces stays what it is in the table. A first
    frame is run and not counted, so that kernels are compiled and warm.
    """
    records: list[Record] = []
    Simulation(load_scene(SCENE, uniform(min(faces)))).run(1)
    for count in faces:
        model, state, _ = build(load_scene(SCENE, uniform(count)))
        statistics = Statistics()
        begin, busy = time.perf_counter(), time.process_time()
        last = Simulation(model=model, state=state).run(frames, observers=[statistics])
        spent, busy = time.perf_counter() - begin, time.process_time() - busy
        surface = contact_surface(model, last, last.time)
        record: Record = {
            "faces at the start": state.mesh.face_count,
            "at the end": last.mesh.face_count,
            "frames": last.frame,
            "s": spent,
            "CPU s": busy,
            "s in the paper": PRINTED.get(count, float("nan")) * last.frame / FRAMES,
            "torn [mm]": 1e3 * sum(crack.length for crack in find_cracks(last)),
            "iterations": last.iterations,
            "intersections": len(find_intersections(surface, np.concatenate([last.x, last.obstacle_x]))),
        }
        records.append(record)
    title = f"{SCENE}: {frames} frames, beside Jiang 2016"
    return Report(title, tuple(records), ("faces at the start", "frames"), ("iterations", "CPU s"))


def uniform(faces: int) -> list[str]:
    """The settings that give the square of the scene about so many faces, everywhere alike."""
    edge = SIDE * float(np.sqrt(4.0 / np.sqrt(3.0) / faces))
    return [
        f"sheets[0].shape.size={edge!r}",
        f"remeshing.size_min={edge!r}",
        f"remeshing.size_max={1.5 * edge!r}",
    ]
