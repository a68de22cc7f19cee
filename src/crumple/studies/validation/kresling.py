"""kresling: a tube of twisted triangles has two stable heights, and snaps from one to the other when it is pushed.

Rigid caps with n corners on circles of the radius R are joined by a wall of 2 n triangles, folded along its sides and
diagonals. With the height h and the twist φ these have the lengths

    b² = h² + 2R² (1 − cos φ),   c² = h² + 2R² (1 − cos(φ + δ)),   δ = 2π/n

which are the same in a second state, φ' = π − δ − φ, h'² = h² + 2R² (cos φ' − cos φ) [Kresling2008, Yasuda2017]. In
between they have to stretch and shrink, as the bars of a truss do. Measured are a wall of paper whose creases are free,
pushed down at the middle of its cap step by step and let go: where it stays, how far its edges are strained on the way,
and that it returns when it was not pushed far enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar

from crumple.boundary.creases import FREE, Crease
from crumple.materials.material import Material
from crumple.model.model import Model
from crumple.patterns.tube import LABELS, Tube, kresling_tube
from crumple.runtime.typing import Floats
from crumple.state import Pins, State, initial_state
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, range_check, relative_check
from crumple.studies.validation.strip import clamp, moved_pins, reaction, settle, static_model

SIDES, RADIUS, HEIGHT, TWIST = 6, 0.03, 0.045, np.radians(45.0)
"""n, R [m], h [m] and φ [rad] of the first state."""
SIZE, STEP = 0.012, 5e-4
"""Of faces [m], and by how much the cap is pushed at a time [m]."""
TOLERANCE, LARGEST_STRAIN = 0.02, 6e-3
"""Of heights and twists, relative; and the strain of edges that is allowed on the way (bars of a truss: 5.2e-3)."""
WALL = Material.from_stiffness("wall", stretch=1e5, bend=0.1, thickness=1e-3, density=0.5)
CAP = Material.from_stiffness("cap", stretch=1e8, bend=1e4, thickness=1e-3, density=0.5)


@dataclass(frozen=True)
class Pushed:
    """A tube while it is pushed: its `height` [m], `twist` [rad], the `force` of the push [N], downwards, and the
    largest `strain` of its sides and diagonals."""

    height: float
    twist: float
    force: float
    strain: float


def validate_kresling() -> CaseResult:
    """Second height and twist within 2 %, edges strained by at most 0.6 % on the way, return from a small push."""
    height, twist = second_state(SIDES, RADIUS, HEIGHT, TWIST)
    way, rest = push(HEIGHT - height + STEP)
    _, back = push(0.15 * (HEIGHT - height))
    checks = (
        relative_check("pushed through: height at rest [mm]", 1e3 * height, 1e3 * rest.height, TOLERANCE),
        relative_check("pushed through: twist at rest [°]", np.degrees(twist), np.degrees(rest.twist), TOLERANCE),
        Check("pushed through: strain of edges at rest [-]", 0.0, rest.strain, 1e-4),
        range_check("largest strain of edges on the way [-]", (1e-3, LARGEST_STRAIN), max(one.strain for one in way)),
        relative_check("pushed a little: height at rest [mm]", 1e3 * HEIGHT, 1e3 * back.height, TOLERANCE),
        relative_check("pushed a little: twist at rest [°]", np.degrees(TWIST), np.degrees(back.twist), TOLERANCE),
    )
    return CaseResult("kresling", checks, figure=_figures(way, rest))


def second_state(sides: int, radius: float, height: float, twist: float) -> tuple[float, float]:
    """Height [m] and twist [rad] at which all edges of a Kresling tube have their lengths again."""
    other = np.pi - 2.0 * np.pi / sides - twist
    return float(np.sqrt(height**2 + 2.0 * radius**2 * (np.cos(other) - np.cos(twist)))), float(other)


def push(depth: float) -> tuple[list[Pushed], Pushed]:
    """A tube whose cap is pushed down by `depth` [m] step by step, and the tube that was then let go."""
    tube = kresling_tube(SIDES, RADIUS, HEIGHT, TWIST, size=SIZE)
    model, state = _held(tube)
    pins = state.pins
    found = []
    for down in np.linspace(0.0, depth, 1 + max(1, round(depth / STEP)))[1:]:
        lowered = pins.anchor - np.where(pins.handle == 1, down, 0.0)[:, None] * [0.0, 0.0, 1.0]
        state = settle(model, state.replaced(pins=moved_pins(pins, lowered)), frames=1)
        found.append(measure(tube, model, state))
    loose = Pins(*(values[pins.handle == 0] for values in (pins.node, pins.handle, pins.anchor)))
    state = settle(model, state.replaced(pins=loose))
    return found, measure(tube, model, state)


def measure(tube: Tube, model: Model, state: State) -> Pushed:
    """Height, twist, force and strain of a tube."""
    low, high = state.x[tube.corners[0]], state.x[tube.corners[-1]]
    turned = np.angle((high @ [1, 1j, 0]) / (low @ [1, 1j, 0]))
    length = _edge_lengths(tube, state.x) / _edge_lengths(tube, tube.x)
    return Pushed(
        height=float(np.mean(high[:, 2] - low[:, 2])),
        twist=float(np.mean(turned)),
        force=-float(reaction(model, state, 1)[2]),
        strain=float(np.abs(length - 1.0).max()),
    )


def _held(tube: Tube) -> tuple[Model, State]:
    """The tube with its lower cap clamped, and the middle of its upper one held."""
    low = np.unique(tube.mesh.face_nodes[tube.mesh.face_material == 1])
    low = low[tube.x[low, 2] < 0.5 * HEIGHT]
    node = np.concatenate([low, tube.centres[1:]]).astype(np.int32)
    handle = np.repeat([0, 1], [len(low), 1]).astype(np.int32)
    labels = np.array(sorted(LABELS.values()), np.int32)
    free = Crease("creases", 0, labels, np.zeros(1), np.zeros((1, len(labels))), drive=FREE)
    model = replace(static_model(WALL, [clamp("base"), clamp("push")]), materials=(WALL, CAP), creases=(free,))
    return model, initial_state(tube.mesh, tube.x, pins=Pins(node, handle, tube.x[node]), step_size=1.0)


def _edge_lengths(tube: Tube, x: Floats) -> Floats:
    """Distances between the ends of the sides, then of the diagonals, (2 n,) [m]."""
    low, high = x[tube.corners[0]], x[tube.corners[-1]]
    return np.linalg.norm(np.concatenate([high - low, np.roll(high, -1, axis=0) - low]), axis=1)


def truss(height: float) -> tuple[float, float]:
    """The twist [rad] and the largest strain of a truss of equal bars with the same edges at a `height` [m]."""

    def strains(twist: float) -> Floats:
        angle = np.array([0.0, 2.0 * np.pi / SIDES])
        length = np.sqrt(height**2 + 2.0 * RADIUS**2 * (1.0 - np.cos(twist + angle)))
        rest = np.sqrt(HEIGHT**2 + 2.0 * RADIUS**2 * (1.0 - np.cos(TWIST + angle)))
        return np.asarray(length / rest - 1.0)

    between = sorted((TWIST, second_state(SIDES, RADIUS, HEIGHT, TWIST)[1]))
    best = minimize_scalar(
        lambda twist: float(np.sum(strains(twist) ** 2)), bounds=(between[0] - 0.2, between[1] + 0.2), method="bounded"
    )
    return float(best.x), float(np.abs(strains(best.x)).max())


def _figures(way: list[Pushed], rest: Pushed) -> tuple[Figure, ...]:
    """Twist and force over the height."""
    heights = np.linspace(way[-1].height, HEIGHT, 60).tolist()
    bars = [(1e3 * h, float(np.degrees(truss(h)[0]))) for h in heights]
    twists = [(1e3 * one.height, float(np.degrees(one.twist))) for one in way]
    stays = [(1e3 * rest.height, float(np.degrees(rest.twist)))]
    forces = [(1e3 * one.height, one.force) for one in way]
    return (
        Figure(
            "height [mm]",
            "twist [°]",
            (curve("truss", bars), curve("pushed", twists, markers=True), curve("let go", stays, markers=True)),
        ),
        Figure("height [mm]", "force [N]", (curve("pushed", forces, markers=True),)),
    )
