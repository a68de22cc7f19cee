"""Whether the shape that forms is finer than the mesh can show.

Two things are measured on the elastic part S_e = S − S_p of the curvature, so that folds which are meant to be sharp do
not count: the turn |S_e| h of the normal along an edge of length h, which is the edge over the radius of the bend; and
the edges per wave of what is bent,

    n = 2π/(q h),   q² = Σ |∇S_e|² / Σ |S_e|²,

each over a face and its neighbours. A wave of fewer than about six edges takes the wavelength of the mesh, not its own.

Where there is remeshing, edges follow the curvature, and few of them per bend are meant: only bends that remain sharper
than twice what it aims at count, which edges of the smallest size do not show.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np

from crumple.energies.stress import membrane_stress
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.model.derived import Derived
from crumple.options.remeshing import RemeshingOptions
from crumple.remeshing.tuning import TUNING
from crumple.runtime.typing import Bools, Floats
from crumple.state import State

SHARP = TUNING.coarse_turn.value
SHARP_AREA = TUNING.coarse_area.value
SHORT_WAVE = TUNING.coarse_wave.value
WAVE_PART = TUNING.coarse_wave_part.value
STANDING = TUNING.standing_wave.value
COMPRESSED = TUNING.coarse_compression.value
FLOOR = TUNING.coarse_floor.value
VISIBLE = TUNING.visible_turn.value


@dataclass(frozen=True)
class Coarseness:
    """What a mesh shows of a shape, by face (face_count,): the `turn` of the normal along an edge [rad], and the edges
    per `wave`, infinite where nothing is bent; `edge`: the mean edge length [m]."""

    turn: Floats
    wave: Floats
    edge: Floats


def measure_coarseness(mesh: SheetMesh, curvature: Floats) -> Coarseness:
    """How the `curvature` (face_count, 3) [1/m] (xx, yy, xy) compares with the edges of the mesh."""
    area = np.abs(mesh.face_area)
    edge = mesh.corner_length.reshape(-1, 3).mean(axis=1)
    square = _square(curvature)
    bent, varied = area * square, np.zeros(mesh.face_count)
    a, b = mesh.hinges.faces[~_is_seam(mesh)].T
    middle = mesh.u[mesh.faces].mean(axis=1)
    way = ((middle[a] - middle[b]) ** 2).sum(axis=1)
    rise = _square(curvature[a] - curvature[b]) / way * (area[a] + area[b]) / 3.0
    around = bent.copy()
    for p, q in ((a, b), (b, a)):
        np.add.at(varied, p, 0.5 * rise)
        np.add.at(around, p, bent[q])
    patch = varied.copy()
    for p, q in ((a, b), (b, a)):
        np.add.at(patch, p, varied[q])
    count = np.ones(mesh.face_count) + np.bincount(np.concatenate([a, b]), minlength=mesh.face_count)
    with np.errstate(divide="ignore", invalid="ignore"):
        number = np.sqrt(2.0 * (patch / count) / (around / count))
        wave = np.where(around > 0.0, 2.0 * pi / (number * edge), np.inf)
    return Coarseness(np.sqrt(square) * edge, wave, edge)


def _square(tensor: Floats) -> Floats:
    """|S|² of symmetric tensors (n, 3), (n,)."""
    return np.asarray(tensor[:, 0] ** 2 + tensor[:, 1] ** 2 + 2.0 * tensor[:, 2] ** 2)


def _is_seam(mesh: SheetMesh) -> Bools:
    """Whether the pattern does not go on across each hinge, (hinge_count,)."""
    own, other = mesh.hinges.corners.T
    flat, head = mesh.faces.ravel(), np.roll(mesh.faces, -1, axis=1).ravel()
    return np.asarray((flat[own] != head[other]) | (head[own] != flat[other]))


def tell_coarseness(state: State, derived: Derived) -> str:
    """Why the mesh of a state is too coarse for its shape, in words; "" when it is not."""
    options = derived.model.remeshing
    elastic = derived.curvature(state) - state.plastic_curvature
    found = measure_coarseness(state.mesh, np.where(_is_fold(state)[:, None], 0.0, elastic))
    area = np.abs(state.mesh.face_area)
    limit = SHARP if options is None else max(SHARP, 2.0 * max(one.refine_angle for one in options.all_sizing))
    is_sharp = (found.turn > limit) & _is_final(state, found, options)
    part = float(area[is_sharp].sum() / area.sum())
    if part > SHARP_AREA:
        edge = 1e3 * float(np.average(found.edge[is_sharp], weights=area[is_sharp]))
        what = f"{100 * part:.2g} % of the area is bent to radii below {1 / limit:.2g} edges (of {edge:.3g} mm)"
        return _sentence(state, what, options)
    is_standing = state.ledger.kinetic <= STANDING * state.ledger.sheets
    if options is not None or not is_standing:
        return ""
    return _tell_waves(state, found, area) or _tell_compression(state, derived, found, area)


def _is_final(state: State, found: Coarseness, options: RemeshingOptions | None) -> Bools:
    """Faces that remeshing would not make smaller, (face_count,): all without it, else those of the least size."""
    if options is None:
        return np.ones(len(found.edge), bool)
    sizes = np.array([one.size_min for one in options.all_sizing])
    least = sizes[state.mesh.face_sheet] if len(sizes) > 1 else sizes[0]
    return np.asarray(found.edge < FLOOR * least)


def _tell_waves(state: State, found: Coarseness, area: Floats) -> str:
    """The same of standing waves."""
    weight = area * (found.turn / found.edge) ** 2
    turn = float(np.sqrt(np.average(found.turn**2, weights=area)))
    if turn < VISIBLE or not weight.any():
        return ""
    is_short = found.wave < SHORT_WAVE
    part = float(weight[is_short].sum() / weight.sum())
    if part < WAVE_PART:
        return ""
    edge = 1e3 * float(np.average(found.edge[is_short], weights=weight[is_short]))
    what = f"{100 * part:.0f} % of the bending is in waves of fewer than {SHORT_WAVE:g} edges (of {edge:.3g} mm)"
    return _sentence(state, f"{what}, whose length is that of the mesh", None)


def _tell_compression(state: State, derived: Derived, found: Coarseness, area: Floats) -> str:
    """The same of a sheet that stays compressed because its mesh cannot wrinkle.

    Waves of n edges form under the line load T = (2π/(n h))² B; a sheet that bears more has none of that length.
    """
    mesh, materials = state.mesh, derived.model.materials
    bend, stretch, thickness = (
        np.array([getattr(one, name) for one in materials])[mesh.face_material]
        for name in ("bend_stiffness", "stretch_stiffness", "thickness")
    )
    xx, yy, xy = membrane_stress(mesh, materials, state.x, state.plastic_strain).T
    load = thickness * (np.hypot(0.5 * (xx - yy), xy) - 0.5 * (xx + yy))
    bound = np.maximum((2.0 * pi / (SHORT_WAVE * found.edge)) ** 2 * bend, COMPRESSED * stretch)
    is_locked = load > bound
    part = float(area[is_locked].sum() / area.sum())
    if part < SHARP_AREA:
        return ""
    length = 2e3 * pi * float(np.median(np.sqrt(bend[is_locked] / load[is_locked])))
    edge = 1e3 * float(np.mean(found.edge[is_locked]))
    what = f"{100 * part:.0f} % of the area is compressed and would wrinkle in waves from {length:.2g} mm on"
    return _sentence(state, f"{what}, with edges of {edge:.3g} mm it cannot", None)


def _sentence(state: State, what: str, options: RemeshingOptions | None) -> str:
    """The note in words."""
    remedy = "a smaller size of the sheet, or remeshing" if options is None else "a smaller remeshing.size_min"
    return f"t = {state.time:.4g} s: the mesh is too coarse for the shape that forms: {what}; {remedy} shows more"


def _is_fold(state: State) -> Bools:
    """Faces with a fold, (face_count,): they are bent plastically more than elastically seen, or lie at a labelled edge
    or at a driven crease."""
    mesh = state.mesh
    is_marked = (mesh.edge_label != 0).any(axis=1)
    turn = np.sqrt(_square(state.plastic_curvature)) * mesh.corner_length.reshape(-1, 3).mean(axis=1)
    return np.asarray(is_marked | (turn > SHARP))
