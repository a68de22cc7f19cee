"""blunt-tool: a cylinder is driven through a clamped film, and the crack swings from side to side ahead of it.

Amplitude and wavelength of the path go with the width of the tool, and do not depend on its speed [Roman2003]. The
built-in scene `tear-tool` is run with tools of several widths, everything else scaled along but the thickness of the
film and what it takes to tear, so that the film is another one each time: a proportional path is not built in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.signal import find_peaks

from crumple.analysis.tears import find_cracks, resampled
from crumple.contact import find_intersections
from crumple.scenes import build, load_scene
from crumple.simulation.derived import contact_surface
from crumple.simulation.run import run
from crumple.typing import Floats
from crumple.validation.result import CaseResult, Check, Figure, curve, range_check, relative_check

WIDTHS = (0.01, 0.02, 0.03)
"""Of the tools [m]."""
SCENE_WIDTH, SCENE_SPEED = 0.02, 0.1
"""Of the tool in the scene [m], [m/s]."""
PROMINENT = 0.1
"""Swings are counted from this size on, over the width of the tool."""


@dataclass(frozen=True)
class Swing:
    """A path that swings: `amplitude` from one side to the other, `wavelength` of a whole swing [m], and `count` of its
    turns; NaN with fewer than three turns."""

    amplitude: float
    wavelength: float
    count: int


def validate_blunt_tool(widths: Sequence[float] = WIDTHS, fast: float = 0.02) -> CaseResult:
    """Amplitude and wavelength ∝ width with R² > 0.95, and within 20 % at the doubled speed of a tool of width `fast`
    [m]."""
    checks: list[Check] = []
    curves, found = [], {}
    for width, speed in (*((width, 1.0) for width in widths), (fast, 2.0)):
        path, crossings = cut_with_tool(width, speed)
        label = f"w = {1e3 * width:g} mm" + ("" if speed == 1.0 else ", twice as fast")
        found[width, speed] = swing = measure_swing(path, width)
        checks += [
            range_check(f"{label}: turns of the path, at least 4", (4.0, 100.0), float(swing.count)),
            Check(f"{label}: crossings in the last frame", 0.0, float(crossings), 0.0),
        ]
        curves.append(curve(label, [(v / width, u / width) for u, v in path]))
    for name in ("amplitude", "wavelength"):
        values = [getattr(found[width, 1.0], name) for width in widths]
        checks.append(range_check(f"{name} ∝ w: R²", (0.95, 1.0), proportional(widths, values)))
        slow, quick = (getattr(found[fast, speed], name) for speed in (1.0, 2.0))
        checks.append(relative_check(f"{name} over w at twice the speed", slow / fast, quick / fast, 0.20))
    return CaseResult("blunt-tool", tuple(checks), figure=Figure("v/w", "u/w", tuple(curves)))


def cut_with_tool(width: float, speed: float = 1.0, frames: int | None = None) -> tuple[Floats, int]:
    """The path (n, 2) [m] of the crack ahead of a tool of `width` [m], from where it began, and how often the last
    state crosses itself or the tool; `speed` over that of the scene, per width."""
    scene = load_scene("tear-tool", scaled_scene(width, speed))
    model, state = build(scene)
    last = run(model, state, frames=frames)
    surface = contact_surface(model, last, last.time)
    crossings = len(find_intersections(surface, np.concatenate([last.x, last.obstacle_x])))
    cracks = find_cracks(last)
    longest = max(cracks, key=lambda crack: crack.length, default=None)
    path = np.zeros((1, 2)) if longest is None else longest.path - longest.path[0]
    return path, crossings


def scaled_scene(width: float, speed: float = 1.0) -> list[str]:
    """The settings that change the scene to a tool of another `width` [m], and to another `speed`."""
    k = width / SCENE_WIDTH
    low, tip = -2e-3 * k, 0.022 * k
    reach = {"left": (-0.061, -0.054), "right": (0.054, 0.061)}
    handles = [
        f"handles[{number}].select.{end}=[{k * x}, {sign * 0.1 * k}, {sign}]"
        for number, side in enumerate(reach.values())
        for end, x, sign in (("low", side[0], -1), ("high", side[1], 1))
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
        f"obstacles[0].shape.center=[{1e-3 * k}, {-0.098 * k}, 0]",
        f"motions.drive.rate.velocity=[0, {SCENE_SPEED * k * speed}, 0]",
        f"remeshing.size_min={3.5e-3 * k}",
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
