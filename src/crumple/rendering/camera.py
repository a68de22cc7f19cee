"""Where the pictures are taken from: one plan for a whole film, so that it does not jump."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.ndimage import gaussian_filter1d

from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats

DIRECTIONS = {
    "auto": (0.55, -1.0, 0.62),
    "front": (0.0, -1.0, 0.0),
    "back": (0.0, 1.0, 0.0),
    "side": (1.0, 0.0, 0.0),
    "top": (0.0, 0.0, 1.0),
    "low": (0.6, -1.0, 0.15),
    "high": (0.45, -0.8, 1.3),
}
"""From the sheet towards the camera; z is up."""

VIEW_ANGLE = 24.0
"""Vertical opening [degrees]; a long lens, which keeps parallels nearly parallel."""
FILM_HEIGHT = 24.0
"""Height of a picture on 35 mm film, for which focal lengths are quoted [mm]."""
MARGIN = 1.12
"""Room around the subject."""
TRAVEL = 3.0
"""Length of the way of the sheets over their size from which on the camera moves with them by itself."""
CALM = 4.0
"""Standard deviation of the smoothing of a camera that follows, in looks at the film."""
TURNS = 24
"""Azimuths at which a camera that goes around is checked to see everything."""


@dataclass(frozen=True)
class Camera:
    """Position, point looked at and up direction, (3,) each [m]; vertical opening `angle` [degrees]."""

    position: Floats
    target: Floats
    up: Floats
    angle: float = VIEW_ANGLE


@dataclass(frozen=True)
class View:
    """How to choose the camera.

    `direction`: a name in `DIRECTIONS`; `position` [m] overrules it.  `target` [m]: the point looked at, otherwise the
    middle of the sheets.  `orbit`: how far to go around z during a film [degrees].  `follow`: keep the sheets in the
    middle, by default where they go far.  `zoom`: enlargement.  `lens`: focal length on 35 mm film [mm].
    """

    direction: str = "auto"
    position: tuple[float, float, float] | None = None
    target: tuple[float, float, float] | None = None
    orbit: float = 0.0
    follow: bool | None = None
    zoom: float = 1.0
    lens: float | None = None

    def __post_init__(self) -> None:
        if self.direction not in DIRECTIONS:
            known = ", ".join(DIRECTIONS)
            raise InputError("render --camera", f"must be one of {known}, or a position X,Y,Z in m", self.direction)
        if not 0.01 <= self.zoom <= 100.0:
            raise InputError("render --zoom", "must be 0.01 to 100", self.zoom)
        if self.lens is not None and not 5.0 <= self.lens <= 2000.0:
            raise InputError("render --lens", "must be 5 to 2000 mm", self.lens)
        if not abs(self.orbit) <= 36000.0:
            raise InputError("render --orbit", "must be -36000 to 36000 degrees", self.orbit)
        for name, point in (("--camera", self.position), ("--target", self.target)):
            if point is not None and not np.isfinite(point).all():
                raise InputError(f"render {name}", "must be three finite numbers, in m", point)


def fit_camera(
    points: Floats, aspect: float, view: str = "auto", legend: float = 0.0, angle: float = VIEW_ANGLE
) -> Camera:
    """The nearest camera in direction `view` that shows all `points` (n, 3) in a picture of width/height `aspect`,
    with the fraction `legend` of its width kept free on the right."""
    backward = np.array(DIRECTIONS[View(view).direction])
    screen = _screen(backward)
    half = np.tan(np.radians(angle / 2))
    slope = half / MARGIN * np.array([aspect * (1 - legend), 1.0])
    target = 0.5 * (points.min(axis=0) + points.max(axis=0))
    local = (points - target) @ screen.T
    # A point (p, near) is seen from distance D and offset c when |p - c| ≤ slope (D - near), in both directions.
    positive = (local[:, :2] / slope + local[:, 2:]).max(axis=0)
    negative = (-local[:, :2] / slope + local[:, 2:]).max(axis=0)
    clear = local[:, 2].max() + 0.5 * np.linalg.norm(np.ptp(points, axis=0)) + 1e-6  # never nose to nose
    distance = max(float((positive + negative).max()) / 2, float(clear))
    target = target + (slope * (positive - negative) / 2) @ screen[:2]
    target = target + legend * aspect * half * distance * screen[0]
    return Camera(target + distance * screen[2], target, screen[1], angle)


def _travel(subjects: list[Floats], view: View) -> bool:
    """Whether the sheets go so far that a camera that sees all of their way would see little of them."""
    if view.position is not None or view.target is not None:
        return False
    largest = max(float(np.linalg.norm(np.ptp(points, axis=0))) for points in subjects)
    return float(np.linalg.norm(np.ptp(np.concatenate(subjects), axis=0))) > TRAVEL * largest


class CameraPlan:
    """Cameras for all of a film, `at(share)` for a fraction 0 … 1 of it.

    `subjects`: the points to be seen at times spread evenly over the film, (n, 3) each [m].
    """

    def __init__(self, subjects: list[Floats], aspect: float, view: View, legend: float = 0.0) -> None:
        view = view if view.follow is not None else replace(view, follow=_travel(subjects, view))
        self.view, self._legend, self._aspect = view, legend, aspect
        self._angle = VIEW_ANGLE if view.lens is None else float(np.degrees(2 * np.arctan(FILM_HEIGHT / 2 / view.lens)))
        everything = np.concatenate(subjects)
        middles = np.array([0.5 * (p.min(axis=0) + p.max(axis=0)) for p in subjects])
        self._path = gaussian_filter1d(middles, CALM, axis=0, mode="nearest") if view.follow else middles[:1]
        fitted = fit_camera(everything, aspect, view.direction, legend, self._angle)
        if view.position is None and not (view.follow or view.orbit or view.target):
            self._still: Camera | None = self._zoomed(fitted)
            return
        self._still = None
        if not view.follow:
            self._path = np.array([view.target or 0.5 * (everything.min(axis=0) + everything.max(axis=0))])
        around = np.concatenate([p - self._target(k / max(len(subjects) - 1, 1)) for k, p in enumerate(subjects)])
        self._offset = self._placed(around)

    def _placed(self, around: Floats) -> Floats:
        """From the target to the camera at the start [m]; sets the opening of a camera whose position is given."""
        view = self.view
        if view.position is not None:
            offset = np.array(view.position) - self._path[0]
            if not np.linalg.norm(offset) > 0.0:
                raise InputError("render --camera", "is the point that it looks at; move it or --target", view.position)
            if view.lens is None:
                self._angle = self._opening(around, offset)
            return offset
        backward = np.array(DIRECTIONS[view.direction])
        turns = np.linspace(0.0, np.radians(view.orbit), TURNS) if view.orbit else [0.0]
        return (
            max(self._distance(around, _turned(backward, turn)) for turn in turns) * backward / np.linalg.norm(backward)
        )

    def _distance(self, around: Floats, backward: Floats) -> float:
        """How far a camera that looks at the origin has to be to see all of `around` [m]."""
        local = around @ _screen(backward).T
        slope = np.tan(np.radians(self._angle / 2)) / MARGIN * np.array([self._aspect * (1 - self._legend), 1.0])
        clear = float(local[:, 2].max()) + 0.5 * float(np.linalg.norm(np.ptp(around, axis=0))) + 1e-6
        return max(float((np.abs(local[:, :2]) / slope + local[:, 2:]).max()), clear)

    def _opening(self, around: Floats, offset: Floats) -> float:
        """The vertical opening with which a camera at `offset` sees all of `around` [degrees], 2 to 100."""
        local = around @ _screen(offset).T
        depth = np.maximum(np.linalg.norm(offset) - local[:, 2], 1e-9)
        slope = np.abs(local[:, :2]) / depth[:, None] / [self._aspect * (1 - self._legend), 1.0]
        return float(np.clip(2 * np.degrees(np.arctan(MARGIN * slope.max())), 2.0, 100.0))

    def _target(self, share: float) -> Floats:
        knots = np.linspace(0.0, 1.0, len(self._path))
        return np.array([np.interp(share, knots, self._path[:, k]) for k in range(3)])

    def _zoomed(self, camera: Camera) -> Camera:
        half = np.tan(np.radians(camera.angle / 2)) / self.view.zoom
        return Camera(camera.position, camera.target, camera.up, float(2 * np.degrees(np.arctan(half))))

    def at(self, share: float) -> Camera:
        """The camera after the fraction `share` of the film."""
        if self._still is not None:
            return self._still
        offset, target = _turned(self._offset, np.radians(self.view.orbit) * share), self._target(share)
        screen = _screen(offset)
        shift = self._legend * self._aspect * np.tan(np.radians(self._angle / 2)) * np.linalg.norm(offset) * screen[0]
        return self._zoomed(Camera(target + offset + shift, target + shift, screen[1], self._angle))


def _screen(backward: Floats) -> Floats:
    """Right, up and backward of a camera as rows, unit vectors, for the direction `backward` from target to camera."""
    backward = backward / np.linalg.norm(backward)
    up = np.array([0.0, 1.0, 0.0]) if abs(backward[2]) > 0.999 else np.array([0.0, 0.0, 1.0])
    right = np.cross(up, backward)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(backward, right), backward])


def _turned(vector: Floats, angle: float) -> Floats:
    """`vector` turned about z by `angle` [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * vector[0] - s * vector[1], s * vector[0] + c * vector[1], vector[2]])
