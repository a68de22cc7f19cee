"""Sheets to start from: each generator returns the mesh and its world positions (node_count, 3)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from crumple.mesh.limits import limit_faces, require_positive
from crumple.mesh.sheet_mesh import SheetMesh, make_sheet_mesh
from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints
from crumple.shapes.bent import bend_moebius, moebius_bend_radius

Kind = Literal["equilateral", "right", "alternating", "delaunay"]
KINDS: tuple[Kind, ...] = ("equilateral", "right", "alternating", "delaunay")
Side = Literal["left", "right", "bottom", "top"]
MOEBIUS_CHORD = 1.0
"""Largest edge of a bent Möbius strip, over its bend radius: facets make a bend shorter by 1/24 of that squared."""
JITTER = 0.25
"""Displacement of inner points of the `delaunay` kind, as a fraction of the size."""


def rectangle(
    width: float,
    height: float,
    size: float | None = None,
    *,
    kind: Kind = "equilateral",
    divisions: tuple[int, int] | None = None,
    seed: int = 0,
) -> tuple[SheetMesh, Floats]:
    """A flat sheet [0, width] × [0, height] in the plane z = 0 [m].

    `size` target edge length [m], or `divisions` = exact number of edges along the bottom and of rows.
    `kind`: "equilateral" rows shifted by half an edge; "right" squares cut by parallel diagonals; "alternating"
    diagonals in turn; "delaunay" points displaced at random (`seed`), triangulated.
    """
    require_positive("rectangle", width=width, height=height)
    row_height = np.sqrt(0.75) if kind in ("equilateral", "delaunay") else 1.0
    columns, rows = _count_divisions("rectangle", width, height, size, row_height, divisions)
    if kind == "equilateral":
        u, faces = _shifted_rows(width, height, columns, rows)
    elif kind in ("right", "alternating"):
        u, faces = _grid(width, height, columns, rows, kind == "alternating")
    elif kind == "delaunay":
        u, faces = _jittered(width, height, columns, rows, seed)
    else:
        raise InputError("rectangle.kind", f"must be one of {', '.join(KINDS)}", kind)
    mesh = make_sheet_mesh(u, faces)
    return mesh, mesh.node_rest.copy()


def disk(radius: float, size: float) -> tuple[SheetMesh, Floats]:
    """A flat disk around the origin in the plane z = 0: ring k of n has 6 k points [m]."""
    require_positive("disk", radius=radius, size=size)
    limit_faces("disk.size", 6.0 * (radius / size) ** 2, size)
    rings = max(1, round(radius / size))
    points, faces = [np.zeros((1, 2))], []
    start = np.cumsum([0, 1, *(6 * k for k in range(1, rings + 1))])
    for k in range(1, rings + 1):
        angle = 2.0 * np.pi * np.arange(6 * k) / (6 * k)
        points.append(radius * k / rings * np.stack([np.cos(angle), np.sin(angle)], axis=1))
        sextant, step = np.divmod(np.arange(6 * k), k)
        outer, outer_next = start[k] + np.arange(6 * k), start[k] + (np.arange(6 * k) + 1) % (6 * k)
        inner_count = max(6 * (k - 1), 1)
        inner = start[k - 1] + (sextant * (k - 1) + step) % inner_count
        inner_next = start[k - 1] + (sextant * (k - 1) + step + 1) % inner_count
        faces.append(np.stack([outer, outer_next, inner], axis=1))
        inside = step < k - 1
        faces.append(np.stack([inner, outer_next, inner_next], axis=1)[inside])
    mesh = make_sheet_mesh(np.concatenate(points), np.concatenate(faces).astype(np.int32))
    return mesh, mesh.node_rest.copy()


def cylinder(
    circumference: float,
    height: float,
    size: float | None = None,
    *,
    kind: Literal["right", "alternating"] = "right",
    divisions: tuple[int, int] | None = None,
) -> tuple[SheetMesh, Floats]:
    """A tube around the z axis, rolled from the flat pattern [0, circumference] × [0, height] [m].

    A seam closes it: two vertices per seam node. The columns are flat facets, so the tube is isometric to its
    pattern: the corners lie on a circle a little larger than circumference / 2π.
    """
    require_positive("cylinder", circumference=circumference, height=height)
    if kind not in ("right", "alternating"):
        raise InputError("cylinder.kind", "must be right or alternating", kind)
    columns, rows = _count_divisions("cylinder", circumference, height, size, 1.0, divisions)
    columns = _at_least("cylinder", columns, 3, divisions)
    u, faces = _grid(circumference, height, columns, rows, kind == "alternating")
    column, row = np.tile(np.arange(columns + 1), rows + 1), np.repeat(np.arange(rows + 1), columns + 1)
    node = row * columns + column % columns
    radius = circumference / columns / (2.0 * np.sin(np.pi / columns))
    angle = 2.0 * np.pi * column / columns
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle), u[:, 1]], axis=1)
    return _glued(u, faces, node, points)


def moebius(
    length: float, width: float, size: float | None = None, *, divisions: tuple[int, int] | None = None
) -> tuple[SheetMesh, Floats]:
    """A Möbius strip from the pattern [0, length] × [0, width], closed by a seam with a half turn [m].

    It starts bent, not stretched (`bend_moebius`), unless it is too short or its mesh too coarse for that: then it
    is the stretched ring of the textbooks. It has no consistent orientation.
    """
    require_positive("moebius", length=length, width=width)
    columns, rows = _count_divisions("moebius", length, width, size, 1.0, divisions)
    columns = _at_least("moebius", columns, 5, divisions)
    u, faces = _grid(length, width, columns, rows, False)
    column, row = np.tile(np.arange(columns + 1), rows + 1), np.repeat(np.arange(rows + 1), columns + 1)
    node = np.where(column < columns, row * columns + column, (rows - row) * columns)
    angle, across = 2.0 * np.pi * column / columns, width * (row / rows - 0.5)
    reach = length / (2.0 * np.pi) + across * np.cos(0.5 * angle)
    points = np.stack([reach * np.cos(angle), reach * np.sin(angle), across * np.sin(0.5 * angle)], axis=1)
    if moebius_bend_radius(length, width) * MOEBIUS_CHORD > length / columns:
        points = bend_moebius(u, length, width)
    return _glued(u, faces, node, points)


def side_nodes(mesh: SheetMesh, side: Side, *, sheet: int | None = None) -> Ints:
    """Nodes on the left, right, bottom or top side of the pattern's bounding box, ascending.

    `sheet` restricts them to one sheet of several.
    """
    sides: dict[str, tuple[int, int]] = {"left": (0, -1), "right": (0, 1), "bottom": (1, -1), "top": (1, 1)}
    if side not in sides:
        raise InputError("side", f"must be one of {', '.join(sides)}", side)
    axis, sign = sides[side]
    chosen = np.arange(mesh.face_count) if sheet is None else np.flatnonzero(mesh.face_sheet == sheet)
    vertex = np.unique(mesh.faces[chosen])
    u = mesh.u[vertex]
    reach = 1e-9 * float(np.ptp(u, axis=0).max(initial=0.0))
    extreme = (sign * u[:, axis]).max(initial=-np.inf)
    return np.unique(mesh.vertex_node[vertex[sign * u[:, axis] >= extreme - reach]])


def _count_divisions(
    place: str,
    width: float,
    height: float,
    size: float | None,
    row_height: float,
    divisions: tuple[int, int] | None,
) -> tuple[int, int]:
    """Columns and rows that give edges of about `size`, or the given `divisions`."""
    if divisions is not None:
        if size is not None:
            raise InputError(f"{place}.divisions", "give either size or divisions, not both", divisions)
        if len(divisions) != 2 or any(int(n) != n or n < 1 for n in divisions):
            raise InputError(f"{place}.divisions", "must be two whole numbers >= 1", divisions)
        limit_faces(f"{place}.divisions", 2.0 * divisions[0] * divisions[1], divisions)
        return int(divisions[0]), int(divisions[1])
    if size is None:
        raise InputError(f"{place}.size", "must be given, in m", size)
    require_positive(place, size=size)
    limit_faces(f"{place}.size", 2.0 * max(1.0, width / size) * max(1.0, height / (row_height * size)), size)
    return max(1, round(width / size)), max(1, round(height / (row_height * size)))


def _at_least(place: str, columns: int, least: int, divisions: tuple[int, int] | None) -> int:
    """A closed strip needs a few columns or two edges would join the same nodes."""
    if divisions is not None and columns < least:
        raise InputError(f"{place}.divisions", f"needs at least {least} columns", divisions)
    return max(columns, least)


def _grid(width: float, height: float, columns: int, rows: int, alternating: bool) -> tuple[Floats, Ints]:
    """Squares cut by a diagonal; parallel ones or in turn. Points row by row from the bottom."""
    x, y = np.meshgrid(np.linspace(0.0, width, columns + 1), np.linspace(0.0, height, rows + 1))
    index = np.arange((columns + 1) * (rows + 1)).reshape(rows + 1, columns + 1)
    a, b = index[:-1, :-1].ravel(), index[:-1, 1:].ravel()
    c, d = index[1:, 1:].ravel(), index[1:, :-1].ravel()
    faces = np.stack([a, b, c, a, c, d], axis=1)
    if alternating:
        odd = (np.add.outer(np.arange(rows), np.arange(columns)) % 2 == 1).ravel()
        faces[odd] = np.stack([a, b, d, b, c, d], axis=1)[odd]
    return np.stack([x.ravel(), y.ravel()], axis=1), faces.reshape(-1, 3).astype(np.int32)


def _row_positions(width: float, columns: int, shifted: bool) -> Floats:
    """Abscissae of a row of the equilateral pattern; shifted rows have half an edge at both ends."""
    if not shifted:
        return np.linspace(0.0, width, columns + 1)
    middle = (np.arange(columns) + 0.5) * (width / columns)
    return np.concatenate([[0.0], middle, [width]])


def _shifted_rows(width: float, height: float, columns: int, rows: int) -> tuple[Floats, Ints]:
    """Rows of nearly equilateral triangles: n + 1 points in even rows, n + 2 in odd ones."""
    shifted = np.arange(rows + 1) % 2 == 1
    start = np.concatenate([[0], np.cumsum(columns + 1 + shifted)])
    x = np.concatenate([_row_positions(width, columns, s) for s in shifted])
    y = np.repeat(np.linspace(0.0, height, rows + 1), columns + 1 + shifted)
    faces = []
    long, short = np.arange(columns), np.arange(columns + 1)
    for row in range(rows):
        even, odd = (start[row + 1], start[row]) if shifted[row] else (start[row], start[row + 1])
        along = np.stack([even + long, even + long + 1, odd + long + 1], axis=1)
        against = np.stack([even + short, odd + short + 1, odd + short], axis=1)
        block = np.concatenate([along, against])
        faces.append(block[:, ::-1] if shifted[row] else block)
    return np.stack([x, y], axis=1), np.concatenate(faces).astype(np.int32)


def _jittered(width: float, height: float, columns: int, rows: int, seed: int) -> tuple[Floats, Ints]:
    """The equilateral points, the inner ones displaced at random, and their Delaunay triangles.

    Border points stay, with the half edges at the ends of shifted rows left out, so sides are evenly divided.
    """
    from scipy.spatial import Delaunay  # half a second to import, seldom needed

    u, _ = _shifted_rows(width, height, columns, rows)
    step = np.array([width / columns, height / rows])
    inner = ((u > 0.25 * step) & (u < [width, height] - 0.25 * step)).all(axis=1)
    random = np.random.default_rng(seed)
    u[inner] += random.uniform(-JITTER, JITTER, (int(inner.sum()), 2)) * step
    # Qhull needs the sides strictly convex to keep every border point: bulge them by a parabola it cannot miss.
    lifted = u.copy()
    s = u / [width, height]
    bulge = 1e-4 * step.min()
    lifted[:, 1] += bulge * 4.0 * s[:, 0] * (1.0 - s[:, 0]) * (2.0 * s[:, 1] - 1.0)
    lifted[:, 0] += bulge * 4.0 * s[:, 1] * (1.0 - s[:, 1]) * (2.0 * s[:, 0] - 1.0)
    faces = Delaunay(lifted).simplices.astype(np.int32)
    a, b, c = (u[faces[:, k]] for k in range(3))
    area = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    faces[area < 0.0] = faces[area < 0.0][:, ::-1]
    return u, faces[np.abs(area) > 1e-9 * step[0] * step[1]]


def _glued(u: Floats, faces: Ints, node: Ints, points: Floats) -> tuple[SheetMesh, Floats]:
    """A seamed sheet: `node` and world `points` of every vertex; the first vertex places its node."""
    _, first = np.unique(node, return_index=True)
    x = np.ascontiguousarray(points[first])
    return make_sheet_mesh(u, faces, vertex_node=node.astype(np.int32), node_rest=x), x.copy()
