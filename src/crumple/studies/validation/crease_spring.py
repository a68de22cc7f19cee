"""crease-spring: a sheet folded once turns about its crease like a spring.

Handles hold the two halves of a flat sheet as rigid plates and fold it by θ; between them a band of the width h bends
evenly and yields. What it keeps is θ_p = θ − κ_y h, and the damage δ = θ_p/(h κ_y). So the crease resists turning, per
length, with

    k_c = B/(h (1 + γδ)) = B/(h + γ θ_p/κ_y),

which for sharp creases, γ θ_p ≫ κ_y h, does not depend on h. One half is let go to find the angle at rest, then
turned a little to either side of it to find the couple.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.materials.material import Material
from crumple.model.model import Model
from crumple.runtime.typing import Floats, Ints
from crumple.shapes import rectangle
from crumple.shapes.sheets import Kind
from crumple.state import Pins, State, initial_state
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, relative_check
from crumple.studies.validation.strip import PAPERS_LAW, clamp, moved_pins, settle, static_model

WIDTH, HEIGHT = 0.08, 0.06
MIDDLE = 0.5 * WIDTH
BEND, STRETCH, DENSITY, WEAKENING, YIELD = 4e-4, 4e5, 0.08, 0.2, 50.0
FOLD = 2.0
"""θ [rad]."""
MESHES: tuple[tuple[Kind, float], ...] = (("alternating", 8e-3), ("alternating", 4e-3), ("right", 6e-3))
"""Kinds and widths h of the band [m]."""
COLUMNS, ROWS = 6, 20
"""Of faces across the band, and along it."""
TURN = 0.05
"""How far the crease is turned from rest, as a fraction of κ_y h."""
STIFFNESS_TOLERANCE, ANGLE_TOLERANCE = 0.02, 0.01


@dataclass(frozen=True)
class CreaseSpring:
    """`width` h of the band between the plates [m]; measured: `rest` θ_p [rad], `stiffness` k_c per length [N]."""

    width: float
    rest: float
    stiffness: float


def validate_crease_spring() -> CaseResult:
    """Angle at rest within 1 %, stiffness within 2 %, on three meshes."""
    checks: list[Check] = []
    points = []
    for kind, width in MESHES:
        found = fold_sheet(kind, width)
        rest = FOLD - YIELD * found.width
        expected = BEND / (found.width + WEAKENING * rest / YIELD)
        label = f"{kind}, {1e3 * width:g} mm"
        checks.append(relative_check(f"{label}: θ_p [rad]", rest, found.rest, ANGLE_TOLERANCE))
        checks.append(relative_check(f"{label}: k_c [N]", expected, found.stiffness, STIFFNESS_TOLERANCE))
        points.append((found.width, found.stiffness))
    widths = np.linspace(1e-3, 1e-2, 50)
    exact = [(h, BEND / (h + WEAKENING * (FOLD / YIELD - h))) for h in widths]  # θ_p = θ − κ_y h
    undamaged = [(h, BEND / h) for h in widths]
    curves = (
        curve("B/(h + γ θ_p/κ_y)", exact),
        curve("without damage", undamaged),
        curve("measured", points, markers=True),
    )
    return CaseResult("crease-spring", tuple(checks), figure=Figure("width h [m]", "k_c [N]", curves))


def fold_sheet(kind: Kind, width: float) -> CreaseSpring:
    """Fold a sheet by `FOLD` over a band of the `width` [m], let it go, and turn it a little."""
    columns = 2 * round(MIDDLE * COLUMNS / width)
    mesh, _ = rectangle(columns * width / COLUMNS, HEIGHT, divisions=(columns, ROWS), kind=kind)
    material = Material.from_stiffness(
        "sheet", stretch=STRETCH, bend=BEND, thickness=1e-4, density=DENSITY,
        yield_curvature=YIELD, weakening=WEAKENING,
    )  # fmt: skip
    model = static_model(material, [clamp("left"), clamp("right")], distance=1e-6, plasticity=PAPERS_LAW)
    s = mesh.node_rest[:, 0] - 0.5 * columns * width / COLUMNS
    sheet = Folding(mesh.node_rest[:, 1], s, width)
    folded = sheet.shape(FOLD)
    state = initial_state(mesh, folded, pins=sheet.grip(folded), step_size=1.0)
    state = settle(model, state, frames=1)
    left = state.pins.handle == 0
    pins = Pins(state.pins.node[left], state.pins.handle[left], state.pins.anchor[left])
    rest = sheet.angle(settle(model, state.replaced(pins=pins), frames=3).x)
    turn = TURN * YIELD * width
    couples = [_couple(model, state, sheet.shape(rest + change)) for change in (-turn, turn)]
    return CreaseSpring(width, rest, (couples[1] - couples[0]) / (2.0 * turn) / HEIGHT)


def _couple(model: Model, state: State, folded: Floats) -> float:
    """Couple [N m] of the right handle that holds the sheet in the shape `folded` (node_count, 3)."""
    pins = moved_pins(state.pins, folded[state.pins.node])
    held = settle(model, state.replaced(x=folded, pins=pins), frames=1)
    right = pins.handle == 1
    x = held.x[pins.node[right]]
    force = model.handles[1].stiffness * (pins.anchor[right] - x)
    return float(np.sum(np.cross(x - x.mean(axis=0), force)[:, 1]))


@dataclass(frozen=True)
class Folding:
    """A sheet to be folded: `along` the crease and `s` across it, from its middle, (node_count,) [m]; `width` h [m]."""

    along: Floats
    s: Floats
    width: float

    def shape(self, angle: float) -> Floats:
        """The right half turned down by `angle` [rad], a mountain: faces keep their lengths, and each column between
        the halves is turned by the same angle against the next."""
        size = self.width / COLUMNS
        knots = np.linspace(-0.5 * self.width, 0.5 * self.width, COLUMNS + 1)
        turned = angle * (np.arange(COLUMNS) + 0.5) / COLUMNS
        across = np.concatenate([[knots[0]], knots[0] + size * np.cumsum(np.cos(turned))])
        down = np.concatenate([[0.0], -size * np.cumsum(np.sin(turned))])
        beyond = np.maximum(self.s - knots[-1], 0.0)
        x = np.interp(self.s, knots, across) + np.minimum(self.s - knots[0], 0.0) + beyond * np.cos(angle)
        z = np.interp(self.s, knots, down) - beyond * np.sin(angle)
        return np.ascontiguousarray(np.stack([x, self.along, z], axis=1))

    def grip(self, x: Floats) -> Pins:
        """All nodes beside the band: handle 0 holds the left half, handle 1 the right half."""
        node: Ints = np.flatnonzero(np.abs(self.s) > 0.499 * self.width).astype(np.int32)
        return Pins(node, (self.s[node] > 0.0).astype(np.int32), np.ascontiguousarray(x[node]))

    def angle(self, x: Floats) -> float:
        """Fold angle [rad] seen from the side: the direction of the right half, which is a plane."""
        right = self.s > 0.499 * self.width
        slope = np.polyfit(self.s[right], x[right][:, [0, 2]], 1)[0]
        return float(np.arctan2(-slope[1], slope[0]))
