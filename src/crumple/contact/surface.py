"""What can touch: the faces, edges and nodes of all sheets and obstacles, with the constants of each pair.

One array x (node_count, 3) holds the sheet nodes first (`dynamic_count` of them), then the obstacle nodes.
Faces and edges are ordered the same way: those of the sheets first.

**Thickness.** Parts i and j touch at the distance ξ_ij = ½ (ξ_i + ξ_j); the barrier acts below ξ_ij + dhat.
Two primitives of the same sheet whose distance in `node_rest` is r use both lengths scaled by
s = min(1, r / (2 (ξ + dhat))): a fine mesh then exerts no force on itself at rest, yet cannot pass through itself.

**Weights.** A pair's energy is multiplied by an area so that contact pressure does not depend on the mesh.
Node weight: a third of the areas around it; edge weight: a third of the areas beside it; face weight: its area.

| pair | weight |
|---|---|
| sheet node, sheet face | ¼ node |
| sheet node, obstacle face | ¾ node |
| obstacle node, sheet face | ¼ min(node, face) |
| two sheet edges | ¼ √(edge·edge) |
| sheet edge, obstacle edge | ¼ √(edge · min(edge, obstacle edge)) |

Two parallel plates of area A carry κ A dhat b(g/dhat) times the sum of these. Each node of one plate lies over one
face of the other: ¼ + ¼. Edges of two isotropic meshes of sizes h and k cross 7.6/(h k) times per area and have
weights 0.29 h², 0.29 k²: the geometric mean gives ¼ · 2.2 for any ratio of sizes. Total 1.05 between sheets (measured
1.1–1.2 on jittered grids); between a sheet and an obstacle 0.75 (coarse obstacle) to 1.55 (fine one; measured 1.8).
An obstacle's area enters only where it is smaller than the sheet's: a huge obstacle triangle never counts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from crumple.geometry.triangle import face_areas
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Bools, Floats, Ints


class SurfaceArrays(NamedTuple):
    """The same data for compiled code (fields as in `Surface`)."""

    faces: Ints
    edges: Ints
    sheet_count: int
    node_part: Ints
    part_thickness: Floats
    friction: Floats
    node_rest: Floats
    node_weight: Floats
    edge_weight: Floats
    face_weight: Floats
    dhat: float


@dataclass(frozen=True)
class Surface:
    """Collision geometry without positions; make it with `make_surface`.

    `faces` (face_count, 3), `edges` (edge_count, 2) nodes, sheets first: `dynamic_faces`, `dynamic_edges` of them;
    `points` nodes that belong to a face, ascending;  `sheet_count` number of sheet nodes;  `dynamic_count` of these may
    move by themselves: all of them, unless the surface was restricted;
    `node_part` (node_count,) part of each node (sheets, then obstacles);  `part_thickness` (parts,) ξ [m];
    `friction` (parts, parts) coefficients;  `node_rest` (node_count, 3) reference positions [m];
    `node_weight`, `edge_weight`, `face_weight` areas [m²];  `dhat` gap at which the barrier starts [m].
    """

    faces: Ints
    edges: Ints
    points: Ints
    sheet_count: int
    dynamic_count: int
    dynamic_faces: int
    dynamic_edges: int
    node_part: Ints
    part_thickness: Floats
    friction: Floats
    node_rest: Floats
    node_weight: Floats
    edge_weight: Floats
    face_weight: Floats
    dhat: float

    @property
    def node_count(self) -> int:
        return len(self.node_part)

    @property
    def reach(self) -> float:
        """Largest distance at which any two parts act on each other, max ξ + dhat [m]; the least inflation."""
        return float(self.part_thickness.max(initial=0.0)) + self.dhat

    @cached_property
    def arrays(self) -> SurfaceArrays:
        """The fields that kernels read."""
        return SurfaceArrays(
            self.faces,
            self.edges,
            self.sheet_count,
            self.node_part,
            self.part_thickness,
            self.friction,
            self.node_rest,
            self.node_weight,
            self.edge_weight,
            self.face_weight,
            self.dhat,
        )


def make_surface(
    face_nodes: Ints,
    node_rest: Floats,
    *,
    dynamic_count: int | None = None,
    obstacle_faces: Ints | None = None,
    node_part: Ints | None = None,
    part_thickness: Floats | float = 0.0,
    friction: Floats | float = 0.0,
    face_area: Floats | None = None,
    dhat: float,
) -> Surface:
    """The collision surface of the sheets `face_nodes` and the `obstacle_faces` (both in indices of x).

    `node_rest` (node_count, 3) [m]: reference embedding of the sheets, initial positions of the obstacles.
    `dynamic_count` sheet nodes come first (default: all nodes). `node_part` defaults to 0 for sheet nodes and 1 for
    obstacle nodes. `part_thickness` [m] and `friction` may be one number for all parts. `face_area` (sheet faces,)
    [m²] is the material area, by default the area in `node_rest`. `dhat` [m] > 0.
    """
    rest = np.ascontiguousarray(node_rest, np.float64)
    count = len(rest)
    dynamic = count if dynamic_count is None else int(dynamic_count)
    if node_part is None:
        node_part = (np.arange(count) >= dynamic).astype(np.int32)
    node_part = np.ascontiguousarray(node_part, np.int32)
    parts = int(node_part.max(initial=0)) + 1
    thickness = _fill("part_thickness", part_thickness, (parts,))
    table = _fill("friction", friction, (parts, parts))
    if not (np.isfinite(dhat) and dhat > 0.0):
        raise InputError("contact.dhat", "must be > 0, in m", dhat)
    sheet = np.ascontiguousarray(face_nodes, np.int32).reshape(-1, 3)
    obstacle = np.zeros((0, 3), np.int32) if obstacle_faces is None else np.ascontiguousarray(obstacle_faces, np.int32)
    faces = np.ascontiguousarray(np.concatenate([sheet, obstacle.reshape(-1, 3)]))
    if len(faces) and not (faces.min() >= 0 and faces.max() < count):
        raise InputError("contact.faces", f"must name nodes 0 to {count - 1}", int(faces.max()))
    area = face_areas(rest, faces)
    if face_area is not None:
        area[: len(sheet)] = np.abs(face_area)
    edges, edge_weight, dynamic_edges = _edges(faces, area, dynamic)
    third = np.repeat(area / 3.0, 3)
    return Surface(
        faces=faces,
        edges=edges,
        points=np.unique(faces).astype(np.int32),
        sheet_count=dynamic,
        dynamic_count=dynamic,
        dynamic_faces=len(sheet),
        dynamic_edges=dynamic_edges,
        node_part=node_part,
        part_thickness=thickness,
        friction=table,
        node_rest=rest,
        node_weight=np.bincount(faces.ravel(), weights=third, minlength=count).astype(np.float64),
        edge_weight=edge_weight,
        face_weight=area,
        dhat=float(dhat),
    )


def free_first(free: Bools) -> tuple[Ints, Ints]:
    """The nodes with the `free` ones (node_count,) in front, otherwise as they were, and the new number of each."""
    order = np.argsort(~free, kind="stable").astype(np.int32)
    number = np.empty_like(order)
    number[order] = np.arange(len(order), dtype=np.int32)
    return order, number


def restrict_surface(surface: Surface, free: Bools, number: Ints) -> Surface:
    """The surface with only the `free` sheet nodes able to move, nodes renamed so that these come first.

    `free` (node_count,);  `number` (node_count,) new number of each node by `free_first`: free ones first, then other
    sheet nodes, then obstacle nodes. Pairs keep their weights; those without a free node are not looked at any more.
    """
    order = np.argsort(number)
    face_order = np.argsort(~free[surface.faces].any(axis=1), kind="stable")
    edge_order = np.argsort(~free[surface.edges].any(axis=1), kind="stable")
    return replace(
        surface,
        faces=number[surface.faces[face_order]],
        edges=number[surface.edges[edge_order]],
        points=np.sort(number[surface.points]),
        dynamic_count=int(np.count_nonzero(free)),
        dynamic_faces=int(np.count_nonzero(free[surface.faces].any(axis=1))),
        dynamic_edges=int(np.count_nonzero(free[surface.edges].any(axis=1))),
        node_part=surface.node_part[order],
        node_rest=surface.node_rest[order],
        node_weight=surface.node_weight[order],
        edge_weight=surface.edge_weight[edge_order],
        face_weight=surface.face_weight[face_order],
    )


def _fill(name: str, value: Floats | float, shape: tuple[int, ...]) -> Floats:
    """`value` as a contiguous array of `shape`; entries must be finite and not negative."""
    try:
        array = np.array(np.broadcast_to(np.asarray(value, np.float64), shape), order="C")  # never read-only
    except ValueError:
        raise InputError(f"contact.{name}", f"must be a number or have shape {shape}", np.shape(value)) from None
    if not np.all(np.isfinite(array) & (array >= 0.0)):
        raise InputError(f"contact.{name}", "must be ≥ 0 and finite", float(array.min(initial=0.0)))
    return array


def _edges(faces: Ints, area: Floats, dynamic: int) -> tuple[Ints, Floats, int]:
    """Unique edges in ascending order of nodes (hence sheets first), a third of the areas beside them, sheet count."""
    tail, head = faces.ravel(), np.roll(faces, -1, axis=1).ravel()
    low, high = np.minimum(tail, head).astype(np.int64), np.maximum(tail, head).astype(np.int64)
    base = int(high.max(initial=0)) + 1
    key, inverse = np.unique(low * base + high, return_inverse=True)
    edges = np.ascontiguousarray(np.stack([key // base, key % base], axis=1), np.int32)
    weight = np.bincount(inverse.ravel(), weights=np.repeat(area / 3.0, 3), minlength=len(edges))
    return edges, weight.astype(np.float64), int(np.count_nonzero(edges[:, 0] < dynamic))
