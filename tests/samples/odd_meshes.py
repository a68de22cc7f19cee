"""Small meshes with everything that goes wrong in edits: holes, seams, half turns, tips, corners, two sheets."""

from __future__ import annotations

import numpy as np

import crumple.mesh as cm
import crumple.shapes as cs
from crumple.mesh import SheetMesh, make_sheet_mesh


def polar(rings: int, spokes: int, *, closed: bool, inner: float) -> SheetMesh:
    """Flat annulus; with `closed` False it has a slit of no width along the x axis."""
    columns = spokes if closed else spokes + 1
    angle = 2 * np.pi * np.arange(columns) / spokes
    radius = np.linspace(inner, 1.0, rings + 1)
    u = np.stack([np.outer(radius, np.cos(angle)).ravel(), np.outer(radius, np.sin(angle)).ravel()], axis=1)
    faces = []
    for r in range(rings):
        for s in range(spokes):
            a, b = r * columns + s, r * columns + (s + 1) % columns
            faces += [(a, a + columns, b + columns), (a, b + columns, b)]
    return make_sheet_mesh(u, np.array(faces))


def slit_disk() -> SheetMesh:
    """A disk with a slit from the rim to its middle."""
    ring = polar(2, 8, closed=False, inner=0.4)
    u = np.concatenate([ring.u, [[0.0, 0.0]]])
    fan = [(s, s + 1, len(ring.u)) for s in range(8)]
    return make_sheet_mesh(u, np.concatenate([ring.faces, fan]))


def cone() -> SheetMesh:
    """A sector of 300° glued along its straight sides: a seam that ends in the tip."""
    rings, spokes = 3, 6
    angle = np.deg2rad(300) * np.arange(spokes + 1) / spokes
    u, node, faces = [(0.0, 0.0)], [0], []
    for r in range(1, rings + 1):
        for s in range(spokes + 1):
            u.append((r * np.cos(angle[s]), r * np.sin(angle[s])))
            node.append(1 + (r - 1) * spokes + s % spokes)
    for s in range(spokes):
        faces.append((0, 1 + s, 2 + s))
        for r in range(rings - 1):
            a = 1 + r * (spokes + 1) + s
            faces += [(a, a + spokes + 1, a + spokes + 2), (a, a + spokes + 2, a + 1)]
    turn = np.array([angle[(n - 1) % spokes] * 1.2 if n else 0.0 for n in range(1 + rings * spokes)])
    level = np.array([0 if n == 0 else 1 + (n - 1) // spokes for n in range(1 + rings * spokes)])
    rest = np.stack([level * np.cos(turn), level * np.sin(turn), -0.5 * level], axis=1)
    return make_sheet_mesh(np.array(u), np.array(faces), vertex_node=np.array(node), node_rest=rest)


def surface_sheet(points: np.ndarray, faces: np.ndarray) -> SheetMesh:
    """A closed surface as a sheet with one vertex per face corner."""
    none = np.full(len(faces), -1, np.int32)
    data = cm.ObjData(
        path="surface",
        points=np.asarray(points, float),
        texture=np.zeros((0, 2)),
        faces=np.asarray(faces, np.int32),
        face_texture=np.full(faces.shape, -1, np.int32),
        face_group=none,
        group_names=(),
        point_label=np.zeros(len(points), np.int32),
        velocity=np.zeros((len(points), 3)),
        edges=np.zeros((0, 3), np.int32),
        custom={},
    )
    return cm.sheet_from_obj(data)[0]


def tetrahedron() -> SheetMesh:
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    return surface_sheet(points, np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]))


def pillow() -> SheetMesh:
    """Two triangles sewn together along all three sides."""
    u = np.array([[0, 0], [1, 0], [0, 1], [2, 0], [3, 0], [2, 1.0]])
    node = np.array([0, 1, 2, 0, 2, 1])
    rest = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]])
    return make_sheet_mesh(u, np.array([[0, 1, 2], [3, 4, 5]]), vertex_node=node, node_rest=rest)


def labelled() -> SheetMesh:
    """A square of two material groups with a labelled line across, and labelled nodes on one side."""
    mesh, _ = cs.rectangle(1.0, 1.0, kind="alternating", divisions=(4, 4))
    centre = mesh.u[mesh.faces].mean(axis=1)
    ends = mesh.u[mesh.faces], np.roll(mesh.u[mesh.faces], -1, axis=1)
    on_line = (np.abs(ends[0][..., 1] - 0.5) < 1e-9) & (np.abs(ends[1][..., 1] - 0.5) < 1e-9)
    label = np.zeros(mesh.node_count, np.int32)
    label[cs.side_nodes(mesh, "left")] = 7
    return make_sheet_mesh(
        mesh.u,
        mesh.faces,
        face_material=(centre[:, 0] > 0.5).astype(np.int32),
        edge_label=on_line.astype(np.int32) * 3,
        node_label=label,
    )


def needles() -> SheetMesh:
    """Huge and tiny triangles side by side, some of them a thousand times as long as wide."""
    x = np.array([0.0, 1e-3, 3e-3, 0.05, 1.0])
    u = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    n = len(x)
    corner = np.arange(n * n).reshape(n, n)[:-1, :-1].ravel()
    lower = np.stack([corner, corner + 1, corner + n + 1], axis=1)
    upper = np.stack([corner, corner + n + 1, corner + n], axis=1)
    return make_sheet_mesh(u, np.concatenate([lower, upper]))


def holes(size: float) -> SheetMesh:
    """A square of 5 × 5 cells with two holes, of one cell and of two."""
    mesh, _ = cs.rectangle(size, size, kind="right", divisions=(5, 5))
    gone = np.isin(np.arange(mesh.face_count), [12, 13, 32, 33, 34, 35])
    used, faces = np.unique(mesh.faces[~gone], return_inverse=True)
    return make_sheet_mesh(mesh.u[used], faces.reshape(-1, 3))


ODD: dict[str, SheetMesh] = {
    "annulus": polar(2, 7, closed=True, inner=0.4),
    "slit disk": slit_disk(),
    "cone": cone(),
    "moebius": cs.moebius(1.0, 0.3, divisions=(6, 3))[0],
    "tube": cs.cylinder(1.0, 0.6, divisions=(5, 3))[0],
    "triangle": make_sheet_mesh(np.array([[0, 0], [1, 0], [0.2, 0.9]]), np.array([[0, 1, 2]])),
    "tetrahedron": tetrahedron(),
    "icosphere": surface_sheet(*cs.sphere(1.0, 1)),
    "pillow": pillow(),
    "labelled": labelled(),
    "needles": needles(),
    "tiny, with holes": holes(1e-6),
    "two sheets": cm.concatenate([cs.disk(1.0, 0.5)[0], cs.moebius(1.0, 0.3, divisions=(5, 2))[0]])[0],
}
