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
from crumple.typing import Floats, Ints

KERF = 1e-6
"""ε [m]: half the width of a fresh cut; far below the thickness of any sheet, far above rounding."""
REST_SHARE = 0.25
"""Half the distance of copies in `node_rest` over ε."""


def open_kerf(
    mesh: SheetMesh, x: Floats, copies: Ints, heading: Floats, *, way: Floats | None = None, kerf: float = KERF
) -> tuple[SheetMesh, Floats]:
    """The mesh and the positions (node_count, 3) with the `copies` (n, 2) of nodes set apart.

    `heading` (2,), or (n, 2) for each: how the crack runs on the pattern; its left lip is up in `node_rest`. Copies
    move into their own faces, or along `way` (3,) if given.
    """
    x, rest = x.copy(), mesh.node_rest.copy()
    headings = np.broadcast_to(heading, (len(copies), 2))
    for (old, new), ahead in zip(copies.tolist(), headings, strict=True):
        fans = [np.flatnonzero((mesh.face_nodes == node).any(axis=1)) for node in (old, new)]
        apart = way
        if apart is None:
            apart = _inward(x, mesh.face_nodes[fans[0]], old) - _inward(x, mesh.face_nodes[fans[1]], new)
        size = float(np.linalg.norm(apart))
        apart = apart / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
        x[old] += kerf * apart
        x[new] -= kerf * apart
        normal = _normal(mesh.node_rest, mesh.face_nodes[np.concatenate(fans)])
        side = _side(mesh, ahead, fans)
        rest[old] += side * REST_SHARE * kerf * normal
        rest[new] -= side * REST_SHARE * kerf * normal
    return replace(mesh, node_rest=rest), np.ascontiguousarray(x)


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
