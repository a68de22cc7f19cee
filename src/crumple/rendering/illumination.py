"""How much light reaches both sides of a surface: shadows, soft because the lights are large, and what neighbouring
layers pass on to each other.

A radiosity method with rays: from every gathering point the same directions are followed. What a ray meets is kept, so
that every further bounce is a sum. Paper owes its look to this: light goes from fold to fold, and some goes through.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter

from crumple.rendering.studio import Studio
from crumple.rendering.surface import Patches
from crumple.rendering.tracing import MISS, STACK_SIZE, Scene, nearest_hit
from crumple.runtime.compiled import kernel, run_chunks
from crumple.runtime.typing import Floats, Ints

BOUNCES = 3
INSET = 0.12
"""How far gathering points are moved from a corner into its faces: in a crease both sides meet in one line."""
LIFT = 5e-5
"""Height of gathering points over their face, over the size of the scene."""
CHUNK = 64
"""Points handled at a time by one thread."""
GROUND = -2
"""What a ray meets that reaches the ground."""
GROUND_PIXELS = 112


class Points(NamedTuple):
    """Where light is gathered, one per distinct corner: position `x` (m, 3) [m] in one of its faces, smooth `normal`
    (m, 3), the `flat` one of the face (m, 3)."""

    x: Floats
    normal: Floats
    flat: Floats


def gathering_points(patches: Patches) -> tuple[Points, Ints]:
    """The points for `patches`, each in the largest of its faces, and the number of each corner's point, (n, 3)."""
    _, number = np.unique(patches.shared, return_inverse=True)
    number = np.asarray(number.reshape(patches.shared.shape), np.int32)
    a, b, c = (patches.point[:, k] for k in range(3))
    across = np.cross(b - a, c - a)
    area = np.linalg.norm(across, axis=1)
    order = np.argsort(np.repeat(area, 3), kind="stable")
    chosen = np.empty(int(number.max(initial=-1)) + 1, np.int64)
    chosen[number.ravel()[order]] = order  # the last one written is the largest
    patch, corner = chosen // 3, chosen % 3
    x = (1.0 - INSET) * patches.point[patch, corner] + INSET * patches.point[patch].mean(axis=1)
    flat = across[patch] / np.maximum(area[patch], 1e-30)[:, None]
    return Points(x, patches.normal[patch, corner], flat), number  # type: ignore[return-value]


def illuminate(
    patches: Patches, albedo: Floats, through: Floats, scene: Scene, studio: Studio, ground: float, ground_albedo: float
) -> Floats:
    """Light on `patches`, which are the triangles of `scene` in the same order, (n, 3, 2, 4): per corner, on front and
    back, irradiance in red, green, blue, and the fraction of the surroundings that is seen.

    `albedo` (n, 2, 3) of front and back;  `through` (n,) share of the light on one side that leaves on the other;
    `ground` its height [m], -inf = none.
    """
    points, number = gathering_points(patches)
    lift = LIFT * float(np.linalg.norm(np.ptp(points.x, axis=0)))
    met = np.empty((len(points.x), len(studio.direction)), np.int32)
    chunks = -(-len(met) // CHUNK)
    run_chunks(_look_around, chunks, points.x, points.flat, studio.direction, lift, ground, *scene, met)
    below = ground_albedo * _flat_irradiance(studio) / np.pi
    patch_radiance = np.zeros((len(albedo), 2, 3))
    light = np.zeros((len(met), 2, 4))
    for _ in range(1 + BOUNCES):
        sources = (studio.direction, studio.radiance, studio.angle, met, patch_radiance, below)
        run_chunks(_sum_light, chunks, points.normal, *sources, light)
        patch_radiance = sent_out(light[number, :, :3].mean(axis=1), albedo, through)
    return light[number]


def sent_out(irradiance: Floats, albedo: Floats, through: Floats) -> Floats:
    """Diffuse radiance L = ρ ((1 − τ) E + τ E')/π of both sides of patches, (n, 2, 3); E' is on the other side."""
    tau = through[:, None, None]
    return np.ascontiguousarray(albedo * ((1.0 - tau) * irradiance + tau * irradiance[:, ::-1]) / np.pi)


def _flat_irradiance(studio: Studio) -> Floats:
    """Irradiance of level ground with nothing on it, (3,)."""
    return (np.maximum(studio.direction[:, 2:], 0.0) * studio.radiance).sum(axis=0)


def ground_light(scene: Scene, clear: Floats, studio: Studio, ground: float, centre: Floats, width: float) -> Floats:
    """Share of its light that still reaches each point of the ground, (GROUND_PIXELS, GROUND_PIXELS).

    Rows run along +y, columns along +x, over a square of `width` [m] around `centre` (2,); `clear` (n,) is the fraction
    of light that goes through each triangle.
    """
    place = (np.arange(GROUND_PIXELS) + 0.5) / GROUND_PIXELS - 0.5
    x, y = np.meshgrid(centre[0] + width * place, centre[1] + width * place)
    point = np.stack([x.ravel(), y.ravel(), np.full(x.size, ground)], axis=1)
    up = studio.direction[:, 2] > 0.02
    direction = np.ascontiguousarray(studio.direction[up])
    power = direction[:, 2] * studio.radiance[up].mean(axis=1)
    normal = np.tile([0.0, 0.0, 1.0], (len(point), 1))
    met = np.empty((len(point), len(direction)), np.int32)
    run_chunks(_look_around, -(-len(point) // CHUNK), point, normal, direction, 1e-4 * width, -np.inf, *scene, met)
    passed = np.where(met == MISS, 1.0, clear[met // 2])
    return gaussian_filter((passed @ power / power.sum()).reshape(x.shape), 0.7)


@kernel
def _look_around(first, step, point, flat, direction, lift, ground, node_box, start, triangle, order, met):
    """Write what the rays from each point meet: `MISS`, `GROUND`, or 2 × patch + 1 if its back is seen."""
    stack = np.empty(STACK_SIZE, np.int32)
    for chunk in range(first, -(-len(point) // CHUNK), step):
        for v in range(chunk * CHUNK, min(len(point), (chunk + 1) * CHUNK)):
            for j in range(len(direction)):
                dx, dy, dz = direction[j, 0], direction[j, 1], direction[j, 2]
                side = lift if flat[v, 0] * dx + flat[v, 1] * dy + flat[v, 2] * dz > 0.0 else -lift
                x, y = point[v, 0] + side * flat[v, 0], point[v, 1] + side * flat[v, 1]
                z = point[v, 2] + side * flat[v, 2]
                _, i, _, _ = nearest_hit(node_box, start, triangle, x, y, z, dx, dy, dz, 0.0, np.inf, stack)
                if i != MISS:
                    ax = triangle[i, 4] * triangle[i, 8] - triangle[i, 5] * triangle[i, 7]
                    ay = triangle[i, 5] * triangle[i, 6] - triangle[i, 3] * triangle[i, 8]
                    az = triangle[i, 3] * triangle[i, 7] - triangle[i, 4] * triangle[i, 6]
                    met[v, j] = 2 * order[i] + (1 if ax * dx + ay * dy + az * dz > 0.0 else 0)
                elif dz < 0.0 and ground > -np.inf:
                    met[v, j] = GROUND
                else:
                    met[v, j] = MISS


@kernel
def _sum_light(first, step, normal, direction, radiance, angle, met, patch_radiance, below, light):
    """Irradiance and open share of front and back of each point from what its rays met."""
    for chunk in range(first, -(-len(normal) // CHUNK), step):
        for v in range(chunk * CHUNK, min(len(normal), (chunk + 1) * CHUNK)):
            light[v] = 0.0
            whole_front, whole_back = 1e-12, 1e-12
            for j in range(len(direction)):
                dx, dy, dz = direction[j, 0], direction[j, 1], direction[j, 2]
                facing = normal[v, 0] * dx + normal[v, 1] * dy + normal[v, 2] * dz
                side, hit = (0 if facing > 0.0 else 1), met[v, j]
                for c in range(3):
                    if hit == MISS:
                        arriving = radiance[j, c]
                    elif hit == GROUND:
                        arriving = angle[j] * below[c]
                    else:
                        arriving = angle[j] * patch_radiance[hit // 2, hit % 2, c]
                    light[v, side, c] += abs(facing) * arriving
                if side == 0:
                    whole_front += facing * angle[j]
                else:
                    whole_back -= facing * angle[j]
                if hit < 0:
                    light[v, side, 3] += abs(facing) * angle[j]
            light[v, 0, 3] /= whole_front
            light[v, 1, 3] /= whole_back
