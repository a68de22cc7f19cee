"""The light of a photographer's studio: a dim dome, a large soft box above, a strip beside, a small one behind.

Directions point from the sheet to the light, z is up. Radiance has no unit here: a white sheet that faces the key light
shows about 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.runtime.compiled import device, kernel
from crumple.runtime.typing import Floats

ZENITH, HORIZON, NADIR = (0.31, 0.33, 0.36), (0.21, 0.215, 0.225), (0.12, 0.12, 0.12)
"""Radiance of the dome above, at the horizon and below, red, green, blue."""

# Azimuth from the camera's right hand towards its back, elevation [degrees]; tangents of the half widths; radiance.
BOXES = (
    (168.0, 46.0, (0.52, 0.46), (4.3, 4.1, 3.8)),  # key, in front on the left
    (-12.0, 24.0, (0.20, 0.55), (1.15, 1.25, 1.4)),  # strip, on the right
    (-115.0, 34.0, (0.55, 0.16), (2.4, 2.5, 2.6)),  # rim, behind
)
EDGE = 0.06
"""Softness of the edges of a box, as a tangent."""


@dataclass(frozen=True)
class Studio:
    """`boxes` (k, 14): middle, right, up (unit vectors), half widths as tangents, radiance.

    The same light as a finite number of rays, always the same ones, so that a film does not flicker: `direction`
    (j, 3), `radiance` (j, 3) with the solid angle multiplied in, and `angle` (j,) the solid angle for which a ray
    stands when it meets something else than light [sr]; 0 for rays to the boxes: those to the dome go everywhere.
    """

    boxes: Floats
    direction: Floats
    radiance: Floats
    angle: Floats


def make_studio(azimuth: float, rays: int) -> Studio:
    """The studio for a camera whose right hand points to `azimuth` [rad]; about `rays` rays sample its light."""
    boxes = np.array([_box(azimuth - np.radians(a), np.radians(e), size, rgb) for a, e, size, rgb in BOXES])
    dome = _fibonacci(max(rays // 2, 16))
    directions, radiances = [dome], [dome_lights(dome) * 4.0 * np.pi / len(dome)]
    shares = (0.6, 0.2, 0.2)
    for box, share in zip(boxes, shares, strict=True):
        direction, solid_angle = _box_samples(box, max(int(share * rays / 2), 4))
        directions.append(direction)
        radiances.append(solid_angle[:, None] * box[11:14])
    direction = np.concatenate(directions)
    angle = np.where(np.arange(len(direction)) < len(dome), 4.0 * np.pi / len(dome), 0.0)
    return Studio(boxes, direction, np.concatenate(radiances), angle)


def _box(azimuth: float, elevation: float, size: tuple[float, float], radiance: tuple[float, ...]) -> Floats:
    middle = np.array([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    return np.concatenate([middle, right, np.cross(middle, right), size, radiance])


def _fibonacci(count: int) -> Floats:
    """Points spread evenly on the unit sphere, (count, 3)."""
    k = np.arange(count) + 0.5
    z, angle = 1.0 - 2.0 * k / count, np.pi * (1.0 + np.sqrt(5.0)) * k
    radius = np.sqrt(1.0 - z**2)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)


def _box_samples(box: Floats, count: int) -> tuple[Floats, Floats]:
    """Directions to points of a box (n, 3) and the solid angle around each (n,), by the R2 sequence."""
    k = np.arange(1, count + 1)
    x, y = (2.0 * np.modf(0.5 + k * a)[0] - 1.0 for a in (0.7548776662466927, 0.5698402909980532))
    x, y = x * box[9], y * box[10]
    direction = box[0:3] + x[:, None] * box[3:6] + y[:, None] * box[6:9]
    length = np.linalg.norm(direction, axis=1)
    return direction / length[:, None], 4.0 * box[9] * box[10] / count / length**3


@device
def dome_light(dx, dy, dz):
    """Radiance of the dome in a unit direction, three numbers."""
    if dz >= 0.0:
        t = dz * (2.0 - dz)
        return (
            HORIZON[0] + t * (ZENITH[0] - HORIZON[0]),
            HORIZON[1] + t * (ZENITH[1] - HORIZON[1]),
            HORIZON[2] + t * (ZENITH[2] - HORIZON[2]),
        )
    t = min(1.0, -4.0 * dz)
    return (
        HORIZON[0] + t * (NADIR[0] - HORIZON[0]),
        HORIZON[1] + t * (NADIR[1] - HORIZON[1]),
        HORIZON[2] + t * (NADIR[2] - HORIZON[2]),
    )


@kernel
def dome_lights(direction):
    """Radiance of the dome in unit directions (n, 3), (n, 3)."""
    light = np.empty(direction.shape)
    for j in range(len(direction)):
        light[j, 0], light[j, 1], light[j, 2] = dome_light(direction[j, 0], direction[j, 1], direction[j, 2])
    return light


@device
def _ramp(inside, softness):
    """0 outside, 1 inside, smooth over ± `softness`."""
    t = min(1.0, max(0.0, 0.5 + 0.5 * inside / softness))
    return t * t * (3.0 - 2.0 * t)


@device
def studio_light(boxes, dx, dy, dz, blur):
    """Radiance in a unit direction as a mirror sees it that blurs by the tangent `blur`, three numbers."""
    red, green, blue = dome_light(dx, dy, dz)
    softness = EDGE + blur
    for k in range(boxes.shape[0]):
        ahead = dx * boxes[k, 0] + dy * boxes[k, 1] + dz * boxes[k, 2]
        if ahead <= 0.05:
            continue
        x = abs(dx * boxes[k, 3] + dy * boxes[k, 4] + dz * boxes[k, 5]) / ahead
        y = abs(dx * boxes[k, 6] + dy * boxes[k, 7] + dz * boxes[k, 8]) / ahead
        a, b = boxes[k, 9], boxes[k, 10]
        share = _ramp(a - x, softness) * _ramp(b - y, softness)
        if softness > a:  # a box blurred beyond its own width gets dimmer
            share *= 4.0 * a * softness / (a + softness) ** 2
        if softness > b:
            share *= 4.0 * b * softness / (b + softness) ** 2
        red += share * boxes[k, 11]
        green += share * boxes[k, 12]
        blue += share * boxes[k, 13]
    return red, green, blue
