"""The drawn surface never crosses what the mesh keeps apart, and is curved wherever it has room."""

from __future__ import annotations

import numpy as np
import pytest

from crumple.contact.intersection import triangles_intersect
from crumple.mesh.sheet_mesh import make_sheet_mesh
from crumple.rendering.clearance import bend_shares, bulge
from crumple.rendering.surface import Patches, find_creases, make_patches, refine, refine_values
from crumple.shapes import rectangle
from crumple.shapes.obstacles import cylinder_surface

FACETS = 12
RADIUS = 0.02
FLAT = RADIUS * np.cos(np.pi / FACETS)
"""Distance of the middle of a facet from the axis [m]; the curve through its edges goes out to RADIUS there."""


def patches_of(points: np.ndarray, faces: np.ndarray) -> Patches:
    mesh = make_sheet_mesh(np.zeros((len(points), 2)), faces, node_rest=points)
    return make_patches(mesh.faces, mesh.twin, points, find_creases(mesh, points, None))


def pole() -> Patches:
    """A cylinder about z of few long facets; the middle of one of them is on the x axis."""
    points, faces = cylinder_surface(RADIUS, 0.1, FACETS, rows=1)
    turn = np.pi / FACETS - np.arctan2(points[0, 1], points[0, 0])
    cos, sin = np.cos(turn), np.sin(turn)
    return patches_of(points @ np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]]), faces)


def sheet_beside(gap: float) -> Patches:
    """A flat sheet across the x axis, `gap` [m] away from the facet that it lies along."""
    mesh, u = rectangle(0.05, 0.05, 0.012)
    points = np.stack([np.full(len(u), FLAT + gap), u[:, 0] - 0.025, u[:, 1] - 0.025], axis=1)
    return patches_of(points, mesh.face_nodes)


def wrapped(radius: float, size: float) -> Patches:
    """A sheet bent to three quarters of a cylinder about z with few faces around."""
    mesh, u = rectangle(1.5 * np.pi * radius, 0.06, size)
    angle = u[:, 0] / radius
    return patches_of(np.stack([radius * np.cos(angle), radius * np.sin(angle), u[:, 1]], axis=1), mesh.face_nodes)


def drawn(patches: Patches, share: np.ndarray, levels: int = 2) -> Patches:
    for _ in range(levels):
        patches, share = refine(patches, share), refine_values(share)
    return patches


def crossings(a: Patches, b: Patches) -> int:
    """Pairs of triangles of both that intersect."""
    first, second = (np.stack([p.point.min(axis=1), p.point.max(axis=1)], axis=1) for p in (a, b))
    close = (first[:, None, 0] <= second[None, :, 1]) & (second[None, :, 0] <= first[:, None, 1])
    pairs = np.argwhere(close.all(axis=2))
    return sum(bool(triangles_intersect(a.point[i], b.point[j])) for i, j in pairs)


@pytest.mark.parametrize("gap", [1e-5, 1e-4, 4e-4])
def test_a_facet_does_not_bulge_through_the_sheet_on_it(gap):
    bodies = [sheet_beside(gap), pole()]
    full = [drawn(body, np.ones((len(body), 3))) for body in bodies]
    assert crossings(*full) > 0, "what would happen without"
    shares = bend_shares(bodies)
    assert crossings(*map(drawn, bodies, shares)) == 0
    away = bodies[1].point[..., 0].max(axis=1) < 0.0
    assert shares[1][away].min() == 1.0, "the far side is as round as ever"


def test_layers_of_one_sheet_do_not_cross():
    layers = [wrapped(0.0200, 0.011), wrapped(0.0190, 0.009)]
    joined = Patches(
        *(np.concatenate([getattr(p, name) for p in (layers[0], layers[1].numbered_from(10_000))])
          for name in ("point", "normal", "sharp", "border", "place", "shared"))
    )  # fmt: skip
    share = bend_shares([joined])[0]
    first = len(layers[0])
    before = crossings(*layers)
    curved = [drawn(layers[0], share[:first], 2), drawn(layers[1], share[first:], 2)]
    assert before == crossings(*curved) == 0
    assert 0.0 < share.min() < 1.0


def test_curves_stay_within_their_bound_whatever_share_is_drawn():
    body = wrapped(0.02, 0.011)
    reach = bulge(body)
    for share in (0.1, 0.5, 1.0):
        fine = drawn(body, np.full((len(body), 3), share), 4)
        face = np.tile(np.arange(len(body)), 4**4)
        flat = np.einsum("nck,nkd->ncd", fine.place, body.point[face])
        far = np.linalg.norm(fine.point - flat, axis=2).max(axis=1)
        assert (far <= share * reach[face]).all()
        assert far.max() > 0.3 * share * reach.max()
