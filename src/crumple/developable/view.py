"""What is shown of a developable sheet: strips subdivided along their rulings, with normals constant along each.

Rulings between rulings end on the cubic through the nodes of the border; then every edge of the finer mesh is given its
length, as for the sheet itself. Texture coordinates are the pattern, and never resampled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.developable.enrich import Layout
from crumple.developable.overlay import make_overlay
from crumple.developable.paper import Paper
from crumple.developable.shading import Shading, make_shading
from crumple.developable.view_mesh import ViewMesh, make_view_mesh
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.runtime.typing import Floats, Ints
from crumple.simulation.surface_view import NORMAL, REGION, Overlay, SurfaceView
from crumple.state import State, initial_state


@dataclass(frozen=True)
class SmoothView:
    """A sheet as it is shown: positions `x` (node_count, 3) [m] of the nodes of a finer `mesh` with the same pattern.

    At folds and apices there are several *vertices* at a node, each with its unit normal, `vertex_normal`
    (vertex_count, 3): `node` (vertex_count,) of each, `corner` (face_count, 3): the vertices of the faces. `overlay`:
    the structure, in terms of vertices.
    """

    mesh: SheetMesh
    x: Floats
    corner: Ints
    node: Ints
    vertex_normal: Floats
    overlay: Overlay

    @property
    def normal(self) -> Floats:
        """A unit normal at each corner of each face, (face_count, 3, 3), equal along a ruling and on both sides of it,
        unless it is a fold."""
        return np.asarray(self.vertex_normal[self.corner])

    def state(self, like: State) -> State:
        """A state of the same time with this mesh and these normals, for pictures and exports."""
        fresh = initial_state(
            self.mesh,
            self.x,
            obstacle_x=like.obstacle_x,
            obstacle_count=len(like.obstacle_lag),
            step_size=like.step_size,
        )
        fresh = fresh.with_field(NORMAL, self.normal.reshape(-1, 9), where="face", rule="discard")
        fresh = fresh.with_field(REGION, self.overlay.region.astype(float), where="face", rule="discard")
        return fresh.replaced(time=like.time, frame=like.frame)

    def surface(self) -> SurfaceView:
        """The same as a session shows it."""
        node, mesh = self.node, self.mesh
        return SurfaceView(
            x=self.x[node],
            normal=self.vertex_normal,
            u=mesh.u[node],
            node=node,
            faces=self.corner,
            sheet=mesh.face_sheet,
            mesh=mesh,
            is_smooth=True,
            overlay=self.overlay,
        )


class Lens:
    """All of a view that follows from the layout of a sheet alone."""

    def __init__(self, layout: Layout) -> None:
        self.plan: ViewMesh = make_view_mesh(layout)
        self.shading: Shading = make_shading(self.plan)
        self.overlay: Overlay = make_overlay(self.plan, self.shading)

    def show(self, x: Floats, curved: float = 1.0) -> SmoothView:
        """The view of a sheet whose nodes are at x (node_count, 3) [m].

        `curved`: from 1, strips between rulings are as curved as the border, to 0, they are flat.
        """
        plan, shading = self.plan, self.shading
        fine = plan.isometry.project(plan.positions(x, curved), np.ones(plan.mesh.node_count))
        return SmoothView(plan.mesh, fine, shading.corner, shading.node, shading.normals(fine), self.overlay)


def smooth_view(paper: Paper) -> SmoothView:
    """The sheet as it is shown."""
    return Lens(paper.layout).show(paper.state.x)
