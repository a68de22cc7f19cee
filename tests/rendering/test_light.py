"""Rays, light and drawn samples against brute force and against what is known in closed form."""

from __future__ import annotations

import numpy as np
import pytest
from rays import trace_rays
from recording_samples import grid_mesh

from crumple.rendering.camera import fit_camera
from crumple.rendering.illumination import GROUND_PIXELS, gathering_points, ground_light, illuminate
from crumple.rendering.raster import Canvas, make_frustum
from crumple.rendering.studio import make_studio
from crumple.rendering.surface import make_patches
from crumple.rendering.tracing import MISS, make_scene


def triangles(count: int, seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    return random.uniform(-1, 1, (count, 1, 3)) + 0.6 * random.normal(size=(count, 3, 3))


def first_hit(corners: np.ndarray, origin: np.ndarray, direction: np.ndarray) -> tuple[int, float]:
    """By trying all triangles."""
    a, b, c = (corners[:, k] for k in range(3))
    system = np.stack([np.broadcast_to(-direction, a.shape), b - a, c - a], axis=2)
    t, u, v = np.linalg.solve(system, (origin - a)[..., None])[..., 0].T
    t = np.where((u >= 0) & (v >= 0) & (u + v <= 1) & (t > 0), t, np.inf)
    return (int(t.argmin()), float(t.min())) if np.isfinite(t.min()) else (MISS, np.inf)


@pytest.mark.parametrize("count", [1, 7, 300])
def test_rays_meet_the_triangle_that_is_nearest(count):
    corners, random = triangles(count, 1), np.random.default_rng(2)
    origin, direction = random.uniform(-2, 2, (200, 3)), random.normal(size=(200, 3))
    direction[:3] = np.eye(3)  # along the axes as well
    face, distance = trace_rays(make_scene(corners), origin, direction, 0.0)
    expected = [first_hit(corners, o, d) for o, d in zip(origin, direction, strict=True)]
    np.testing.assert_array_equal(face, [hit for hit, _ in expected])
    np.testing.assert_allclose(distance, [t for _, t in expected], rtol=1e-4)
    assert count < 300 or 0.2 < (face != MISS).mean() < 0.9


def test_without_triangles_every_ray_misses():
    face, _ = trace_rays(make_scene(np.zeros((0, 3, 3))), np.zeros((3, 3)), np.eye(3), 0.0)
    assert (face == MISS).all()


def test_samples_show_what_rays_meet():
    corners = triangles(60, 4)
    camera = fit_camera(corners.reshape(-1, 3), 4 / 3)
    frustum, canvas = make_frustum(camera, (40, 30)), Canvas((40, 30), 2)
    canvas.draw(frustum, triangles(5, 9))  # what was drawn before is forgotten
    canvas.draw(frustum, corners)
    row, column = np.indices(canvas.shown.shape)
    x = (2 * (column + 0.5) / 80 - 1) * frustum.slope[0]
    y = (1 - 2 * (row + 0.5) / 60) * frustum.slope[1]
    direction = frustum.axes[2] + x.reshape(-1, 1) * frustum.axes[0] + y.reshape(-1, 1) * frustum.axes[1]
    face, depth = trace_rays(make_scene(corners), np.tile(frustum.eye, (len(direction), 1)), direction, 0.0)
    agree = face == canvas.shown.ravel()
    assert agree.mean() > 0.995  # rounding decides at edges
    hit = agree & (face != MISS)
    assert 0.05 < hit.mean() < 0.95
    np.testing.assert_allclose(1.0 / canvas.nearness.ravel()[hit], depth[hit], rtol=1e-4)


def patches_at(height: float, columns: int = 6):
    mesh = grid_mesh(columns, columns)
    x = mesh.node_rest + np.array([0.0, 0.0, height])
    return make_patches(mesh.face_nodes, mesh.twin, x, np.zeros(3 * mesh.face_count, bool))


def test_a_lone_sheet_gets_all_the_light_that_there_is():
    patches, studio = patches_at(0.0), make_studio(0.3, 128)
    count = len(patches)
    light = illuminate(
        patches, np.zeros((count, 2, 3)), np.zeros(count), make_scene(patches.point), studio, -np.inf, 0.0
    )
    up = studio.direction[:, 2]
    expected = np.stack([(np.maximum(sign * up, 0.0)[:, None] * studio.radiance).sum(axis=0) for sign in (1, -1)])
    np.testing.assert_allclose(light[..., :3], np.broadcast_to(expected, (count, 3, 2, 3)), rtol=1e-9)
    np.testing.assert_allclose(light[..., 3], 1.0)


def test_between_two_sheets_it_is_dark_and_white_ones_pass_light_on():
    mesh = grid_mesh(8, 8)
    x = np.concatenate([mesh.node_rest, mesh.node_rest + np.array([0.0, 0.0, 5e-3])])
    faces = np.concatenate([mesh.face_nodes, mesh.face_nodes + mesh.node_count])
    twin = np.concatenate([mesh.twin, np.where(mesh.twin < 0, -1, mesh.twin + 3 * mesh.face_count)])
    patches = make_patches(faces, twin, x, np.zeros(3 * len(faces), bool))
    scene, studio, count = make_scene(patches.point), make_studio(0.0, 256), len(patches)

    def lit(albedo: float, through: float = 0.0) -> np.ndarray:
        return illuminate(patches, np.full((count, 2, 3), albedo), np.full(count, through), scene, studio, -np.inf, 0.0)

    middle = np.linalg.norm(patches.point.mean(axis=1)[: count // 2, :2] - 0.05, axis=1) < 0.02
    black, white, thin = (light[: count // 2][middle] for light in (lit(0.0), lit(0.9), lit(0.9, 0.3)))
    assert black[:, :, 0, 3].max() < 0.2  # the front of the lower sheet sees hardly anything but the upper one
    assert black[:, :, 1, 3].min() > 0.95
    assert black[:, :, 0, 1].mean() < 0.2 * black[:, :, 1, 1].mean()
    assert white[:, :, 0, 1].mean() > 1.2 * black[:, :, 0, 1].mean()
    assert thin[:, :, 0, 1].mean() > 1.5 * white[:, :, 0, 1].mean()


def test_gathering_points_lie_in_their_faces():
    patches = patches_at(0.1)
    points, number = gathering_points(patches)
    assert number.shape == (len(patches), 3)
    np.testing.assert_allclose(points.x[:, 2], 0.1)
    np.testing.assert_allclose(points.flat, points.normal)
    reach = np.linalg.norm(points.x[number] - patches.point, axis=2)
    assert reach.min() > 0.0
    assert reach.max() < 0.15 * 0.1 / 6 * np.sqrt(2)


def test_the_shadow_lies_below_the_sheet_and_clear_film_throws_less_of_it():
    patches, studio = patches_at(0.01), make_studio(0.0, 128)
    scene, count = make_scene(patches.point), len(patches)
    paper = ground_light(scene, np.zeros(count), studio, 0.0, np.array([0.05, 0.05]), 0.5)
    film = ground_light(scene, np.full(count, 0.8), studio, 0.0, np.array([0.05, 0.05]), 0.5)
    middle = GROUND_PIXELS // 2
    assert paper[middle, middle] < 0.25
    assert paper[2, 2] > 0.95
    assert film[middle, middle] > 0.75
    lifted = make_scene(patches.point + np.array([0.0, 0.0, 0.3]))
    high = ground_light(lifted, np.zeros(count), studio, 0.0, np.array([0.05, 0.05]), 0.5)
    assert high.min() > paper.min() + 0.3  # the higher the sheet, the fainter its shadow
