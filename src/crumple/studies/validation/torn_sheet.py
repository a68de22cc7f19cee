"""A sheet that is slit and pulled apart at two grips, for the cases of tearing: what the grips pull while it tears."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crumple.boundary import Handle
from crumple.contact import find_intersections
from crumple.materials.material import Material
from crumple.mesh import SheetMesh
from crumple.model.derived import Derived, contact_surface
from crumple.model.model import Model
from crumple.options.contact import ContactOptions
from crumple.options.tearing import Tearing
from crumple.runtime.typing import Floats, Ints
from crumple.state import Pins, State, initial_state
from crumple.stepping.step import measure_energies
from crumple.studies.validation.strip import moved_pins, reaction, settle, static_model
from crumple.tearing.slits import slit_open

YOUNG, THICKNESS, TEAR = 3e9, 1e-4, 1.0
"""[Pa], [m], G_c t [N] of the sheets."""
OPENING = 2e-4
"""Height by which the legs are apart at the start, so that they know which way to go [m]."""
CONTACT = ContactOptions(activation=5e-4, sheet_thickness=(THICKNESS,), friction=np.zeros((1, 1)))


@dataclass(frozen=True)
class Pulled:
    """One step of a pull: `way` of each grip [m], `force` of the first (3,) [N], `tip` (2,) [m] on the pattern, the
    `work` of fracture so far [J], the energy `stored` in sheet and grips [J], and `crossings` of the sheet with
    itself."""

    way: float
    force: Floats
    tip: Floats
    work: float
    stored: float
    crossings: int


def tearing_material(tear: float = TEAR, **others: float) -> Material:
    """An elastic sheet that takes `tear` = G_c t [N] to tear."""
    energy = tear / THICKNESS
    return Material.isotropic(
        "sheet", young=YOUNG, poisson=0.0, thickness=THICKNESS, density=0.08, tear_energy=(energy, energy), **others
    )


def tearing_model(material: Material, *, contact: bool = True) -> Model:
    """A static model with two grips that tears."""
    grips = [Handle(name, stiffness=1e5, grips=False) for name in ("left", "right")]
    model = static_model(material, grips, duration=1e9, contact=replace(CONTACT, enabled=contact))
    return replace(model, tearing=Tearing(initiation=False))


def slit_sheet(mesh: SheetMesh, slit: Floats) -> State:
    """A flat sheet, slit along `slit` (n, 2) of its pattern [m] from below, the left lip a little above."""
    state = slit_open(initial_state(mesh, mesh.node_rest.copy(), step_size=1.0), slit)
    x = state.x.copy()
    depth = float(slit[-1, 1])
    x[:, 2] += sides(state, slit) * OPENING * np.clip(1.0 - x[:, 1] / depth, 0.0, 1.0)
    return state.replaced(x=x)


def sides(state: State, slit: Floats) -> Floats:
    """1 for nodes to the left of an upright slit, −1 to the right, by the faces that they have, (node_count,)."""
    mesh = state.mesh
    middle = mesh.u[mesh.faces].mean(axis=1)[:, 0]
    total = np.bincount(mesh.face_nodes.ravel(), np.repeat(middle, 3), mesh.node_count)
    count = np.bincount(mesh.face_nodes.ravel(), minlength=mesh.node_count)
    return np.where(total / count < slit[0, 0], 1.0, -1.0)


def grip(state: State, left: Ints, right: Ints) -> State:
    """The state with nodes held by the two grips where they are on the pattern."""
    node = np.concatenate([left, right]).astype(np.int32)
    handle = np.repeat(np.arange(2, dtype=np.int32), [len(left), len(right)])
    anchor = state.mesh.node_rest[node].copy()
    anchor[:, 2] = 0.0
    return state.replaced(pins=Pins(node, handle, anchor))


def pull(
    model: Model, state: State, *, first: float, step: float, approach: float = 2e-3, length: float, most: int = 400
) -> tuple[State, list[Pulled]]:
    """The grips pulled apart across the sheet, in steps of `step` [m] from `first` [m] on, until the crack is longer by
    `length` [m]; the last state, and the steps while it tore."""
    base = state.pins.anchor.copy()
    start = state.torn.length()
    rows: list[Pulled] = []
    way = 0.0
    while state.torn.length() - start < length and len(rows) < most and len(state.tips.node):
        way += approach if way < first - 1e-12 else step
        lift = np.where(state.pins.handle == 0, way, -way)
        anchor = base + lift[:, None] * np.array([0.0, 0.0, 1.0])
        state = settle(model, state.replaced(pins=moved_pins(state.pins, anchor)), frames=1)
        crossings = 0
        if model.contact.enabled:
            crossings = len(find_intersections(contact_surface(model, state, state.time), state.x))
        if state.torn.length() > start:
            force = reaction(model, state, 0)
            stored = sum(measure_energies(state, Derived(model, state)).values())
            rows.append(Pulled(way, force, state.torn.points[-1], state.fracture_work, stored, crossings))
    return state, rows
