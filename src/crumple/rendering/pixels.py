"""The colour of every pixel. Samples are shaded once per pixel and triangle, then averaged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crumple.rendering.raster import Canvas, Frustum
from crumple.rendering.shading import (
    Backdrop,
    Drawing,
    ground_fraction,
    meet_surface,
    patch_normal,
    surroundings,
    toned,
)
from crumple.rendering.tracing import MISS, STACK_SIZE, Scene, nearest_hit
from crumple.runtime.compiled import device, kernel, run_chunks
from crumple.runtime.typing import Floats

BAND = 4
"""Rows of pixels handled at a time by one thread."""
LAYERS = 12
"""Most clear layers that are looked through, one behind the other."""
MIRRORS = 3
"""Most metal surfaces that pass light on to each other."""
BLUR = 0.8
"""Tangent by which a surface of roughness 1 blurs what it mirrors."""
GLOSS = 0.6
"""What obstacles of glass mirror, over what glass would: they should not draw the eye."""
LIFT = 2e-6
"""How far mirrored rays start from a surface, over the largest coordinate."""


class Veil(NamedTuple):
    """Obstacles that one looks through: corners and normals of triangles (n, 3, 3); `opacity` (n,) of each seen
    straight on, besides what glass mirrors; `glass` (n,) whether it mirrors."""

    point: Floats
    normal: Floats
    opacity: Floats
    glass: NDArray[np.bool_]


def shade_picture(
    frustum: Frustum,
    canvas: Canvas,
    veiled: Canvas,
    drawing: Drawing,
    veil: Veil,
    scene: Scene,
    boxes: Floats,
    backdrop: Backdrop,
    edges: bool,
) -> NDArray[np.float32]:
    """Linear light 0 … 1 of every pixel, (height, width, 3).

    `canvas` shows the triangles of `drawing`, `veiled` those of `veil` that lie before them; `scene`: the triangles of
    `drawing` for rays; `boxes`: the lights; `edges`: whether the mesh is drawn.
    """
    width, height = frustum.size
    picture = np.zeros((height, width, 3), np.float32)
    view, chunks = (frustum.eye, frustum.axes, np.array(frustum.slope)), -(-height // BAND)
    run_chunks(
        _shade_bands, chunks, *view, canvas.shown, canvas.samples, drawing, scene, boxes, backdrop, edges, picture
    )
    if len(veil.point):
        run_chunks(_veil_bands, chunks, *view, veiled.shown, veiled.samples, veil, boxes, backdrop, picture)
    return picture


@device
def _look_through(axes, slope, x, y):
    """Unit direction of the ray through the point (x, y) of the picture, both 0 … 1 from its top left."""
    sx, sy = (2.0 * x - 1.0) * slope[0], (1.0 - 2.0 * y) * slope[1]
    dx = axes[2, 0] + sx * axes[0, 0] + sy * axes[1, 0]
    dy = axes[2, 1] + sx * axes[0, 1] + sy * axes[1, 1]
    dz = axes[2, 2] + sx * axes[0, 2] + sy * axes[1, 2]
    size = np.sqrt(dx * dx + dy * dy + dz * dz)
    return dx / size, dy / size, dz / size


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


@device
def _behind(colors, glow, floor, share, left, bottom, extent, x, y, ox, oy, oz, dx, dy, dz):
    """The background at the point (x, y) of the picture, in the shadow that the ground there has."""
    gain = 1.0 + glow * np.exp(-5.0 * ((x - 0.5) ** 2 + (y - 0.55) ** 2))
    if dz < -1e-6 and oz > floor:
        t = (floor - oz) / dz
        gain *= ground_fraction(share, left, bottom, extent, ox + t * dx, oy + t * dy)
    return (
        gain * (colors[1, 0] + y * (colors[0, 0] - colors[1, 0])),
        gain * (colors[1, 1] + y * (colors[0, 1] - colors[1, 1])),
        gain * (colors[1, 2] + y * (colors[0, 2] - colors[1, 2])),
    )


@device
def _group_samples(shown, samples, i, j, ids, counts, xs, ys):
    """The different triangles that the samples of pixel (i, j) show, their number, and where their samples lie."""
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
            xs[g] += (t + 0.5) / samples
            ys[g] += (s + 0.5) / samples
    return groups


@kernel
def _shade_bands(first, step, eye, axes, slope, shown, samples, drawing, scene, boxes, backdrop, edges, out):
    """Shade every `step`-th band of rows."""
    point, normal, light, pattern, tint, row = (
        drawing.point, drawing.normal, drawing.light, drawing.pattern, drawing.tint, drawing.row,
    )  # fmt: skip
    place, altitude, looks, texture = drawing.place, drawing.altitude, drawing.looks, drawing.texture
    texel, level = drawing.texel, drawing.level
    node_box, start, triangle, order = scene.node_box, scene.start, scene.triangle, scene.order
    floor, share, left, bottom = backdrop.height, backdrop.share, backdrop.left, backdrop.bottom
    extent, below, colors, glow = backdrop.width, backdrop.below, backdrop.colors, backdrop.glow
    height, width = out.shape[0], out.shape[1]
    key, pixel, lift = boxes[0, :3], 2.0 * slope[1] / height, LIFT * np.abs(node_box[1]).max()
    stack = np.empty(STACK_SIZE, np.int32)
    ids, counts = np.empty(samples * samples, np.int32), np.empty(samples * samples, np.int32)
    xs, ys = np.empty(samples * samples), np.empty(samples * samples)
    for band in range(first, -(-height // BAND), step):
        for i in range(band * BAND, min(height, (band + 1) * BAND)):
            for j in range(width):
                groups = _group_samples(shown, samples, i, j, ids, counts, xs, ys)
                for g in range(groups):
                    x, y = (j + xs[g] / counts[g]) / width, (i + ys[g] / counts[g]) / height
                    dx, dy, dz = _look_through(axes, slope, x, y)
                    back_r, back_g, back_b = _behind(
                        colors, glow, floor, share, left, bottom, extent, x, y, eye[0], eye[1], eye[2], dx, dy, dz
                    )
                    red, green, blue = back_r, back_g, back_b
                    if ids[g] != MISS:
                        red, green, blue = _follow(
                            point, normal, light, pattern, tint, row, place, altitude, looks, texture, texel, level,
                            key, edges, node_box, start, triangle, order, stack, boxes, floor, share, left, bottom,
                            extent, below, lift, pixel, ids[g], eye[0], eye[1], eye[2], dx, dy, dz,
                            back_r, back_g, back_b,
                        )  # fmt: skip
                    weight = counts[g] / (samples * samples)
                    out[i, j, 0] += weight * toned(red)
                    out[i, j, 1] += weight * toned(green)
                    out[i, j, 2] += weight * toned(blue)


@device
def _follow(
    point, normal, light, pattern, tint, row, place, altitude, looks, texture, texel, level, key, edges,
    node_box, start, triangle, order, stack, boxes, floor, share, left, bottom, extent, below, lift, pixel,
    f, ox, oy, oz, dx, dy, dz, back_r, back_g, back_b,
):  # fmt: skip
    """Radiance along a ray that meets triangle `f` first (`MISS`: the background): through clear layers, and from metal
    to metal."""
    red, green, blue, pass_r, pass_g, pass_b = 0.0, 0.0, 0.0, 1.0, 1.0, 1.0
    mirrors, distance, a, b, c, roughness = 0, 0.0, 0.0, 0.0, 0.0, 0.0
    if f != MISS:
        distance, a, b, c = _barycentric(point, f, ox, oy, oz, dx, dy, dz)
    travelled = distance
    for _ in range(LAYERS):
        if f == MISS:
            if mirrors > 0:
                back_r, back_g, back_b = surroundings(
                    boxes, floor, share, left, bottom, extent, below, ox, oy, oz, dx, dy, dz, BLUR * roughness
                )
            return red + pass_r * back_r, green + pass_g * back_g, blue + pass_b * back_b
        er, eg, eb, mr, mg, mb, clear, nx, ny, nz, roughness, seen = meet_surface(
            point, normal, light, pattern, tint, row, place, altitude, looks, texture, texel, level, key, edges,
            f, a, b, c, dx, dy, dz, travelled * pixel,
        )  # fmt: skip
        red, green, blue = red + pass_r * er, green + pass_g * eg, blue + pass_b * eb
        ox, oy, oz = ox + distance * dx, oy + distance * dy, oz + distance * dz
        turn = 2.0 * min(0.0, nx * dx + ny * dy + nz * dz)
        rx, ry, rz = dx - turn * nx, dy - turn * ny, dz - turn * nz
        if looks[row[f], 0, 3] > 0.5 and mr > 0.0 and mirrors < MIRRORS:
            pass_r, pass_g, pass_b = pass_r * mr, pass_g * mg, pass_b * mb
            mirrors += 1
            ox, oy, oz, dx, dy, dz = ox + lift * nx, oy + lift * ny, oz + lift * nz, rx, ry, rz
        else:
            lr, lg, lb = surroundings(
                boxes, floor, share, left, bottom, extent, below, ox, oy, oz, rx, ry, rz, BLUR * roughness
            )
            red, green, blue = (
                red + pass_r * mr * seen * lr,
                green + pass_g * mg * seen * lg,
                blue + pass_b * mb * seen * lb,
            )
            pass_r, pass_g, pass_b = pass_r * clear, pass_g * clear, pass_b * clear
            if max(pass_r, pass_g, pass_b) < 0.02:
                break
        distance, k, b, c = nearest_hit(node_box, start, triangle, ox, oy, oz, dx, dy, dz, lift, np.inf, stack)
        f, a = (order[k] if k != MISS else MISS), 1.0 - b - c
        travelled += distance
    return red, green, blue


@kernel
def _veil_bands(first, step, eye, axes, slope, veiled, samples, veil, boxes, backdrop, out):
    """Lay the veil over every `step`-th band of rows."""
    floor, share, left, bottom = backdrop.height, backdrop.share, backdrop.left, backdrop.bottom
    extent, below, point, normal = backdrop.width, backdrop.below, veil.point, veil.normal
    opacity, glass = veil.opacity, veil.glass
    height, width = out.shape[0], out.shape[1]
    for band in range(first, -(-height // BAND), step):
        for i in range(band * BAND, min(height, (band + 1) * BAND)):
            for j in range(width):
                covered, f = 0, MISS
                for s in range(samples):
                    for t in range(samples):
                        if veiled[i * samples + s, j * samples + t] != MISS:
                            covered += 1
                            f = veiled[i * samples + s, j * samples + t]
                if f == MISS:
                    continue
                dx, dy, dz = _look_through(axes, slope, (j + 0.5) / width, (i + 0.5) / height)
                t, a, b, c = _barycentric(point, f, eye[0], eye[1], eye[2], dx, dy, dz)
                nx, ny, nz = patch_normal(normal, f, a, b, c, 1.0)
                cosine = nx * dx + ny * dy + nz * dz
                if cosine > 0.0:
                    nx, ny, nz, cosine = -nx, -ny, -nz, -cosine
                lr, lg, lb = surroundings(
                    boxes, floor, share, left, bottom, extent, below,
                    eye[0] + t * dx, eye[1] + t * dy, eye[2] + t * dz,
                    dx - 2.0 * cosine * nx, dy - 2.0 * cosine * ny, dz - 2.0 * cosine * nz, 0.02,
                )  # fmt: skip
                mirror = GLOSS * (0.04 + 0.96 * (1.0 + cosine) ** 5) if glass[f] else 0.0
                own = opacity[f] * (0.30 + 0.25 * nz)
                part = covered / (samples * samples)
                keep = 1.0 - part * min(1.0, opacity[f] + mirror)
                out[i, j, 0] = keep * out[i, j, 0] + part * toned(own + mirror * lr)
                out[i, j, 1] = keep * out[i, j, 1] + part * toned(1.03 * own + mirror * lg)
                out[i, j, 2] = keep * out[i, j, 2] + part * toned(1.08 * own + mirror * lb)
