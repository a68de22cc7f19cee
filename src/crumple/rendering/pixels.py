"""The colour of every pixel. Samples are shaded once per pixel and triangle, then averaged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crumple.contact.compiled import device, kernel, run_chunks
from crumple.rendering.raster import Frustum
from crumple.rendering.shading import Backdrop, Drawing, ground_share, meet_surface, patch_normal, surroundings, toned
from crumple.rendering.tracing import MISS, STACK_SIZE, Scene, nearest_hit
from crumple.typing import Floats, Ints

BAND = 4
"""Rows of pixels handled at a time by one thread."""
LAYERS = 12
"""Most clear layers that are looked through, one behind the other."""
MIRRORS = 3
"""Most metal surfaces that pass light on to each other."""


class Veil(NamedTuple):
    """Obstacles that one looks through: corners and normals of triangles (n, 3, 3); `opacity` (n,) of each seen
    straight on, besides what glass mirrors; `glass` (n,) whether it mirrors."""

    point: Floats
    normal: Floats
    opacity: Floats
    glass: NDArray[np.bool_]


def shade_picture(
    frustum: Frustum,
    shown: Ints,
    veiled: Ints,
    samples: int,
    drawing: Drawing,
    veil: Veil,
    scene: Scene,
    boxes: Floats,
    backdrop: Backdrop,
    edges: bool,
) -> NDArray[np.float32]:
    """Linear light 0 … 1 of every pixel, (height, width, 3).

    `shown`, `veiled`: the nearest triangle of `drawing` and of `veil` at every sample; `scene`: the triangles of
    `drawing` for rays; `boxes`: the lights.
    """
    width, height = frustum.size
    picture = np.zeros((height, width, 3), np.float32)
    view = (frustum.eye, frustum.axes, np.array(frustum.slope))
    run_chunks(
        _shade_bands, -(-height // BAND), *view, shown, veiled, samples, drawing, veil, scene, boxes, backdrop, edges,
        picture,
    )  # fmt: skip
    return picture


@device
def _barycentric(point, f, ox, oy, oz, dx, dy, dz):
    """Where a ray meets the plane of triangle `f`: distance and weights of the corners, kept inside the triangle."""
    ex, ey, ez = point[f, 1, 0] - point[f, 0, 0], point[f, 1, 1] - point[f, 0, 1], point[f, 1, 2] - point[f, 0, 2]
    gx, gy, gz = point[f, 2, 0] - point[f, 0, 0], point[f, 2, 1] - point[f, 0, 1], point[f, 2, 2] - point[f, 0, 2]
    px, py, pz = dy * gz - dz * gy, dz * gx - dx * gz, dx * gy - dy * gx
    determinant = ex * px + ey * py + ez * pz
    sx, sy, sz = ox - point[f, 0, 0], oy - point[f, 0, 1], oz - point[f, 0, 2]
    qx, qy, qz = sy * ez - sz * ey, sz * ex - sx * ez, sx * ey - sy * ex
    if abs(determinant) < 1e-20:
        return np.sqrt(sx * sx + sy * sy + sz * sz), 1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0
    b = min(1.0, max(0.0, (sx * px + sy * py + sz * pz) / determinant))
    c = min(1.0 - b, max(0.0, (dx * qx + dy * qy + dz * qz) / determinant))
    return (gx * qx + gy * qy + gz * qz) / determinant, 1.0 - b - c, b, c


@kernel
def _shade_bands(first, step, eye, axes, slope, shown, veiled, samples, drawing, veil, scene, boxes, backdrop, edges, out):
    """Shade every `step`-th band of rows."""
    point, normal, light, pattern, tint, row = (
        drawing.point, drawing.normal, drawing.light, drawing.pattern, drawing.tint, drawing.row,
    )  # fmt: skip
    place, altitude, looks, texture = drawing.place, drawing.altitude, drawing.looks, drawing.texture
    texel, level = drawing.texel, drawing.level
    node_box, start, triangle, order = scene.node_box, scene.start, scene.triangle, scene.order
    floor, share, left, bottom, extent = (
        backdrop.height, backdrop.share, backdrop.left, backdrop.bottom, backdrop.width,
    )  # fmt: skip
    below, colors, glow = backdrop.below, backdrop.colors, backdrop.glow
    height, width = out.shape[0], out.shape[1]
    key = boxes[0, :3]
    stack = np.empty(STACK_SIZE, np.int32)
    ids, counts = np.empty(samples * samples, np.int32), np.empty(samples * samples, np.int32)
    xs, ys = np.empty(samples * samples), np.empty(samples * samples)
    pixel = 2.0 * slope[1] / height
    lift = 2e-6 * np.abs(node_box[1]).max()
    for band in range(first, -(-height // BAND), step):
        for i in range(band * BAND, min(height, (band + 1) * BAND)):
            for j in range(width):
                groups = 0
                for s in range(samples):
                    for t in range(samples):
                        f = shown[i * samples + s, j * samples + t]
                        g = 0
                        while g < groups and ids[g] != f:
                            g += 1
                        if g == groups:
                            ids[g], counts[g], xs[g], ys[g] = f, 0, 0.0, 0.0
                            groups += 1
                        counts[g] += 1
                        xs[g] += t
                        ys[g] += s
                sum_r, sum_g, sum_b = 0.0, 0.0, 0.0
                for g in range(groups):
                    sx = ((j + (xs[g] / counts[g] + 0.5) / samples) / width * 2.0 - 1.0) * slope[0]
                    sy = (1.0 - (i + (ys[g] / counts[g] + 0.5) / samples) / height * 2.0) * slope[1]
                    dx = axes[2, 0] + sx * axes[0, 0] + sy * axes[1, 0]
                    dy = axes[2, 1] + sx * axes[0, 1] + sy * axes[1, 1]
                    dz = axes[2, 2] + sx * axes[0, 2] + sy * axes[1, 2]
                    size = np.sqrt(dx * dx + dy * dy + dz * dz)
                    dx, dy, dz = dx / size, dy / size, dz / size
                    up = 1.0 - (i + 0.5) / height
                    radial = (j / width - 0.5) ** 2 + (i / height - 0.55) ** 2
                    gain = 1.0 + glow * np.exp(-5.0 * radial)
                    back_r = gain * (colors[0, 0] + up * (colors[1, 0] - colors[0, 0]))
                    back_g = gain * (colors[0, 1] + up * (colors[1, 1] - colors[0, 1]))
                    back_b = gain * (colors[0, 2] + up * (colors[1, 2] - colors[0, 2]))
                    ox, oy, oz = eye[0], eye[1], eye[2]
                    if dz < -1e-6 and oz > floor:
                        t = (floor - oz) / dz
                        lit = ground_share(share, left, bottom, extent, ox + t * dx, oy + t * dy)
                        back_r, back_g, back_b = lit * back_r, lit * back_g, lit * back_b
                    f = ids[g]
                    red, green, blue = 0.0, 0.0, 0.0
                    pass_r, pass_g, pass_b = 1.0, 1.0, 1.0
                    mirrors, travelled, a, b, c, roughness = 0, 0.0, 0.0, 0.0, 0.0, 0.0
                    if f != MISS:
                        travelled, a, b, c = _barycentric(point, f, ox, oy, oz, dx, dy, dz)
                    distance = travelled
                    for _ in range(LAYERS):
                        if f == MISS:
                            if mirrors > 0:
                                back_r, back_g, back_b = surroundings(
                                    boxes, floor, share, left, bottom, extent, below, ox, oy, oz, dx, dy, dz,
                                    0.8 * roughness,
                                )  # fmt: skip
                            red, green, blue = red + pass_r * back_r, green + pass_g * back_g, blue + pass_b * back_b
                            break
                        er, eg, eb, mr, mg, mb, clear, nx, ny, nz, roughness, seen = meet_surface(
                            point, normal, light, pattern, tint, row, place, altitude, looks, texture, texel, level,
                            key, edges, f, a, b, c, dx, dy, dz, travelled * pixel,
                        )  # fmt: skip
                        red, green, blue = red + pass_r * er, green + pass_g * eg, blue + pass_b * eb
                        px, py, pz = ox + distance * dx, oy + distance * dy, oz + distance * dz
                        turn = 2.0 * min(0.0, nx * dx + ny * dy + nz * dz)
                        rx, ry, rz = dx - turn * nx, dy - turn * ny, dz - turn * nz
                        metal = looks[row[f], 0, 3] > 0.5 and mr > 0.0
                        if metal and mirrors < MIRRORS:
                            pass_r, pass_g, pass_b = pass_r * mr, pass_g * mg, pass_b * mb
                            mirrors += 1
                            ox, oy, oz = px + lift * nx, py + lift * ny, pz + lift * nz
                            dx, dy, dz = rx, ry, rz
                        else:
                            lr, lg, lb = surroundings(
                                boxes, floor, share, left, bottom, extent, below, px, py, pz, rx, ry, rz, 0.8 * roughness
                            )
                            red += pass_r * mr * seen * lr
                            green += pass_g * mg * seen * lg
                            blue += pass_b * mb * seen * lb
                            if clear * max(pass_r, pass_g, pass_b) < 0.02:
                                break
                            pass_r, pass_g, pass_b = pass_r * clear, pass_g * clear, pass_b * clear
                            ox, oy, oz = px, py, pz
                        distance, k, b, c = nearest_hit(
                            node_box, start, triangle, ox, oy, oz, dx, dy, dz, lift, np.inf, stack
                        )
                        f = order[k] if k != MISS else MISS
                        a = 1.0 - b - c
                        if f != MISS:
                            travelled += distance
                    weight = counts[g] / (samples * samples)
                    sum_r += weight * toned(red)
                    sum_g += weight * toned(green)
                    sum_b += weight * toned(blue)
                out[i, j, 0], out[i, j, 1], out[i, j, 2] = sum_r, sum_g, sum_b
                # What lies before the rest like glass.
                covered, f = 0, MISS
                for s in range(samples):
                    for t in range(samples):
                        k = veiled[i * samples + s, j * samples + t]
                        if k != MISS:
                            covered += 1
                            f = k
                if covered == 0:
                    continue
                sx = ((j + 0.5) / width * 2.0 - 1.0) * slope[0]
                sy = (1.0 - (i + 0.5) / height * 2.0) * slope[1]
                dx = axes[2, 0] + sx * axes[0, 0] + sy * axes[1, 0]
                dy = axes[2, 1] + sx * axes[0, 1] + sy * axes[1, 1]
                dz = axes[2, 2] + sx * axes[0, 2] + sy * axes[1, 2]
                size = np.sqrt(dx * dx + dy * dy + dz * dz)
                dx, dy, dz = dx / size, dy / size, dz / size
                t, a, b, c = _barycentric(veil.point, f, eye[0], eye[1], eye[2], dx, dy, dz)
                nx, ny, nz = patch_normal(veil.normal, f, a, b, c, 1.0)
                cosine = nx * dx + ny * dy + nz * dz
                if cosine > 0.0:
                    nx, ny, nz, cosine = -nx, -ny, -nz, -cosine
                rx, ry, rz = dx - 2.0 * cosine * nx, dy - 2.0 * cosine * ny, dz - 2.0 * cosine * nz
                lr, lg, lb = surroundings(
                    boxes, floor, share, left, bottom, extent, below,
                    eye[0] + t * dx, eye[1] + t * dy, eye[2] + t * dz, rx, ry, rz, 0.02,
                )  # fmt: skip
                mirror = (0.04 + 0.96 * (1.0 + cosine) ** 5) if veil.glass[f] else 0.0
                opacity = veil.opacity[f]
                matte = 0.30 + 0.25 * nz
                part = covered / (samples * samples)
                keep = 1.0 - part * min(1.0, opacity + 0.6 * mirror)
                out[i, j, 0] = keep * sum_r + part * toned(opacity * matte + 0.6 * mirror * lr)
                out[i, j, 1] = keep * sum_g + part * toned(opacity * 1.03 * matte + 0.6 * mirror * lg)
                out[i, j, 2] = keep * sum_b + part * toned(opacity * 1.08 * matte + 0.6 * mirror * lb)
