"""How much light reaches both sides of a surface: shadows, soft because the lights are large, and what neighbouring
layers pass on to each other.

A radiosity method with rays: from every gathering point the same directions are followed. What a ray meets is kept, so
that every further bounce is a sum. Paper owes its look to this: light goes from fold to fold, and some goes through.
"""

from __future__ import annotations

import numpy as np

from crumple.contact.compiled import kernel, run_chunks
from crumple.rendering.studio import Studio
from crumple.rendering.surface import Patches
from crumple.rendering.tracing import MISS, STACK_SIZE, Scene, nearest_hit
from crumple.typing import Floats, Ints

BOUNCES = 3
INSET = 0.12
"""How far gathering points are moved from a corner into its faces: in a crease both sides meet in one line."""
CHUNK = 64
"""Points handled at a time by one thread."""
GROUND = -2
"""What a ray meets that reaches the ground."""
GROUND_PIXELS = 96


def gathering_points(patches: Patches) -> tuple[Floats, Floats, Ints]:
    """A point and a normal per distinct corner, (m, 3) each, and the number of each corner, (n, 3)."""
    _, number = np.unique(patches.shared, return_inverse=True)
    number = number.reshape(patches.shared.shape)
    count = np.bincount(number.ravel())[:, None]
    centre = np.repeat(patches.point.mean(axis=1), 3, axis=0)
    aim = (1.0 - INSET) * patches.point.reshape(-1, 3) + INSET * centre
    columns = [np.bincount(number.ravel(), aim[:, k]) for k in range(3)]
    normal = np.empty((len(count), 3))
    normal[number.ravel()] = patches.normal.reshape(-1, 3)
    return np.stack(columns, axis=1) / count, normal, number.astype(np.int32)


def illuminate(
    patches: Patches, albedo: Floats, through: Floats, scene: Scene, studio: Studio, ground: float, ground_albedo: float
) -> Floats:
    """Light on `patches`, which are the triangles of `scene` in the same order, (n, 3, 2, 4): per corner, on front and
    back, irradiance in red, green, blue, and the share of the surroundings that is seen.

    `albedo` (n, 2, 3) of front and back;  `through` (n,) share of the light on one side that leaves on the other;
    `ground` its height [m], -inf = none.
    """
    point, normal, number = gathering_points(patches)
    lift = 2e-4 * float(np.linalg.norm(np.ptp(point, axis=0)))
    met = np.empty((len(point), len(studio.direction)), np.int32)
    chunks = -(-len(point) // CHUNK)
    run_chunks(_look_around, chunks, point, normal, studio.direction, lift, ground, *scene, met)
    below = ground_albedo * _flat_irradiance(studio) / np.pi
    patch_radiance = np.zeros((len(albedo), 2, 3))
    light = np.zeros((len(point), 2, 4))
    for _ in range(1 + BOUNCES):
        sources = (studio.direction, studio.radiance, studio.angle, met, patch_radiance, below)
        run_chunks(_sum_light, chunks, normal, *sources, light)
        patch_radiance = sent_out(light[number, :, :3].mean(axis=1), albedo, through)
    return light[number]


def sent_out(irradiance: Floats, albedo: Floats, through: Floats) -> Floats:
    """Diffuse radiance L = ρ ((1 − τ) E + τ E')/π of both sides of patches, (n, 2, 3); E' is on the other side."""
    tau = through[:, None, None]
    return np.ascontiguousarray(albedo * ((1.0 - tau) * irradiance + tau * irradiance[:, ::-1]) / np.pi)


def _flat_irradiance(studio: Studio) -> Floats:
    """Irradiance of level ground with nothing on it, (3,)."""
    return (np.maximum(studio.direction[:, 2:], 0.0) * studio.radiance).sum(axis=0)


def ground_light(scene: Scene, studio: Studio, ground: float, centre: Floats, width: float) -> Floats:
    """Share of its light that still reaches each point of the ground, (GROUND_PIXELS, GROUND_PIXELS).

    Rows run along +y, columns along +x, over a square of `width` [m] around `centre` (2,).
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
    return ((met == MISS) @ power / power.sum()).reshape(x.shape)


@kernel
def _look_around(first, step, point, normal, direction, lift, ground, node_box, start, triangle, order, met):
    """Write what the rays from each point meet: `MISS`, `GROUND`, or 2 × patch + 1 if its back is seen."""
    stack = np.empty(STACK_SIZE, np.int32)
    for chunk in range(first, -(-len(point) // CHUNK), step):
        for v in range(chunk * CHUNK, min(len(point), (chunk + 1) * CHUNK)):
            for j in range(len(direction)):
                dx, dy, dz = direction[j, 0], direction[j, 1], direction[j, 2]
                facing = normal[v, 0] * dx + normal[v, 1] * dy + normal[v, 2] * dz
                side = lift if facing > 0.0 else -lift
                x, y, z = point[v, 0] + side * normal[v, 0], point[v, 1] + side * normal[v, 1], point[v, 2] + side * normal[v, 2]
                t, i, _, _ = nearest_hit(node_box, start, triangle, x, y, z, dx, dy, dz, 0.0, np.inf, stack)
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
