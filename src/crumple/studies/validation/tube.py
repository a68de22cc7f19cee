"""A paper tube that stands between two rims: the mesh, its handles, and its lobes.

Columns of edges run along the tube and every second one is shifted by half an edge: equilateral triangles that lie in
flat facets between the columns, so the tube is isometric to its pattern.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.mesh import SheetMesh, make_sheet_mesh
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.shapes import rectangle
from crumple.state import Pins

CIRCUMFERENCE, HEIGHT = 0.280, 0.216
"""[m]: Fig. 3 of [Narain2013]."""
RADIUS = CIRCUMFERENCE / (2.0 * np.pi)


@dataclass(frozen=True)
class Tube:
    """`x` (node_count, 3) standing on z = 0 [m]; `column` (node_count,) of each node; `rows` of edges in a column."""

    mesh: SheetMesh
    x: Floats
    column: Ints
    rows: int

    @property
    def rims(self) -> Ints:
        """Nodes at both ends."""
        low, high = self.x[:, 2] < 1e-9, self.x[:, 2] > HEIGHT - 1e-9
        return np.flatnonzero(low | high).astype(np.int32)

    @property
    def is_top(self) -> Bools:
        """Which of the rims' nodes are the upper ones."""
        return np.asarray(self.x[self.rims, 2] > 0.5 * HEIGHT)

    def hold(self) -> Pins:
        """The lower rim held by handle 0, the upper one by handle 1."""
        return Pins(self.rims, self.is_top.astype(np.int32), np.ascontiguousarray(self.x[self.rims]))

    def lowered(self, distance: float) -> Floats:
        """Where the rims' nodes are when the top has come down by `distance` [m], (m, 3)."""
        return self.x[self.rims] - np.outer(self.is_top, [0.0, 0.0, distance])

    def lobes(self, displacement: Floats) -> Floats:
        """Power of the radial displacement (node_count, 3) at each number of lobes around, (columns // 2 + 1,).

        The columns are sampled at the same heights; the spectra around the tube are added over the heights. Number
        0, the bulge that is the same all around, is left out.
        """
        outward = self.x[:, :2] / np.linalg.norm(self.x[:, :2], axis=1, keepdims=True)
        radial = np.einsum("ni,ni->n", outward, displacement[:, :2])
        heights = HEIGHT * (np.arange(self.rows) + 0.5) / self.rows
        columns = [self.column == k for k in range(int(self.column.max()) + 1)]
        field = np.stack([np.interp(heights, self.x[mine, 2], radial[mine]) for mine in columns], axis=1)
        power = np.sum(np.abs(np.fft.rfft(field, axis=1)) ** 2, axis=0)
        power[0] = 0.0
        return power


def make_tube(columns: int) -> Tube:
    """A tube of about so many columns; their number is even."""
    columns += columns % 2
    spacing = CIRCUMFERENCE / columns
    rows = max(1, round(HEIGHT / spacing * np.sqrt(0.75)))
    flat, _ = rectangle(HEIGHT, CIRCUMFERENCE, divisions=(rows, columns))
    column = np.rint(flat.u[:, 1] / spacing).astype(np.int32)
    node = np.arange(flat.vertex_count, dtype=np.int32)
    node[column == columns] = node[column == 0]  # first and last column have the same nodes, in the same order
    angle = 2.0 * np.pi * column / columns
    radius = 0.5 * spacing / np.sin(np.pi / columns)
    around = np.stack([radius * np.cos(angle), radius * np.sin(angle), flat.u[:, 0]], axis=1)
    x = np.ascontiguousarray(around[column < columns])
    mesh = make_sheet_mesh(flat.u, flat.faces, vertex_node=node, node_rest=x)
    return Tube(mesh, x, column[column < columns], rows)
