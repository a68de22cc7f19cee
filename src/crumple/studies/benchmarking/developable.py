"""developable: what a frame of developable paper costs, beside tables IV and V of [Schreck2015].

CPU time, not that on the clock, so that a busy machine disturbs less; frames in which something is compiled are not
counted, as one frame is run before.
"""

from __future__ import annotations

import time as clock

import numpy as np

from crumple.developable.sessions import script
from crumple.studies.benchmarking.report import Report

PAPER: dict[str, tuple[int, int, float, float]] = {
    "figure 1": (118, 2, 143.4, 0.89),
    "figure 18 bottom": (87, 1, 61.4, 0.19),
    "figure 18 top": (117, 0, 297.3, 0.17),
    "figure 22": (156, 15, 249.8, 1.47),
}
"""Triangles, singular points and ms per frame (table V), and the mean strain in % (table IV)."""


def measure_developable(names: tuple[str, ...] = tuple(PAPER), frames: int | None = None) -> Report:
    """Median and 99th percentile of the CPU time per frame of scripts, of which at most `frames` are run."""
    return Report(
        "developable",
        tuple(_measure(name, frames) for name in names),
        ("script",),
        ("CPU ms/frame", "99 %", "geometry"),
    )


def _measure(name: str, frames: int | None) -> dict[str, object]:
    chosen = script(name)
    chosen.engine().advance_frame()
    engine = chosen.engine()
    seconds, geometry, strain, faces, worst = [], [], [], [], 0.0
    for _ in range(min(chosen.frames, frames or chosen.frames)):
        begin = clock.process_time()
        report = engine.advance_frame()
        seconds.append(clock.process_time() - begin)
        geometry.append(report.phases["geometry"])
        faces.append(report.faces)
        off = np.abs(engine.paper.isometry.strain(engine.state.x))
        strain.append(float(off.mean()))
        worst = max(worst, float(off.max()))
    triangles, singular, milliseconds, mean = PAPER[name]
    return {
        "script": name,
        "faces": float(np.mean(faces)),
        "singular": len(engine.paper.structure.singular),
        "CPU ms/frame": 1e3 * float(np.median(seconds)),
        "99 %": 1e3 * float(np.percentile(seconds, 99)),
        "geometry": 1e3 * float(np.median(geometry)),
        "strain [%]": 100.0 * float(np.mean(strain)),
        "largest": 100.0 * worst,
        "paper: faces": triangles,
        "singular there": singular,
        "ms there": milliseconds,
        "strain there [%]": mean,
    }
