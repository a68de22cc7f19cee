"""What can be foreseen when a scene has been built: strain at the start, faces that remeshing would make, containers
that close too far."""

from __future__ import annotations

import numpy as np

from crumple.boundary.obstacles import Obstacle
from crumple.geometry.strain import largest_strains
from crumple.mesh.io.obj import LARGEST_COORDINATE
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.model.model import Model
from crumple.runtime.typing import Floats
from crumple.scenes.messages import Path, Problems
from crumple.scenes.schema.scene import Scene
from crumple.scenes.sizes import FACES_PER_SQUARE, IMPOSSIBLE_FACES, LARGEST_FACES, REMESHED_OVER, sizing_of
from crumple.scenes.start.sides import note_sides
from crumple.scenes.start.units import note_units
from crumple.state import State

MEAN_STRAIN, LARGEST_STRAIN = 0.05, 0.5
"""Strain at the start, on average and at most, beyond which the user is warned."""
SAMPLES = 65
"""Times at which the volume of a container is looked at, besides the keys of its motion."""


def check_start(scene: Scene, model: Model, state: State, problems: Problems) -> None:
    """Note what is impossible as problems, and what is probably not meant as notes."""
    _check_coordinates(state, problems)
    areas = sheet_areas(state.mesh, len(scene.sheets))
    _check_refinement(scene, areas, problems)
    _note_strains(scene, state, problems)
    note_units(scene, model, state, problems)
    note_sides(scene, model, state, problems)
    _check_containers(scene, model, state, areas, problems)


def sheet_areas(mesh: SheetMesh, count: int) -> Floats:
    """Material area of each sheet [m²], (count,)."""
    return np.asarray(np.bincount(mesh.face_sheet, weights=mesh.face_area, minlength=count), np.float64)


def _check_coordinates(state: State, problems: Problems) -> None:
    for group, x in (("sheets", state.x), ("obstacles", state.obstacle_x)):
        most = float(np.abs(x).max(initial=0.0))
        if not most <= LARGEST_COORDINATE:
            problems.add(
                (group,), f"reach {most:.3g} m from the origin; is the unit right? at most {LARGEST_COORDINATE:g}"
            )


def _check_refinement(scene: Scene, areas: Floats, problems: Problems) -> None:
    """Refuse sizes that ask for impossible numbers of faces, and note those that allow for very many."""
    for k, (sheet, area) in enumerate(zip(scene.sheets, areas, strict=True)):
        sizing = sizing_of(scene, sheet)
        if sizing is None:
            continue
        path: Path = ("remeshing",) if sheet.remeshing is None else ("sheets", k, "remeshing")
        name, per_edge = scene.sheet_names[k], FACES_PER_SQUARE * float(area)
        longest = sizing.longest_edge(float(area))
        least, most = per_edge / longest**2, REMESHED_OVER * per_edge / sizing.size_min / sizing.size_min
        if least > LARGEST_FACES:
            floor = (per_edge / LARGEST_FACES) ** 0.5
            remedy = f"means at least {least:.2g} faces for the {area:.3g} m² of {name!r}; must be ≥ {floor:.2g}, in m"
            problems.add((*path, "size_max"), remedy, longest)
        if most > IMPOSSIBLE_FACES:
            floor = (REMESHED_OVER * per_edge / IMPOSSIBLE_FACES) ** 0.5
            remedy = f"allows {most:.2g} faces for the {area:.3g} m² of {name!r}; must be ≥ {floor:.2g}, in m"
            problems.add((*path, "size_min"), remedy, sizing.size_min)
        elif most > LARGEST_FACES:
            text = f"remeshing may make up to {most:.2g} faces of the {area:.3g} m² of {name!r}"
            problems.note((*path, "size_min"), f"{text}; a larger value bounds them")


def _note_strains(scene: Scene, state: State, problems: Problems) -> None:
    """Tell which sheets are not at rest at the start."""
    strain, area = largest_strains(state.mesh, state.x, state.plastic_strain), state.mesh.face_area
    for k, sheet in enumerate(scene.sheets):
        if sheet.rest == "start":
            continue
        own = state.mesh.face_sheet == k
        mean, most = float(np.average(strain[own], weights=area[own])), float(strain[own].max())
        if mean > MEAN_STRAIN or most > LARGEST_STRAIN:
            is_file = sheet.shape is not None and sheet.shape.kind == "file"
            remedy = ' (pattern = "world" takes the mesh as it is)' if is_file else ""
            text = f"{100 * mean:.3g} % on average, {100 * most:.3g} % at most, against its pattern"
            then = "it is relaxed before the first frame" if scene.run.relax else "it will spring back"
            remedy = "" if scene.run.relax else f"{remedy}; run.relax = true relaxes it before the first frame"
            problems.note(("sheets", k, "shape"), f"the sheet starts strained, {text}: {then}{remedy}")


def _check_containers(scene: Scene, model: Model, state: State, areas: Floats, problems: Problems) -> None:
    """Refuse hollow obstacles that become smaller than the sheets in them."""
    volumes = areas * np.array(model.contact.sheet_thickness)
    offset = 0
    for k, (table, obstacle) in enumerate(zip(scene.obstacles, model.obstacles, strict=True)):
        x = state.obstacle_x[offset : offset + obstacle.node_count]
        offset += obstacle.node_count
        if not getattr(table.shape, "inside", False) or not obstacle.moves or obstacle.start > 0.0:
            continue
        held = sum(float(volumes[s]) for s in range(len(areas)) if _is_within(state.x[state.mesh.node_sheet == s], x))
        time, room = _smallest(obstacle, min(obstacle.end, model.duration))
        if held > 0.0 and room < held:
            least = (held / _volume(obstacle, 0.0)) ** (1.0 / 3.0)
            words = f"closes to {room:.2g} m³ at t = {time:.3g} s, less than the {held:.2g} m³ of the sheets in it"
            problems.add(("obstacles", k), f"{words} (area × thickness); keep its scale above {least:.2g}")


def _is_within(points: Floats, box: Floats) -> bool:
    """Whether all points lie in the bounding box of others."""
    return bool((points >= box.min(axis=0)).all() and (points <= box.max(axis=0)).all())


def _smallest(obstacle: Obstacle, end: float) -> tuple[float, float]:
    """Time [s] and volume [m³] at which an obstacle is smallest until `end` [s]."""
    keys = [] if obstacle.motion is None else obstacle.motion.times.tolist()
    turns = [t for t in (*keys, *obstacle.times.tolist()) if 0.0 <= t <= end][:SAMPLES]
    times = [*np.linspace(0.0, end, SAMPLES).tolist(), *turns]
    return min(((t, _volume(obstacle, t)) for t in times), key=lambda pair: pair[1])


def _volume(obstacle: Obstacle, time: float) -> float:
    """Volume that an obstacle encloses at a time [m³], a sixth of the triple products over its faces."""
    x = obstacle.positions(time)
    a, b, c = (x[obstacle.faces[:, k]] for k in range(3))
    return abs(float(np.einsum("ij,ij->", a - x[0], np.cross(b - x[0], c - x[0])))) / 6.0
