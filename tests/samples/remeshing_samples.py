"""Meshes, fields and poses for the tests of remeshing."""

from __future__ import annotations

import numpy as np

import crumple.mesh as cm
import crumple.shapes as cs
from crumple.geometry.metric import tensor_form, tensor_from_eigen
from crumple.mesh import SheetMesh, make_sheet_mesh
from crumple.remeshing import RemeshResult


def annulus() -> SheetMesh:
    spokes, rings = 7, 2
    angle = 2 * np.pi * np.arange(spokes) / spokes
    radius = np.linspace(0.4, 1.0, rings + 1)
    u = np.stack([np.outer(radius, np.cos(angle)).ravel(), np.outer(radius, np.sin(angle)).ravel()], axis=1)
    faces = []
    for r in range(rings):
        for s in range(spokes):
            a, b = r * spokes + s, r * spokes + (s + 1) % spokes
            faces += [(a, a + spokes, b + spokes), (a, b + spokes, b)]
    return make_sheet_mesh(u, np.array(faces))


def slit_square() -> SheetMesh:
    """A square with a slit of no width from one side to its middle, and a labelled line beyond the slit's end."""
    mesh, _ = cs.rectangle(1.0, 1.0, kind="right", divisions=(4, 4))
    buf = cm.open_buffers(mesh)
    tail, head = mesh.face_nodes.ravel(), np.roll(mesh.face_nodes, -1, axis=1).ravel()
    edge = [np.flatnonzero((tail == a) & (head == b))[0] for a, b in ((2, 7), (7, 12))]
    assert cm.cut_edges(buf, np.array(edge), 2) == 0
    cut = cm.compact(buf)[0]
    p, q = cut.u[cut.faces], np.roll(cut.u[cut.faces], -1, axis=1)
    middle = (np.abs(p[..., 0] - 0.5) < 1e-9) & (np.abs(q[..., 0] - 0.5) < 1e-9)
    label = (middle & (np.minimum(p[..., 1], q[..., 1]) > 0.49)).astype(np.int32) * 3
    return make_sheet_mesh(cut.u, cut.faces, edge_label=label)


def two_groups() -> SheetMesh:
    """Huge and tiny triangles, in two material groups."""
    x = np.array([0.0, 0.001, 0.003, 0.01, 0.05, 0.4, 1.0])
    u = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    n = len(x)
    faces = [
        f for j in range(n - 1) for i in range(n - 1) for f in
        ((j * n + i, j * n + i + 1, j * n + n + i + 1), (j * n + i, j * n + n + i + 1, j * n + n + i))
    ]  # fmt: skip
    faces = np.array(faces)
    return make_sheet_mesh(u, faces, face_material=(u[faces].mean(axis=1)[:, 0] > 0.05).astype(np.int32))


def surface(points: np.ndarray, faces: np.ndarray) -> SheetMesh:
    """A surface in space: one chart per triangle."""
    p = points[faces]
    e, f = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    length = np.linalg.norm(e, axis=1)
    u = np.zeros((len(faces), 3, 2))
    u[:, 1, 0], u[:, 2, 0] = length, (e * f).sum(axis=1) / length
    u[:, 2, 1] = np.linalg.norm(np.cross(e, f), axis=1) / length
    corners = np.arange(3 * len(faces)).reshape(-1, 3)
    return make_sheet_mesh(u.reshape(-1, 2), corners, vertex_node=faces.ravel(), node_rest=points)


ODD: dict[str, SheetMesh] = {
    "annulus": annulus(),
    "slit": slit_square(),
    "moebius": cs.moebius(1.0, 0.3, divisions=(6, 3))[0],
    "tube": cs.cylinder(1.0, 0.6, divisions=(5, 3))[0],
    "triangle": make_sheet_mesh(np.array([[0, 0], [1, 0], [0.2, 0.9]]), np.array([[0, 1, 2]])),
    "groups": two_groups(),
    "sphere": surface(*cs.sphere(1.0, 1)),
    "box": surface(*cs.box((0.5, 0.4, 0.3))),
    "two sheets": cm.concatenate([cs.disk(1.0, 0.5)[0], cs.moebius(1.0, 0.3, divisions=(5, 2))[0]])[0],
}


def random_sizing(count: int, rng: np.random.Generator, low: float, high: float, aspect: float = 0.2) -> np.ndarray:
    """Unrelated tensors at all vertices: sizes between low and high [m], any direction."""
    size = np.exp(rng.uniform(np.log(low), np.log(high), count))
    ratio, angle = rng.uniform(aspect, 1.0, count), rng.uniform(0, np.pi, count)
    values = np.stack([1 / size**2, (ratio / size) ** 2], axis=1)
    return tensor_from_eigen(values, np.stack([np.cos(angle), np.sin(angle)], axis=1))


def metric_lengths(result: RemeshResult) -> np.ndarray:
    """Length of every half-edge in the metric, (3 face_count,)."""
    mesh = result.mesh
    a, b = mesh.faces.ravel(), np.roll(mesh.faces, -1, axis=1).ravel()
    mean = 0.5 * (result.sizing[a] + result.sizing[b])
    return np.sqrt(tensor_form(mean, mesh.u[b] - mesh.u[a]))


def aspects(mesh: SheetMesh) -> np.ndarray:
    """Height over the longest edge relative to an equilateral face."""
    return 4 / np.sqrt(3) * mesh.face_area / mesh.corner_length.reshape(-1, 3).max(axis=1) ** 2


def folded_stack(layers: int = 4, gap: float = 2e-4, wave: float = 5e-4) -> tuple[SheetMesh, np.ndarray]:
    """A strip of 40 mm × 20 mm per layer, folded back and forth with round turns, wavy across its width."""
    length, turn, per, bend = 0.04, np.pi * gap / 2, 18, 6
    knots = [0.0]
    for n in range(layers):
        start = n * (length + turn)
        knots += list(start + np.linspace(0, length, per + 1)[1:])
        if n < layers - 1:
            knots += list(start + length + np.linspace(0, turn, bend + 1)[1:])
    columns = len(knots) - 1
    mesh, _ = cs.rectangle(1.0, 0.02, kind="alternating", divisions=(columns, 14))
    u = mesh.u.copy()
    u[:, 0] = np.array(knots)[np.rint(u[:, 0] * columns).astype(int)]
    mesh = make_sheet_mesh(u, mesh.faces)
    layer = np.minimum((u[:, 0] // (length + turn)).astype(int), layers - 1)
    along = u[:, 0] - layer * (length + turn)
    way, radius = np.where(layer % 2 == 0, 1.0, -1.0), gap / 2
    flat, angle = along <= length, (along - length) / radius
    x = np.empty((mesh.node_count, 3))
    x[:, 0] = np.where(
        flat, np.where(way > 0, along, length - along), np.where(way > 0, length, 0.0) + way * radius * np.sin(angle)
    )
    x[:, 1] = u[:, 1]
    x[:, 2] = layer * gap + np.where(flat, 0.0, radius - radius * np.cos(angle))
    x[:, 2] += wave * np.sin(2 * np.pi * u[:, 1] / 0.02)
    return mesh, x
