"""Sheets in motion without contact: free-fall, spin, moved-copy and flapping, all with the default settings.

free-fall     a sheet that falls for 1 s: ½ g t².
spin          a free sheet that turns about its centre keeps its angular momentum.
moved-copy    the same swinging sheet at the origin, and turned and 10 m away: the same shape.
flapping      a cantilever in its first mode, without damping, keeps its energy over 10 periods.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.boundary import Handle
from crumple.contract.term import kinetic_energy
from crumple.energies.inertia import node_masses
from crumple.materials import preset
from crumple.model.model import STANDARD_GRAVITY, Model
from crumple.options.contact import ContactOptions
from crumple.runtime.typing import Floats
from crumple.session.simulation import Simulation
from crumple.shapes import rectangle
from crumple.simulation.observers import Statistics
from crumple.state import Pins, State, initial_state
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, range_check
from crumple.studies.validation.strip import NO_CONTACT, clamp, hold, make_strip

PAPER = preset("paper80")
CONTACT = ContactOptions(sheet_thickness=(PAPER.thickness,))
FALL_TIME = 1.0
SPINS = ((1.0, 1.0, (0.0, 0.0, 1.0), 0.99), (3.0, 5.0, (0.0, 0.0, 1.0), 0.95), (2.0, 1.0, (1.0, 2.0, 2.0), 0.98))
"""Turns per second, seconds, axis and the least fraction of the angular momentum that must be left."""
PLACE = np.array([8.0, -5.0, np.sqrt(11.0)])
"""Where the copy is [m]: 10 m away."""
FIRST_MODE = 1.875104
"""Wave number of a cantilever's first mode times its length."""
PERIODS = 10


def validate_free_fall() -> CaseResult:
    """Way fallen in 1 s against ½ g t²: within 0.1 %."""
    mesh, x = rectangle(0.2, 0.3, 0.03, kind="delaunay")
    model = Model((PAPER,), contact=CONTACT, duration=FALL_TIME)
    last = Simulation(model=model, state=initial_state(mesh, x)).run()
    way = -float(np.mean(last.x[:, 2] - x[:, 2]))
    expected = 0.5 * STANDARD_GRAVITY * FALL_TIME**2
    shape = float(np.abs(last.x - x - np.mean(last.x - x, axis=0)).max())
    checks = (
        Check("way fallen in 1 s [m]", expected, way, 1e-3 * expected),
        Check("change of shape [m]", 0.0, shape, 1e-9),
    )
    return CaseResult("free-fall", checks)


def validate_spin() -> CaseResult:
    """Share of the angular momentum that is left: ≥ 99 % after 1 s at 1 turn/s, ≥ 95 % after 5 s at 3 turns/s."""
    checks = []
    for turns, time, axis, least in SPINS:
        left = spin_sheet(turns, time, np.array(axis))
        name = f"angular momentum left after {time:g} s at {turns:g} turns/s"
        checks.append(Check(name, 1.0, left, 1.0 - least))
    return CaseResult("spin", tuple(checks))


def spin_sheet(turns: float, time: float, axis: Floats, *, side: float = 0.1, size: float = 0.02) -> float:
    """Angular momentum of a square after `time` [s] over the one it had, at `turns` [1/s] about `axis` (3,)."""
    mesh, x = rectangle(side, side, size, kind="delaunay")
    model = Model((PAPER,), contact=CONTACT, gravity=(0.0, 0.0, 0.0), duration=time)
    mass = node_masses(mesh, model.materials)
    x = x - mass @ x / mass.sum()
    state = initial_state(mesh, x, v=np.cross(2.0 * np.pi * turns * axis / np.linalg.norm(axis), x))
    last = Simulation(model=model, state=state).run()
    before, after = (
        np.linalg.norm(np.cross(s.x - mass @ s.x / mass.sum(), mass[:, None] * s.v).sum(axis=0)) for s in (state, last)
    )
    return float(after / before)


def validate_moved_copy(side: float = 0.2) -> CaseResult:
    """Largest distance between a swinging sheet and its turned and moved copy after 1 s: ≤ 1e-3 of its width."""
    turn = _rotation(np.array([0.3, 1.0, -0.7]))
    here = swing_sheet(side, np.eye(3), np.zeros(3))
    there = swing_sheet(side, turn, PLACE)
    apart = np.linalg.norm((there.x - PLACE) @ turn - here.x, axis=1).max() / side
    moved = np.abs(here.x - here.mesh.node_rest + here.mesh.node_rest.mean(axis=0)).max() / side
    checks = (
        Check("distance of the copies over the width", 0.0, float(apart), 1e-3),
        range_check("way of the sheet over the width", (0.1, 2.0), float(moved)),
    )
    return CaseResult("moved-copy", checks)


def swing_sheet(side: float, turn: Floats, place: Floats) -> State:
    """A square held at one edge that has swung for 1 s, turned by `turn` (3, 3) and moved to `place` (3,) [m]."""
    mesh, flat = rectangle(side, side, 0.1 * side, kind="delaunay")
    x = flat - flat.mean(axis=0)
    x[:, 2] = 0.1 * side * np.sin(4.0 * x[:, 0] / side)
    v = np.cross([1.0, 2.0, 1.0], x)
    v[:, 2] += 0.3 * np.cos(5.0 * x[:, 1] / side)
    x, v = x @ turn.T + place, v @ turn.T
    held = np.flatnonzero(flat[:, 0] < 1e-9).astype(np.int32)
    pins = Pins(held, np.zeros(len(held), np.int32), np.ascontiguousarray(x[held]))
    gravity = turn @ [0.0, 0.0, -STANDARD_GRAVITY]
    model = Model((PAPER,), handles=(Handle("edge"),), contact=NO_CONTACT, gravity=(gravity[0], gravity[1], gravity[2]))
    return Simulation(model=model, state=initial_state(mesh, x, v=v, pins=pins)).run()


def validate_flapping() -> CaseResult:
    """Energy of a flapping cantilever after 10 periods over the first: ≥ 95 %, for three strips."""
    checks, curves = [], []
    for length, swing in ((0.1, 0.1), (0.1, 0.4), (0.2, 0.1)):
        path = flap_strip(length, swing)
        label = f"{1e3 * length:g} mm long, tip at {swing:g} of that"
        checks.append(Check(f"energy left, {label}", 1.0, path[-1][1], 0.05))
        curves.append(curve(label, path))
    return CaseResult("flapping", tuple(checks), figure=Figure("periods", "energy left", tuple(curves)))


def flap_strip(length: float, swing: float, *, rows: int = 16) -> list[tuple[float, float]]:
    """Periods and energy over that at the start, of a strip whose tip starts at a speed that takes it to about `swing`
    lengths."""
    strip = make_strip(length, 0.3 * length, rows)
    material = replace(PAPER, damping=0.0)
    number = FIRST_MODE / length
    frequency = number**2 * np.sqrt(material.bend_stiffness / material.density)
    s = number * np.maximum(strip.x[:, 0], 0.0)
    shape = np.cosh(s) - np.cos(s) - 0.734096 * (np.sinh(s) - np.sin(s))
    v = np.zeros_like(strip.x)
    v[:, 2] = 0.5 * swing * length * frequency * shape
    v[strip.nodes(0, 1)] = 0.0
    period = 2.0 * np.pi / frequency
    model = Model(
        (material,),
        handles=(clamp("clamp"),),
        contact=NO_CONTACT,
        gravity=(0.0, 0.0, 0.0),
        duration=PERIODS * period,
    )
    start = kinetic_energy(node_masses(strip.mesh, model.materials), v)
    watch = Statistics()
    state = initial_state(strip.mesh, strip.x, v=v, pins=hold(strip, strip.x, (0, 1)))
    Simulation(model=model, state=state).run(observers=[watch])
    return [(step.time / period, sum(step.energies.values()) / start) for step in watch.steps]


def _rotation(vector: Floats) -> Floats:
    """The rotation by |vector| [rad] about it, (3, 3) (Rodrigues)."""
    angle = float(np.linalg.norm(vector))
    x, y, z = vector / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
