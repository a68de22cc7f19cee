"""Which triangle each sample of a picture shows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crumple.rendering.camera import Camera
from crumple.rendering.tracing import MISS
from crumple.runtime.compiled import device, kernel, run_chunks
from crumple.runtime.typing import Floats

BANDS = 16
"""Horizontal parts of a picture that threads draw on their own."""


class Frustum(NamedTuple):
    """A camera for compiled code: `eye` (3,) [m]; `axes` (3, 3) right, up, forward; `slope` half the width and height
    of the picture at distance 1; its `size` in pixels."""

    eye: Floats
    axes: Floats
    slope: tuple[float, float]
    size: tuple[int, int]


def make_frustum(camera: Camera, size: tuple[int, int]) -> Frustum:
    """The frustum of a camera for pictures of `size` (width, height) pixels."""
    forward = camera.target - camera.position
    forward = forward / np.linalg.norm(forward)
    right = np.cross(forward, camera.up)
    right = right / np.linalg.norm(right)
    slope = np.tan(np.radians(camera.angle / 2.0))
    axes = np.stack([right, np.cross(right, forward), forward])
    return Frustum(np.asarray(camera.position, np.float64), axes, (slope * size[0] / size[1], slope), size)


class Canvas:
    """Samples of a picture: the nearest triangle at each, `shown`, `MISS` where there is none, and `nearness`, the
    inverse of its depth [1/m]. Both (samples × height, samples × width), top row first; used again for
    every picture."""

    def __init__(self, size: tuple[int, int], samples: int) -> None:
        self.size, self.samples = size, samples
        shape = (samples * size[1], samples * size[0])
        self.shown: NDArray[np.int32] = np.full(shape, MISS, np.int32)
        self.nearness: NDArray[np.float32] = np.zeros(shape, np.float32)

    def draw(self, frustum: Frustum, corners: Floats) -> None:
        """Show the triangles (n, 3, 3) [m] and nothing else. Those that reach behind the camera are left out."""
        height, width = self.shown.shape
        local = (corners - frustum.eye) @ frustum.axes.T
        depth = local[..., 2]
        ahead = depth.min(axis=1) > 1e-6 * max(float(depth.max(initial=0.0)), 1e-12)
        safe = np.where(ahead[:, None], depth, 1.0)
        x = (1.0 + local[..., 0] / safe / frustum.slope[0]) * 0.5 * width
        y = (1.0 - local[..., 1] / safe / frustum.slope[1]) * 0.5 * height
        run_chunks(_draw_bands, BANDS, np.stack([x, y, 1.0 / safe], axis=2), ahead, self.shown, self.nearness)

    def hide_behind(self, other: Canvas) -> None:
        """Forget what is not nearer than what another canvas shows."""
        self.shown[self.nearness <= other.nearness] = MISS


@device
def _clip(low, high, start, slope):
    """The part of the interval low … high in which start + slope x is not negative."""
    if slope > 0.0:
        return max(low, -start / slope), high
    if slope < 0.0:
        return low, min(high, -start / slope)
    return (low, high) if start >= 0.0 else (1.0, 0.0)


@kernel
def _draw_bands(first, step, screen, ahead, shown, nearness):
    """Draw triangles given by screen position and inverse depth (n, 3, 3) into every `step`-th band of rows."""
    height, width = shown.shape
    for band in range(first, BANDS, step):
        top, bottom = band * height // BANDS, (band + 1) * height // BANDS
        shown[top:bottom] = MISS
        nearness[top:bottom] = 0.0
        for f in range(len(screen)):
            if not ahead[f]:
                continue
            ax, ay, aw = screen[f, 0, 0], screen[f, 0, 1], screen[f, 0, 2]
            bx, by, bw = screen[f, 1, 0], screen[f, 1, 1], screen[f, 1, 2]
            cx, cy, cw = screen[f, 2, 0], screen[f, 2, 1], screen[f, 2, 2]
            low, high = max(min(ay, by, cy) - 0.5, top), min(max(ay, by, cy) - 0.5, bottom - 1)
            area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
            if high < low or area == 0.0:
                continue
            slope_b, slope_c = (cy - ay) / area, -(by - ay) / area
            for row in range(int(np.ceil(low)), int(np.floor(high)) + 1):
                # Weights of the second and third corner at the left end of the row, and where all three are positive.
                y, x = row + 0.5 - ay, 0.5 - ax
                b, c = (x * (cy - ay) - (cx - ax) * y) / area, ((bx - ax) * y - x * (by - ay)) / area
                left, right = _clip(0.0, width - 1.0, b, slope_b)
                left, right = _clip(left, right, c, slope_c)
                left, right = _clip(left, right, 1.0 - b - c, -slope_b - slope_c)
                near = (1.0 - b - c) * aw + b * bw + c * cw
                slope = (-slope_b - slope_c) * aw + slope_b * bw + slope_c * cw
                for column in range(int(np.ceil(left)), int(np.floor(right)) + 1):
                    w = near + column * slope
                    if w > nearness[row, column]:
                        nearness[row, column] = w
                        shown[row, column] = f
