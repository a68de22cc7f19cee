"""What is derived from model and mesh, made anew for every frame: energies, masses, collision surface, system."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from crumple.contact import Surface, make_surface
from crumple.energies.inertia import node_masses
from crumple.linalg import make_solver
from crumple.simulation.creasing import Creasing
from crumple.simulation.model import Model
from crumple.simulation.state import State
from crumple.solving.system import NewtonSystem
from crumple.timing import PhaseTimer
from crumple.typing import Ints


class Workspace:
    """Data that the steps of one frame share; the elastic energies change when faces yield."""

    def __init__(self, model: Model, state: State, timer: PhaseTimer) -> None:
        self.timer = timer
        self.solver = make_solver(model.solver.linear_solver)
        self.creasing = Creasing(model, state, make_solver(model.solver.linear_solver), timer)
        self.elastic = self.creasing.elastic(state)
        self.mass = node_masses(state.mesh, model.materials)
        self.nodes = np.arange(state.mesh.node_count, dtype=np.int32).reshape(-1, 1)
        self.size = float(np.linalg.norm(np.ptp(state.mesh.node_rest, axis=0)))
        self.node_part = node_parts(model, state)
        self._surfaces: dict[tuple[bool, ...], Surface] = {}

    @cached_property
    def system(self) -> NewtonSystem:
        """The linear system of all nodes."""
        stencils = [self.nodes, *(energy.stencil for energy in self.elastic.energies)]
        return NewtonSystem(len(self.nodes), stencils, self.solver, self.timer)

    def surface(self, model: Model, state: State, time: float) -> Surface | None:
        """The collision surface of the sheets and the obstacles that are present at `time` [s]."""
        if not model.contact.enabled:
            return None
        present = tuple(obstacle.active(time) for obstacle in model.obstacles)
        if present not in self._surfaces:
            self._surfaces[present] = contact_surface(model, state, time)
        return self._surfaces[present]


def node_parts(model: Model, state: State) -> Ints:
    """The part of every node: sheets first, then obstacles, (node_count + obstacle_nodes,)."""
    sheets = len(model.sheet_names)
    counts = [obstacle.node_count for obstacle in model.obstacles]
    obstacles = np.repeat(np.arange(len(counts)) + sheets, counts)
    return np.concatenate([state.mesh.node_sheet, obstacles]).astype(np.int32)


def contact_surface(model: Model, state: State, time: float) -> Surface:
    """What can touch at `time` [s]: the sheets and the obstacles present then, nodes as in `node_parts`."""
    mesh = state.mesh
    offset = mesh.node_count
    faces = []
    for obstacle in model.obstacles:
        if obstacle.active(time):
            faces.append(obstacle.faces + np.int32(offset))
        offset += obstacle.node_count
    contact = model.contact
    thickness = [*contact.sheet_thickness, *(obstacle.thickness for obstacle in model.obstacles)]
    return make_surface(
        mesh.face_nodes,
        np.concatenate([mesh.node_rest, model.obstacle_positions(0.0)]),
        dynamic_count=mesh.node_count,
        obstacle_faces=np.concatenate(faces) if faces else None,
        node_part=node_parts(model, state),
        part_thickness=np.array(thickness) if thickness else 0.0,
        friction=contact.friction if contact.friction.size else 0.0,
        face_area=mesh.face_area,
        dhat=contact.activation,
    )
