"""spinal-break and spring-back: creases give way at the moments that they are given.

**spinal-break**: a strip of very soft cloth with a pressed ridge along it is a cantilever that only its ridge holds
straight. With the strength M* it breaks under the tip force F = M*/L, at the clamp, on any mesh and in steps of any
length.

**spring-back**: a stiff sheet with a yielding crease spring (κ, m_y) is folded by handles and let go; it springs back
by m_y/κ.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.boundary.creases import Crease, Press
from crumple.contract import EnergyTerm
from crumple.energies.nodal import make_nodal
from crumple.geometry.hinge import dihedral_angles
from crumple.materials.material import Material
from crumple.model.model import Model
from crumple.options.contact import ContactOptions
from crumple.options.solver import SolverOptions
from crumple.plasticity import insert_polyline
from crumple.session.simulation import Simulation
from crumple.shapes import rectangle
from crumple.state import Pins, State, initial_state
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, relative_check
from crumple.studies.validation.strip import clamp
from crumple.terms.crease_memory import BROKEN

LENGTH, CLAMPED, WIDTH = 0.05, 0.02, 0.02
"""Free and clamped part of a strip, and its width [m]."""
RIDGE = 2e-4
"""M* [N m]."""
SIZES = (0.01, 0.005, 0.0025)
SHORT_STEP = 0.25
"""Share of a frame that short steps take."""
TRIALS = 7
"""Halvings of the range of forces within which a ridge breaks."""
STIFFNESS, FOLD = 0.02, 1.2
"""κ of the crease spring [N m/m/rad], and how far it is folded [rad]."""
YIELD_MOMENTS = (0.002, 0.004, 0.01)
"""m_y [N m/m]."""


def validate_spinal_break() -> CaseResult:
    """Breaking force within 2 % of M*/L on three meshes, and in shorter steps."""
    checks, points = [], []
    shorter = breaking_force(SIZES[0], SHORT_STEP)
    checks.append(relative_check(f"{1e3 * SIZES[0]:g} mm, Δt/4: F L/M*", 1.0, shorter * LENGTH / RIDGE, 0.02))
    for size in SIZES:
        force = breaking_force(size)
        checks.append(relative_check(f"{1e3 * size:g} mm: F L/M*", 1.0, force * LENGTH / RIDGE, 0.02))
        points.append((1e3 * size, force * LENGTH / RIDGE))
    curves = (curve("1", [(p, 1.0) for p, _ in points]), curve("measured", points, markers=True))
    return CaseResult("spinal-break", tuple(checks), figure=Figure("size of faces [mm]", "F L/M*", curves))


def validate_spring_back() -> CaseResult:
    """Spring-back within 2 % of m_y/κ for three yield moments."""
    checks: list[Check] = []
    points = []
    for limit in YIELD_MOMENTS:
        back = spring_back(limit)
        checks.append(relative_check(f"m_y = {limit:g} N: spring-back [rad]", limit / STIFFNESS, back, 0.02))
        points.append((limit, back))
    exact = [(0.0, 0.0), (max(YIELD_MOMENTS), max(YIELD_MOMENTS) / STIFFNESS)]
    curves = (curve("m_y/κ", exact), curve("measured", points, markers=True))
    return CaseResult("spring-back", tuple(checks), figure=Figure("m_y [N]", "spring-back [rad]", curves))


def breaking_force(size: float, step: float = 1.0) -> float:
    """The tip force [N] under which the ridge of a strip with faces of `size` [m] breaks within a frame in steps of
    `step` [s], by bisection."""
    low, high = 0.0, 2.0 * RIDGE / LENGTH
    for _ in range(TRIALS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _breaks(size, middle, step) else (middle, high)
    return 0.5 * (low + high)


def _breaks(size: float, force: float, step: float) -> bool:
    """Whether a ridge breaks under a tip force [N]."""
    press = Press(engage=1e-6, strength=0.0, spinal=RIDGE)  # the fold itself is free
    ridge = np.array([[-CLAMPED, 0.5 * WIDTH], [LENGTH, 0.5 * WIDTH]])
    model, state = _strip(size, 2e-6, ridge, drive="set", press=press)
    tip = np.array([np.argmin(np.linalg.norm(state.x - [LENGTH, 0.5 * WIDTH, 0], axis=1))], np.int32)
    load = np.array([[0.0, 0.0, -force]])
    term = EnergyTerm("load", lambda now: make_nodal(tip, now.x[tip], np.zeros(1), load))
    model = replace(model, solver=replace(model.solver, max_step=step))
    state = Simulation(model=model.with_term(term), state=state.replaced(step_size=step)).run(1)
    return bool(np.any(state.creases.status == BROKEN))


def spring_back(yield_moment: float) -> float:
    """By how much a folded crease with a `yield_moment` [N m/m] springs back when it is let go [rad]."""
    across = np.array([[0.0, 0.0], [0.0, WIDTH]])
    model, state = _strip(0.005, 1e-2, across, drive="spring", stiffness=STIFFNESS, yield_moment=yield_moment)
    out = np.maximum(state.x[:, 0], 0.0)
    folded = np.stack([np.minimum(state.x[:, 0], 0.0) + out * np.cos(FOLD), state.x[:, 1], -out * np.sin(FOLD)], axis=1)
    held = np.flatnonzero(state.x[:, 0] > 0.5 * LENGTH).astype(np.int32)
    pins = state.pins
    both = Pins(
        node=np.concatenate([pins.node, held]),
        handle=np.concatenate([pins.handle, np.ones(len(held), np.int32)]),
        anchor=np.concatenate([pins.anchor, folded[held]]),
    )
    state = Simulation(model=model, state=state.replaced(x=folded, pins=both)).run(1)
    before = _angle(state)
    state = Simulation(model=model, state=state.replaced(pins=pins)).run(2)
    return before - _angle(state)


def _strip(size: float, bend: float, line: np.ndarray, **crease: object) -> tuple[Model, State]:
    """A strip along x that is clamped up to x = 0, with a crease along a `line` of its pattern."""
    flat, _ = rectangle(LENGTH + CLAMPED, WIDTH, size, kind="right")
    shifted = replace(flat, u=flat.u - [CLAMPED, 0.0], node_rest=flat.node_rest - [CLAMPED, 0.0, 0.0])
    mesh = insert_polyline(shifted, line, label=1).mesh
    material = Material.from_stiffness("strip", stretch=2e4, bend=bend, thickness=1e-4, density=0.1)
    made = Crease("line", 0, np.array([1], np.int32), np.zeros(1), np.zeros((1, 1)), **crease)  # type: ignore[arg-type]
    model = Model(
        (material,),
        handles=(clamp("left"), clamp("right")),
        creases=(made,),
        gravity=(0.0, 0.0, 0.0),
        contact=ContactOptions(enabled=False),
        solver=SolverOptions(mode="static", max_step=1.0, tolerance=1e-6, speed_tolerance=1e-4),
        frame_time=1.0,
    )
    x = mesh.node_rest.copy()
    node = np.flatnonzero(x[:, 0] < 1e-9).astype(np.int32)
    pins = Pins(node, np.zeros(len(node), np.int32), x[node])
    return model, initial_state(mesh, x, pins=pins, step_size=1.0)


def _angle(state: State) -> float:
    """Mean angle of the crease [rad]."""
    label = state.mesh.edge_label.ravel()[state.mesh.hinges.corners[:, 0]]
    return float(dihedral_angles(state.x, state.mesh.hinges.nodes[label == 1]).mean())
