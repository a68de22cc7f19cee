"""Where fixed points of the paper are, whatever mesh it has at the moment."""

from __future__ import annotations

import numpy as np

from crumple.export.resample import INWARD, Location, PatternTree
from crumple.mesh.sheet_mesh import SheetMesh
from crumple.mesh.texture import pattern_boxes
from crumple.runtime.typing import Floats
from crumple.state import State


def grid_points(side: float, count: int) -> Floats:
    """A grid of `count`² points on a square of the `side` [m] about the origin of the pattern, (count², 2)."""
    along = np.linspace(-0.5 * side, 0.5 * side, count)
    v, u = np.meshgrid(along, along, indexing="ij")
    return np.stack([u.ravel(), v.ravel()], axis=1)


class PatternPoints:
    """Follows points `u` (n, 2) [m], counted from the middle of the pattern, of sheet number `sheet`; each mesh is
    searched once. Patterns of several sheets may lie on top of each other: faces of other sheets are never looked at.
    """

    def __init__(self, u: Floats, sheet: int = 0) -> None:
        self.u, self.sheet = u, sheet
        self._latest: tuple[SheetMesh, Location] | None = None

    def positions(self, state: State) -> Floats:
        """Where the points are in the world, (n, 3) [m]."""
        found = self._locate(state.mesh)
        return found.interpolate(state.x[state.mesh.face_nodes])

    def _locate(self, mesh: SheetMesh) -> Location:
        if self._latest is None or self._latest[0] is not mesh:
            centre = pattern_boxes(mesh)[self.sheet].mean(axis=0)
            u = self.u + centre
            tree = PatternTree(mesh, mesh.face_sheet)
            inner = u + INWARD * (centre - u)
            self._latest = mesh, tree.locate(u, inner, np.full(len(u), self.sheet, np.int32))
        return self._latest[1]
