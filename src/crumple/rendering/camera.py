"""Where the picture is taken from: one view for a whole film, so that it does not jump."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.errors import InputError
from crumple.typing import Floats

DIRECTIONS = {
    "auto": (0.55, -1.0, 0.62),
    "front": (0.0, -1.0, 0.0),
    "side": (1.0, 0.0, 0.0),
    "top": (0.0, 0.0, 1.0),
    "low": (0.6, -1.0, 0.15),
}
"""From the sheet towards the camera; z is up."""

VIEW_ANGLE = 24.0
"""Vertical opening [degrees]; a long lens, which keeps parallels nearly parallel."""

MARGIN = 1.12
"""Room around the subject."""


@dataclass(frozen=True)
class Camera:
    """Position, point looked at and up direction, (3,) each [m]."""

    position: Floats
    target: Floats
    up: Floats


def fit_camera(points: Floats, aspect: float, view: str = "auto", legend: float = 0.0) -> Camera:
    """The nearest camera in direction `view` that shows all `points` (n, 3) in a picture of width/height `aspect`,
    with the share `legend` of its width kept free on the right."""
    if view not in DIRECTIONS:
        raise InputError("render --camera", f"must be one of {', '.join(DIRECTIONS)}", view)
    backward = np.array(DIRECTIONS[view]) / np.linalg.norm(DIRECTIONS[view])
    up = np.array([0.0, 1.0, 0.0]) if view == "top" else np.array([0.0, 0.0, 1.0])
    right = np.cross(up, backward)
    right /= np.linalg.norm(right)
    screen = np.stack([right, np.cross(backward, right), backward])
    slope = np.tan(np.radians(VIEW_ANGLE / 2)) / MARGIN * np.array([aspect * (1 - legend), 1.0])
    target = 0.5 * (points.min(axis=0) + points.max(axis=0))
    local = (points - target) @ screen.T
    # A point (p, near) is seen from distance D and offset c when |p - c| ≤ slope (D - near), in both directions.
    positive = (local[:, :2] / slope + local[:, 2:]).max(axis=0)
    negative = (-local[:, :2] / slope + local[:, 2:]).max(axis=0)
    clear = local[:, 2].max() + 0.5 * np.linalg.norm(np.ptp(points, axis=0)) + 1e-6  # never nose to nose
    distance = max(float((positive + negative).max()) / 2, float(clear))
    target = target + (slope * (positive - negative) / 2) @ screen[:2]
    target = target + legend * aspect * np.tan(np.radians(VIEW_ANGLE / 2)) * distance * right
    return Camera(target + distance * backward, target, screen[1])
