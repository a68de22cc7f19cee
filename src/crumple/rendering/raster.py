"""Which triangle each sample of a picture shows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crumple.contact.compiled import kernel, run_chunks
from crumple.rendering.camera import Camera
from crumple.rendering.tracing import MISS
from crumple.typing import Floats

BANDS = 16
"""Horizontal parts of a picture that threads draw on their own."""


class Frustum(NamedTuple):
    """A camera for compiled code: `eye` (3,) [m]; `axes` (3, 3) right, up, forward; `slope` half the width and height of
    the picture at distance 1; its `size` in pixels."""

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


def draw_triangles(frustum: Frustum, corners: Floats, samples: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The nearest of the triangles (n, 3, 3) [m] at every sample, `MISS` where there is none, and its depth [m].

    Both (samples × height, samples × width), top row first. Triangles that reach behind the camera are left out.
    """
    width, height = (samples * side for side in frustum.size)
    local = (corners - frustum.eye) @ frustum.axes.T
    depth = local[..., 2]
    ahead = depth.min(axis=1) > 1e-6 * max(float(depth.max(initial=0.0)), 1e-12)
    safe = np.where(ahead[:, None], depth, 1.0)
    x = (1.0 + local[..., 0] / safe / frustum.slope[0]) * 0.5 * width
    y = (1.0 - local[..., 1] / safe / frustum.slope[1]) * 0.5 * height
    screen = np.stack([x, y, 1.0 / safe], axis=2)
    shown = np.full((height, width), MISS, np.int32)
    nearest = np.zeros((height, width), np.float32)
    run_chunks(_draw_bands, BANDS, screen, ahead, shown, nearest)
    with np.errstate(divide="ignore"):
        return shown, 1.0 / nearest


@kernel
def _draw_bands(first, step, screen, ahead, shown, nearest):
    """Draw triangles given by screen position and inverse depth (n, 3, 3) into every `step`-th band of rows."""
    height, width = shown.shape
    for band in range(first, BANDS, step):
        top, bottom = band * height // BANDS, (band + 1) * height // BANDS
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
            left, right = max(min(ax, bx, cx) - 0.5, 0.0), min(max(ax, bx, cx) - 0.5, width - 1.0)
            for row in range(int(np.ceil(low)), int(np.floor(high)) + 1):
                y = row + 0.5
                for column in range(int(np.ceil(left)), int(np.floor(right)) + 1):
                    x = column + 0.5
                    b = ((x - ax) * (cy - ay) - (cx - ax) * (y - ay)) / area
                    c = ((bx - ax) * (y - ay) - (x - ax) * (by - ay)) / area
                    if b < 0.0 or c < 0.0 or b + c > 1.0:
                        continue
                    w = (1.0 - b - c) * aw + b * bw + c * cw
                    if w > nearest[row, column]:
                        nearest[row, column] = w
                        shown[row, column] = f
