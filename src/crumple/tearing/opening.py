"""The kerf: copies of a node come apart by less than anything else in the sheet, so that contact knows the two lips.

Contact tells parts of one sheet apart by their distance in `node_rest`: pairs act below half of it. Copies at one place
would touch at once, and excluding them would let the lips pass through each other unseen. So a cut moves the copies by
±ε in the world, away from each other, and by ±ε/4 across the sheet in `node_rest`: nothing acts, nothing intersects,
and lips that are pressed together repel each other whatever ε is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from crumple.mesh import SheetMesh
from crumple.runtime.typing import Floats, Ints
from crumple.tearing.tuning import TUNING

KERF = TUNING.kerf.value
REST_FRACTION = TUNING.kerf_at_rest.value
MOST_LEVELS = TUNING.copies_apart.value


def open_kerf(
    mesh: SheetMesh, x: Floats, copies: Ints, heading: Floats, *, direction: Floats | None = None, kerf: float = KERF
) -> tuple[SheetMesh, Floats]:
    """The mesh and the positions (node_count, 3) with the `copies` (n, 2) of nodes set apart.

    `heading` (2,), or (n, 2) for each: how the crack runs on the pattern; its left lip is up in `node_rest`. Copies
    move into their own faces, or along `direction` (3,) if given.

    In `node_rest` no two of the copies stay at one place, not even where cuts cross: contact between nodes that are
    nowhere apart in it would act only at distances that rounding decides, and stall Newton's method.
    """
    x, rest = x.copy(), mesh.node_rest.copy()
    headings = np.broadcast_to(heading, (len(copies), 2))
    for (old, new), ahead, (level, last) in zip(copies.tolist(), headings, _levels(copies), strict=True):
        fans = [np.flatnonzero((mesh.face_nodes == node).any(axis=1)) for node in (old, new)]
        apart = direction
        if apart is None:
            apart = _inward(x, mesh.face_nodes[fans[0]], old) - _inward(x, mesh.face_nodes[fans[1]], new)
        size = float(np.linalg.norm(apart))
        apart = apart / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
        x[old] += kerf * apart
        x[new] -= kerf * apart
        normal = _normal(mesh.node_rest, mesh.face_nodes[np.concatenate(fans)])
        side = _side(mesh, ahead, fans)
        width, shift = _room(mesh.node_rest, copies, old, normal, kerf)
        if level == 1:
            rest[old] += (shift + side * width) * normal
        rest[new] += (shift + (1.0 - 2.0 * level / last) * side * width) * normal
    return replace(mesh, node_rest=rest), np.ascontiguousarray(x)


def _levels(copies: Ints) -> list[tuple[int, int]]:
    """Of each copy, the how manyth of its node it is, from 1, and how many there are of that node."""
    olds = copies[:, 0].tolist()
    return [(olds[: k + 1].count(old), olds.count(old)) for k, old in enumerate(olds)]


def _room(rest: Floats, copies: Ints, node: int, normal: Floats, kerf: float) -> tuple[float, float]:
    """How far the copies of `node` go to either side in the reference embedding, and of what place along `normal` [m].

    Where an earlier cut has set other nodes apart from this one, its copies go away from those; where they lie on both
    sides, into the room between them.
    """
    offset = rest - rest[node]
    near = np.linalg.norm(offset, axis=1) < MOST_LEVELS * kerf
    near[node] = False
    near[copies[copies[:, 0] == node, 1]] = False
    width = REST_FRACTION * kerf
    if not near.any():
        return width, 0.0
    above = offset[near] @ normal
    if above.max() < 0.0 or above.min() > 0.0:
        return width, -width if above[0] > 0.0 else width
    return min(width, 0.25 * float(np.abs(above).min())), 0.0


def _inward(x: Floats, faces: Ints, node: int) -> Floats:
    """The way from a node into its `faces` (n, 3) in the world, the mean over their angles there, (3,).

    In a flat sheet that is along the bisector of the lip: whatever the faces are like, the lips become two curves
    beside the crack that do not cross.
    """
    corner = np.argmax(faces == node, axis=1)
    rows = np.arange(len(faces))
    sides = [x[faces[rows, (corner + k) % 3]] - x[node] for k in (1, 2)]
    first, second = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in sides)
    angle = np.arccos(np.clip(np.einsum("fi,fi->f", first, second), -1.0, 1.0))
    middle = first + second
    middle /= np.maximum(np.linalg.norm(middle, axis=1, keepdims=True), 1e-12)
    return np.asarray((2.0 * np.sin(0.5 * angle))[:, None] * middle).sum(axis=0)


def _normal(rest: Floats, nodes: Ints) -> Floats:
    """The mean unit normal of faces (n, 3) in the reference embedding, (3,)."""
    corner = rest[nodes]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]).sum(axis=0)
    size = float(np.linalg.norm(normal))
    return normal / size if size > 0.0 else np.array([0.0, 0.0, 1.0])


def _side(mesh: SheetMesh, heading: Floats, fans: list[np.ndarray]) -> float:
    """1 when the first of two fans of faces lies to the left of the crack, else −1."""
    first, second = (mesh.u[mesh.faces[fan]].mean(axis=(0, 1)) for fan in fans)
    across = heading[0] * (first[1] - second[1]) - heading[1] * (first[0] - second[0])
    return 1.0 if across > 0.0 else -1.0
