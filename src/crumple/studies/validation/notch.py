"""notch: a strip with a slit across its middle is pulled; the force on a tip is the release rate of fracture mechanics.

    G = σ² π a Y²/E,   Y² = sec(π a/W)       [Feddersen1966]

for a slit of length 2a in a strip of width W, so the stress at which a crack would run falls as 1/(Y √a).
"""

from __future__ import annotations

import numpy as np

from crumple.boundary import Handle
from crumple.model.derived import Derived
from crumple.shapes import rectangle
from crumple.state import Pins, initial_state
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, range_check
from crumple.studies.validation.strip import reaction, settle
from crumple.studies.validation.torn_sheet import THICKNESS, YOUNG, tearing_material, tearing_model
from crumple.tearing.slits import slit_open
from crumple.tearing.tip import tip_weights
from crumple.tearing.tip_load import driving_force, tip_size

WIDTH, HEIGHT, SIZE = 0.1, 0.2, 0.1 / 60.0
"""Of the strip, pulled along its height, and the edge length [m]."""
DEPTHS = (1.0 / 60.0, 1.3 / 60.0, 1.8 / 60.0)
"""Half lengths a of the slit [m]: 10, 13 and 18 edges."""
STRAIN = 1e-3


def validate_notch(depths: tuple[float, ...] = DEPTHS, size: float = SIZE) -> CaseResult:
    """G within −12 to 5 % of theory, and the slope −½ of the stress at which a crack would run."""
    checks: list[Check] = []
    strength = []
    for depth in depths:
        release, stress = pull_notch(depth, size)
        wanted = stress**2 * _shape(depth) ** 2 * np.pi * depth / YOUNG * THICKNESS
        checks.append(range_check(f"G over theory, a = {1e3 * depth:.1f} mm", (0.88, 1.05), release / wanted))
        strength.append(stress / np.sqrt(release) * _shape(depth))
    slope = float(np.polyfit(np.log(depths), np.log(strength), 1)[0])
    checks.append(Check("power of a in the stress at which it runs", -0.5, slope, 0.05))
    points = [(1e3 * depth, value / strength[0]) for depth, value in zip(depths, strength, strict=True)]
    line = [(1e3 * a, float(np.sqrt(depths[0] / a))) for a in np.linspace(depths[0], depths[-1], 30)]
    curves = (curve("1/√a", line), curve("measured", points, markers=True))
    return CaseResult("notch", tuple(checks), figure=Figure("a [mm]", "stress at which it runs", curves, True))


def pull_notch(depth: float, size: float) -> tuple[float, float]:
    """The force on a tip along the slit [N] and the mean stress [Pa] of a strip with a slit of half length `depth`
    [m]."""
    columns, rows = round(WIDTH / size), round(HEIGHT / size)
    mesh, x = rectangle(WIDTH, HEIGHT, kind="alternating", divisions=(columns, rows))
    state = initial_state(mesh, x, step_size=1.0)
    ends = [[0.5 * WIDTH - depth, 0.5 * HEIGHT], [0.5 * WIDTH + depth, 0.5 * HEIGHT]]
    state = slit_open(state, np.array(ends))
    low, high = (np.flatnonzero(np.abs(state.mesh.u[:, 1] - end) < 1e-9) for end in (0.0, HEIGHT))
    node = state.mesh.vertex_node[np.concatenate([low, high])].astype(np.int32)
    anchor = state.mesh.node_rest[node] * [1.0, 1.0, 0.0]
    anchor[:, 1] *= 1.0 + STRAIN
    handle = np.repeat(np.arange(2, dtype=np.int32), [len(low), len(high)])
    model = tearing_model(tearing_material(1e9), contact=False)
    assert isinstance(model.handles[0], Handle)
    state = settle(model, state.replaced(pins=Pins(node, handle, np.ascontiguousarray(anchor))), frames=1)
    heading = state.tips.heading[0]
    weight = tip_weights(state.mesh, int(state.tips.node[0]), heading, tip_size(model, state))
    release = float(driving_force(state, Derived(model, state), weight) @ heading)
    return release, float(reaction(model, state, 1)[1]) / (WIDTH * THICKNESS)


def _shape(depth: float) -> float:
    """Y."""
    return float(1.0 / np.sqrt(np.cos(np.pi * depth / WIDTH)))
