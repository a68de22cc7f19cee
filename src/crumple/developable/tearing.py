"""Tears: where the border, or the tip of a cut, bears more tension than paper is strong, a cut runs into the sheet.

The tension at a vertex of the border is the mean of that of the faces around it, by area, after the steps of a frame
and before edges get their lengths again; at a tip it is some times as large, as coarse faces do not know how sharp it
is. The cut runs across the direction of the largest principal tension, by at most one spacing of the border in a frame,
and from an old tip it turns by a limited angle only. It ends short of the border: a sheet stays in one piece.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.developable.cuts import cut_open, heading
from crumple.developable.paper import Paper, commit
from crumple.developable.structure import Draft, Refused
from crumple.developable.tuning import TUNING
from crumple.energies.stress import membrane_stress
from crumple.runtime.typing import Floats

TEARS = -2
"""What rests after a tear, beside the keys of regions."""
TURN, LEFT, SHORT = TUNING.tear_turn.value, TUNING.tear_left.value, TUNING.tear_short.value
SHARP = TUNING.tip_sharpness.value
TRIALS = TUNING.tear_trials.value


def tear_border(paper: Paper) -> Paper:
    """The paper after the vertex of its border that bears the largest tension has torn, if that is too large; the same
    object otherwise. Those that cannot tear are passed over."""
    strength = paper.options.strength
    if not np.isfinite(strength) or paper.rests(TEARS):
        return paper
    tension, direction = border_tension(paper)
    border, vertices = paper.structure.border, paper.structure.vertices
    order = [
        n for n in np.argsort(-tension, kind="stable") if tension[n] > strength and not vertices[border[n]].is_held
    ]
    for number in order[:TRIALS]:
        for part in (1.0, SHORT):
            try:
                return _torn(paper, border[number], direction[number], part * paper.structure.spacing, tension[number])
            except Refused:
                continue
    return paper.rested(TEARS) if order else paper


def border_tension(paper: Paper) -> tuple[Floats, Floats]:
    """The largest principal tension (n,) [N/m] at the vertices of the border, in order, and its directions (n, 2)."""
    mesh = paper.layout.mesh
    (material,) = paper.model.materials
    stress = membrane_stress(mesh, (material,), paper.state.x, np.zeros((mesh.face_count, 3))) * material.thickness
    total, area = np.zeros((mesh.node_count, 3)), np.zeros(mesh.node_count)
    for k in range(3):
        np.add.at(total, mesh.face_nodes[:, k], stress * mesh.face_area[:, None])
        np.add.at(area, mesh.face_nodes[:, k], mesh.face_area)
    nodes = [paper.layout.node[key] for key in paper.structure.border]
    xx, yy, xy = (total[nodes] / area[nodes, None]).T
    value, vector = np.linalg.eigh(np.stack([np.stack([xx, xy], 1), np.stack([xy, yy], 1)], 1))
    sharp = np.array([SHARP if key in paper.structure.tips else 1.0 for key in paper.structure.border])
    return sharp * value[:, 1], vector[:, :, 1]


def _torn(paper: Paper, key: int, direction: Floats, length: float, tension: float) -> Paper:
    """The paper with a cut of a length [m] from a vertex of the border, across a direction (2,)."""
    structure = paper.structure
    u, ahead = structure.u(key), np.array([-direction[1], direction[0]])
    if key in structure.tips:
        ahead = _limited(ahead, heading(structure.outline, structure.vertices[key].place))
    elif not structure.outline.contains(u + 1e-3 * length * ahead):
        ahead = -ahead
    tip = u + length * ahead
    if not structure.outline.contains(tip) or structure.outline.place(tip)[1] < min(
        LEFT * structure.spacing, length / 2
    ):
        raise Refused("a tear would reach the border")
    draft = Draft(structure)
    cut_open(draft, key, tip)
    torn = commit(paper, draft.build()).rested(TEARS, 0)
    where = f"from ({1e3 * u[0]:.2f}, {1e3 * u[1]:.2f}) to ({1e3 * tip[0]:.2f}, {1e3 * tip[1]:.2f}) mm of the pattern"
    torn = replace(torn, is_edited=False)  # what a tear sets free bends at once, or the tear would outrun it
    return torn.happened("tear", f"the sheet has torn {where} at {tension:.3g} N/m")


def _limited(ahead: Floats, before: Floats) -> Floats:
    """The direction (2,), either way, that turns by at most TURN from the one `before` (2,)."""
    angle = np.arctan2(before[0] * ahead[1] - before[1] * ahead[0], before @ ahead)
    if abs(angle) > 0.5 * np.pi:
        angle -= np.sign(angle) * np.pi
    angle = np.clip(angle, -TURN, TURN)
    return np.array(
        [np.cos(angle) * before[0] - np.sin(angle) * before[1], np.sin(angle) * before[0] + np.cos(angle) * before[1]]
    )
