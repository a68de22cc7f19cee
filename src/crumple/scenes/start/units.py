"""Notes on lengths that are probably in another unit than metres.

A sheet has two lengths of its own: its thickness h, and ℓ = (B/(ρ g))^{1/3}, over which it droops under its weight
(B bending stiffness, ρ mass per area): 0.1 m for paper, 0.02 m for cotton, 0.04 m for kitchen foil. Things that people
simulate are a few to a hundred ℓ across, and 10³ to 10⁴ h. So a sheet is doubted

- that is more than 300 ℓ and 10⁵ h across, or more than 20 m: a letter in cm (36 m, 360 ℓ), a napkin in mm (280 m);
- that is less than 30 h or ℓ/50 across: a letter whose millimetres were scaled by a thousandth twice;
- whose world is 10, 100 or 1000 times as large as its pattern, or as small: two units in one file.

Obstacles from files are doubted that are a hundred times as large as all sheets together.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np

from crumple.geometry.triangle import face_areas
from crumple.materials.material import Material
from crumple.model.model import Model
from crumple.runtime.typing import Floats
from crumple.scenes.messages import Problems
from crumple.scenes.schema.scene import Scene
from crumple.state import State

GRAVITY = 9.81
"""For the drooping length, also where the scene has none [m/s²]."""
MOST_DROOPS, MOST_THICKNESSES, LARGEST = 300.0, 1e5, 20.0
"""Across a sheet: drooping lengths and thicknesses beyond which, and metres beyond which, it is too large."""
LEAST_DROOPS, LEAST_THICKNESSES = 0.02, 30.0
"""The same below which it is too small."""
USUAL = 0.4
"""What a sheet on a table is across [m]: the unit that brings one nearest to this is the likely one."""
SAME = 0.03
"""Relative difference up to which a ratio of lengths is a power of ten."""
MOST_TIMES = 100.0
"""Obstacles this much larger than all sheets are doubted."""
UNITS = {"cm": 0.01, "mm": 0.001}
RATIOS = (1e-3, 1e-2, 1e-1, 1e1, 1e2, 1e3)


def note_units(scene: Scene, model: Model, state: State, problems: Problems) -> None:
    """Note sheets and obstacles that are too large or too small to be meant, with the likely remedy."""
    world = face_areas(state.x, state.mesh.face_nodes)
    first = 0  # of the materials of a sheet
    for k, sheet in enumerate(scene.sheets):
        own = state.mesh.face_sheet == k
        area = float(state.mesh.face_area[own].sum())
        across = max(_across(state.x[state.mesh.node_sheet == k]), sqrt(2.0 * area))
        count = 1 if sheet.materials is None else len(sheet.materials)
        materials, first = model.materials[first : first + count], first + count
        thickness = max(material.thickness for material in materials)
        droop = max(thickness, *(_drooping_length(material) for material in materials))
        ratio = sqrt(float(world[own].sum()) / area)
        near = min(RATIOS, key=lambda power: abs(log(max(ratio, 1e-300) / power)))
        if sheet.rest != "start" and abs(ratio / near - 1.0) < SAME:
            text = f"the sheet is {near:g} times as large as its pattern: they are probably in different units"
            problems.note(("sheets", k, "shape"), f'{text}; write both in m, or take pattern = "world"')
        size = f"the sheet is {across:.3g} m across, {across / thickness:.2g} times its thickness and"
        size = f"{size} {across / droop:.2g} times the {droop:.2g} m over which it droops"
        large = across > MOST_DROOPS * droop and across > MOST_THICKNESSES * thickness
        if large or across > LARGEST:
            unit = _likely_unit(across)
            remedy = f"are its lengths in {unit}? sheets[{k}].transform.scale = {UNITS[unit]:g} takes them so"
            problems.note(("sheets", k), f"{size}; {remedy}")
        elif across < LEAST_THICKNESSES * thickness or across < LEAST_DROOPS * droop:
            factor = min((10.0, 100.0, 1000.0), key=lambda times: abs(log(across * times / USUAL)))
            remedy = f"lengths are in m, and the thickness too; a scale of {factor:g} makes it {factor * across:.3g} m"
            problems.note(("sheets", k), f"{size}: hardly a thin sheet; {remedy}")
    _note_obstacles(scene, model, state, problems)


def _note_obstacles(scene: Scene, model: Model, state: State, problems: Problems) -> None:
    """Note obstacles from files beside which the sheets are specks."""
    across = _across(state.x)
    for k, (table, obstacle) in enumerate(zip(scene.obstacles, model.obstacles, strict=True)):
        size = _across(obstacle.positions(0.0))
        if table.shape.kind in ("file", "sequence", "animation") and size > MOST_TIMES * across:
            unit = min(UNITS, key=lambda name: abs(log(size * UNITS[name] / max(across, 1e-12))))
            text = f"the obstacle is {size:.3g} m across, {size / across:.2g} times the sheets; is its file in {unit}?"
            problems.note(("obstacles", k), f"{text} obstacles[{k}].transform.scale = {UNITS[unit]:g} takes it so")


def _drooping_length(material: Material) -> float:
    """ℓ = (B/(ρ g))^{1/3} [m]; 0 for a sheet without bending stiffness."""
    return float((max(material.bend_stiffness, 0.0) / (material.density * GRAVITY)) ** (1.0 / 3.0))


def _across(x: Floats) -> float:
    """The diagonal of the box around points (n, 3) [m]."""
    return float(np.linalg.norm(np.ptp(x, axis=0)))


def _likely_unit(across: float) -> str:
    """The unit in which something `across` [m] would be nearest to a usual size."""
    return min(UNITS, key=lambda name: abs(log(across * UNITS[name] / USUAL)))
