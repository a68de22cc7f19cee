"""What a remeshing may not touch: the sheets themselves and the obstacles, with the distances that contacts need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.contact.barrier import least_relative_gap
from crumple.contact.candidates import find_candidates, swept_boxes
from crumple.contact.intersection import has_intersections
from crumple.contact.surface import Surface, free_first, make_surface, restrict_surface
from crumple.geometry.bvh import build_tree
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.remeshing.arrays import GuardArrays, Work, no_guard
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Bools, Floats


@dataclass(frozen=True)
class Guard:
    """The collision surface before remeshing and where its obstacles are.

    `surface`: as the contact solver uses it, sheet nodes first, its first parts the sheets.
    `obstacle_x` (obstacle nodes, 3) [m].
    `least_gap`: `contact.least_relative_gap` there, if known.
    """

    surface: Surface
    obstacle_x: Floats
    least_gap: float | None = None

    def __post_init__(self) -> None:
        wanted = self.surface.node_count - self.surface.dynamic_count
        if self.obstacle_x.shape != (wanted, 3):
            raise InputError("guard.obstacle_x: shape", f"must be ({wanted}, 3)", self.obstacle_x.shape)

    def follow(self, mesh: SheetMesh) -> Surface:
        """The collision surface of a remeshed sheet with the same obstacles and constants."""
        old = self.surface
        first, count = old.dynamic_count, mesh.node_count
        return make_surface(
            mesh.face_nodes,
            np.concatenate([mesh.node_rest, old.node_rest[first:]]),
            dynamic_count=count,
            obstacle_faces=old.faces[old.dynamic_faces :] - first + count,
            node_part=np.concatenate([mesh.node_sheet, old.node_part[first:]]),
            part_thickness=old.part_thickness,
            friction=old.friction,
            face_area=mesh.face_area,
            dhat=old.dhat,
        )

    def has_intersections(self, mesh: SheetMesh, x: Floats, among: Bools | None = None) -> bool:
        """Whether anything intersects with the sheets at x (node_count, 3) [m].

        `among` (node_count,): look only at what has one of these nodes.
        """
        surface, everything = self.follow(mesh), np.concatenate([x, self.obstacle_x])
        if among is None:
            return has_intersections(surface, everything)
        among = np.concatenate([among, np.zeros(len(self.obstacle_x), bool)])
        order, number = free_first(among)
        return has_intersections(restrict_surface(surface, among, number), everything[order])

    def lowest(self, x: Floats) -> float:
        """The least relative gap with the sheets at x (node_count, 3) [m]."""
        if self.least_gap is not None:
            return self.least_gap
        everything = np.concatenate([x, self.obstacle_x])
        pairs = find_candidates(self.surface, everything, everything, self.surface.reach)
        return least_relative_gap(self.surface, pairs, everything)


def guard_arrays(guard: Guard, mesh: SheetMesh, face_room: int) -> GuardArrays:
    """The guard for compiled code, with room for `face_room` faces; the tree of the sheets is still empty."""
    surface = guard.surface
    first = surface.dynamic_count
    faces = np.ascontiguousarray(surface.faces[surface.dynamic_faces :] - np.int32(first))
    x = np.ascontiguousarray(guard.obstacle_x)
    table = np.zeros((len(faces), 10), np.int32)
    arrays = no_guard()
    if len(faces):
        tail, head = faces.ravel().astype(np.int64), np.roll(faces, -1, axis=1).ravel().astype(np.int64)
        key = np.minimum(tail, head) * len(x) + np.maximum(tail, head)
        table[:, :3], table[:, 9] = faces, surface.node_part[first + faces[:, 0]]
        table[:, 3:6] = _first_of_each(tail).reshape(-1, 3)
        table[:, 6:9] = _first_of_each(key).reshape(-1, 3)
        arrays = arrays._replace(obstacle_tree=build_tree(swept_boxes(faces, x, x)))
    return arrays._replace(
        after=np.full(face_room, -1, np.int64),
        host=np.full(face_room, -1, np.int64),
        obstacle=table,
        obstacle_x=x,
        sheet_part=np.arange(int(mesh.face_sheet.max(initial=0)) + 1, dtype=np.int32),
        thickness=np.array(surface.part_thickness),  # writable: another type would be compiled again
    )


def refresh_tree(work: Work) -> Work:
    """A new tree over the faces as they are now, one item for each."""
    buf = work.buf
    face = np.flatnonzero(buf.links.faces[: buf.counters.faces, 0] >= 0)
    nodes = buf.links.vertex_node[buf.links.faces[face]].astype(np.int32)
    x = np.ascontiguousarray(buf.node_data[:, :3])
    work.guard.after.fill(-1)
    work.guard.host[face] = np.arange(len(face))
    guard = work.guard._replace(tree=build_tree(swept_boxes(nodes, x, x)), first=face.astype(np.int64))
    return work._replace(guard=guard)


def _first_of_each(key: np.ndarray) -> np.ndarray:
    """Whether an entry is the first one of its value."""
    flag = np.zeros(len(key), bool)
    flag[np.unique(key, return_index=True)[1]] = True
    return flag
