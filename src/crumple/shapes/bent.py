"""A Möbius strip that is bent and not stretched: a map of the flat strip that keeps all lengths."""

from __future__ import annotations

import numpy as np

from crumple.runtime.typing import Floats

TURN = np.pi / 3.0
"""Angle between a Möbius strip and the axes it is bent about: three of them close it to a triangle."""


def moebius_bend_radius(length: float, width: float) -> float:
    """Radius of the two smaller bends of `bend_moebius` [m]; ≤ 0 when the strip is wider than its length/√3."""
    return min(length / 32.0, (length / 6.0 - 0.5 * width / np.tan(TURN)) * np.sin(TURN) / np.pi)


def bend_moebius(u: Floats, length: float, width: float) -> Floats:
    """Points (n, 3) [m] of a Möbius strip with the pattern `u` (n, 2) in [0, length] × [0, width].

    The strip runs straight along a triangle. At each corner it is rolled by half a turn about an axis that lies at 60°
    to it: twice upwards with radius r, once down again with 2 r. Rolling keeps lengths, three half turns leave it
    with half a turn, and the triangle closes because each bend acts on the plan as a fold in its middle.
    """
    r = moebius_bend_radius(length, width)
    flat = np.column_stack([u[:, 0], u[:, 1] - 0.5 * width, np.zeros(len(u))])
    points = flat
    # The last bend is made first, as long as the rest is straight. Each one turns up and down, left and right around
    # for what comes after it.
    for place, radius, side, hand in ((5.0 / 6.0, 2.0 * r, -1.0, 1.0), (0.5, r, -1.0, -1.0), (1.0 / 6.0, r, 1.0, 1.0)):
        cosine, sine = np.cos(TURN), hand * np.sin(TURN)
        axes = np.array([[hand * cosine, hand * sine, 0.0], [hand * sine, -hand * cosine, 0.0], [0.0, 0.0, 1.0]])
        start = place * length * np.array([1.0, 0.0, 0.0]) - 0.5 * np.pi * radius * axes[1]
        angle = ((flat - start) @ axes[1])[:, None] / radius
        along, way, up = np.hsplit((points - start) @ axes.T, 3)
        inside = np.hstack([along, radius * np.sin(angle), side * radius * (1.0 - np.cos(angle))])
        after = np.hstack([along, np.pi * radius - way, 2.0 * side * radius - up])
        points = np.where(angle <= 0.0, points, start + np.where(angle < np.pi, inside, after) @ axes)
    return points - points.mean(axis=0)
