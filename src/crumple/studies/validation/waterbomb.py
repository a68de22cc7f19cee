"""waterbomb: six creases around a vertex fold as the rigid facets do; eight of them have two stable states.

**Six creases**, the base of a waterbomb: four valleys along the diagonals of a square, driven hard to ρ_V, and two
mountains across it that are free. Where both halves fold alike, spherical trigonometry gives

    tan(ρ_M/2) = tan(ρ_V/2)/√2

**Eight creases**, mountains and valleys in turn, 45° apart, with the polar angles θ_M and θ_V from the axis: the sector
between them stays, cos 45° = cos θ_M cos θ_V + sin θ_M sin θ_V cos 45°. The valleys fold by ρ_V = |π − 2θ_M|, and for
each ρ_V there are two states, in one of which the vertex has popped through [Hanna2014]. With springs of the same
stiffness on all creases at rest in one of them, Σ (ρ − ρ̄)² has a second minimum in the other. Measured are stiff
facets that are pushed through at the vertex and let go: the angles where they stay, and the energy there over the
largest on the way, the barrier. All creases alike pass through the flat state; that of the simulation is a little
lower, because eight creases have other ways around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import minimize_scalar

from crumple.boundary.creases import SPRING, Crease
from crumple.contract import EnergyTerm
from crumple.energies.nodal import make_nodal
from crumple.geometry.hinge import dihedral_angles
from crumple.materials.material import Material
from crumple.model.model import Model
from crumple.patterns.generators import signed_dihedral
from crumple.patterns.meshing import mesh_pattern
from crumple.patterns.pattern import CreasePattern
from crumple.patterns.planar import pattern_from_segments
from crumple.patterns.rigid import fold_facets
from crumple.plasticity import hinge_labels
from crumple.runtime.typing import Floats, Ints
from crumple.scenes import scene_from_tables
from crumple.session.simulation import Simulation
from crumple.state import State, initial_state
from crumple.studies.validation.result import CaseResult, Check, Figure, curve
from crumple.studies.validation.strip import CLAMP_STIFFNESS, settle, static_model

CELL, SIZE, START, FOLD = 0.06, 0.012, 20.0, 120.0
"""Side of the square and of its faces [m], ρ_V at the start and at the end [degrees]."""
DURATION, FRAMES = 1.0, 20
"""Of the fold [s], and frames, every other of which is measured."""
ANGLE_TOLERANCE = 0.05
"""Of the free creases [degrees]."""
RADIUS, VALLEY = 0.04, np.radians(60.0)
"""Of the octagon [m], and ρ̄_V [rad]."""
STIFFNESS = 2e-3
"""κ of the springs [N m/m/rad]."""
PUSHES = 24
"""Steps in which the vertex is pushed, the twentieth to the flat state."""
FACET = Material.from_stiffness("facet", stretch=1e5, bend=0.3, thickness=1e-3, density=0.5)


def validate_waterbomb() -> CaseResult:
    """Free creases within 0.05° of the relation at ten angles; second state within 1°, energy over barrier ± 0.05."""
    found = fold_base()
    relation = [(one.valley, one.mountain_error) for one in found]
    checks = [Check("six creases: ρ_M against tan(ρ_V/2)/√2 [°]", 0.0, max(e for _, e in relation), ANGLE_TOLERANCE)]
    checks.append(Check("six creases: ρ_V against its target [°]", 0.0, max(one.valley_error for one in found), 0.1))
    rest, expected = rest_state(), popped_state()
    popped = pop()
    names = ("ρ_M", "ρ_V")
    for name, wanted, measured in zip(names, np.degrees(expected.angles), np.degrees(popped.angles), strict=True):
        checks.append(Check(f"eight creases, popped: {name} [°]", float(wanted), float(measured), 1.0))
    checks.append(Check("eight creases: energy over barrier [-]", expected.share, popped.share, 0.05))
    back = pop(0.25)
    for name, wanted, measured in zip(names, np.degrees(rest), np.degrees(back.angles), strict=True):
        checks.append(Check(f"eight creases, pushed a little: {name} [°]", float(wanted), float(measured), 0.1))
    return CaseResult("waterbomb", tuple(checks), figure=_figures(found, popped))


@dataclass(frozen=True)
class Base:
    """A waterbomb base: ρ_V and ρ_M on average, and errors at most [degrees]."""

    valley: float
    mountain: float
    valley_error: float
    mountain_error: float


@dataclass(frozen=True)
class Popped:
    """Eight creases at rest: ρ_M, ρ_V [rad], the energy of the springs over the barrier, and on the way the height of
    the vertex above the tips of the mountains [m] with that energy [J]."""

    angles: tuple[float, float]
    share: float
    way: tuple[tuple[float, float], ...] = ()


def mountain_angle(valley: float) -> float:
    """ρ_M that goes with ρ_V [rad] around six creases."""
    return float(2.0 * np.arctan(np.tan(0.5 * valley) / np.sqrt(2.0)))


def fold_base() -> list[Base]:
    """The base at ten times while its valleys are driven."""
    share = START / FOLD
    shape = {"kind": "waterbomb", "columns": 1, "rows": 1, "cell": CELL, "angle": FOLD, "size": SIZE, "start": share}
    keys = [{"time": 0, "angle": START}, {"time": DURATION, "angle": FOLD}]
    creases = [{"group": "diagonal", "drive": "hard", "keys": keys}, {"group": "grid", "drive": "free"}]
    tables = {
        "run": {"frame_time": DURATION / FRAMES, "duration": DURATION},
        "environment": {"gravity": [0, 0, 0], "wind": {"density": 0, "drag": 5}},
        "contact": {"activation": 2e-4},
        "sheets": [{"material": "paper80", "shape": shape, "creases": creases}],
    }
    sim = Simulation(scene_from_tables(tables, source="waterbomb"))
    found = []
    for frame in range(FRAMES):
        sim.advance_frame()
        if frame % 2 == 1:
            found.append(_measure_base(sim.model, sim.state))
    return found


def _measure_base(model: Model, state: State) -> Base:
    """Angles of the base, of its driven and of its free creases."""
    driven, free = model.creases
    target = float(np.abs(driven.angle_at(state.time)).max())
    valley, mountain = (_angles_of(state, crease.labels) for crease in (driven, free))
    return Base(
        valley=float(-np.degrees(valley.mean())),
        mountain=float(np.degrees(mountain.mean())),
        valley_error=float(np.degrees(np.abs(valley + target).max())),
        mountain_error=float(np.degrees(np.abs(mountain - mountain_angle(target)).max())),
    )


def vertex_angles(tilt: float) -> tuple[float, float]:
    """ρ_M and ρ_V [rad], the second negative, of eight creases whose mountains are at the polar angle `tilt` [rad]:
    below π/2 the vertex is below its rim, beyond it has popped through."""
    along, across = np.cos(tilt), np.sin(tilt) * np.cos(np.pi / 4)
    other = np.arctan2(across, along) + np.arccos(np.clip(np.cos(np.pi / 4) / np.hypot(along, across), -1.0, 1.0))
    mountain, valley = (_spoke(polar, around) for polar, around in ((tilt, 0.0), (other, np.pi / 4)))
    before, after = _spoke(other, -np.pi / 4), _spoke(tilt, np.pi / 2)
    zero = np.zeros(3)
    return signed_dihedral(zero, mountain, valley, before), signed_dihedral(zero, valley, after, mountain)


def _spoke(polar: float, around: float) -> Floats:
    """A unit vector with a polar angle from z and an azimuth [rad]."""
    return np.array([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)])


def rest_state() -> tuple[float, float]:
    """ρ̄_M and ρ̄_V of the springs [rad], both positive."""
    mountain, valley = vertex_angles(0.5 * (np.pi - VALLEY))
    return mountain, -valley


def popped_state() -> Popped:
    """The second minimum of Σ (ρ − ρ̄)² over the motion of rigid facets."""
    rest = np.array(rest_state())

    def energy(tilt: float) -> float:
        mountain, valley = vertex_angles(tilt)
        return float(np.sum((np.array([mountain, -valley]) - rest) ** 2))

    best = minimize_scalar(energy, bounds=(0.5 * np.pi, 0.75 * np.pi), method="bounded", options={"xatol": 1e-9})
    mountain, valley = vertex_angles(float(best.x))
    return Popped((mountain, -valley), float(best.fun) / float(np.sum(rest**2)))


def octagon() -> CreasePattern:
    """A regular octagon with eight creases from its middle: mountains from edge 0, every other is a valley."""
    around = np.arange(8) * np.pi / 4
    rim = RADIUS * np.stack([np.cos(around), np.sin(around)], axis=1)
    spokes = [((0.0, 0.0), tuple(point)) for point in rim]
    border = [(tuple(a), tuple(b)) for a, b in pairwise([*rim, rim[0]])]
    mountain, valley = rest_state()
    angle = np.concatenate([np.tile([mountain, -valley], 4), np.zeros(8)])
    return pattern_from_segments(np.array(spokes + border), [*"MVMVMVMV", *"BBBBBBBB"], angle, snap=1e-9)


def pop(share: float = 1.2) -> Popped:
    """Eight creases whose vertex is pushed by a `share` of its distance from the rim, beyond 1 through it, and then let
    go."""
    pattern = octagon()
    sheet = mesh_pattern(pattern, SIZE)
    x = sheet.folded(fold_facets(pattern, pattern.targets()))
    tip = _tips(sheet.mesh.u)
    middle = int(np.argmin(np.linalg.norm(sheet.mesh.u, axis=1)))
    x = _upright(x, middle, tip)
    model, labels = _sprung(pattern)
    state = initial_state(sheet.mesh, x, step_size=1.0)
    height = float(x[middle, 2])
    way, barrier = [], 0.0
    for down in np.linspace(0.0, share * height, PUSHES + 1)[1:]:
        pushed = model.with_term(_guides(x, middle, tip, height - down))
        state = settle(pushed, state, frames=1)
        way.append((float(state.x[middle, 2] - state.x[tip, 2].mean()), _spring_energy(model, state)))
    state = settle(model.with_term(_guides(x, middle, tip, None)), state)
    barrier = max(energy for _, energy in way)
    angles = tuple(float(np.abs(_angles_of(state, own)).mean()) for own in labels)
    return Popped((angles[0], angles[1]), _spring_energy(model, state) / barrier, tuple(way))


def _tips(u: Floats) -> Ints:
    """The nodes at the ends of the mountains."""
    ends = [RADIUS * np.array([np.cos(a), np.sin(a)]) for a in np.arange(4) * np.pi / 2]
    return np.array([np.argmin(np.linalg.norm(u - end, axis=1)) for end in ends], np.int32)


def _upright(x: Floats, middle: int, tip: Ints) -> Floats:
    """The folded octagon with the tips of its mountains in z = 0, the first one at +x, seen from above."""
    axis = np.cross(x[tip[2]] - x[tip[0]], x[tip[3]] - x[tip[1]])
    axis /= np.linalg.norm(axis)
    first = x[tip[0]] - x[tip[2]]
    first /= np.linalg.norm(first)
    moved = (x - x[tip].mean(axis=0)) @ np.stack([first, np.cross(axis, first), axis], axis=1)
    return np.ascontiguousarray(moved)


def _sprung(pattern: CreasePattern) -> tuple[Model, tuple[Ints, Ints]]:
    """A model with springs on all creases, and the labels of mountains and of valleys."""
    labels = tuple((np.flatnonzero(pattern.assignment == letter) + 1).astype(np.int32) for letter in "MV")
    creases = tuple(
        Crease(name, 0, own, np.zeros(1), pattern.angle[own - 1][None, :], drive=SPRING, stiffness=STIFFNESS)
        for name, own in zip(("mountains", "valleys"), labels, strict=True)
    )
    return static_model(FACET, [], creases=creases), (labels[0], labels[1])


def _guides(x: Floats, middle: int, tip: Ints, height: float | None) -> EnergyTerm:
    """Stiff springs that let the tips of the mountains move to and from the axis only, and keep the vertex on it, at a
    `height` [m] unless that is None."""
    nodes = np.array([middle, *tip], np.int32)
    center, stiffness = x[nodes].copy(), np.tile(CLAMP_STIFFNESS * np.eye(3), (len(nodes), 1, 1))
    center[0] = [0.0, 0.0, 0.0 if height is None else height]
    if height is None:
        stiffness[0, 2, 2] = 0.0
    for k, place in enumerate(x[tip], start=1):
        out = np.array([place[0], place[1], 0.0]) / np.hypot(place[0], place[1])
        stiffness[k] -= CLAMP_STIFFNESS * np.outer(out, out)
    return EnergyTerm("guides", lambda state: make_nodal(nodes, center, stiffness))


def _angles_of(state: State, labels: Ints) -> Floats:
    """Fold angles of the hinges with one of the labels [rad]."""
    chosen = np.isin(hinge_labels(state.mesh), labels)
    return dihedral_angles(state.x, state.mesh.hinges.nodes[chosen])


def _spring_energy(model: Model, state: State) -> float:
    """Energy of the springs and the facets [J]."""
    return sum(term.mount(state).measure(state) for term in model.terms)


def _figures(found: list[Base], popped: Popped) -> tuple[Figure, ...]:
    """ρ_M over ρ_V of six creases, and the energy of eight while the vertex is pushed through."""
    angle = np.linspace(0.0, FOLD, 100)
    exact = [(v, float(np.degrees(mountain_angle(np.radians(v))))) for v in angle.tolist()]
    measured = [(one.valley, one.mountain) for one in found]
    way = [(1e3 * height, 1e6 * energy) for height, energy in popped.way]
    relation = (curve("tan(ρ_M/2) = tan(ρ_V/2)/√2", exact), curve("measured", measured, markers=True))
    return (
        Figure("ρ_V [°]", "ρ_M [°]", relation),
        Figure("vertex above the rim [mm]", "energy [µJ]", (curve("pushed", way, markers=True),)),
    )
