"""Two equal panels sewn together along their outline: a bag, a cushion, a shirt."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crumple.mesh.limits import require_positive
from crumple.mesh.sheet_mesh import SheetMesh, make_sheet_mesh
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Bools, Floats, Ints
from crumple.shapes.outline import outline

ON_SIDE = 1e-9
"""Distance from a side, over the size of the outline, at which a point lies on it."""
BETWEEN = 0.05
"""Free space between the patterns of the two panels, over their width."""


def pouch(
    points: Sequence[Sequence[float]] | Floats, open_sides: Sequence[int], gap: float, size: float
) -> tuple[SheetMesh, Floats]:
    """Two panels with the outline `points` (n, 2), `gap` apart in ±z and sewn to each other along its sides [m].

    Side k runs from point k to the next; those in `open_sides` are not sewn. The panel at +z has its pattern where the
    outline is, the other one beside it, mirrored. Near the seams the panels come together, which stretches them by
    less than gap²/size².
    """
    require_positive("pouch", gap=gap, size=size)
    panel, _ = outline(points, (), size)
    corners = np.asarray(points, np.float64)
    distance, sewn = _distance_to_seams(panel.u, corners, _closed_sides(len(corners), open_sides))
    u, faces, sewn, distance = _split_chords(panel.u, panel.faces, sewn, distance)
    rise = 0.5 * gap * np.clip(distance / (2.0 * size), 0.0, 1.0)
    mirror = 2.0 * u[:, 0].max() + BETWEEN * np.ptp(u[:, 0])
    other = np.where(sewn, np.arange(len(u)), len(u) + np.cumsum(~sewn) - 1)
    front, back = np.column_stack([u, rise]), np.column_stack([u, -rise])
    x = np.concatenate([front, back[~sewn]])
    mesh = make_sheet_mesh(
        np.concatenate([u, [mirror, 0.0] + u * [-1.0, 1.0]]),
        np.concatenate([faces, faces[:, ::-1] + len(u)]),
        vertex_node=np.concatenate([np.arange(len(u)), other]).astype(np.int32),
        node_rest=x,
    )
    return mesh, x.copy()


def _closed_sides(count: int, open_sides: Sequence[int]) -> list[int]:
    """The sides that are sewn."""
    for k in open_sides:
        if not 0 <= k < count:
            raise InputError("pouch.open", f"must be numbers of sides, 0 to {count - 1}", k)
    closed = [k for k in range(count) if k not in open_sides]
    if not closed:
        raise InputError("pouch.open", "leaves no side to sew the panels together", list(open_sides))
    return closed


def _distance_to_seams(u: Floats, corners: Floats, closed: list[int]) -> tuple[Floats, Bools]:
    """Distance [m] of points u (n, 2) to the nearest sewn side, and whether they are on one."""
    distance = np.full(len(u), np.inf)
    for k in closed:
        a, b = corners[k], corners[(k + 1) % len(corners)]
        share = np.clip((u - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        distance = np.minimum(distance, np.linalg.norm(u - a - share[:, None] * (b - a), axis=1))
    return distance, distance < ON_SIDE * np.ptp(corners, axis=0).max()


def _split_chords(u: Floats, faces: Ints, sewn: Bools, distance: Floats) -> tuple[Floats, Ints, Bools, Floats]:
    """The panel with a point in the middle of every inner edge between two sewn points.

    Both panels would share such an edge, and the faces beyond it.
    """
    triangles = [[int(v) for v in face] for face in faces]
    around: list[set[int]] = [set() for _ in range(len(u))]
    edges: dict[tuple[int, int], int] = {}
    for f, face in enumerate(triangles):
        for k in range(3):
            around[face[k]].add(f)
            a, b = sorted((face[k], face[(k + 1) % 3]))
            if sewn[a] and sewn[b]:
                edges[a, b] = edges.get((a, b), 0) + 1
    points, reach = list(u), list(distance)
    for (a, b), count in edges.items():
        if count < 2:
            continue
        new = len(points)
        points.append(0.5 * (u[a] + u[b]))
        reach.append(0.5 * float(np.linalg.norm(u[a] - u[b])))
        around.append(set())
        for f in sorted(around[a] & around[b]):  # the face keeps a, a new one has b
            other = [new if v == a else v for v in triangles[f]]
            triangles[f] = [new if v == b else v for v in triangles[f]]
            around[b].remove(f)
            around[new].add(f)
            for v in other:
                around[v].add(len(triangles))
            triangles.append(other)
    count = len(points) - len(u)
    return (
        np.array(points),
        np.array(triangles, np.int32),
        np.concatenate([sewn, np.zeros(count, bool)]),
        np.array(reach),
    )
