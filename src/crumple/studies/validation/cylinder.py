"""cylinder: a paper tube pressed along its axis, as in Fig. 3 of [Narain2013].

A perfect tube keeps its shape up to the load N_cr = 2 √(B Y)/R per circumference; real ones, and held rims, take it
down to the knock-down factor γ_k = 1 − 0.901 (1 − exp(−√(R/t)/16)) [NASA SP-8007]. It then buckles into lobes, at most
n = ½ (R² Y/B)^(1/4) around [Koiter1945]. After the limit the load falls, so it is the peak. Both are taken from the
limit of stability (see `stability`): the load there, and the Fourier spectrum of the mode that grows, which is sharp,
while the shape after the snap depends on how it was reached. The limit is that of hinges: mid-edge elements are free to
turn about a single row of held nodes, and modes of fewer lobes come first (5 at Y = 1e5 N/m, at 0.78 of the load).

The creases: the top is lowered on, with plastic bending, once without and once with weakening by damage. A weakened
crease draws the bending to itself. The area of creases is the area over which the plastic curvature κ_p spreads,
(∫ κ_p dA)²/∫ κ_p² dA, which needs no threshold.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.boundary import Key, make_motion
from crumple.materials.material import Material
from crumple.model.model import Model
from crumple.options.remeshing import RemeshingOptions
from crumple.options.sizing import SizingOptions
from crumple.options.solver import SolverOptions
from crumple.session.simulation import Simulation
from crumple.state import State, initial_state
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, range_check
from crumple.studies.validation.stability import Limit, find_limit
from crumple.studies.validation.strip import NO_CONTACT, clamp, reaction, static_model
from crumple.studies.validation.tube import HEIGHT, RADIUS, Tube, make_tube

BEND, POISSON, DENSITY = 4e-4, 0.3, 0.08
STRETCHES = (2.5e4, 1e5, 4e5)
"""Y [N/m]; the last is office paper."""
COLUMNS_PER_LOBE = 12
"""Hinges made do with 7; mid-edge bending is softer on coarse meshes (load 0.78 there, 0.86 with 12)."""
LOBES_TOLERANCE = 0.2
"""The formula for n is that of the shortest possible lobes."""
EXPONENT, EXPONENT_TOLERANCE = 0.25, 0.08
CREASED_STRETCH, CREASED_COLUMNS = 1e5, 40
YIELD, WEAKENING = 60.0, 1.0
"""κ_y [1/m] and γ of the creases."""
LOWERING, SECONDS = 0.00625, 0.05
"""How far the top comes down for the creases [m], and in what time [s]."""
SIZING = SizingOptions(
    size_min=4e-3, size_max=0.02, refine_compression=3e-4, refine_velocity=np.inf, refine_obstacle=False, aspect_min=0.5
)
"""A coarse fixed mesh cannot fold: it locks."""
UNEVEN = 1e-5
"""Largest random displacement of the nodes at the start of that run [m]: without it the tube stays round."""


def validate_cylinder(stretches: tuple[float, ...] = STRETCHES, *, creases: bool = True) -> CaseResult:
    """Peak load between γ_k and 1 of the classical one, number of lobes and its exponent in Y, area of creases."""
    checks: list[Check] = []
    points = []
    for stretch in stretches:
        share, lobes = buckle(stretch)
        label = f"Y = {stretch:g} N/m"
        checks.append(range_check(f"peak load / critical, {label}", (knock_down(stretch), 1.0), share))
        expected = expected_lobes(stretch)
        checks.append(Check(f"lobes around, {label}", expected, float(lobes), LOBES_TOLERANCE * expected))
        points.append((stretch, float(lobes)))
    log_stretch, log_lobes = np.log(np.array(points)).T
    exponent = float(np.polyfit(log_stretch, log_lobes, 1)[0])
    checks.append(Check("exponent of n(Y)", EXPONENT, exponent, EXPONENT_TOLERANCE))
    if creases:
        plain, weakened = crease_area(crush(0.0)), crease_area(crush(WEAKENING))
        checks.append(range_check("crease area, with damage over without", (0.0, 1.0), weakened / plain))
    dense = np.geomspace(stretches[0], stretches[-1], 30)
    curves = (
        curve("½ (R² Y/B)^¼", [(stretch, expected_lobes(stretch)) for stretch in dense]),
        curve("measured", points, markers=True),
    )
    return CaseResult("cylinder", tuple(checks), figure=Figure("Y [N/m]", "lobes around", curves, True))


def critical_load(stretch: float) -> float:
    """2πR N_cr [N]."""
    return float(4.0 * np.pi * np.sqrt(BEND * stretch))


def expected_lobes(stretch: float) -> float:
    """n of Y = `stretch` [N/m]."""
    return float(0.5 * (RADIUS**2 * stretch / BEND) ** 0.25)


def knock_down(stretch: float) -> float:
    """γ_k of Y = `stretch` [N/m], with the thickness t = √(12 B/Y)."""
    thickness = np.sqrt(12.0 * BEND / stretch)
    return float(1.0 - 0.901 * (1.0 - np.exp(-np.sqrt(RADIUS / thickness) / 16.0)))


def buckle(stretch: float, columns: int | None = None) -> tuple[float, int]:
    """Peak load over the critical one, and the number of lobes of the mode that grows there."""
    tube = make_tube(columns or round(COLUMNS_PER_LOBE * expected_lobes(stretch)))
    model = static_model(_paper(stretch), [clamp("bottom"), clamp("top")])
    model = replace(model, solver=replace(model.solver, bending="hinge"))
    limit = _press(tube, model, critical_load(stretch) * HEIGHT / (2.0 * np.pi * RADIUS * stretch))
    return -float(reaction(model, limit.state, 1)[2]) / critical_load(stretch), int(np.argmax(tube.lobes(limit.mode)))


def _press(tube: Tube, model: Model, shortening: float) -> Limit:
    """The limit of stability; the load 1 is a `shortening` [m]."""
    state = initial_state(tube.mesh, tube.x, pins=tube.hold(), step_size=1.0)
    return find_limit(model, state, lambda load: tube.lowered(load * shortening))


def crush(weakening: float, columns: int = CREASED_COLUMNS, lowering: float = LOWERING) -> State:
    """The creased tube after its top has come down by `lowering` [m]."""
    tube = make_tube(columns)
    ramp = make_motion("down", keys=[Key(0.0), Key(SECONDS, translate=(0.0, 0.0, -lowering))])
    solver = SolverOptions(max_step=0.01, tolerance=1e-3)
    material = _paper(CREASED_STRETCH, damping=2e-3, yield_curvature=YIELD, weakening=weakening)
    handles = (clamp("bottom"), clamp("top", motion=ramp, grips=False))
    model = Model(
        (material,), handles=handles, gravity=(0.0, 0.0, 0.0), contact=NO_CONTACT, solver=solver,
        remeshing=RemeshingOptions(SIZING), frame_time=0.01, duration=SECONDS,
    )  # fmt: skip
    x = tube.x + np.random.default_rng(1).uniform(-UNEVEN, UNEVEN, tube.x.shape)
    return Simulation(model=model, state=initial_state(tube.mesh, x, pins=tube.hold(), step_size=1e-3)).run()


def crease_area(state: State) -> float:
    """(∫ κ_p dA)²/∫ κ_p² dA [m²] with the norm of the plastic curvature."""
    area = np.abs(state.mesh.face_area)
    xx, yy, xy = state.plastic_curvature.T
    square = xx**2 + yy**2 + 2.0 * xy**2
    return float((area @ np.sqrt(square)) ** 2 / (area @ square))


def _paper(stretch: float, **others: float) -> Material:
    thickness = float(np.sqrt(12.0 * BEND / stretch))
    return Material.from_stiffness(
        "paper", stretch=stretch, poisson=POISSON, bend=BEND, thickness=thickness, density=DENSITY, **others
    )
