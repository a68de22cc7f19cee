"""Small meshes and pairs for the contact tests."""

from __future__ import annotations

import numpy as np

from crumple.contact import Barrier, make_surface
from crumple.runtime.typing import Floats, Ints

NODES4 = np.array([[0, 1, 2, 3]], np.int32)


def grid(columns: int, rows: int, width: float = 1.0, height: float = 1.0) -> tuple[Floats, Ints]:
    """Flat rectangle in z = 0: node positions and faces."""
    x, y = np.meshgrid(np.linspace(0, width, columns), np.linspace(0, height, rows), indexing="ij")
    at = np.arange(columns * rows).reshape(columns, rows)
    a, b, c, d = (at[:-1, :-1].ravel(), at[1:, :-1].ravel(), at[1:, 1:].ravel(), at[:-1, 1:].ravel())
    faces = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]).astype(np.int32)
    return np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], 1), faces


def jittered_grid(columns: int, rows: int, width: float, height: float, seed: int) -> tuple[Floats, Ints]:
    """A grid whose inner nodes are moved at random in the plane."""
    rest, faces = grid(columns, rows, width, height)
    rng = np.random.default_rng(seed)
    step = min(width / (columns - 1), height / (rows - 1))
    inner = (rest[:, 0] > 0) & (rest[:, 0] < width) & (rest[:, 1] > 0) & (rest[:, 1] < height)
    rest[inner, :2] += rng.uniform(-0.3, 0.3, (inner.sum(), 2)) * step
    return rest, faces


def roll(rest: Floats, pitch: float, radius: float) -> Floats:
    """The flat sheet rolled up along y into a spiral with layers `pitch` apart, turned to a general direction."""
    k = pitch / (4 * np.pi)
    angle = (-radius + np.sqrt(radius**2 + 4 * k * rest[:, 1])) / (2 * k)
    r = radius + 2 * k * angle
    x = np.stack([rest[:, 0], r * np.cos(angle), r * np.sin(angle)], 1)
    turn, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))
    return np.ascontiguousarray(x @ turn.T)


def pair_barrier(
    is_edges: bool, thickness: float, dhat: float, parallel: float = 0.0, stiffness: float = 2.0
) -> Barrier:
    """A barrier with one pair on the nodes 0 … 3."""
    one = np.ones(1)
    return Barrier(
        NODES4, np.array([is_edges]), thickness * one, dhat * one, 2.0 * one, parallel * one, 0.5 * one, one, 0.0 * one
    )


def full_hessian(blocks: Floats) -> Floats:
    """Dense symmetric (12, 12) from upper blocks (10, 3, 3)."""
    dense = np.zeros((12, 12))
    k = 0
    for i in range(4):
        for j in range(i, 4):
            dense[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = blocks[k]
            dense[3 * j : 3 * j + 3, 3 * i : 3 * i + 3] = blocks[k].T
            k += 1
    return dense


def difference(function, x: Floats, step: float) -> Floats:
    """Central differences of `function` with respect to the entries of x, first axis the entries."""
    rows = []
    for i in range(x.size):
        e = np.zeros(x.size)
        e[i] = step
        e = e.reshape(x.shape)
        # fourth order: the barrier is steep
        near, far = function(x + e) - function(x - e), function(x + 2 * e) - function(x - 2 * e)
        rows.append((8 * near - far) / (12 * step))
    return np.array(rows)


def three_parts(seed, friction=0.0):
    """A rolled sheet, a second flat one and an obstacle with one huge triangle, near each other: surface and x."""
    first, faces = jittered_grid(4, 12, 0.1, 0.5, seed=seed)
    second, more = jittered_grid(4, 4, 0.3, 0.3, seed=seed + 1)
    floor = np.array([[-3, -3, -0.05], [3, -3, -0.05], [0, 4, -0.05], [0.05, 0.02, 0.02], [0.1, 0.02, 0.03]])
    rest = np.concatenate([first, second, floor])
    x = np.concatenate([roll(first, 0.02, 0.05), second + np.array([0, 0, 0.05]), floor])
    part = np.repeat([0, 1, 2], [len(first), len(second), len(floor)])
    sheets = len(first) + len(second)
    surface = make_surface(
        np.concatenate([faces, more + len(first)]), rest, dynamic_count=sheets, node_part=part,
        obstacle_faces=np.array([[0, 1, 2], [2, 3, 4]]) + sheets, part_thickness=[2e-3, 1e-3, 0.0], dhat=0.01,
        friction=friction,
    )  # fmt: skip
    return surface, x
