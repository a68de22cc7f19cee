"""Builds a scene: tables into a `Model` and its initial `State`, with every cross check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from crumple.boundary.attachments import Attachment
from crumple.boundary.creases import Crease
from crumple.boundary.handles import Handle
from crumple.boundary.motions import Motion, affine
from crumple.boundary.obstacles import Obstacle
from crumple.energies.gusts import Gust
from crumple.materials.material import Material
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.mesh.validate import validate_mesh
from crumple.model.model import Model, Wind
from crumple.options.contact import ContactOptions, ContactSettings
from crumple.options.options import values
from crumple.options.plasticity import PlasticityOptions
from crumple.options.remeshing import RemeshingOptions, RemeshingSettings
from crumple.options.sizing import SizingOptions
from crumple.options.solver import SolverOptions
from crumple.plasticity import total_strain
from crumple.runtime.typing import Floats
from crumple.scenes.boundaries import (
    make_attachment,
    make_handle,
    make_motions,
    make_scene_obstacle,
    select_bonds,
    select_pins,
    turn,
)
from crumple.scenes.clamps import straighten_clamps
from crumple.scenes.crease_drives import flat_note, folds_at_once
from crumple.scenes.creases import crease_sheet
from crumple.scenes.cuts import cut_sheet
from crumple.scenes.histories import recalled_sheet
from crumple.scenes.materials import make_material
from crumple.scenes.messages import Problems
from crumple.scenes.overlaps import check_overlaps, untangled
from crumple.scenes.painting import paint_sheet
from crumple.scenes.pattern_collisions import colliding_facets, free_start
from crumple.scenes.patterns import PATTERN_KINDS
from crumple.scenes.references import check_references
from crumple.scenes.schema.scene import Scene, SceneWind, Sheet, Sizing
from crumple.scenes.shapes import sheet_shape
from crumple.scenes.sizes import check_size
from crumple.scenes.start.impact import with_impact_stiffness
from crumple.scenes.start.relaxing import faces_beyond_limit, is_strained, relax_start
from crumple.scenes.start.resting import rest_as_it_is
from crumple.scenes.starting import check_start
from crumple.scenes.tearing import check_tearing, make_tearing, mark_lines
from crumple.scenes.toml import load_scene
from crumple.state import Bonds, Pins, State, initial_state, merge, no_bonds, no_pins, no_tips, nothing_torn

FIRST_STEP = 0.025
"""The step that the step control starts with over the time of a frame, unless bounds say otherwise: no time of its own,
so that a scene of another size, with its times, is the same run."""


class PreparedSheet(NamedTuple):
    """A sheet in its place: its state, the creases that are driven or pressed, and the materials of its face groups."""

    state: State
    driven: tuple[Crease, ...]
    materials: list[Material]


class Built(NamedTuple):
    """What a scene becomes: its model, its initial state, and `notes` on what was found in it, a line each."""

    model: Model
    state: State
    notes: tuple[str, ...]


def build(
    scene: Scene | str | Path, overrides: Sequence[str] = (), *, quick: bool = False, relax: bool = True
) -> Built:
    """The model and the initial state of a scene (or of its name or file, see `load_scene`), and notes on it.

    Raises SceneError with everything that is wrong; a scene that starts intersecting is refused. Without `relax` the
    state is that before the relaxation which the scene may ask for: enough where only the model is of interest.
    """
    scene = load_scene(scene, overrides, quick=quick)
    problems = Problems(scene.source)
    built = assemble(scene, problems)
    problems.stop()
    assert built is not None  # assemble notes a problem whenever it gives nothing
    return _relaxed(*built) if scene.run.relax and relax and is_strained(built.state) else built


def assemble(scene: Scene, problems: Problems, *, settle: bool = True) -> Built | None:
    """The same, noting problems instead of raising them; None when there were any.

    Without `settle` the plastic embedding of creased sheets is not sought: it takes most of the time, and no check asks
    for it.
    """
    check_size(scene, problems)
    is_too_large = bool(problems.messages)
    check_references(scene, problems)
    motions = make_motions(scene, problems)
    materials = [_materials(sheet, k, problems) for k, sheet in enumerate(scene.sheets)]
    if is_too_large:
        return None
    sheets = [_sheet(scene, k, materials[k], problems, settle) for k in range(len(scene.sheets)) if materials[k]]
    obstacles = _obstacles(scene, motions, problems)
    if problems.messages:
        return None
    materials = [made.materials for made in sheets if made is not None]  # with those that maps have made
    state = _merged([made.state for made in sheets if made is not None], materials)
    if scene.tearing is None:
        state = state.replaced(tips=no_tips(), torn=nothing_torn())
    creases = tuple(crease for made in sheets if made is not None for crease in made.driven)
    handles, pins = _handles(scene, motions, state, problems)
    attachments, bonds = _attachments(scene, materials, state, problems)
    if problems.messages:
        return None
    model = _model(scene, materials, handles, obstacles)
    model = replace(model, attachments=tuple(attachments), creases=creases)
    state = state.replaced(
        obstacle_x=model.obstacle_positions(0.0),
        obstacle_lag=np.zeros(len(obstacles)),
        pins=pins,
        bonds=bonds,
        step_size=_first_step(model.solver, model.frame_time),
    )
    if scene.contact.stiffness is None:
        model = with_impact_stiffness(model, state)
    state = _rested(scene, model, state)
    check_tearing(scene, model, state, problems)
    check_start(scene, model, state, problems)
    if scene.run.untangle and not problems.messages:
        state = untangled(model, state, problems)
    if not problems.messages:
        check_overlaps(model, state, problems)
    return None if problems.messages else Built(model, state, tuple(dict.fromkeys(problems.notes)))


def _rested(scene: Scene, model: Model, state: State) -> State:
    """The state with those sheets at rest in the shape they start with whose tables say so."""
    rest = np.array([sheet.rest for sheet in scene.sheets])[state.mesh.face_sheet]
    return rest_as_it_is(model, state, bent=rest != "flat", stretched=rest == "start")


def _relaxed(model: Model, state: State, notes: tuple[str, ...]) -> Built:
    """The same with the relaxed state and a note on what the relaxation did."""
    state, done = relax_start(model, state)
    ended = "at rest" if done.is_at_rest else "not yet at rest"
    text = f"run.relax: membrane energy from {done.before:.3g} to {done.after:.3g} J in {done.iterations} iterations"
    beyond = faces_beyond_limit(model, state)
    if beyond:
        remedy = "obstacles or handles do not let them; give more room, a finer mesh or another strain_limit"
        notes = (*notes, f"run.relax: {beyond} faces start beyond their strain_limit: {remedy}")
    return Built(model, state, (*notes, f"{text}, {ended}"))


def _materials(sheet: Sheet, k: int, problems: Problems) -> list[Material]:
    """The materials of one sheet; empty when there are problems."""
    tables = sheet.materials if sheet.materials is not None else [sheet.material]
    made = []
    for group, table in enumerate(tables):
        path = ("sheets", k, "material") if sheet.materials is None else ("sheets", k, "materials", group)
        if table is None:
            problems.add(path, "this key is missing; the sheet needs a material or materials")
            continue
        with problems.catch(path):
            made.append(make_material(table, f"{sheet.name or 'sheet'}{group}"))
    return made


def _sheet(scene: Scene, k: int, materials: list[Material], problems: Problems, settle: bool) -> PreparedSheet | None:
    """One sheet with its maps, creases, weak lines and cuts, placed and checked."""
    sheet = scene.sheets[k]
    path = ("sheets", k, "shape" if sheet.history is None else "history")
    if sheet.shape is None and sheet.history is None:
        return None  # which has been reported
    room = _thickness(scene, k, materials) + (scene.contact.activation if scene.contact.enabled else 0.0)
    made, before = None, len(problems.messages)
    with problems.catch(path):
        start = _start(scene, k, materials, problems)
        mesh = start.mesh
        found = validate_mesh(mesh, start.x)
        if not found and mesh.face_material.max() >= len(materials):
            found = [f"has face group {mesh.face_material.max()} but the sheet has {len(materials)} material(s)"]
        for problem in found:
            problems.add(path, _where(sheet) + problem)
        if not found:
            start, materials = _painted(sheet, k, start, materials, problems)
            made = crease_sheet(sheet, k, start, materials, problems, room, settle=settle)
    if made is None:
        return None
    if scene.contact.enabled and (text := flat_note(made.state.mesh, made.driven, room / sheet.transform.scale)):
        problems.note(("sheets", k, "creases"), text)
    state = cut_sheet(sheet, k, mark_lines(sheet, k, made.state, problems), problems)
    if state is None or len(problems.messages) > before:
        return None
    placed = straighten_clamps(scene, k, _placed(sheet, state))
    for problem in validate_mesh(placed.mesh, placed.x):  # cuts and a tiny scale may have spoilt it
        problems.add(("sheets", k), problem)
    return PreparedSheet(placed, made.driven, materials)


def _painted(
    sheet: Sheet, k: int, start: State, materials: list[Material], problems: Problems
) -> tuple[State, list[Material]]:
    """The sheet and its materials as its maps have them."""
    if sheet.maps:
        with problems.catch(("sheets", k)):
            return paint_sheet(sheet.maps, start, materials)
    return start, materials


def _start(scene: Scene, k: int, materials: list[Material], problems: Problems) -> State:
    """A sheet as its shape or its history gives it."""
    sheet = scene.sheets[k]
    if sheet.history is not None:
        return recalled_sheet(sheet.history, k, len(materials))
    shape = _with_room(scene, k, materials, problems)
    note = partial(problems.note, ("sheets", k, "shape"))
    made = sheet_shape(shape, note, tears=scene.tearing is not None)
    state = initial_state(made.mesh, made.x, v=made.v).replaced(texture=made.texture)
    return state.replaced(plastic_strain=total_strain(made.mesh, made.x)) if made.is_charted else state


def _with_room(scene: Scene, k: int, materials: list[Material], problems: Problems) -> Any:
    """The shape of a sheet; a crease pattern whose layers would touch at the start is opened a little."""
    shape: Any = scene.sheets[k].shape
    if shape.kind not in PATTERN_KINDS:
        return shape
    for text in colliding_facets(shape) if folds_at_once(scene.sheets[k]) else []:
        problems.note(("sheets", k, "shape"), text)
    if shape.start == 0.0 or not scene.contact.enabled:
        return shape
    start = free_start(shape, _thickness(scene, k, materials) / scene.sheets[k].transform.scale)
    if start == shape.start:
        return shape
    text = f"starts at {start:.4g} instead of {shape.start:.4g} of its fold, so that its layers do not touch"
    problems.note(("sheets", k, "shape", "start"), text)
    return shape.model_copy(update={"start": start})


def _merged(sheets: list[State], materials: list[list[Material]]) -> State:
    """All sheets in one state, the face groups of each pointing at its own materials in the list of all."""
    first = np.cumsum([0, *map(len, materials)]).astype(np.int32)
    return merge(
        [
            made.replaced(mesh=replace(made.mesh, face_material=made.mesh.face_material + first[k]))
            for k, made in enumerate(sheets)
        ]
    )


def _where(sheet: Sheet) -> str:
    """The file that a mesh problem is in."""
    file = None if sheet.shape is None else {"file": "mesh", "sewn": "pattern"}.get(sheet.shape.kind)
    return f"{getattr(sheet.shape, file)}: " if file else ""


def _placed(sheet: Sheet, made: State) -> State:
    """The sheet scaled (pattern and world), jittered along its normals, turned and moved; velocities turned too."""
    move, mesh, x = sheet.transform, made.mesh, made.x
    if sheet.jitter is not None:
        noise = np.random.default_rng(sheet.jitter.seed).uniform(-1.0, 1.0, (len(x), 1))
        x = x + sheet.jitter.amplitude / move.scale * noise * _normals(mesh, x)
    matrix, offset = affine(move.translate, turn(move.rotate), (move.scale,) * 3, move.center)
    return made.replaced(
        mesh=replace(mesh, u=mesh.u * move.scale, node_rest=mesh.node_rest * move.scale),
        x=np.ascontiguousarray(x @ matrix.T + offset),
        v=made.v @ matrix.T + np.array(sheet.velocity),
        y=made.y * move.scale,
        plastic_curvature=made.plastic_curvature / move.scale,
        sizing_floor=made.sizing_floor / move.scale**2,
        tips=replace(made.tips, last=made.tips.last * move.scale),
        torn=replace(made.torn, points=made.torn.points * move.scale),
    )


def _normals(mesh: SheetMesh, x: Floats) -> Floats:
    """Unit normals at the nodes, (node_count, 3); z where the faces around a node cancel."""
    a, b, c = (x[mesh.face_nodes[:, k]] for k in range(3))
    normal = np.zeros_like(x)
    face = np.cross(b - a, c - a)
    for k in range(3):
        np.add.at(normal, mesh.face_nodes[:, k], face)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    return np.where(length > 0, normal / np.where(length > 0, length, 1.0), (0.0, 0.0, 1.0))


def _obstacles(scene: Scene, motions: dict[str, Motion], problems: Problems) -> list[Obstacle]:
    made = []
    for k, (table, name) in enumerate(zip(scene.obstacles, scene.obstacle_names, strict=True)):
        thickness = table.thickness if table.thickness is not None else scene.contact.thickness or 0.0
        if table.motion is not None and table.motion not in motions:
            continue  # which has been reported
        with problems.catch(("obstacles", k, "shape")):
            made.append(make_scene_obstacle(table, name, motions, thickness, name))
    return made


def _handles(scene: Scene, motions: dict[str, Motion], state: State, problems: Problems) -> tuple[list[Handle], Pins]:
    """The handles and the nodes that they hold."""
    handles, pins = [], [no_pins()]
    for k, (table, name) in enumerate(zip(scene.handles, scene.handle_names, strict=True)):
        handle = make_handle(table, name, motions)
        handles.append(handle)
        sheet = 0 if table.sheet is None else scene.sheet_names.index(table.sheet)
        with problems.catch(("handles", k)):
            pins.append(select_pins(table, handle, k, state, sheet))
    return handles, Pins(
        node=np.concatenate([part.node for part in pins]),
        handle=np.concatenate([part.handle for part in pins]),
        anchor=np.concatenate([part.anchor for part in pins]),
    )


def _attachments(
    scene: Scene, materials: list[list[Material]], state: State, problems: Problems
) -> tuple[list[Attachment], Bonds]:
    """The attachments and the nodes that they join; they stop pulling where contact begins to push."""
    attachments, bonds = [], [no_bonds()]
    for k, (table, name) in enumerate(zip(scene.attachments, scene.attachment_names, strict=True)):
        first, second = (scene.sheet_names.index(sheet) for sheet in table.sheets or scene.sheet_names[:1] * 2)
        thickness = 0.5 * (_thickness(scene, first, materials[first]) + _thickness(scene, second, materials[second]))
        length = thickness + scene.contact.activation if scene.contact.enabled else 0.0
        attachments.append(make_attachment(table, name, length))
        with problems.catch(("attachments", k)):
            bonds.append(select_bonds(table, k, state, (first, second)))
    return attachments, Bonds(
        nodes=np.concatenate([part.nodes for part in bonds]),
        attachment=np.concatenate([part.attachment for part in bonds]),
    )


def _model(scene: Scene, materials: list[list[Material]], handles: list[Handle], obstacles: list[Obstacle]) -> Model:
    return Model(
        materials=tuple(material for group in materials for material in group),
        sheet_names=tuple(scene.sheet_names),
        handles=tuple(handles),
        obstacles=tuple(obstacles),
        gravity=scene.environment.gravity,
        wind=_wind(scene.environment.wind),
        contact=_contact(scene, materials),
        solver=SolverOptions(**values(scene.solver, SolverOptions)),
        plasticity=PlasticityOptions(**values(scene.plasticity, PlasticityOptions)),
        remeshing=_remeshing(scene),
        tearing=make_tearing(scene),
        frame_time=scene.run.frame_time,
        duration=scene.run.duration,
        velocity_damping=scene.environment.velocity_damping,
    )


def _wind(table: SceneWind | None) -> Wind:
    if table is None:
        return Wind()
    keys = tuple((key.time, key.velocity) for key in table.keys)
    gust = None if table.gust is None else Gust(table.gust.speed, table.gust.length, table.gust.seed)
    return Wind(table.density, table.velocity, table.drag, keys, gust)


def _contact(scene: Scene, materials: list[list[Material]]) -> ContactOptions:
    given = values(scene.contact, ContactSettings)
    return ContactOptions(
        **given | {"stiffness": scene.contact.stiffness or ContactOptions.stiffness},
        sheet_thickness=tuple(_thickness(scene, k, group) for k, group in enumerate(materials)),
        friction=_friction(scene),
    )


def _remeshing(scene: Scene) -> RemeshingOptions | None:
    if scene.remeshing is None:
        return None
    common = _sizing(scene.remeshing)
    own = tuple(common if sheet.remeshing is None else _sizing(sheet.remeshing) for sheet in scene.sheets)
    own = own if any(one != common for one in own) else ()
    return RemeshingOptions(common, own, **values(scene.remeshing, RemeshingSettings))


def _sizing(table: Sizing) -> SizingOptions:
    return SizingOptions(**values(table, SizingOptions))


def _thickness(scene: Scene, k: int, materials: list[Material]) -> float:
    """Contact thickness of a sheet [m]: its own, the scene's, or that of its material."""
    for given in (scene.sheets[k].contact_thickness, scene.contact.thickness):
        if given is not None:
            return given
    return max(material.thickness for material in materials)


def _friction(scene: Scene) -> Floats:
    """Coefficients between all parts, sheets then obstacles: the scene's, the obstacles', the pairs'."""
    names = [*scene.sheet_names, *scene.obstacle_names]
    table = np.full((len(names), len(names)), scene.contact.friction)
    for k, obstacle in enumerate(scene.obstacles, len(scene.sheets)):
        if obstacle.friction is not None:
            table[k, :] = table[:, k] = obstacle.friction
    for pair in scene.contact.pairs:
        a, b = (names.index(name) for name in pair.parts)
        table[a, b] = table[b, a] = pair.friction
    return table


def _first_step(solver: SolverOptions, frame_time: float) -> float:
    if solver.fixed_step is not None:
        return solver.fixed_step
    return max(solver.min_step, min(FIRST_STEP * frame_time, solver.max_step))
