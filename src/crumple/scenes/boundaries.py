"""Motions, handles and obstacles of a scene: tables into the objects of `crumple.boundary`."""

from __future__ import annotations

from math import inf

import numpy as np

from crumple.boundary.attachments import Attachment, pair_in_order, pair_nearest
from crumple.boundary.handles import (
    Handle,
    circle_anchors,
    select_ball,
    select_boundary,
    select_box,
    select_indices,
    select_label,
    select_nearest,
    select_sheet,
    select_side,
)
from crumple.boundary.motions import Key, Motion, Rate, affine, link_order, make_motion, rotation_vector
from crumple.boundary.obstacles import Obstacle, make_obstacle
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.mesh.texture import texture_coordinates
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints
from crumple.scenes.messages import Problems
from crumple.scenes.pictures import brightness_at, read_brightness
from crumple.scenes.schema.scene import (
    Circle,
    ImageSelection,
    MotionKey,
    Rotation,
    Scene,
    SceneAttachment,
    SceneHandle,
    SceneMotion,
    SceneObstacle,
    Selection,
)
from crumple.scenes.shapes import obstacle_shapes
from crumple.state import Bonds, Pins, State

Vec3 = tuple[float, float, float]


def turn(rotation: Rotation | None) -> Vec3:
    """The rotation vector [rad] of a table, zero for none."""
    return (0.0, 0.0, 0.0) if rotation is None else rotation_vector(rotation.angle, rotation.axis)


def make_motions(scene: Scene, problems: Problems) -> dict[str, Motion]:
    """All motions by name; those with problems are left out."""
    parents = {name: table.relative_to for name, table in scene.motions.items()}
    motions: dict[str, Motion] = {}
    try:
        order = link_order(parents)
    except InputError as error:
        problems.messages.append(f"{problems.source}: {error}")
        order = [name for name, parent in parents.items() if parent is None]
    for name in order:
        table = scene.motions[name]
        if not table.keys and table.rate is None:
            problems.add(("motions", name), "needs keys or a rate")
        elif table.relative_to is None or table.relative_to in motions:
            place = f"{problems.source}: motions.{name}"
            try:
                motions[name] = _motion(name, table, motions, place)
            except InputError as error:
                problems.messages.append(str(error))
    return motions


def _motion(name: str, table: SceneMotion, others: dict[str, Motion], place: str) -> Motion:
    rate = None
    if table.rate is not None:
        end = inf if table.rate.end is None else table.rate.end
        rate = Rate(table.rate.velocity, turn(table.rate.spin), table.rate.start, end)
    parent = None if table.relative_to is None else others[table.relative_to]
    keys = [_key(key) for key in table.keys]
    return make_motion(name, keys, rate=rate, center=table.center, parent=parent, place=place)


def _key(table: MotionKey) -> Key:
    velocity = table.velocity
    return Key(
        table.time,
        table.translate,
        turn(table.rotate),
        table.scale,
        None if velocity is None else velocity.translate,
        None if velocity is None or velocity.rotate is None else turn(velocity.rotate),
        None if velocity is None else velocity.scale,
    )


def make_handle(table: SceneHandle, name: str, motions: dict[str, Motion]) -> Handle:
    """A handle without its nodes."""
    return Handle(
        name=name,
        motion=None if table.motion is None else motions[table.motion],
        start=table.start,
        end=inf if table.end is None else table.end,
        fade=table.fade,
        stiffness=table.stiffness,
        largest=inf if table.largest_force is None else table.largest_force,
        grips=table.circle is None,
    )


def select_pins(table: SceneHandle, handle: Handle, index: int, state: State, sheet: int) -> Pins:
    """The nodes of one sheet that a handle holds; it grips them where they are, or on the circle."""
    mesh, x = state.mesh, state.x
    own = select_sheet(mesh, sheet)
    nodes = np.intersect1d(_select(table.select, state, sheet, own, "select"), own).astype(np.int32)
    if not len(nodes):
        raise InputError("select", "no node of the sheet is there", table.select.model_dump(exclude={"kind"}))
    anchor = handle.anchor(handle.start, x[nodes])
    if table.circle is not None:
        anchor = _circle(table.circle, mesh, nodes)
    return Pins(nodes, np.full(len(nodes), index, np.int32), anchor)


def make_attachment(table: SceneAttachment, name: str, length: float) -> Attachment:
    """An attachment without its nodes; `length` [m] if the table gives none."""
    return Attachment(
        name=name,
        start=table.start,
        end=inf if table.end is None else table.end,
        fade=table.fade,
        stiffness=table.stiffness,
        length=length if table.length is None else table.length,
    )


def select_bonds(table: SceneAttachment, index: int, state: State, sheets: tuple[int, int]) -> Bonds:
    """The pairs of nodes that an attachment joins."""
    sides: list[Ints] = []
    for key, selection, sheet in zip(("first", "second"), (table.first, table.second), sheets, strict=True):
        own = select_sheet(state.mesh, sheet)
        nodes = _select(selection, state, sheet, own, key)
        if selection.kind == "indices":  # as listed, for pairing in order
            nodes = own[np.array(selection.indices)]
        nodes = nodes[np.isin(nodes, own)].astype(np.int32)
        if not len(nodes):
            raise InputError(key, "no node of the sheet is there", selection.model_dump(exclude={"kind"}))
        sides.append(nodes)
    if table.pairing == "order":
        pairs = pair_in_order(sides[0], sides[1])
    else:
        pairs = pair_nearest(state.x, sides[0], sides[1], inf if table.reach is None else table.reach)
    return Bonds(pairs, np.full(len(pairs), index, np.int32))


def _select(selection: Selection, state: State, sheet: int, own: Ints, key: str) -> Ints:
    """Nodes that a selection chooses, which stands at `key`; `own` are the nodes of the sheet, ascending."""
    mesh, x = state.mesh, state.x
    if selection.kind == "indices":
        return own[select_indices(selection.indices, len(own))]
    if selection.kind == "label":
        return select_label(mesh, selection.label)
    if selection.kind == "box":
        return select_box(x, selection.low, selection.high)
    if selection.kind == "ball":
        return select_ball(x, selection.center, selection.radius)
    if selection.kind == "side":
        return select_side(mesh, selection.side, sheet)
    if selection.kind == "nearest":
        return np.unique(np.concatenate([select_nearest(x, point, own) for point in selection.points]))
    if selection.kind == "image":
        return _select_image(selection, state, f"{key}.file")
    return select_boundary(mesh) if selection.kind == "boundary" else own


def _select_image(selection: ImageSelection, state: State, place: str) -> Ints:
    """Nodes of all sheets that have a vertex where the picture is bright, or dark."""
    texture = texture_coordinates(state.mesh, given=state.texture)
    is_bright = brightness_at(read_brightness(selection.file, place), texture) >= selection.level
    return np.unique(state.mesh.vertex_node[is_bright != selection.darker]).astype(np.int32)


def _circle(table: Circle, mesh: SheetMesh, nodes: Ints) -> Floats:
    first = np.array(table.axis0) / np.linalg.norm(table.axis0)
    second = np.array(table.axis1) - first * (first @ np.array(table.axis1))
    if np.linalg.norm(second) < 1e-9 * np.linalg.norm(table.axis1):
        raise InputError("circle.axis1", "must not be parallel to axis0", list(table.axis1))
    return circle_anchors(
        mesh,
        nodes,
        center=table.center,
        axis0=first.tolist(),
        axis1=(second / np.linalg.norm(second)).tolist(),
        direction=table.direction,
        circumference=table.circumference,
    )


def make_scene_obstacle(
    table: SceneObstacle, name: str, motions: dict[str, Motion], thickness: float, place: str
) -> Obstacle:
    """An obstacle placed by its transform, moved by its motion."""
    faces, shapes, times = obstacle_shapes(table.shape)
    move = table.transform
    matrix, offset = affine(move.translate, turn(move.rotate), move.scale, move.center)
    return make_obstacle(
        name,
        faces,
        [shape @ matrix.T + offset for shape in shapes],
        times=times,
        inside=getattr(table.shape, "inside", False),
        motion=None if table.motion is None else motions[table.motion],
        start=table.start,
        end=inf if table.end is None else table.end,
        friction=table.friction,
        thickness=thickness,
        place=place,
    )
