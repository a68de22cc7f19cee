"""What exporters write: the sheets and obstacles at one instant, as plain triangle surfaces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crumple.export.normals import group_normals, smooth_groups
from crumple.mesh.combine import part_of_mesh
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.mesh.texture import texture_coordinates
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.state import State


@dataclass(frozen=True)
class Surface:
    """Sheets at one instant: `mesh`, world positions `x` and velocities `v` (node_count, 3) [m, m/s],
    `texture` (vertex_count, 2) and `face_data`, arrays (face_count, …) by name.

    Along seams several vertices, each with texture coordinates of its own, share a node.
    """

    mesh: SheetMesh
    x: Floats
    v: Floats
    texture: Floats
    face_data: dict[str, np.ndarray]

    @cached_property
    def corner_groups(self) -> Ints:
        """Corners (face_count, 3) numbered by the normal that they share; creases have one on each side."""
        creased = self.mesh.edge_label.ravel()[self.mesh.hinges.corners[:, 0]] != 0
        return smooth_groups(self.x, self.mesh.face_nodes, self.mesh.hinges, creased)

    @cached_property
    def normals(self) -> Floats:
        """Unit normals, (group_count, 3): the rows that `corner_groups` names."""
        return group_normals(self.x, self.mesh.face_nodes, self.corner_groups)

    @cached_property
    def creases(self) -> Ints:
        """Pairs of nodes of the labelled edges inside the sheets, (crease_count, 2)."""
        hinges = self.mesh.hinges
        return hinges.nodes[self.mesh.edge_label.ravel()[hinges.corners[:, 0]] != 0, :2]

    @property
    def vertex_x(self) -> Floats:
        """Positions of the vertices [m], (vertex_count, 3)."""
        return self.x[self.mesh.vertex_node]

    @property
    def vertex_v(self) -> Floats:
        """Velocities of the vertices [m/s], (vertex_count, 3)."""
        return self.v[self.mesh.vertex_node]

    def sheets(self, count: int) -> list[Surface]:
        """Each of `count` sheets as a surface of its own."""
        return [self._part(self.mesh.face_sheet == k) for k in range(count)]

    def _part(self, chosen: Bools) -> Surface:
        """The chosen faces (face_count,) with the vertices and nodes that they need, in their old order."""
        mesh = self.mesh
        if chosen.all() and mesh.node_count == len(np.unique(mesh.face_nodes)):
            return self
        part, vertices, nodes = part_of_mesh(mesh, chosen)
        data = {name: values[chosen] for name, values in self.face_data.items()}
        return Surface(part, self.x[nodes], self.v[nodes], self.texture[vertices], data)


@dataclass(frozen=True)
class Solid:
    """An obstacle at one instant: `points` (n, 3) [m], `faces` (m, 3), and whether it takes part in contact."""

    name: str
    points: Floats
    faces: Ints
    active: bool


@dataclass(frozen=True)
class Snapshot:
    """One frame: its number, its time [s], the sheets and the obstacles."""

    frame: int
    time: float
    surface: Surface
    solids: tuple[Solid, ...] = ()


def surface_of(state: State, boxes: Floats | None = None) -> Surface:
    """The sheets of a state on their own mesh; `boxes` as in `texture_coordinates`."""
    require_finite(state)
    texture = texture_coordinates(state.mesh, boxes, state.texture)
    return Surface(state.mesh, state.x, state.v, texture, face_data(state))


def face_data(state: State) -> dict[str, np.ndarray]:
    """What is known of each face, (face_count,) each: `damage`, `material` and `sheet`."""
    return {"damage": state.damage, "material": state.mesh.face_material, "sheet": state.mesh.face_sheet}


def require_finite(state: State) -> None:
    """`InputError` when a position or velocity is not a number."""
    if not (np.isfinite(state.x).all() and np.isfinite(state.v).all() and np.isfinite(state.obstacle_x).all()):
        raise InputError("export", f"frame {state.frame} holds numbers that are not finite; see `crumple verify`")
