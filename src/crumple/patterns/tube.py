"""Kresling tubes as closed meshes: the wall sewn together along its border, its two ends shut by flat caps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from crumple.mesh.sheet_mesh import BOUNDARY, SheetMesh, make_sheet_mesh
from crumple.patterns.generators import kresling, kresling_cell, kresling_corners
from crumple.patterns.meshing import FIRST_LABEL, mesh_pattern
from crumple.runtime.typing import Floats, Ints

LABELS = {"side": 1, "diagonal": 2, "ring": 3}
"""Labels of the edges along the creases of a tube; those between wall and caps are of the ring."""
WALL, CAP = 0, 1
"""Materials of the faces."""
NEAR = 1e-6
"""Distance from a border below which vertices are on it, over the length of a side."""


@dataclass(frozen=True)
class Tube:
    """A tube around the z axis that stands on z = 0: its `mesh` with the `LABELS`, and the nodes at `x`
    (node_count, 3) [m]; `corners` (rows + 1, sides): nodes of the polygons;  `centres` (2,): nodes in the middle of the
    lower and of the upper cap."""

    mesh: SheetMesh
    x: Floats
    corners: Ints
    centres: Ints


def kresling_tube(sides: int, radius: float, height: float, twist: float, rows: int = 1, *, size: float) -> Tube:
    """The tube whose unrolled wall is `kresling(...)`, with faces of about `size` [m]; faces of the caps have the
    material `CAP`, those of the wall `WALL`."""
    pattern = kresling(sides, radius, height, twist, rows)
    flat = mesh_pattern(pattern, size).mesh
    base, shift, rise = kresling_cell(sides, radius, height, twist)
    up = flat.u[:, 1] / rise
    along = (flat.u[:, 0] - up * shift) / base
    label = _wall_labels(flat, pattern.group, pattern.group_names, along, up, sides, rows)
    node = _sewn(along, up, sides)
    x = np.zeros((int(node.max()) + 1, 3))
    x[node] = _rolled(along, up, lambda k, row: kresling_corners(sides, radius, height, twist, k, row))
    u, faces, nodes, labels, centres = [flat.u], [flat.faces], [node], [label], []
    material = [np.full(flat.face_count, WALL)]
    for end, sense in ((0, -1.0), (rows, 1.0)):
        ring = np.flatnonzero((np.abs(up - end) < NEAR) & (along < sides - NEAR))
        nodes_around = node[ring[np.argsort(along[ring])]]
        own = _cap(x, nodes_around, sides, sense, start=sum(map(len, u)), below=(2.75 + 1.25 * sense) * radius)
        u.append(own.u)
        faces.append(own.faces)
        nodes.append(own.node)
        labels.append(own.label)
        material.append(np.full(len(own.faces), CAP))
        centres.append(len(x))
        x = np.concatenate([x, own.x])
    mesh = make_sheet_mesh(
        np.concatenate(u),
        np.concatenate(faces),
        vertex_node=np.concatenate(nodes).astype(np.int32),
        face_material=np.concatenate(material),
        edge_label=np.concatenate(labels),
        node_rest=x,
    )
    corners = [[_nearest(along, up, node, k, row) for k in range(sides)] for row in range(rows + 1)]
    return Tube(mesh, x, np.array(corners, np.int32), np.array(centres, np.int32))


@dataclass(frozen=True)
class _Cap:
    """Vertices `u` (n, 2) [m] of a cap with the `node` of each, `faces`, `label` of their sides, and the places `x` of
    the nodes that are new, the middle first."""

    u: Floats
    node: Ints
    faces: Ints
    label: Ints
    x: Floats


def _cap(x: Floats, ring: Ints, sides: int, sense: float, *, start: int, below: float) -> _Cap:
    """The polygon with the nodes `ring` (n,) around it, seen from outside (`sense` 1 from above, −1 from below).

    Level i of its rings has `sides` · i points. `start`: number of its first vertex; `below`: how far its middle is
    below the wall in the pattern [m].
    """
    levels = len(ring) // sides
    middle = x[ring].mean(axis=0)
    count = 1 + sides * levels * (levels + 1) // 2
    place = np.empty((count, 3))
    place[0] = middle
    triangles = []

    def at(level: int, j: int) -> int:
        return 0 if level == 0 else 1 + sides * level * (level - 1) // 2 + j % (sides * level)

    corner = x[ring[::levels]]
    for level in range(1, levels + 1):
        for j in range(sides * level):
            k, share = j // level, (j % level) / level
            rim = (1.0 - share) * corner[k] + share * corner[(k + 1) % sides]
            place[at(level, j)] = middle + level / levels * (rim - middle)
            inner = k * (level - 1) + j % level
            triangles.append((at(level, j), at(level, j + 1), at(level - 1, inner)))
            if j % level < level - 1:
                triangles.append((at(level - 1, inner), at(level, j + 1), at(level - 1, inner + 1)))
    first = count - len(ring)
    faces = np.array(triangles, np.int32)
    rim = faces >= first
    label = np.where(rim & np.roll(rim, -1, axis=1), LABELS["ring"], 0)
    u = (place - middle)[:, :2]
    if sense < 0.0:
        u = u * [1.0, -1.0]
        faces = faces[:, ::-1]
        label = label[:, [1, 0, 2]]  # of the sides of a face that is run the other way
    node = np.concatenate([len(x) + np.arange(first), ring])
    return _Cap(u - [0.0, below], node, faces + start, label, place[:first])


def _wall_labels(
    flat: SheetMesh, group: Ints, names: tuple[str, ...], along: Floats, up: Floats, sides: int, rows: int
) -> Ints:
    """Labels of the sides of the wall's faces (face_count, 3), its borders included."""
    of_group = np.array([*(LABELS[name] for name in names), 0])
    label = np.where(flat.edge_label > 0, of_group[group[flat.edge_label - FIRST_LABEL]], 0)
    is_border = (flat.twin == BOUNDARY).reshape(-1, 3)

    def both(near: np.ndarray) -> np.ndarray:
        on = near[flat.faces]
        return is_border & on & np.roll(on, -1, axis=1)

    label[both(along < NEAR) | both(along > sides - NEAR)] = LABELS["side"]
    label[both(up < NEAR) | both(up > rows - NEAR)] = LABELS["ring"]
    return label


def _sewn(along: Floats, up: Floats, sides: int) -> Ints:
    """The node of each vertex of the wall: those of the right border are those of the left one."""
    left, right = (np.flatnonzero(np.abs(along - place) < NEAR) for place in (0.0, float(sides)))
    left, right = left[np.argsort(up[left])], right[np.argsort(up[right])]
    assert len(left) == len(right)  # both are halved alike
    assert np.allclose(up[left], up[right], atol=1e-9)
    kept = np.ones(len(along), bool)
    kept[right] = False
    node = np.cumsum(kept) - 1
    node[right] = node[left]
    return node.astype(np.int32)


def _rolled(along: Floats, up: Floats, corner: Callable[[Ints, Ints], Floats]) -> Floats:
    """Points of the wall on the flat facets between the corners of the tube, (n, 3) [m]; `corner(k, row)`: these."""
    k, row = np.floor(along + NEAR).astype(np.int32), np.floor(up + NEAR).astype(np.int32)
    s, r = (along - k)[:, None], (up - row)[:, None]
    origin, beside, above, across = (corner(k + i, row + j) for i, j in ((0, 0), (1, 0), (0, 1), (1, 1)))
    low = (s - r) * (beside - origin) + r * (across - origin)
    high = (r - s) * (above - origin) + s * (across - origin)
    return np.asarray(origin + np.where(s >= r, low, high))


def _nearest(along: Floats, up: Floats, node: Ints, k: int, row: int) -> int:
    """The node of the wall's vertex at a corner."""
    return int(node[np.argmin(np.hypot(along - k, up - row))])
