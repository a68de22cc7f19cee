"""Where contact begins: oblique-impact, slide-stop, restitution, collision, with the default settings, on two meshes.

oblique-impact  a sheet that falls on a floor while it flies along it. As long as it slides, friction takes μ times the
                momentum that the floor gives: −Δv_x/Δv_z = μ. A sheet that starts within the reach of the contact obeys
                the same law.
slide-stop      a sheet that is thrown along a floor comes to rest after v²/(2 μ g).
restitution     a sheet that falls flat on a floor parts from it as slowly in long steps as in short ones, and one that
                starts within the reach of the contact does not jump off.
collision       two free sheets that meet, flat or tilted, keep their momentum and their angular momentum, gain no
                energy, and part at a speed that does not depend on the step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crumple.boundary import make_obstacle
from crumple.energies.inertia import node_masses
from crumple.materials import preset
from crumple.materials.material import Material
from crumple.mesh import concatenate
from crumple.model.model import STANDARD_GRAVITY, Model
from crumple.options.contact import ContactOptions
from crumple.options.solver import SolverOptions
from crumple.runtime.typing import Bools, Floats
from crumple.session.session import run
from crumple.shapes import plane, rectangle
from crumple.shapes.sheets import Kind
from crumple.state import State, initial_state
from crumple.studies.validation.result import CaseResult, Check, relative_check

FRICTION = 0.3
MATERIALS = ("paper80", "cotton", "card")
SPEEDS = ((2.0, -0.5), (2.0, -2.0), (4.0, -1.0))
"""Along and towards the floor [m/s]."""
MESHES: tuple[tuple[Kind, float], ...] = (("delaunay", 0.025), ("equilateral", 0.015))
SIDE = 0.1
COLLISIONS = (("paper80", 1.0, 0.0), ("card", 3.0, 0.0), ("paper80", 1.0, 0.3), ("card", 3.0, 0.3))
"""Material, relative speed [m/s] and tilt [rad] of the sheets that meet."""
FALLS = (0.2, 1.0, 3.0)
"""Speeds of sheets that fall on a floor [m/s]."""
SPREAD = 0.05
"""Most by which the restitution differs between long and short steps."""
STEPS = (0.04, 0.002)
"""Longest steps [s]."""


def validate_oblique_impact() -> CaseResult:
    """−Δv_x/Δv_z against μ: within 3 % for three materials at three speeds, and from within the contact's reach."""
    checks = []
    for kind, size in MESHES:
        for name in MATERIALS:
            for along, down in SPEEDS:
                ratio = impact_ratio(preset(name), along, down, kind=kind, size=size)
                place = f"{name} at ({along:g}, {down:g}) m/s, {kind}"
                checks.append(relative_check(f"−Δv_x/Δv_z, {place}", FRICTION, ratio, 0.03))
        for name in MATERIALS[:2]:
            ratio = impact_ratio(preset(name), 1.0, 0.0, kind=kind, size=size, height=3e-4)
            checks.append(relative_check(f"−Δv_x/Δv_z, {name} from within reach, {kind}", FRICTION, ratio, 0.03))
    return CaseResult("oblique-impact", tuple(checks))


def impact_ratio(
    material: Material, along: float, down: float, *, kind: Kind, size: float, height: float = 5e-3, frames: int = 4
) -> float:
    """Change of the mean velocity along the floor over the one normal to it, weight left out.

    `height` [m] of the mid-surface's free gap above the floor at the start.
    """
    model, state = above_floor(material, height, kind=kind, size=size)
    model = replace(model, gravity=(0.0, 0.0, 0.0))
    state = state.replaced(v=np.tile([along, 0.0, down], (len(state.x), 1)))
    mass = node_masses(state.mesh, model.materials)
    before = mass @ state.v / mass.sum()
    last = run(model, state, frames=frames)
    change = mass @ last.v / mass.sum() - before
    return float(-change[0] / change[2])


def validate_slide_stop() -> CaseResult:
    """Length of the path on the floor against v²/(2 μ g): within 1 %."""
    checks = []
    for kind, size in MESHES:
        for name in MATERIALS:
            path = stopping_path(preset(name), 1.0, kind=kind, size=size)
            expected = 1.0 / (2.0 * FRICTION * STANDARD_GRAVITY)
            checks.append(relative_check(f"path of {name} thrown at 1 m/s [m], {kind}", expected, path, 0.01))
    return CaseResult("slide-stop", tuple(checks))


def stopping_path(material: Material, speed: float, *, kind: Kind, size: float) -> float:
    """How far a sheet slides that lies on the floor and is thrown along it [m]."""
    model, state = above_floor(material, 9e-4, kind=kind, size=size)
    laid = run(model, state, frames=8)
    thrown = laid.replaced(v=np.tile([speed, 0.0, 0.0], (len(laid.x), 1)), has_acceleration=False)
    frames = int(np.ceil(1.4 * speed / (FRICTION * STANDARD_GRAVITY) / model.frame_time))
    last = run(model, thrown, frames=laid.frame + frames)
    return float(np.mean(last.x[:, 0] - laid.x[:, 0]))


def above_floor(material: Material, height: float, *, kind: Kind, size: float) -> tuple[Model, State]:
    """A square whose surface is `height` [m] above a floor."""
    mesh, flat = rectangle(SIDE, SIDE, size, kind=kind)
    x = flat - flat.mean(axis=0)
    x[:, 2] = material.thickness + height
    corners, faces = plane(100.0 * SIDE)
    floor = make_obstacle("floor", faces, corners)
    contact = ContactOptions(sheet_thickness=(material.thickness,), friction=np.full((2, 2), FRICTION))
    model = Model((material,), obstacles=(floor,), contact=contact)
    return model, initial_state(mesh, x, obstacle_x=model.obstacle_positions(0.0), obstacle_count=1)


@dataclass(frozen=True)
class Collision:
    """What two sheets that met have kept: `momentum` and `angular` momentum as a change over what one sheet had, the
    `restitution` (speed of parting over that of approach) and the fraction of the kinetic `energy` that is left."""

    momentum: float
    angular: float
    restitution: float
    energy: float


def validate_restitution() -> CaseResult:
    """Speed of parting over that of approach: within 0.05 in steps of 40 and 2 ms for three materials at three speeds;
    a sheet that starts within reach rises by no more than the reach in 40 ms."""
    checks = []
    for kind, size in MESHES:
        for name in MATERIALS:
            for speed in FALLS:
                long, short = (restitution(preset(name), speed, kind=kind, size=size, max_step=step) for step in STEPS)
                title = f"restitution in steps of 40 and of 2 ms, {name} at {speed:g} m/s, {kind}"
                checks.append(Check(title, short, long, SPREAD))
            height = start_height(preset(name), kind=kind, size=size)
            reach = ContactOptions().activation
            checks.append(Check(f"height of {name} that starts within reach [m], {kind}", reach, height, 0.5 * reach))
    return CaseResult("restitution", tuple(checks))


def restitution(material: Material, speed: float, *, kind: Kind, size: float, max_step: float) -> float:
    """Speed at which a sheet leaves a floor without weight and friction, over the `speed` [m/s] of its fall."""
    model, state = above_floor(material, 5e-3, kind=kind, size=size)
    contact = replace(model.contact, friction=np.zeros((2, 2)))
    model = replace(model, gravity=(0.0, 0.0, 0.0), contact=contact, solver=SolverOptions(max_step=max_step))
    state = state.replaced(v=np.tile([0.0, 0.0, -speed], (len(state.x), 1)))
    mass = node_masses(state.mesh, model.materials)
    last = run(model, state, frames=1 + int(np.ceil(0.015 / (speed * model.frame_time))))
    return float(mass @ last.v[:, 2] / mass.sum()) / speed


def start_height(material: Material, *, kind: Kind, size: float) -> float:
    """How high above a floor [m] a sheet without weight is after a frame that starts well within its reach."""
    model, state = above_floor(material, 3e-4, kind=kind, size=size)
    last = run(replace(model, gravity=(0.0, 0.0, 0.0)), state, frames=1)
    return float(np.max(last.x[:, 2]) - material.thickness)


def validate_collision() -> CaseResult:
    """Momentum to rounding, angular momentum within 1 %, no energy gained, parting alike in steps of 40 and 2 ms."""
    checks = []
    for kind, size in MESHES:
        for name, speed, tilt in COLLISIONS:
            found = [collide(preset(name), speed, tilt, kind=kind, size=size, max_step=step) for step in STEPS]
            place = f"{name} at {speed:g} m/s, {'tilted' if tilt else 'flat'}, {kind}"
            checks.append(Check(f"change of the momentum, {place}", 0.0, found[0].momentum, 1e-6))
            for step, one in zip(STEPS, found, strict=True):
                title = f"change of the angular momentum in steps of {1e3 * step:g} ms, {place}"
                checks.append(Check(title, 0.0, one.angular, 0.01))
            checks.append(Check(f"energy gained, {place}", 0.0, max(0.0, *(one.energy - 1.0 for one in found)), 1e-6))
            title = f"speed of parting over that of approach in steps of 40 and of 2 ms, {place}"
            checks.append(Check(title, found[1].restitution, found[0].restitution, SPREAD))
    return CaseResult("collision", tuple(checks))


def collide(
    material: Material, speed: float, tilt: float = 0.0, *, kind: Kind, size: float, max_step: float
) -> Collision:
    """Two squares in free space, one of which flies at `speed` [m/s] into a part of the other, flat or at a `tilt`
    [rad]."""
    mesh, flat = rectangle(SIDE, SIDE, size, kind=kind)
    one = flat - flat.mean(axis=0)
    cos, sin = np.cos(tilt), np.sin(tilt)
    above = 0.1 + 0.5 * sin
    two = one @ np.array([[cos, 0.0, sin], [0.0, 1.0, 0.0], [-sin, 0.0, cos]])
    two += np.array([0.4, 0.2, above]) * SIDE
    (both, _), x = concatenate([mesh, mesh]), np.concatenate([one, two])
    v = np.zeros_like(x)
    v[len(one) :, 2] = -speed
    contact = ContactOptions(sheet_thickness=(material.thickness,) * 2, friction=np.zeros((2, 2)))
    model = Model(
        (material, material),
        ("lower", "upper"),
        contact=contact,
        gravity=(0.0, 0.0, 0.0),
        solver=SolverOptions(max_step=max_step),
        duration=(0.7 + above) * SIDE / speed,
        frame_time=min(0.04, 0.05 * SIDE / speed),
    )
    state = initial_state(both, x, v=v)
    mass = node_masses(both, model.materials)
    last = run(model, state)
    first_ones = np.arange(len(x)) < len(one)
    before, after = _motion(mass, state, first_ones), _motion(mass, last, first_ones)
    scale = np.linalg.norm(mass[~first_ones].sum() * v[-1])
    return Collision(
        momentum=float(np.linalg.norm(after[0] - before[0]) / scale),
        angular=float(np.linalg.norm(after[1] - before[1]) / (scale * 0.5 * SIDE)),
        restitution=float(after[2] / speed),
        energy=float((mass @ (last.v**2).sum(axis=1)) / (mass @ (v**2).sum(axis=1))),
    )


def _motion(mass: Floats, state: State, first: Bools) -> tuple[Floats, Floats, float]:
    """Momentum [kg m/s], angular momentum about the origin [kg m²/s], and the speed at which the second sheet goes away
    from the first along z [m/s]."""
    momentum = mass[:, None] * state.v
    mean = [mass[part] @ state.v[part] / mass[part].sum() for part in (first, ~first)]
    return momentum.sum(axis=0), np.cross(state.x, momentum).sum(axis=0), float(mean[1][2] - mean[0][2])
