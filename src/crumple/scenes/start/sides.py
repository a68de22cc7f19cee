"""Notes on closed obstacles that are inside out, and on sheets that start within them.

Contact holds on both sides of a surface. But pictures, exports and the volume of containers go by the side that faces
look to, and a sheet that starts within a body cannot leave it. Which points are within is told by the winding number
w = Σ Ω_f/4π, the solid angles Ω_f of all faces seen from there: ±1 within a closed surface, 0 without.
"""

from __future__ import annotations

import numpy as np

from crumple.model.model import Model
from crumple.runtime.typing import Floats, Ints
from crumple.scenes.messages import Problems
from crumple.scenes.schema.scene import Scene
from crumple.state import State


def note_sides(scene: Scene, model: Model, state: State, problems: Problems) -> None:
    """Note obstacles whose faces look the wrong way, and sheets that are within bodies."""
    firsts = [state.x[state.mesh.node_sheet == k][0] for k in range(len(scene.sheets))]
    for k, obstacle in enumerate(model.obstacles):
        faces, x = obstacle.faces, obstacle.positions(0.0)
        turned, closed = _orientation(faces)
        if turned:
            text = f"{turned} of its edges have faces that look to different sides; turn some of its {len(faces)} faces"
            problems.note(("obstacles", k, "shape"), text)
        if turned or not closed:
            continue
        within = [
            name for name, point in zip(scene.sheet_names, firsts, strict=True) if abs(_winding(x[faces], point)) > 0.5
        ]
        outwards = float(np.einsum("ij,ij->", x[faces[:, 0]] - x[0], _normals(x - x[0], faces))) > 0.0
        if not outwards and not within:
            text = "the obstacle is inside out: its faces look inwards, but no sheet starts within it"
            problems.note(("obstacles", k, "shape"), f"{text}; reverse their corners if it is a body")
        if outwards and within and obstacle.active(0.0):
            text = f"{', '.join(map(repr, within))} starts within the obstacle, whose faces look outwards"
            problems.note(("obstacles", k, "shape"), f"{text}; inside = true for a container, else move one of them")


def _normals(x: Floats, faces: Ints) -> Floats:
    """Area vectors of faces, doubled [m²]."""
    a, b, c = (x[faces[:, k]] for k in range(3))
    return np.cross(b - a, c - a)


def _orientation(faces: Ints) -> tuple[int, bool]:
    """Edges whose two faces run along them the same way, and whether every edge has two faces."""
    tail, head = faces.ravel().astype(np.int64), np.roll(faces, -1, axis=1).ravel().astype(np.int64)
    key = np.minimum(tail, head) * (faces.max() + 1) + np.maximum(tail, head)
    _, inverse, count = np.unique(key, return_inverse=True, return_counts=True)
    balance = np.bincount(inverse.reshape(-1), weights=np.where(tail < head, 1.0, -1.0))
    return int(((count == 2) & (balance != 0.0)).sum()), bool((count == 2).all())


def _winding(triangles: Floats, point: Floats) -> float:
    """Winding number of triangles (n, 3, 3) [m] about a point (3,): tan ½Ω = det / (abc + (a·b) c + …)."""
    a, b, c = (triangles[:, k] - point for k in range(3))
    la, lb, lc = (np.linalg.norm(side, axis=1) for side in (a, b, c))
    det = np.einsum("ij,ij->i", a, np.cross(b, c))
    dot = [np.einsum("ij,ij->i", *pair) for pair in ((a, b), (b, c), (c, a))]
    return float(np.arctan2(det, la * lb * lc + dot[0] * lc + dot[1] * la + dot[2] * lb).sum()) / (2.0 * np.pi)
