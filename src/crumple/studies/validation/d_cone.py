"""d-cone: a disk pushed by its centre into a ring becomes a cone that lifts off the ring on one side [Cerda1998].

The sheet keeps its lengths, so it is a cone r u(φ) over the polar angle; with the depth ε (over the radius of the ring)
it touches the ring where u = ε. What is lifted minimises the bending energy ∫ (u + u″)² at a given ∫ (u′² − u²) = 0
(lengths are kept to second order), touching without a kink and without a couple: u = ε, u′ = u″ = 0 at ±φ₀. So

    u/ε = a cos φ + b cos λφ,   a = λ²/((λ² − 1) cos φ₀),   b = 1/((1 − λ²) cos λφ₀),   λ tan φ₀ = tan λφ₀

and the lengths decide φ₀: an aperture of 139°, whatever ε is, as long as it is small.

The theory has no core: it is the limit of a thin sheet. In a sheet of finite thickness the tip stretches within about
R (t/εR)^(1/3), which lets the lifted part be narrower; so the case runs through growing R/t, each from the solution
before, and checks the last. The mesh is made of radii (a cone bends along these only), finer towards the tip, and the
case is one of hinges: sheets as thin as this lock with mid-edge elements, whose minimum then depends on the start (an
aperture from 108° to 136°). The run
begins with a narrower cone than the theory's, to be sure that it is found and not given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq

from crumple.boundary import Obstacle, make_obstacle
from crumple.materials.material import Material
from crumple.mesh import make_sheet_mesh
from crumple.model.model import Model
from crumple.options.contact import ContactOptions
from crumple.runtime.typing import Floats, Ints
from crumple.state import Pins, State, initial_state
from crumple.studies.validation.result import CaseResult, Check, Curve, Figure, table_check
from crumple.studies.validation.strip import clamp, settle, static_model

TABLE = {"a": 3.066, "b": 0.7585, "λ": 3.8045, "φ₀": 1.2129}
TABLE_DIGITS = 2e-4
RADIUS, RING = 0.1, 0.07
"""Of the disk and of the ring [m]."""
DEPTH = 0.05
"""ε: how far the tip is below the ring, over the radius of the ring."""
BEND, DENSITY = 1e-4, 0.08
THINNESS = (5e3, 2e4, 1e5)
"""R/t on the way; t = √(12 B/Y)."""
RADII, TIP, LONG = 160, 0.02, 5.0
"""Radii of the mesh, its innermost circle over R, and length over width of its cells."""
ACTIVATION = 2e-5
NARROW = 1.0
"""Half the aperture of the cone that the run begins with [rad]."""
LOOSE = 1e-5
FOOT = 0.02
"""Height above the ring, over ε, from which the aperture is extrapolated: 1° too much on the theory's own curve."""
APERTURE, APERTURE_TOLERANCE = 139.0, 6.0
RMS_TOLERANCE = 0.05


@dataclass(frozen=True)
class Lift:
    """The lifted shape a cos φ + b cos λφ, 1 beyond `takeoff` φ₀ [rad]."""

    a: float
    b: float
    rate: float
    takeoff: float

    def __call__(self, angle: Floats) -> Floats:
        lifted = self.a * np.cos(angle) + self.b * np.cos(self.rate * angle)
        return np.where(np.abs(angle) < self.takeoff, lifted, 1.0)

    def excess(self) -> float:
        """∫ (u′² − u²) over half the circle: 0 when lengths are kept."""
        s = np.linspace(0.0, self.takeoff, 2001)
        slope = -self.a * np.sin(s) - self.b * self.rate * np.sin(self.rate * s)
        return float(np.trapezoid(slope**2 - self(s) ** 2, s)) + self.takeoff - np.pi


def make_lift(takeoff: float) -> Lift:
    """The lifted shape with neither kink nor couple at `takeoff` [rad], whether or not it keeps lengths."""

    def mismatch(rate: float) -> float:  # tan λφ₀ = λ tan φ₀ without its poles
        return float(np.sin(rate * takeoff) * np.cos(takeoff) - rate * np.sin(takeoff) * np.cos(rate * takeoff))

    rate = brentq(mismatch, 1.05 * np.pi / takeoff, 1.5 * np.pi / takeoff)
    square = rate**2
    a, b = square / ((square - 1.0) * np.cos(takeoff)), 1.0 / ((1.0 - square) * np.cos(rate * takeoff))
    return Lift(float(a), float(b), float(rate), takeoff)


def reference_lift() -> Lift:
    """The shape that keeps lengths."""
    return make_lift(float(brentq(lambda takeoff: make_lift(takeoff).excess(), 1.0, 1.4)))


@dataclass(frozen=True)
class Cone:
    """What is measured: `angle` (n,) from the middle of the lifted part [rad], `height` (n,) u/ε, R/t."""

    thinness: float
    angle: Floats
    height: Floats

    @property
    def aperture(self) -> float:
        """2 φ₀ [°]: without a couple at ±φ₀ the height above the ring grows with the cube of the distance from there,
        so the widths at two heights, one eight times the other, tell where it begins."""
        low, high = (self._width(1.0 + height) for height in (FOOT, 8.0 * FOOT))
        return float(np.degrees(2.0 * low - high))

    def _width(self, height: float) -> float:
        """Angle within which u/ε is above `height` [rad]."""
        left, right = self.angle < 0.0, self.angle > 0.0
        begin = np.interp(height, self.height[left], self.angle[left])
        return float(np.interp(-height, -self.height[right], self.angle[right]) - begin)

    def error(self, reference: Lift) -> float:
        """Root mean square of the difference over that of the reference."""
        expected = reference(self.angle)
        return float(np.sqrt(np.mean((self.height - expected) ** 2) / np.mean(expected**2)))


def validate_d_cone(thinness: tuple[float, ...] = THINNESS, radii: int = RADII) -> CaseResult:
    """Aperture within 6° of 139°, shape within 5 % in the root mean square; the formula's constants as printed."""
    reference = reference_lift()
    cones = push_disk(thinness, radii)
    last = cones[-1]
    computed = {"a": reference.a, "b": reference.b, "λ": reference.rate, "φ₀": reference.takeoff}
    label = f"at R/t = {last.thinness:g}"
    checks = (
        Check(f"aperture {label} [°]", APERTURE, last.aperture, APERTURE_TOLERANCE),
        Check(f"shape, relative RMS difference {label}", 0.0, last.error(reference), RMS_TOLERANCE),
        table_check(TABLE, computed, TABLE_DIGITS),
    )
    dense = np.linspace(-np.pi, np.pi, 361)
    curves = [Curve("theory", np.degrees(dense), reference(dense))]
    curves += [
        Curve(
            f"R/t = {cone.thinness:g}: {cone.aperture:.0f}°", np.degrees(cone.angle), cone.height, points=cone is last
        )
        for cone in cones
    ]
    figure = Figure("polar angle φ [°]", "height over ε", tuple(curves))
    return CaseResult("d-cone", checks, figure=figure)


def push_disk(thinness: tuple[float, ...], radii: int) -> list[Cone]:
    """The cones at rest, for each R/t."""
    u, circles = _polar_points(radii)
    mesh = make_sheet_mesh(u, _polar_faces(radii, len(circles)))
    x = _start(u)
    tip = np.zeros(1, np.int32)
    pins = Pins(tip, tip, np.array([[0.0, 0.0, -DEPTH * RING]]))
    obstacles = (_ring(radii),)
    x[:, 2] -= DEPTH * RING - 3.0 * ACTIVATION
    cones = []
    for ratio in thinness:
        model = _model(ratio, obstacles)
        state = initial_state(
            mesh, x, pins=pins, obstacle_x=model.obstacle_positions(0.0), obstacle_count=1, step_size=1.0
        )
        state = settle(model, state, frames=2)
        x = state.x
        circle = int(np.argmin(np.abs(circles - RING)))
        cones.append(_measure(ratio, state, circles[circle], 1 + circle * radii + np.arange(radii, dtype=np.int32)))
    return cones


def _model(ratio: float, obstacles: tuple[Obstacle, ...]) -> Model:
    stretch = 12.0 * BEND * (ratio / RADIUS) ** 2
    material = Material.from_stiffness("disk", stretch=stretch, bend=BEND, thickness=1e-4, density=DENSITY)
    contact = ContactOptions(activation=ACTIVATION, sheet_thickness=(0.0,), friction=np.zeros((2, 2)))
    model = static_model(material, [clamp("tip")], distance=LOOSE, contact=contact, obstacles=obstacles)
    return replace(model, solver=replace(model.solver, bending="hinge"))


def _measure(ratio: float, state: State, radius: float, nodes: Ints) -> Cone:
    """Heights of the circle of nodes nearest to the ring, from the tip, per radius."""
    height = (state.x[nodes, 2] - state.x[0, 2]) / (radius * DEPTH)
    angle = np.arctan2(state.mesh.u[nodes, 1], state.mesh.u[nodes, 0])
    middle = np.angle(np.sum((height - 1.0) * np.exp(1j * angle)))
    angle = (angle - middle + np.pi) % (2.0 * np.pi) - np.pi
    order = np.argsort(angle)
    return Cone(ratio, angle[order], height[order])


def _polar_points(radii: int) -> tuple[Floats, Floats]:
    """Pattern points, the tip first, then circle by circle; radii of the circles [m]."""
    count = int(np.ceil(-np.log(TIP) / (LONG * 2.0 * np.pi / radii)))
    circles = RADIUS * np.geomspace(TIP, 1.0, count + 1)
    angle = 2.0 * np.pi * np.arange(radii) / radii
    around = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.concatenate([np.zeros((1, 2)), *(radius * around for radius in circles)]), circles


def _polar_faces(radii: int, circles: int) -> Ints:
    """Faces of a fan around node 0 and of rings of cells cut by diagonals in turn."""
    i = np.arange(radii)
    j = (i + 1) % radii
    faces = [np.stack([np.zeros_like(i), 1 + i, 1 + j], axis=1)]
    for circle in range(circles - 1):
        a, b = 1 + circle * radii + i, 1 + circle * radii + j
        d, c = a + radii, b + radii
        odd = ((i + circle) % 2 == 1)[:, None]
        faces.append(np.where(odd, np.stack([a, d, b], axis=1), np.stack([a, d, c], axis=1)))
        faces.append(np.where(odd, np.stack([b, d, c], axis=1), np.stack([a, c, b], axis=1)))
    return np.concatenate(faces).astype(np.int32)


def _ring(segments: int) -> Obstacle:
    """A short tube whose upper rim, at z = 0, carries the sheet; its corners lie between the radii of the mesh."""
    angle = 2.0 * np.pi * (np.arange(segments) + 0.5) / segments
    rim = np.stack([RING * np.cos(angle), RING * np.sin(angle), np.zeros(segments)], axis=1)
    i = np.arange(segments)
    j = (i + 1) % segments
    faces = np.concatenate([np.stack([i, j, i + segments], axis=1), np.stack([j, j + segments, i + segments], axis=1)])
    return make_obstacle("ring", faces.astype(np.int32), np.concatenate([rim, rim - [0.0, 0.0, 0.02 * RADIUS]]))


def _start(u: Floats) -> Floats:
    """Points (n, 3) of a cone with the slope ε that is lifted within ±NARROW and keeps all lengths."""
    longitude = np.linspace(-np.pi, np.pi, 20001)
    bump = np.where(np.abs(longitude) < NARROW, 0.5 * (1.0 + np.cos(np.pi * longitude / NARROW)), 0.0)

    def arc(lift: float) -> tuple[Floats, Floats]:
        rise = np.arctan(DEPTH) + lift * bump
        step = np.hypot(np.diff(rise), np.cos(0.5 * (rise[1:] + rise[:-1])) * np.diff(longitude))
        return rise, np.concatenate([[0.0], np.cumsum(step)])

    lift = brentq(lambda value: arc(value)[1][-1] - 2.0 * np.pi, 1e-6, 1.5)
    rise, along = arc(lift)
    angle = np.arctan2(u[:, 1], u[:, 0])
    rise, longitude = np.interp(angle, along - np.pi, rise), np.interp(angle, along - np.pi, longitude)
    around = np.stack([np.cos(rise) * np.cos(longitude), np.cos(rise) * np.sin(longitude), np.sin(rise)], axis=1)
    return np.ascontiguousarray(np.hypot(u[:, 0], u[:, 1])[:, None] * around)
