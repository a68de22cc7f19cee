"""end-shear: the cantilever of the shell benchmarks under a force at its end that keeps its direction [Sze2004].

The benchmark is for ν = 0, where the width makes no difference. The strip is wider than the one in the literature
(1 m), because the hinge spring bends across a narrow strip as if ν were 1/3, see `strip`: at 1 m the end moves
2 to 7 % farther sideways than it should.
"""

from __future__ import annotations

import numpy as np

from crumple.boundary import Handle
from crumple.materials.material import Material
from crumple.model.model import Model
from crumple.runtime.typing import Floats, Ints
from crumple.state import Pins, initial_state
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, relative_check
from crumple.studies.validation.strip import Strip, clamp, hold, make_strip, settle, static_model

LENGTH, WIDTH, THICKNESS, YOUNG = 10.0, 20.0, 0.1, 1.2e6
"""[m], [m], [m], [Pa]; ν = 0."""
DENSITY = 1e-3
"""So light that the inertia which steadies a static solution does not hold it back [kg/m²]."""
LARGEST_FORCE = 4.0
"""Per metre of width [N/m]."""
TABLE = {0.25: (0.563, 3.015), 0.5: (1.604, 4.933), 0.75: (2.541, 6.031), 1.0: (3.286, 6.698)}
"""Share of the force, and how far the end moves back and sideways [m]."""
TOLERANCE = 0.02
FAR = 1e4
"""Distance of the target of a spring that acts as a constant force, over the strip's length."""


def validate_end_shear(rows: int = 36) -> CaseResult:
    """Displacement of the end at four loads: within 2 %."""
    measured = shear_strip(make_strip(LENGTH, WIDTH, rows))
    checks: list[Check] = []
    for share, (back, side) in TABLE.items():
        checks.append(relative_check(f"U at P/Pmax = {share:g} [m]", back, measured[share][0], TOLERANCE))
        checks.append(relative_check(f"W at P/Pmax = {share:g} [m]", side, measured[share][1], TOLERANCE))
    curves = []
    for k, name in enumerate(("U", "W")):
        curves.append(curve(f"{name}, Sze 2004", [(0.0, 0.0), *((values[k], p) for p, values in TABLE.items())]))
        curves.append(curve(f"{name}, measured", [(values[k], p) for p, values in measured.items()], markers=True))
    return CaseResult("end-shear", tuple(checks), figure=Figure("displacement [m]", "P / Pmax", tuple(curves)))


def shear_strip(strip: Strip) -> dict[float, tuple[float, float]]:
    """Displacements (back, sideways) [m] of the end for every load of the table."""
    material = Material.isotropic("strip", young=YOUNG, poisson=0.0, thickness=THICKNESS, density=DENSITY)
    nodes = strip.nodes(-1)
    clamped = hold(strip, strip.x, (0, 1))
    state = initial_state(strip.mesh, strip.x, pins=clamped, step_size=1.0)
    result = {}
    for share in TABLE:
        force = np.zeros((len(nodes), 3))
        force[:, 2] = share * LARGEST_FORCE * strip.width * edge_shares(strip, nodes)
        for _ in range(2):  # the second time with the target moved along, so that the force is exact
            model, pins = push(material, clamped, nodes, state.x, force)
            state = settle(model, state.replaced(pins=pins), frames=1)
        tip = strip.line(state.x)[-1]
        result[share] = (LENGTH - float(tip[0]), float(tip[2]))
    return result


def edge_shares(strip: Strip, nodes: Ints) -> Floats:
    """Share of each of the `nodes` across the strip in a force that is constant along the line, (m,)."""
    place = strip.x[nodes, 1]
    order = np.argsort(place)
    gap = np.diff(place[order])
    share = np.zeros(len(nodes))
    share[order[:-1]] += 0.5 * gap
    share[order[1:]] += 0.5 * gap
    return share / share.sum()


def push(material: Material, clamped: Pins, nodes: Ints, x: Floats, force: Floats) -> tuple[Model, Pins]:
    """A static model and pins that clamp some nodes (handle 0) and push `nodes` with the `force` (m, 3) [N] at x.

    A force is a soft spring to a target that is far away: it is exact at x and changes by 1/FAR over a length.
    """
    size = np.linalg.norm(force, axis=1)
    stiffness = size / (FAR * LENGTH)
    handles = [clamp("clamp"), *(Handle(f"push{k}", stiffness=spring) for k, spring in enumerate(stiffness))]
    target = x[nodes] + force / stiffness[:, None]
    pins = Pins(
        np.concatenate([clamped.node, nodes]).astype(np.int32),
        np.concatenate([clamped.handle, np.arange(1, len(nodes) + 1)]).astype(np.int32),
        np.ascontiguousarray(np.concatenate([clamped.anchor, target])),
    )
    return static_model(material, handles), pins
