"""How surfaces look where a ray meets them: texture, unevenness, diffuse and mirrored light; and their surroundings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crumple.rendering.studio import studio_light
from crumple.runtime.compiled import device
from crumple.runtime.typing import Floats, Ints

Array = NDArray[np.float32]

PASSED_ON = 0.7
"""Share of rough reflection that is taken from the light on the surface instead of one ray."""
FIBRE = 0.35e-3
"""Length over which the brightness of paper varies [m]."""
THREADS = 0.22
"""How much the brightness of cloth varies from thread to thread."""
LINE_COLOR, LINE_WIDTH = (0.055, 0.075, 0.1), 0.8
"""Edges of the mesh: colour and half width in pixels."""


class Drawing(NamedTuple):
    """All that is drawn. Triangles have corners `point`, `normal` (n, 3, 3) [m], unit;  `light` (n, 3, 2, 4) irradiance
    of front and back and the visible fraction of the sky;  `pattern` (n, 3, 2) [m];  `tint` (n, 3, 3);  `row` (n,)
    their row in `looks` (k, 2, 16) and in `texture` (k, 2, 5): number of the texture (−1: none), left, bottom, width,
    height of the pattern [m];  `place` (n, 3, 3) and `altitude` (n, 3) [m] of corners in the face of the mesh."""

    point: Array
    normal: Array
    light: Array
    pattern: Array
    tint: Array
    row: Ints
    place: Array
    altitude: Array
    looks: Floats
    texture: Floats
    texel: Array
    level: Ints


class Backdrop(NamedTuple):
    """Ground and background: `height` of the ground [m], −inf = none; `share` (m, m) of the light that reaches it over
    the square `left`, `bottom`, `width` [m];  `below` (3,) its radiance;  `colors` (2, 3) of the background, bottom and
    top;  `glow` how much brighter its middle is."""

    height: float
    share: Array
    left: float
    bottom: float
    width: float
    below: Floats
    colors: Floats
    glow: float


@device
def _hash(i, j):
    """A number in 0 … 1 that looks random, the same for the same integers."""
    h = (i * 374761393 + j * 668265263) & 0xFFFFFFFF
    h = ((h ^ (h >> 13)) * 1274126177) & 0xFFFFFFFF
    return ((h ^ (h >> 16)) & 0xFFFFFF) / 16777216.0


@device
def _noise(x, y):
    """Smooth noise of unit wavelength in 0 … 1."""
    i, j = int(np.floor(x)), int(np.floor(y))
    s, t = x - i, y - j
    s, t = s * s * (3.0 - 2.0 * s), t * t * (3.0 - 2.0 * t)
    low = _hash(i, j) + s * (_hash(i + 1, j) - _hash(i, j))
    high = _hash(i, j + 1) + s * (_hash(i + 1, j + 1) - _hash(i, j + 1))
    return low + t * (high - low)


@device
def _texel(texel, level, number, x, y, footprint):
    """Colour of a texture at (x, y) in 0 … 1, averaged over `footprint` of its width."""
    k = 0
    while k < level.shape[1] - 1 and footprint * level[number, k, 1] > 1.5:
        k += 1
    start, width, height = level[number, k, 0], level[number, k, 1], level[number, k, 2]
    px = min(max(x * width - 0.5, 0.0), width - 1.0)
    py = min(max((1.0 - y) * height - 0.5, 0.0), height - 1.0)
    i, j = int(px), int(py)
    s, t = px - i, py - j
    i1, j1 = min(i + 1, width - 1), min(j + 1, height - 1)
    a, b = start + j * width + i, start + j * width + i1
    c, d = start + j1 * width + i, start + j1 * width + i1
    u, v, w, z = (1 - s) * (1 - t), s * (1 - t), (1 - s) * t, s * t
    return (
        u * texel[a, 0] + v * texel[b, 0] + w * texel[c, 0] + z * texel[d, 0],
        u * texel[a, 1] + v * texel[b, 1] + w * texel[c, 1] + z * texel[d, 1],
        u * texel[a, 2] + v * texel[b, 2] + w * texel[c, 2] + z * texel[d, 2],
    )


@device
def ground_fraction(share, left, bottom, width, x, y):
    """Share of its light that reaches the ground at (x, y), 1 beyond the square that is known."""
    n = share.shape[0]
    px, py = (x - left) / width * n - 0.5, (y - bottom) / width * n - 0.5
    if not (0.0 <= px < n - 1 and 0.0 <= py < n - 1):
        return 1.0
    i, j = int(px), int(py)
    s, t = px - i, py - j
    low = share[j, i] + s * (share[j, i + 1] - share[j, i])
    high = share[j + 1, i] + s * (share[j + 1, i + 1] - share[j + 1, i])
    value = low + t * (high - low)
    rim = min(min(px, n - 1 - px), min(py, n - 1 - py)) / (0.15 * n)  # no visible end
    return 1.0 + min(1.0, rim) * (value - 1.0)


@device
def surroundings(boxes, height, share, left, bottom, width, below, ox, oy, oz, dx, dy, dz, blur):
    """Radiance that arrives from outside along a ray: the ground, or the studio."""
    if dz < -1e-6 and oz > height:
        t = (height - oz) / dz
        lit = ground_fraction(share, left, bottom, width, ox + t * dx, oy + t * dy)
        return lit * below[0], lit * below[1], lit * below[2]
    return studio_light(boxes, dx, dy, dz, blur)


@device
def patch_normal(normal, f, a, b, c, flip):
    """Unit normal at a point of triangle `f`, on the side that is seen."""
    x = flip * (a * normal[f, 0, 0] + b * normal[f, 1, 0] + c * normal[f, 2, 0])
    y = flip * (a * normal[f, 0, 1] + b * normal[f, 1, 1] + c * normal[f, 2, 1])
    z = flip * (a * normal[f, 0, 2] + b * normal[f, 1, 2] + c * normal[f, 2, 2])
    length = np.sqrt(x * x + y * y + z * z) + 1e-30
    return x / length, y / length, z / length


@device
def _facing(point, f, dx, dy, dz):
    """Cosine between the ray and the triangle's normal; positive when its back is seen."""
    ex, ey, ez = point[f, 1, 0] - point[f, 0, 0], point[f, 1, 1] - point[f, 0, 1], point[f, 1, 2] - point[f, 0, 2]
    gx, gy, gz = point[f, 2, 0] - point[f, 0, 0], point[f, 2, 1] - point[f, 0, 1], point[f, 2, 2] - point[f, 0, 2]
    nx, ny, nz = ey * gz - ez * gy, ez * gx - ex * gz, ex * gy - ey * gx
    return (nx * dx + ny * dy + nz * dz) / (np.sqrt(nx * nx + ny * ny + nz * nz) + 1e-30)


@device
def _uneven(point, pattern, f, x, y, slope, length, nx, ny, nz):
    """The normal tilted by small unevenness of the sheet at the pattern position (x, y)."""
    h = 0.25
    p, q = x / length, y / length
    here = _noise(p, q) + 0.5 * _noise(2.3 * p + 17.0, 2.3 * q)
    along = (_noise(p + h, q) + 0.5 * _noise(2.3 * (p + h) + 17.0, 2.3 * q) - here) / h
    across = (_noise(p, q + h) + 0.5 * _noise(2.3 * p + 17.0, 2.3 * (q + h)) - here) / h
    du1, dv1 = pattern[f, 1, 0] - pattern[f, 0, 0], pattern[f, 1, 1] - pattern[f, 0, 1]
    du2, dv2 = pattern[f, 2, 0] - pattern[f, 0, 0], pattern[f, 2, 1] - pattern[f, 0, 1]
    determinant = du1 * dv2 - du2 * dv1
    if abs(determinant) < 1e-30:
        return nx, ny, nz
    r = 1.0 / determinant
    s, t = slope * (along * dv2 - across * du2) * r, slope * (across * du1 - along * dv1) * r
    mx = nx - s * (point[f, 1, 0] - point[f, 0, 0]) - t * (point[f, 2, 0] - point[f, 0, 0])
    my = ny - s * (point[f, 1, 1] - point[f, 0, 1]) - t * (point[f, 2, 1] - point[f, 0, 1])
    mz = nz - s * (point[f, 1, 2] - point[f, 0, 2]) - t * (point[f, 2, 2] - point[f, 0, 2])
    size = np.sqrt(mx * mx + my * my + mz * mz) + 1e-30
    return mx / size, my / size, mz / size


@device
def _inside(size, wave):
    """1 where details of the length `wave` are larger than some pixels, 0 where they are too small to be seen."""
    return min(1.0, max(0.0, 0.5 * wave / size - 0.5))


@device
def _at(light, f, side, k, a, b, c):
    """Column `k` of the light on a side of triangle `f` at the point (a, b, c)."""
    return a * light[f, 0, side, k] + b * light[f, 1, side, k] + c * light[f, 2, side, k]


@device
def _on_line(place, altitude, f, a, b, c, size):
    """Whether the point (a, b, c) of triangle `f` lies on an edge of the mesh, drawn with pixels of `size` [m]."""
    for k in range(3):
        inside = a * place[f, 0, k] + b * place[f, 1, k] + c * place[f, 2, k]
        if inside * altitude[f, k] < LINE_WIDTH * size:
            return True
    return False


@device
def _printed(looks, texture, texel, level, tint, f, kind, side, a, b, c, x, y, spread):
    """Colour of the sheet at the pattern position (x, y): of its matter, its tint and its texture."""
    red = looks[kind, side, 0] * (a * tint[f, 0, 0] + b * tint[f, 1, 0] + c * tint[f, 2, 0])
    green = looks[kind, side, 1] * (a * tint[f, 0, 1] + b * tint[f, 1, 1] + c * tint[f, 2, 1])
    blue = looks[kind, side, 2] * (a * tint[f, 0, 2] + b * tint[f, 1, 2] + c * tint[f, 2, 2])
    if texture[kind, side, 0] < 0.0:
        return red, green, blue
    width = texture[kind, side, 3]
    s, t = (x - texture[kind, side, 1]) / width, (y - texture[kind, side, 2]) / texture[kind, side, 4]
    if side == 1:
        s = 1.0 - s  # writing on the back reads from left to right too
    r, g, h = _texel(texel, level, int(texture[kind, side, 0]), s, t, spread / width)
    return red * r, green * g, blue * h


@device
def _fibres(grain, weave, x, y, spread):
    """Brightness of fibres and threads at the pattern position (x, y), 1 on average."""
    shade = 1.0
    if grain > 0.0:
        fine = (_noise(x / FIBRE, y / FIBRE) - 0.5) * _inside(spread, FIBRE)
        cloud = (_noise(x / (6.0 * FIBRE), y / (6.0 * FIBRE)) - 0.5) * _inside(spread, 6.0 * FIBRE)
        shade += 1.5 * grain * (fine + cloud)
    if weave > 0.0:
        across = 2.0 * np.pi / weave
        shade += THREADS * _inside(spread, weave) * np.sin(across * x) * np.sin(across * y)
    return shade


@device
def meet_surface(
    point, normal, light, pattern, tint, row, place, altitude, looks, texture, texel, level, key, edges,
    f, a, b, c, dx, dy, dz, size,
):  # fmt: skip
    """What a ray meets at the point (a, b, c) of triangle `f`, seen with pixels of `size` [m].

    Diffuse radiance (3), mirrored share (3), share seen through, normal (3), roughness, visible fraction of the sky.
    """
    cosine = _facing(point, f, dx, dy, dz)
    side, kind = (1 if cosine > 0.0 else 0), row[f]
    nx, ny, nz = patch_normal(normal, f, a, b, c, 1.0 - 2.0 * side)
    if edges and _on_line(place, altitude, f, a, b, c, size):
        return LINE_COLOR[0], LINE_COLOR[1], LINE_COLOR[2], 0.0, 0.0, 0.0, 0.0, nx, ny, nz, 1.0, 1.0
    metal, roughness, gloss = looks[kind, side, 3], looks[kind, side, 4], looks[kind, side, 5]
    through, clear, sheen = looks[kind, side, 6], looks[kind, side, 7], looks[kind, side, 8]
    grain, bump, length, weave = (
        looks[kind, side, 9],
        looks[kind, side, 10],
        looks[kind, side, 11],
        looks[kind, side, 12],
    )
    x = a * pattern[f, 0, 0] + b * pattern[f, 1, 0] + c * pattern[f, 2, 0]
    y = a * pattern[f, 0, 1] + b * pattern[f, 1, 1] + c * pattern[f, 2, 1]
    spread = size / max(abs(cosine), 0.2)
    red, green, blue = _printed(looks, texture, texel, level, tint, f, kind, side, a, b, c, x, y, spread)
    shade = _fibres(grain, weave, x, y, spread) / np.pi
    if bump > 0.0:
        fade = _inside(spread, length)
        if fade > 0.0:
            tx, ty, tz = _uneven(point, pattern, f, x, y, bump * fade, length, nx, ny, nz)
            shade *= 1.0 + 0.8 * ((tx - nx) * key[0] + (ty - ny) * key[1] + (tz - nz) * key[2])
            nx, ny, nz = tx, ty, tz
        roughness = min(1.0, roughness + (1.0 - fade) * 2.0 * bump)
    view = max(0.0, -(nx * dx + ny * dy + nz * dz))
    shade *= 1.0 + sheen * (1.0 - view) ** 4
    near, far, seen = shade * (1.0 - through), shade * through, _at(light, f, side, 3, a, b, c)
    matte_r = red * (near * _at(light, f, side, 0, a, b, c) + far * _at(light, f, 1 - side, 0, a, b, c))
    matte_g = green * (near * _at(light, f, side, 1, a, b, c) + far * _at(light, f, 1 - side, 1, a, b, c))
    matte_b = blue * (near * _at(light, f, side, 2, a, b, c) + far * _at(light, f, 1 - side, 2, a, b, c))
    grazing = (1.0 - view) ** 5  # Fresnel's law as in Schlick (1994)
    if metal > 0.5:
        own = PASSED_ON * roughness
        m = 1.0 - own
        return (
            own * matte_r, own * matte_g, own * matte_b,
            m * (red + (1.0 - red) * grazing), m * (green + (1.0 - green) * grazing),
            m * (blue + (1.0 - blue) * grazing),
            0.0, nx, ny, nz, roughness, seen,
        )  # fmt: skip
    mirror = gloss + (1.0 - gloss) * grazing * (0.15 + 0.85 * (1.0 - roughness) ** 2)
    body = (1.0 - mirror) * (1.0 - clear)
    return (
        body * matte_r, body * matte_g, body * matte_b,
        mirror, mirror, mirror, (1.0 - mirror) * clear, nx, ny, nz, roughness, seen,
    )  # fmt: skip


@device
def toned(value):
    """Radiance squeezed into 0 … 0.97: unchanged up to 0.55, then ever less, so that white never burns out."""
    if value <= 0.55:
        return value
    return 0.55 + 0.42 * (1.0 - np.exp(-(value - 0.55) / 0.42))
