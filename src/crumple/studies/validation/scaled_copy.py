"""scaled-copy: a cloth that falls on a ball, and the same scene with all lengths s times as large.

Lengths grow as s, times as √s, stiffnesses so that gravity and pressures are the same: the copy goes through the same
shapes, unless some constant of the code has a size of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crumple.runtime.typing import Floats
from crumple.scenes import build, scene_from_tables
from crumple.session.simulation import Simulation
from crumple.studies.validation.result import CaseResult, Check

WIDTH, FRAMES = 0.3, 30
"""Of the cloth [m]; frames of 20 ms."""
SIZES = (0.042, 0.025)
"""Edges of the meshes [m]."""
SCALES = (2.0, 3.0, 0.1)
TOLERANCE = 1e-3
"""Of the width."""
ROUNDING, ROUNDED = 1e-14, 2.0
"""A start displaced at random by so much [m] shows what rounding does; copies may be apart by this multiple of it."""


def validate_scaled_copy() -> CaseResult:
    """Largest distance of corresponding nodes over the width after 30 frames, on two meshes.

    The cloth slips on the ball at some time, and when depends on the last digits: where rounding alone moves it farther
    than the tolerance, copies are compared with that.
    """
    checks = []
    for size in SIZES:
        plain = _fallen(1.0, size)
        rounded = _distance(_fallen(1.0, size, ROUNDING), plain)
        for scale in SCALES:
            title = f"distance of the copy {scale:g} times as large over the width, edges of {1e3 * size:g} mm"
            allowed = max(TOLERANCE, ROUNDED * rounded)
            checks.append(Check(title, 0.0, _distance(_fallen(scale, size) / scale, plain), allowed))
    return CaseResult("scaled-copy", tuple(checks))


def _distance(x: Floats, other: Floats) -> float:
    """Largest distance of nodes (node_count, 3) over the width."""
    return float(np.linalg.norm(x - other, axis=1).max()) / WIDTH


def _fallen(scale: float, size: float, jitter: float = 0.0) -> Floats:
    """Positions (node_count, 3) [m] of the cloth after its frames, its start displaced at random by `jitter` [m]."""
    built = build(scene_from_tables(scaled_tables(scale, size)))
    noise = np.random.default_rng(0).standard_normal(built.state.x.shape)
    start = built.state.replaced(x=built.state.x + jitter * noise)
    return Simulation(model=built.model, state=start).run(FRAMES).x


def scaled_tables(scale: float, size: float = 0.042) -> dict[str, Any]:
    """The scene with all lengths `scale` times as large; `size` of the edges [m] before that."""
    time = scale**0.5
    material = {
        "stretch": 400 * scale,
        "bend": 2e-5 * scale**3,
        "thickness": 5e-4 * scale,
        "density": 0.2,
        "damping": 2e-3 * time,
    }
    shape = {"kind": "rectangle", "width": WIDTH * scale, "height": WIDTH * scale, "size": size * scale}
    place = {"translate": [0.01 * scale, 0.02 * scale, 0.11 * scale]}
    return {
        "name": "scaled",
        "run": {"frame_time": 0.02 * time, "duration": 0.02 * FRAMES * time},
        "contact": {
            "activation": 2e-3 * scale,
            "friction": 0.3,
            "slip_speed": 1e-3 * time,
            "rebound_speed": 5e-3 * time,
        },
        "solver": {"max_step": 0.02 * time, "min_step": 1e-6 * time, "speed_tolerance": 0.05 * time},
        "sheets": [{"shape": shape, "transform": place, "material": material}],
        "obstacles": [{"shape": {"kind": "sphere", "radius": 0.1 * scale}}],
    }
