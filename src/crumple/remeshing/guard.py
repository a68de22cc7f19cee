"""What a remeshing may not touch: the sheets themselves and the obstacles, with the distances that contacts need."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numba import njit

from crumple.contact.bvh import build_tree
from crumple.contact.candidates import find_candidates, swept_boxes
from crumple.contact.intersection import has_intersections
from crumple.contact.pair import closest, load, rest_scale
from crumple.contact.surface import Surface, make_surface
from crumple.errors import InputError
from crumple.mesh.buffers import FACES
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.remeshing.arrays import GuardArrays, Work, no_guard
from crumple.typing import Floats, Ints


@dataclass(frozen=True)
class Guard:
    """The collision surface before remeshing and where its obstacles are.

    `surface`: as the contact solver uses it, sheet nodes first.  `obstacle_x` (obstacle nodes, 3) [m].
    """

    surface: Surface
    obstacle_x: Floats

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
            node_part=np.concatenate([self.sheet_part(mesh)[mesh.node_sheet], old.node_part[first:]]),
            part_thickness=old.part_thickness,
            friction=old.friction,
            face_area=mesh.face_area,
            dhat=old.dhat,
        )

    def sheet_part(self, mesh: SheetMesh) -> Ints:
        """Part of each sheet, (sheets,): that of its nodes in the surface (sheet numbers when they are the same)."""
        part = np.arange(int(mesh.face_sheet.max(initial=0)) + 1, dtype=np.int32)
        known = self.surface.faces[: self.surface.dynamic_faces]
        if len(known) == mesh.face_count:
            part[mesh.face_sheet] = self.surface.node_part[known[:, 0]]
        return part

    def has_intersections(self, mesh: SheetMesh, x: Floats) -> bool:
        """Whether anything intersects with the sheets at x (node_count, 3) [m]."""
        return has_intersections(self.follow(mesh), np.concatenate([x, self.obstacle_x]))


def least_relative_gap(surface: Surface, x: Floats) -> float:
    """Least (d − s ξ)/(s dhat) of all pairs within reach at x (node_count, 3) [m]; 1 when there are none."""
    pairs = find_candidates(surface, x, x, surface.reach)
    a = surface.arrays
    rest, part, dynamic = a.node_rest, a.node_part, a.sheet_count
    point = np.concatenate([pairs.point_face[:, :1], surface.faces[pairs.point_face[:, 1]]], axis=1)
    edge = np.concatenate([surface.edges[pairs.edge_edge[:, 0]], surface.edges[pairs.edge_edge[:, 1]]], axis=1)
    constants = (rest, part, a.part_thickness, a.dhat, dynamic)
    least = _least(x, np.ascontiguousarray(point), False, *constants)
    return float(min(least, _least(x, np.ascontiguousarray(edge), True, *constants)))


@njit(cache=True, error_model="numpy")
def _least(x, pairs, is_edges, rest, part, part_thickness, dhat, dynamic):
    """Least relative gap of pairs (n, 4) of nodes, at most 1."""
    corner, weight = np.empty((4, 3)), np.empty(4)
    least = 1.0
    second = 2 if is_edges else 1
    for n in range(len(pairs)):
        i, j, k, m = pairs[n, 0], pairs[n, 1], pairs[n, 2], pairs[n, 3]
        one, two = part[i], part[pairs[n, second]]
        thickness = 0.5 * (part_thickness[one] + part_thickness[two])
        load(x, i, j, k, m, corner)
        d2, _ = closest(is_edges, corner, weight)
        reach = thickness + dhat
        if d2 >= reach * reach:
            continue
        scale = 1.0
        if one == two and i < dynamic:
            scale = rest_scale(rest, is_edges, i, j, k, m, reach, corner, weight)
        if scale > 0.0:
            least = min(least, (sqrt(d2) / scale - thickness) / dhat)
    return least


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
        sheet_part=guard.sheet_part(mesh),
        thickness=np.array(surface.part_thickness),  # writable: another type would be compiled again
    )


def refresh_tree(work: Work) -> Work:
    """A new tree over the faces as they are now, one item for each."""
    buf = work.buf
    face = np.flatnonzero(buf.links.faces[: buf.counters[FACES], 0] >= 0)
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
