"""The same sheets in three spaces: the world, the flat pattern, the plastic embedding ([Narain2013] fig. 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crumple.runtime.errors import InputError
from crumple.runtime.typing import Floats, Ints
from crumple.state import State

SPACES = ("world", "pattern", "plastic")
SIDE_BY_SIDE = ("pattern", "plastic", "world")
"""What "all" shows, from left to right."""
SPACING = 0.1
"""Between sheets laid out side by side, over the largest extent of a sheet."""


@dataclass(frozen=True)
class Drawn:
    """What is drawn of a state: `points` (n, 3) [m], `faces` (face_count, 3), and the `node` (n,) of each point."""

    points: Floats
    faces: Ints
    node: Ints


def named_spaces(name: str) -> tuple[str, ...]:
    """The spaces that a name stands for; `InputError` listing the known ones."""
    if name == "all":
        return SIDE_BY_SIDE
    if name not in SPACES:
        raise InputError("render --space", f"must be one of {', '.join(SPACES)}, all", name)
    return (name,)


def draw_space(state: State, space: str) -> Drawn:
    """The sheets of `state` in a space. Pattern and embedding of several sheets are laid out side by side."""
    mesh = state.mesh
    nodes: Ints = np.arange(mesh.node_count, dtype=np.int32)
    if space == "world":
        return Drawn(state.x, mesh.face_nodes, nodes)
    if space == "plastic":
        return Drawn(_laid_out(state.y, mesh.face_nodes, mesh.face_sheet), mesh.face_nodes, nodes)
    flat = np.concatenate([mesh.u, np.zeros((mesh.vertex_count, 1))], axis=1)
    return Drawn(_laid_out(flat, mesh.faces, mesh.face_sheet), mesh.faces, mesh.vertex_node)


def _laid_out(points: Floats, faces: Ints, face_sheet: Ints) -> Floats:
    """The points with every sheet moved along x, to the right of the one before."""
    placed = points.copy()
    right = None
    for sheet in np.unique(face_sheet):
        used = np.unique(faces[face_sheet == sheet])
        low, high = points[used].min(axis=0), points[used].max(axis=0)
        gap = SPACING * float(np.max(high - low))
        shift = 0.0 if right is None else right + gap - low[0]
        placed[used, 0] += shift
        right = high[0] + shift
    return placed
