"""plastic-round-trip: a strip bent onto a cylinder beyond yield keeps the rest of the curvature when it is let go.

A handle lays all nodes on a cylinder of curvature κ > κ_y and lets go. Perfect plasticity leaves S_p = κ − κ_y and the
damage δ = (κ − κ_y)/κ_y; the strip comes to rest at the curvature κ − κ_y, and resists further bending with the
stiffness B/(1 + γδ). A remesh that is forced upon it (edges of another length everywhere) changes none of this.

Faces at the outline lack hinges, see less than the full curvature and yield later ([Narain2013] eq. 1 as it is), so the
outermost rows bend back a little more: the measurements are those of the inner part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crumple.energies import make_hinges
from crumple.geometry.curvature import curvature_stencil, rest_angle
from crumple.materials.material import Material
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.options.remeshing import RemeshingOptions
from crumple.options.sizing import SizingOptions
from crumple.runtime.typing import Bools, Floats
from crumple.simulation.frame import adapt
from crumple.state import State, initial_state, no_pins
from crumple.studies.validation.result import CaseResult, Check, Figure, curve, relative_check
from crumple.studies.validation.strip import PAPERS_LAW, Strip, clamp, hold, make_strip, settle, static_model

LENGTH, WIDTH, ROWS = 0.1, 0.1, 24
BEND, STRETCH, DENSITY, WEAKENING = 4e-4, 4e5, 0.08, 0.5
YIELD = 10.0
"""κ_y [1/m]."""
CURVATURES = (15.0, 20.0, 30.0)
"""To which the strip is bent [1/m]."""
TOLERANCE, REMESH_TOLERANCE = 0.01, 0.02
MARGIN = 0.2
"""Share of the strip at every side of its outline that is left out of the measurements."""
EDGES = (0.7, 1.4)
"""Lengths of edges that the remeshes ask for, over those of the strip: finer, then coarser."""
LOOSE = 1e-5
"""Where the strip is as a whole is not settled by anything [m]."""


@dataclass(frozen=True)
class Bent:
    """What is measured: curvature at rest [1/m], damage, stiffness against further bending over B."""

    curvature: float
    damage: float
    stiffness: float


def validate_plastic_round_trip(rows: int = ROWS) -> CaseResult:
    """Residual curvature, damage and stiffness: within 1 %, and within 2 % of themselves after two remeshes."""
    strip = make_strip(LENGTH, WIDTH, rows, clamps=0)
    checks: list[Check] = []
    points = []
    for curvature in CURVATURES:
        model, state = bend_and_release(strip, curvature)
        bent = measure(model, state)
        label = f"κ/κ_y = {curvature / YIELD:g}"
        left = curvature - YIELD
        checks += [
            relative_check(f"{label}: residual curvature [1/m]", left, bent.curvature, TOLERANCE),
            relative_check(f"{label}: damage", left / YIELD, bent.damage, TOLERANCE),
            relative_check(
                f"{label}: stiffness / B", 1.0 / (1.0 + WEAKENING * left / YIELD), bent.stiffness, TOLERANCE
            ),
        ]
        points.append((curvature, bent.curvature))
    for share in EDGES:
        state = force_remesh(model, state, share * strip.spacing)
        again = measure(model, state)
        label = f"edges × {share:g}"
        checks += [
            relative_check(f"{label}: residual curvature [1/m]", bent.curvature, again.curvature, REMESH_TOLERANCE),
            relative_check(f"{label}: damage", bent.damage, again.damage, REMESH_TOLERANCE),
        ]
    curves = (
        curve("κ − κ_y", [(0.0, 0.0), (YIELD, 0.0), (CURVATURES[-1], CURVATURES[-1] - YIELD)]),
        curve("measured", points, markers=True),
    )
    figure = Figure("curvature κ under load [1/m]", "curvature after release [1/m]", curves)
    return CaseResult("plastic-round-trip", tuple(checks), figure=figure)


def bend_and_release(strip: Strip, curvature: float) -> tuple[Model, State]:
    """The strip laid on a cylinder of `curvature` [1/m] by a handle, then left alone until it rests."""
    material = Material.from_stiffness(
        "strip", stretch=STRETCH, bend=BEND, thickness=1e-4, density=DENSITY,
        yield_curvature=YIELD, weakening=WEAKENING,
    )  # fmt: skip
    model = static_model(material, [clamp("cylinder")], distance=LOOSE, plasticity=PAPERS_LAW)
    bent = _roll(strip.x, curvature)
    pins = hold(strip, bent, range(strip.last + 1))
    state = settle(model, initial_state(strip.mesh, bent, pins=pins, step_size=1.0), frames=1)
    return model, settle(model, state.replaced(pins=no_pins()), frames=3)


def force_remesh(model: Model, state: State, size: float) -> State:
    """The state at rest on a mesh with edges of about `size` [m]."""
    options = RemeshingOptions(SizingOptions(size_min=size, size_max=size))
    return settle(model, adapt(state, Derived(replace(model, remeshing=options), state)), frames=2)


def measure(model: Model, state: State) -> Bent:
    """Curvature, damage and stiffness of the inner part."""
    inner = _inner(state, state.mesh.u[state.mesh.faces].mean(axis=1))
    area = np.abs(state.mesh.face_area) * inner
    nodes = np.zeros(state.mesh.node_count, bool)
    nodes[state.mesh.face_nodes[inner]] = True
    damage = float(area @ state.damage / area.sum())
    return Bent(_fit_curvature(state.x[nodes]), damage, _stiffness(model, state, inner))


def _stiffness(model: Model, state: State, inner: Bools) -> float:
    """d²E/dκ² over B and the area: from the bending energy of three cylinders around the curvature at rest."""
    mesh = state.mesh
    angle = rest_angle(curvature_stencil(mesh), state.plastic_curvature)
    ((bending, _),) = make_hinges(mesh, model.materials).at(angle, state.damage)
    share = 0.5 * inner[mesh.hinges.faces].sum(axis=1)
    flat = np.stack([mesh.u[:, 1], -mesh.u[:, 0], np.zeros(mesh.vertex_count)], axis=1)
    middle, step = _fit_curvature(state.x), 0.1
    low, mid, high = (float(share @ bending.value(_roll(flat, middle + change))) for change in (-step, 0.0, step))
    return (low - 2.0 * mid + high) / step**2 / (BEND * float(np.abs(mesh.face_area) @ inner))


def _roll(flat: Floats, curvature: float) -> Floats:
    """Points (n, 3) of the plane z = 0 on a cylinder that curves x upwards, isometrically."""
    s = flat[:, 0] - 0.5 * LENGTH
    height = (1.0 - np.cos(curvature * s)) / curvature
    return np.ascontiguousarray(np.stack([np.sin(curvature * s) / curvature, flat[:, 1], height], axis=1))


def _inner(state: State, u: Floats) -> Bools:
    """Points (n, 2) of the pattern that are away from its outline."""
    low, high = state.mesh.u.min(axis=0), state.mesh.u.max(axis=0)
    margin = MARGIN * (high - low)
    return np.asarray(np.all((u > low + margin) & (u < high - margin), axis=1))


def _fit_curvature(x: Floats) -> float:
    """Curvature [1/m] of the cylinder around an axis along y that fits points best (n, 3), in the algebraic sense."""
    p = x[:, [0, 2]] - x[:, [0, 2]].mean(axis=0)
    system = np.stack([p[:, 0], p[:, 1], np.ones(len(p))], axis=1)
    a, b, c = np.linalg.lstsq(system, np.sum(p**2, axis=1), rcond=None)[0]
    return float(1.0 / np.sqrt(c + 0.25 * (a**2 + b**2)))
