"""crease-spring: a sheet folded once turns about its crease like a spring.

Handles hold the two halves of a flat sheet as rigid plates and fold it by θ; the faces that touch the line bend and
yield. If they share the fold evenly over the width h, their area over the length of the crease, they keep
θ_p = θ − κ_y h, with the damage δ = θ_p/(h κ_y), and the crease resists turning, per length, with

    k_c = B/(h (1 + γδ)) = B/(h + γ θ_p/κ_y),

which for sharp creases, γ θ_p ≫ κ_y h, does not depend on the mesh. Faces that touch the line with an edge take more of
the fold than those that touch it with a corner, so the crease is stiffer than this; with the whole fold in the former,
whose width is half as large, it would be as stiff as B/(h/2 + γ θ_p/κ_y). One half is let go to find the angle at rest,
then turned a little to either side of it to find the couple.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.materials.material import Material
from crumple.mesh import rectangle
from crumple.mesh.generate import Kind
from crumple.plasticity import InsertedLine, insert_polyline
from crumple.simulation.model import Model
from crumple.state import Pins, State, initial_state
from crumple.typing import Floats, Ints
from crumple.validation.result import CaseResult, Check, Figure, curve, range_check
from crumple.validation.strip import clamp, moved_pins, settle, static_model

WIDTH, HEIGHT = 0.08, 0.06
MIDDLE = 0.5 * WIDTH
BEND, STRETCH, DENSITY, WEAKENING, YIELD = 4e-4, 4e5, 0.08, 0.2, 50.0
FOLD = 2.0
"""θ [rad]."""
MESHES: tuple[tuple[Kind, float], ...] = (("equilateral", 8e-3), ("equilateral", 4e-3), ("delaunay", 6e-3))
"""Kinds and lengths of edges [m]; the line does not lie on their edges."""
TURN = 0.05
"""How far the crease is turned from rest, as a share of κ_y h."""


@dataclass(frozen=True)
class CreaseSpring:
    """Measured: `height` h, the width of the crease [m], `rest` θ_p [rad], `stiffness` k_c per length [N]."""

    height: float
    rest: float
    stiffness: float


def validate_crease_spring() -> CaseResult:
    """Angle at rest and stiffness between those of an even and of a sharp fold, on three meshes."""
    checks: list[Check] = []
    points = []
    for kind, size in MESHES:
        found = fold_sheet(kind, size)
        widths = found.height, 0.5 * found.height
        rests = [FOLD - YIELD * h for h in widths]
        even, sharp = (BEND / (h + WEAKENING * rest / YIELD) for h, rest in zip(widths, rests, strict=True))
        label = f"{kind}, {1e3 * size:g} mm"
        checks.append(range_check(f"{label}: θ_p [rad]", (rests[0], rests[1]), found.rest))
        checks.append(range_check(f"{label}: k_c [N]", (even, sharp), found.stiffness))
        points.append((found.height, found.stiffness))
    heights = np.linspace(1e-3, 1e-2, 50)
    exact = [(h, BEND / (h + WEAKENING * (FOLD / YIELD - h))) for h in heights]  # θ_p = θ − κ_y h
    undamaged = [(h, BEND / h) for h in heights]
    curves = (
        curve("B/(h + γ θ_p/κ_y)", exact),
        curve("without damage", undamaged),
        curve("measured", points, markers=True),
    )
    return CaseResult("crease-spring", tuple(checks), figure=Figure("height h [m]", "k_c [N]", curves))


def fold_sheet(kind: Kind, size: float) -> CreaseSpring:
    """Fold a sheet by `FOLD`, let it go, and turn it a little."""
    mesh, _ = rectangle(WIDTH, HEIGHT, size, kind=kind)
    line = insert_polyline(mesh, np.array([[MIDDLE, -1.0], [MIDDLE, 2.0]]))
    material = Material.from_stiffness(
        "sheet", stretch=STRETCH, bend=BEND, thickness=1e-4, density=DENSITY,
        yield_curvature=YIELD, weakening=WEAKENING,
    )  # fmt: skip
    model = static_model(material, [clamp("left"), clamp("right")], distance=1e-6)
    folded = _fold(line.mesh.node_rest, FOLD)
    state = initial_state(line.mesh, folded, pins=_grip(folded, line), step_size=1.0)
    state = settle(model, state, frames=1)
    left = state.pins.handle == 0
    pins = Pins(state.pins.node[left], state.pins.handle[left], state.pins.anchor[left])
    rest = _angle(settle(model, state.replaced(pins=pins), frames=3), line)
    height = _height(line)
    turn = TURN * YIELD * height
    couples = [_couple(model, state, line, rest + change) for change in (-turn, turn)]
    return CreaseSpring(height, rest, (couples[1] - couples[0]) / (2.0 * turn) / HEIGHT)


def _couple(model: Model, state: State, line: InsertedLine, angle: float) -> float:
    """Couple [N m] of the right handle about the crease that holds the sheet at `angle` [rad]."""
    folded = _fold(line.mesh.node_rest, angle)
    pins = moved_pins(state.pins, folded[state.pins.node])
    held = settle(model, state.replaced(x=folded, pins=pins), frames=1)
    right = pins.handle == 1
    x = held.x[pins.node[right]]
    force = model.handles[1].stiffness * (pins.anchor[right] - x)
    arm = x - np.array([MIDDLE, 0.0, 0.0])
    return float(np.sum(np.cross(arm, force)[:, 1]))


def _grip(x: Floats, line: InsertedLine) -> Pins:
    """All nodes beside the crease: handle 0 holds the left half, handle 1 the right half."""
    side = line.mesh.node_rest[:, 0] - MIDDLE
    node: Ints = np.flatnonzero(np.abs(side) > 1e-4).astype(np.int32)
    return Pins(node, (side[node] > 0.0).astype(np.int32), np.ascontiguousarray(x[node]))


def _fold(flat: Floats, angle: float) -> Floats:
    """The right half turned down by `angle` [rad] about the crease: a mountain."""
    s = flat[:, 0] - MIDDLE
    right = s > 0.0
    along = np.where(right, MIDDLE + s * np.cos(angle), flat[:, 0])
    return np.ascontiguousarray(np.stack([along, flat[:, 1], np.where(right, -s * np.sin(angle), 0.0)], axis=1))


def _angle(state: State, line: InsertedLine) -> float:
    """Fold angle [rad] seen from the side: the direction of the right half, which is a plane."""
    right = line.mesh.node_rest[:, 0] > MIDDLE + 1e-4
    s, x = line.mesh.node_rest[right, 0] - MIDDLE, state.x[right]
    slope = np.polyfit(s, x[:, [0, 2]], 1)[0]
    return float(np.arctan2(-slope[1], slope[0]))


def _height(line: InsertedLine) -> float:
    """Area of the faces that touch the crease, over its length [m]."""
    mesh, hinges = line.mesh, line.mesh.hinges
    on_line = np.zeros(mesh.node_count, bool)
    on_line[hinges.nodes[line.hinges, :2]] = True
    touching = on_line[mesh.face_nodes].any(axis=1)
    length = mesh.corner_length[hinges.corners[line.hinges, 0]].sum()
    return float(np.abs(mesh.face_area)[touching].sum() / length)
