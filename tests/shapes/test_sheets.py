"""Generators give valid meshes of the asked size, and refuse nonsense."""

from __future__ import annotations

import numpy as np
import pytest

import crumple.mesh as cm
import crumple.shapes as cs
from crumple.mesh import SheetMesh
from crumple.runtime.errors import InputError
from crumple.shapes.sheets import KINDS

ELL = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
HOLE = [(0.3, 0.3), (0.7, 0.3), (0.5, 0.7)]


def smallest_angle(mesh: SheetMesh) -> float:
    """In degrees, in the pattern."""
    p = mesh.u[mesh.faces]
    out, back = np.roll(p, -1, axis=1) - p, np.roll(p, 1, axis=1) - p
    cosine = (out * back).sum(axis=2) / np.linalg.norm(out, axis=2) / np.linalg.norm(back, axis=2)
    return float(np.degrees(np.arccos(cosine.max())))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("width", "height", "size"), [(0.21, 0.297, 0.02), (1.0, 0.1, 0.3), (1.0, 1.0, 5.0)])
def test_rectangle(kind: str, width: float, height: float, size: float) -> None:
    mesh, x = cs.rectangle(width, height, size, kind=kind)
    assert cm.validate_mesh(mesh, x, oriented=True) == []
    assert mesh.face_area.sum() == pytest.approx(width * height, rel=1e-12)
    np.testing.assert_array_equal(x[:, :2], mesh.u)
    for side, axis, value in (("left", 0, 0.0), ("right", 0, width), ("bottom", 1, 0.0), ("top", 1, height)):
        nodes = cs.side_nodes(mesh, side)
        assert len(nodes) >= 2
        np.testing.assert_array_equal(x[nodes, axis], value)
    assert (mesh.twin < 0).sum() == mesh.boundary_nodes.sum()
    if size < 0.1:
        assert smallest_angle(mesh) > 10.0
        assert 0.7 * size < mesh.corner_length.mean() < 1.3 * size


def test_rectangle_with_exact_divisions() -> None:
    mesh, _ = cs.rectangle(2.0, 1.0, kind="right", divisions=(6, 5))
    assert (mesh.face_count, mesh.node_count) == (60, 42)
    alternating, _ = cs.rectangle(2.0, 1.0, kind="alternating", divisions=(6, 5))
    valence = np.bincount(alternating.edges.ravel())
    assert valence.max() == 8  # every other node has all its diagonals


def test_delaunay_rectangle_follows_its_seed() -> None:
    a, b, c = (cs.rectangle(1.0, 1.0, 0.1, kind="delaunay", seed=s)[0] for s in (1, 1, 2))
    np.testing.assert_array_equal(a.u, b.u)
    assert not np.array_equal(a.u, c.u)


@pytest.mark.parametrize("size", [0.05, 0.3, 3.0])
def test_disk(size: float) -> None:
    mesh, x = cs.disk(1.0, size)
    assert cm.validate_mesh(mesh, x, oriented=True) == []
    rim = np.linalg.norm(x[mesh.boundary_nodes], axis=1)
    np.testing.assert_allclose(rim, 1.0)
    n = len(rim)
    assert mesh.face_area.sum() == pytest.approx(0.5 * n * np.sin(2 * np.pi / n), rel=1e-12)
    assert smallest_angle(mesh) > 40.0


@pytest.mark.parametrize("kind", ["right", "alternating"])
def test_cylinder_is_closed_by_a_seam_and_isometric(kind: str) -> None:
    mesh, x = cs.cylinder(0.28, 0.2, 0.02, kind=kind)
    assert cm.validate_mesh(mesh, x, oriented=True) == []
    assert mesh.has_seams
    assert mesh.node_count - len(mesh.edges) + mesh.face_count == 0
    length = np.linalg.norm(np.diff(x[mesh.edges], axis=1)[:, 0], axis=1)
    np.testing.assert_allclose(length, mesh.corner_length[mesh.edge_corners], rtol=1e-12)
    outward = np.cross(*(x[mesh.face_nodes[0, k]] - x[mesh.face_nodes[0, 0]] for k in (1, 2)))
    assert outward @ x[mesh.face_nodes[0, 0]] > 0.0


def test_moebius_has_one_side_and_one_border() -> None:
    mesh, x = cs.moebius(1.0, 0.2, 0.05)
    assert cm.validate_mesh(mesh, x, oriented=True) == []
    assert mesh.node_count - len(mesh.edges) + mesh.face_count == 0
    border = mesh.edges[mesh.twin[mesh.edge_corners] < 0]
    links = {int(n): [] for n in border.ravel()}
    for a, b in border.tolist():
        links[a].append(b)
        links[b].append(a)
    seen, here = set(), next(iter(links))
    while here not in seen:
        seen.add(here)
        here = next((n for n in links[here] if n not in seen), here)
    assert len(seen) == len(links)  # a strip without the half turn would have two borders


@pytest.mark.parametrize("size", [0.05, 0.2, 10.0])
def test_outline(size: float) -> None:
    mesh, x = cs.outline(ELL, [HOLE], size)
    assert cm.validate_mesh(mesh, x, oriented=True) == []
    assert mesh.face_area.sum() == pytest.approx(3.0 - 0.08, rel=1e-9)
    assert mesh.node_count - len(mesh.edges) + mesh.face_count == 0
    assert mesh.corner_length.max() < 4 / 3 * size * 1.3
    if size < 0.1:
        assert smallest_angle(mesh) > 25.0
        assert mesh.corner_length.min() > 0.4 * size
    border = mesh.corner_length[mesh.twin < 0].sum()
    assert border == pytest.approx(8.0 + 0.4 + 2 * np.hypot(0.2, 0.4), rel=1e-9)


def test_outline_with_many_short_sides() -> None:
    angle = np.linspace(0.0, 2 * np.pi, 150, endpoint=False)
    mesh, x = cs.outline(np.stack([np.cos(angle), np.sin(angle)], axis=1), (), 0.2)
    assert cm.validate_mesh(mesh, x, oriented=True) == []
    assert smallest_angle(mesh) > 8.0
    assert mesh.face_count < 1500


@pytest.mark.parametrize(
    ("points", "holes"),
    [
        ([(0, 0), (1, 1), (1, 0), (0, 1)], []),
        ([(0, 0), (1, 0)], []),
        ([(0, 0), (1, 0), (2, 0)], []),
        ([(0, 0), (1, 0), (np.nan, 1)], []),
        (ELL, [[(5, 5), (6, 5), (6, 6)]]),
        ("square", []),
        (ELL, [HOLE, HOLE]),
    ],
)
def test_bad_outlines_are_refused(points: object, holes: list) -> None:
    with pytest.raises(InputError):
        cs.outline(points, holes, 0.1)


def closed_volume(points: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (points[faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


@pytest.mark.parametrize(
    ("surface", "volume", "tolerance"),
    [
        (cs.sphere(0.5, 3), np.pi / 6, 0.02),
        (cs.box((1.0, 2.0, 3.0), 3), 6.0, 1e-12),
        (cs.cylinder_surface(0.5, 2.0, 24), 0.5 * np.pi, 0.02),
    ],
)
def test_closed_obstacles_face_outwards(surface: tuple, volume: float, tolerance: float) -> None:
    points, faces = surface
    assert faces.dtype == np.int32
    assert closed_volume(points, faces) == pytest.approx(volume, rel=tolerance)
    half_edges = {(int(f[k]), int(f[(k + 1) % 3])) for f in faces for k in range(3)}
    assert len(half_edges) == 3 * len(faces)
    assert all((b, a) in half_edges for a, b in half_edges)
    assert len(np.unique(faces)) == len(points)


def test_plane_faces_up() -> None:
    points, faces = cs.plane((2.0, 1.0), 3)
    normal = np.cross(points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]])
    assert 0.5 * normal[:, 2].sum() == pytest.approx(2.0)
    assert (normal[:, 2] > 0.0).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda: cs.rectangle(1.0, 1.0, 1e-6),
        lambda: cs.rectangle(1.0, 1.0, 0.0),
        lambda: cs.rectangle(-1.0, 1.0, 0.1),
        lambda: cs.rectangle(np.inf, 1.0, 0.1),
        lambda: cs.rectangle(1.0, 1.0),
        lambda: cs.rectangle(1.0, 1.0, 0.1, kind="hexagonal"),
        lambda: cs.rectangle(1.0, 1.0, divisions=(0, 3)),
        lambda: cs.rectangle(1.0, 1.0, divisions=(10_000, 10_000)),
        lambda: cs.rectangle(1.0, 1.0, 0.1, divisions=(2, 2)),
        lambda: cs.cylinder(1.0, 1.0, divisions=(2, 2)),
        lambda: cs.disk(1.0, 1e-9),
        lambda: cs.disk(np.nan, 0.1),
        lambda: cs.moebius(1.0, 0.0, 0.1),
        lambda: cs.outline(ELL, [], 1e-5),
        lambda: cs.sphere(1.0, 12),
        lambda: cs.sphere(1.0, -1),
        lambda: cs.box((1.0, 0.0, 1.0)),
        lambda: cs.plane(-1.0),
        lambda: cs.cylinder_surface(1.0, 1.0, 2),
        lambda: cs.cylinder_surface(1e-6, 1e6, 1000),
        lambda: cs.side_nodes(cs.disk(1.0, 0.5)[0], "front"),
    ],
)
def test_nonsense_is_refused(call: object) -> None:
    with pytest.raises(InputError):
        call()  # type: ignore[operator]


def test_concatenate_renumbers_sheets_and_nodes() -> None:
    a, b = cs.disk(1.0, 0.5)[0], cs.cylinder(1.0, 1.0, 0.3)[0]
    both, offsets = cm.concatenate([a, b, a])
    assert cm.validate_mesh(both) == []
    assert offsets.tolist() == [0, a.node_count, a.node_count + b.node_count, both.node_count]
    assert both.face_sheet.tolist() == [0] * a.face_count + [1] * b.face_count + [2] * a.face_count
    again, _ = cm.concatenate([both, a])
    assert again.face_sheet.max() == 3
    second = cs.side_nodes(both, "bottom", sheet=1)
    assert (second >= offsets[1]).all()
    assert (second < offsets[2]).all()
    with pytest.raises(ValueError, match="at least one"):
        cm.concatenate([])
