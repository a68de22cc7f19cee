"""Creases pressed along a line, and cuts along one, into a sheet as it is."""

from __future__ import annotations

import numpy as np

from crumple.geometry.curvature import curvature_stencil
from crumple.model.derived import Derived
from crumple.model.model import Model
from crumple.plasticity import crease_damage, crease_from_edges, crease_tensor, insert_polyline
from crumple.plasticity.embedding import Embedding
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Bools, Floats
from crumple.session.lines import draw
from crumple.state import State, transfer
from crumple.tearing.slits import make_slit, with_tips


def press_line(model: Model, state: State, sheet: int, points: Floats, angle: float) -> State:
    """The state with a crease of the rest angle `angle` [rad], positive = mountain, along a line (n, 2) of the pattern.

    The edges are there at once; the sheet folds by itself from then on. Damage is that of one bend to the angle.
    """

    def edit(state: State, line: Floats, movable: Bools, derived: Derived) -> State:
        inserted = insert_polyline(state.mesh, line, sheet=sheet, movable=movable)
        if not inserted.hinges.any():
            raise InputError("press: points", "no part of the line is inside the sheet, away from its outline")
        made = transfer(state, inserted.change, mesh=inserted.mesh, custom=derived.field_rules(is_cut=True))
        return _creased(model, made, inserted.hinges, angle)

    return draw(model, state, sheet, points, edit)


def cut_line(model: Model, state: State, sheet: int, points: Floats) -> State:
    """The state cut open along a line (n, 2) of the pattern; where sheets tear, its ends inside are tips of cracks.

    The cut is among the cracks of the state, with no length, so that its lips gain thickness like theirs.
    """
    first = 1 + int(max(state.tips.crack.max(initial=-1), state.torn.crack.max(initial=-1)))

    def edit(state: State, line: Floats, movable: Bools, derived: Derived) -> State:
        slit = make_slit(state, line, sheet, movable=movable, rules=derived.field_rules(is_cut=True))
        made = slit.state.replaced(torn=slit.state.torn.extended(line[0], first, sheet).extended(line[0], first, sheet))
        return made if model.tearing is None else with_tips(made, slit.ends, sheet, first + 1)

    return draw(model, state, sheet, points, edit)


def _creased(model: Model, state: State, hinges: Bools, angle: float) -> State:
    """The state with a rest angle [rad] on the marked hinges (hinge_count,)."""
    mesh, before = state.mesh, state.plastic_curvature
    plastic = crease_from_edges(mesh, hinges, angle, plastic_curvature=before, stencil=curvature_stencil(mesh))
    yields = np.array([material.yield_curvature for material in model.materials])[mesh.face_material]
    damage = crease_damage(plastic - before, yields)
    return state.replaced(
        plastic_curvature=plastic,
        damage=state.damage + damage,
        crease=state.crease + crease_tensor(plastic - before, damage),
        y=Embedding(mesh).settle(state.y, plastic, plastic_strain=state.plastic_strain),
    )
