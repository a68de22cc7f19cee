"""developable: what a frame of developable paper costs, beside tables IV and V of [Schreck2015].

CPU time, not that on the clock, so that a busy machine disturbs less; frames in which something is compiled, or
loaded from the cache, are not counted, as a whole script is run before. Scripts are also run with a finer structure, of
150 to 300 faces, for which frames are to take 8 ms in the median and 16 ms in 99 of 100.
"""

from __future__ import annotations

import time as clock
from dataclasses import replace

import numpy as np

from crumple.developable.sessions import Script, script
from crumple.studies.benchmarking.report import Report

PAPER: dict[str, tuple[int, int, float, float]] = {
    "figure 1": (118, 2, 143.4, 0.89),
    "figure 18 bottom": (87, 1, 61.4, 0.19),
    "figure 18 top": (117, 0, 297.3, 0.17),
    "figure 22": (156, 15, 249.8, 1.47),
}
"""Triangles, singular points and ms per frame (table V), and the mean strain in % (table IV)."""


FINE_NAMES = ("figure 1", "figure 18 bottom")
"""Scripts that are also run with a finer structure."""
REHEARSED = "figure 1"
"""The script that is run before: all kinds of edits happen in it."""


def measure_developable(names: tuple[str, ...] = tuple(PAPER), frames: int | None = None) -> Report:
    """Median and 99th percentile of the CPU time per frame of scripts, of which at most `frames` are run."""
    _run(script(REHEARSED), frames)
    return Report(
        "developable",
        (
            *(_measure(name, frames) for name in names),
            *(_measure(name, frames, is_fine=True) for name in names if name in FINE_NAMES),
        ),
        ("script",),
        ("CPU ms/frame", "99 %", "geometry"),
    )


def _run(chosen: Script, frames: int | None) -> None:
    """Run a script, at most so many `frames` of it."""
    engine = chosen.engine()
    for _ in range(min(chosen.frames, frames or chosen.frames)):
        engine.advance_frame()


def finer(chosen: Script) -> Script:
    """The script with a structure of 150 to 300 faces on a sheet of 10 cm."""
    return replace(chosen, options=replace(chosen.options, spacing=3e-3, ghost_spacing=9e-3))


def _measure(name: str, frames: int | None, *, is_fine: bool = False) -> dict[str, float | int | str]:
    chosen = finer(script(name)) if is_fine else script(name)
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
        "script": f"{name}, fine" if is_fine else name,
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
