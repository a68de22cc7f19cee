"""inclined-slit: a wide sheet with a slit at an angle is pulled; the crack kinks to where the hoop stress is largest.

A slit of length 2a at the angle β to the horizontal, pulled vertically by σ, has

    K_I = σ √(πa) cos²β Y,    K_II = σ √(πa) sin β cos β Y,    Y² = sec(π a cos β/W)  [Feddersen1966]

and the crack runs at the angle θ to it at which K(θ) = cos(θ/2) (K_I cos²(θ/2) − (3/2) K_II sin θ) is largest, when
K(θ)² = E G_c [Erdogan1963]. The mesh is made by remeshing, as in any scene.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from crumple.model.derived import Derived
from crumple.runtime.typing import Floats
from crumple.scenes import build, scene_from_tables
from crumple.session.simulation import Simulation
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, relative_check
from crumple.studies.validation.strip import reaction
from crumple.tearing.tip_load import state_toughness, tip_load, tip_size

SIDE, HALF, TIP = 0.16, 0.012, 2e-3
"""Of the square sheet, half the length of the slit, edge length at the tips [m]."""
PULL = 4e-4
"""By how much the sheet is stretched [m]."""
FRAMES = 6
"""The last four without motion: g is a difference of energies, and tells the last digits of a solve. (Before cracks run
in a step, it is solved as well as that.)"""
ANGLES = (10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0)
"""β [°]."""
MESHES = ("equilateral", "alternating", "delaunay")
YOUNG, THICKNESS = 3.5e9, 1e-4
"""[Pa], [m]."""


@dataclass(frozen=True)
class Kink:
    """How a crack kinks: the `angle` θ from its slit [°], and `freed`, K(θ)²/(E G_c) for a stress of 1 on a slit with
    πa = 1."""

    angle: float
    freed: float


def validate_inclined_slit(angles: tuple[float, ...] = ANGLES, meshes: tuple[str, ...] = MESHES) -> CaseResult:
    """Kinks within 4° and the loads at which they run within 6 %, both tips, on meshes of three kinds."""
    checks: list[Check] = []
    curves = []
    for style in meshes:
        points = []
        for angle in angles:
            wanted = expected_kink(angle)
            for tip, (kink, load) in enumerate(pull_slit(angle, style)):
                label = f"{style}, β = {angle:g}°, tip {tip + 1}"
                checks += [
                    Check(f"{label}: kink [°]", wanted.angle, kink, 4.0),
                    relative_check(f"{label}: load at which it runs, over theory", 1.0, load, 0.06),
                ]
                points.append((angle, kink))
        curves.append(curve(style, points, markers=True))
    line = [(angle, expected_kink(angle).angle) for angle in np.linspace(angles[0], angles[-1], 50)]
    curves.append(curve("maximum hoop stress", line))
    return CaseResult("inclined-slit", tuple(checks), figure=Figure("β [°]", "kink [°]", tuple(curves)))


def expected_kink(angle: float) -> Kink:
    """The kink of theory for a slit at β = `angle` [°]."""
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))

    def hoop(theta: float) -> float:
        return float(np.cos(0.5 * theta) * (c * c * np.cos(0.5 * theta) ** 2 - 1.5 * s * c * np.sin(theta)))

    best = minimize_scalar(lambda theta: -hoop(theta), bounds=(-1.3, 0.1), method="bounded").x
    return Kink(float(np.degrees(best)), hoop(float(best)) ** 2 / float(np.cos(np.pi * HALF * c / SIDE)))


def pull_slit(angle: float, style: str) -> list[tuple[float, float]]:
    """Of both tips of a slit at β = `angle` [°]: the kink [°], and the load at which it would run over that of theory;
    `style` of the mesh."""
    built = build(scene_from_tables(_tables(angle, style)))
    model, state = built.model, Simulation(model=built.model, state=built.state).run(FRAMES)
    stress = float(reaction(model, state, 1)[1]) / (SIDE * THICKNESS)
    wanted = expected_kink(angle).freed * stress**2 * np.pi * HALF / YOUNG * THICKNESS
    derived, toughness, size = Derived(model, state), state_toughness(model, state), tip_size(model, state)
    found = []
    for number in range(len(state.tips.node)):
        load = tip_load(state, derived, toughness, number, size, None)
        turn = _turn(state.tips.heading[number], load.direction)
        found.append((turn, float(np.sqrt(wanted / (load.ratio * load.resistance)))))
    return found


def _turn(heading: Floats, direction: Floats) -> float:
    """The angle [°] by which a unit vector (2,) is turned against another."""
    across = heading[0] * direction[1] - heading[1] * direction[0]
    return float(np.degrees(np.arctan2(across, heading @ direction)))


def _tables(angle: float, style: str) -> dict[str, object]:
    """The scene: a sheet that is held at its lower side and pulled at the upper one."""
    way = HALF * np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    middle = np.array([0.5 * SIDE, 0.5 * SIDE + 4e-4])  # no symmetry of the mesh
    sides = [{"name": name, "select": {"kind": "side", "side": name}, "stiffness": 1e7} for name in ("bottom", "top")]
    material = {"young": YOUNG, "poisson": 0.2, "thickness": THICKNESS, "density": 800.0, "tear_energy": 1e11}
    return {
        "run": {"duration": 1.0, "frame_time": 0.1},
        "solver": {"mode": "static", "max_step": 0.1, "tolerance": 1e-8},
        "environment": {"gravity": [0, 0, 0]},
        "contact": {"enabled": False},
        "remeshing": {"size_min": TIP, "size_max": 6.0 * TIP},
        "tearing": {"initiation": False},
        "sheets": [
            {
                "shape": {"kind": "rectangle", "width": SIDE, "height": SIDE, "size": 6.0 * TIP, "style": style},
                "material": material,
                "cuts": [{"line": [(middle - way).tolist(), (middle + way).tolist()]}],
            }
        ],
        "handles": [sides[0], {**sides[1], "motion": "up"}],
        "motions": {"up": {"keys": [{"time": 0}, {"time": 0.2, "translate": [0, PULL, 0]}]}},
    }
