"""blunt-tool: a cylinder is driven through a clamped film, and the crack swings from side to side ahead of it.

Amplitude and wavelength of the path go with the width w of the tool, and do not depend on its speed [Roman2003]. The
recordings are of the built-in scene `tear-tool` (w = 20 mm) and of the same scene for other tools, everything scaled
along but the thickness of the film and what it takes to tear, so that a proportional path is not built in:

    crumple.simulate(load_scene("tear-tool", scaled_scene(0.01)), out="out/tear-tool-10")
    crumple.simulate(load_scene("tear-tool", scaled_scene(0.03)), out="out/tear-tool-30")
    crumple.simulate(load_scene("tear-tool", scaled_scene(0.02, 2.0)), out="out/tear-tool-fast")
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.signal import find_peaks

from crumple.analysis.analyze import recording_model
from crumple.analysis.tears import find_cracks, resampled
from crumple.contact import find_intersections
from crumple.model.derived import contact_surface
from crumple.recording.recording import Recording
from crumple.runtime.typing import Floats
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, range_check, relative_check

WIDTHS = {"tear-tool-10": 0.01, "tear-tool": 0.02, "tear-tool-30": 0.03, "tear-tool-fast": 0.02}
"""Of the tools [m], by recording."""
SCENE_WIDTH, SCENE_SPEED = 0.02, 0.1
"""Of the tool in the scene [m], [m/s]."""
BOXES = (
    ((-0.061, -0.1), (-0.054, 0.1)),
    ((0.054, -0.1), (0.061, 0.1)),
    ((-0.061, -0.1), (-0.013, -0.085)),
    ((0.013, -0.1), (0.061, -0.085)),
)
"""Corners of what the handles of the scene hold [m]."""
PROMINENT = 0.1
"""Swings are counted from this size on, over the width of the tool."""


@dataclass(frozen=True)
class Swing:
    """A path that swings: `amplitude` from one side to the other, `wavelength` of a whole swing [m], and `count` of its
    turns; NaN with fewer than three turns."""

    amplitude: float
    wavelength: float
    count: int


def validate_blunt_tool(recordings: Path) -> CaseResult:
    """The path swings; amplitude and wavelength ∝ w with R² > 0.95, and within 20 % at twice the speed, where the
    recordings of other tools are there, too."""
    checks: list[Check] = []
    curves, found = [], {}
    for name, width in WIDTHS.items():
        if not (recordings / name).is_dir():
            continue
        path, crossings = tool_path(recordings / name)
        found[name] = swing = measure_swing(path, width)
        checks += [
            range_check(f"{name}: turns of the path, at least 4", (4.0, 100.0), float(swing.count)),
            Check(f"{name}: crossings in the last frame", 0.0, float(crossings), 0.0),
        ]
        curves.append(curve(name, [(v / width, u / width) for u, v in path]))
    checks += _compared(found)
    return CaseResult("blunt-tool", tuple(checks), figure=Figure("v/w", "u/w", tuple(curves)))


def _compared(found: dict[str, Swing]) -> list[Check]:
    """Swings of several tools against each other, as far as there are recordings of them."""
    checks = []
    slow = [name for name in found if name != "tear-tool-fast"]
    for what in ("amplitude", "wavelength"):
        if len(slow) == 3:
            values = [getattr(found[name], what) for name in slow]
            fit = proportional([WIDTHS[name] for name in slow], values)
            checks.append(range_check(f"{what} ∝ w: R²", (0.95, 1.0), fit))
        if "tear-tool-fast" in found:
            plain, fast = (getattr(found[name], what) / SCENE_WIDTH for name in ("tear-tool", "tear-tool-fast"))
            checks.append(relative_check(f"{what} over w at twice the speed", plain, fast, 0.20))
    return checks


def tool_path(folder: Path) -> tuple[Floats, int]:
    """The path (n, 2) [m] of the longest crack in the last frame of a recording, from where it began, and how often
    that frame crosses itself or the tool."""
    recording = Recording(folder)
    model, last = recording_model(recording), recording.load(-1)
    surface = contact_surface(model, last, last.time)
    crossings = len(find_intersections(surface, np.concatenate([last.x, last.obstacle_x])))
    longest = max(find_cracks(last), key=lambda crack: crack.length, default=None)
    return np.zeros((1, 2)) if longest is None else longest.path - longest.path[0], crossings


def scaled_scene(width: float, speed: float = 1.0) -> list[str]:
    """The settings that change the scene to a tool of another `width` [m], and to another `speed`."""
    k = width / SCENE_WIDTH
    low, tip = -2e-3 * k, 0.022 * k
    handles = [
        f"handles[{number}].select.{end}=[{k * corner[0]}, {k * corner[1]}, {z}]"
        for number, box in enumerate(BOXES)
        for end, corner, z in zip(("low", "high"), box, (-1, 1), strict=True)
    ]
    return [
        f"sheets[0].shape.width={0.12 * k}",
        f"sheets[0].shape.height={0.18 * k}",
        f"sheets[0].shape.size={0.01 * k}",
        f"sheets[0].cuts[0].area=[[{0.049 * k}, {low}], [{0.071 * k}, {low}], [{0.06 * k}, {tip}]]",
        *handles,
        f"obstacles[0].shape.radius={0.01 * k}",
        f"obstacles[0].shape.height={0.08 * k}",
        f"obstacles[0].shape.size={2.5e-3 * k}",
        f"obstacles[0].shape.center=[{3e-3 * k}, {-0.1 * k}, 0]",
        f"motions.drive.rate.velocity=[0, {SCENE_SPEED * k * speed}, 0]",
        f"remeshing.size_min={2.5e-3 * k}",
        f"remeshing.size_max={0.02 * k}",
        f"run.duration={1.4 / speed}",
        f"run.frame_time={0.04 / speed}",
    ]


def measure_swing(path: Floats, width: float) -> Swing:
    """Amplitude and wavelength of a `path` (n, 2) [m] that runs along v and swings along u; `width` of the tool [m].

    Turns are the extrema of u that stand out by a tenth of the width. The first is left out, where there are more than
    three: there the path is still finding its way.
    """
    points = resampled(path, 0.02 * width) if len(path) > 1 else path
    across = points[:, 0]
    turns = np.sort(
        np.concatenate([find_peaks(sign * across, prominence=PROMINENT * width)[0] for sign in (1.0, -1.0)])
    )
    count = len(turns)
    if count < 3:
        return Swing(float("nan"), float("nan"), count)
    used = points[turns[1:] if count > 3 else turns]
    half = np.abs(np.diff(used, axis=0)).mean(axis=0)
    return Swing(float(half[0]), float(2.0 * half[1]), count)


def proportional(x: Sequence[float], y: Sequence[float]) -> float:
    """R² of the best y = c x, through the origin; NaN where a value is missing."""
    a, b = np.asarray(x, np.float64), np.asarray(y, np.float64)
    rest = b - float(a @ b) / float(a @ a) * a
    return float(1.0 - rest @ rest / np.sum((b - b.mean()) ** 2))
